package config

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Value is a variable that a node of a file is decoded into.
type Value interface {
	// want says in a message what fits: "a whole number from 1 to 10".
	want() string
	decode(d *decoder, n ast.Node, path string)
	// get returns what there is now, to be compared; of a section, whether it is there.
	get() any
}

// Single is a single value.
type Single struct {
	// Wanted says what fits: "a whole number from 1 to 10".
	Wanted string
	// Shape is what a JSON Schema says of values that are written out.
	Shape Shape
	// Current returns the value that there is now, as it would be written. It is nil for a secret, which messages do not show.
	Current func() string
	// Get returns the value that there is now, to be compared with another.
	Get func() any
	// Set takes a value that has substitutions put in. It returns false when the value does not fit, and may
	// say what comes near, to be added to the message, or, beginning with "is", what is wrong.
	Set func(s Scalar) (ok bool, hint string)
}

func (v Single) want() string { return v.Wanted }

func (v Single) get() any { return v.Get() }

func (v Single) decode(d *decoder, n ast.Node, path string) {
	s, ok := d.scalar(n, path, v.Wanted)
	if !ok {
		return
	}
	ok, hint := v.Set(s)
	if ok {
		return
	}
	if strings.HasPrefix(hint, "is ") {
		d.report(positionOf(n), path, "%s %s", leaf(path), hint)
		return
	}
	shown := s.shown
	if v.Current == nil {
		shown = "not usable"
	}
	d.report(positionOf(n), path, "%s is %s; give %s%s", leaf(path), shown, v.Wanted, hint)
}

// Text is any text that is not empty.
func Text(p *string, example string) Single {
	return Single{Wanted: "a text such as " + example, Shape: Shape{"type": "string", "minLength": 1}, Current: func() string { return *p }, Get: func() any { return *p }, Set: func(s Scalar) (bool, string) {
		if s.kind == numberKind || s.kind == boolKind {
			return false, ", in quotes if this is meant"
		}
		*p = s.Text
		return s.Text != "", ""
	}}
}

// SecretText is a text that messages do not show.
func SecretText[T ~string](p *T) Single {
	return Single{Wanted: "a text, best as ${NAME} or ${file:/path}", Shape: Shape{"type": "string", "minLength": 1}, Get: func() any { return *p }, Set: func(s Scalar) (bool, string) {
		*p = T(s.Text)
		if s.kind == numberKind || s.kind == boolKind {
			return false, ", in quotes if it is a number, true or false"
		}
		return s.Text != "", ""
	}}
}

// Bool is true or false.
func Bool(p *bool) Single {
	return Single{Wanted: "true or false", Shape: Shape{"type": "boolean"}, Current: func() string { return strconv.FormatBool(*p) }, Get: func() any { return *p }, Set: func(s Scalar) (bool, string) {
		switch {
		case s.kind != boolKind && s.kind != anyKind:
			return false, boolHint(s.Text)
		case strings.EqualFold(s.Text, "true"):
			*p = true
		case strings.EqualFold(s.Text, "false"):
			*p = false
		default:
			return false, ""
		}
		return true, ""
	}}
}

// boolHint translates the booleans of YAML 1.1.
func boolHint(s string) string {
	switch strings.ToLower(s) {
	case "true", "false":
		return " without quotes"
	case "yes", "on", "y":
		return ` (did you mean "true"?)`
	case "no", "off", "n":
		return ` (did you mean "false"?)`
	}
	return ""
}

// Int is a whole number within bounds.
func Int[T int | int32 | int64 | uint64](p *T, low, high T) Single {
	limits := Shape{"type": "integer", "minimum": low, "maximum": high}
	return Single{Wanted: fmt.Sprintf("a whole number from %d to %d", low, high), Shape: limits, Current: func() string { return fmt.Sprint(*p) }, Get: func() any { return *p }, Set: func(s Scalar) (bool, string) {
		if s.kind == textKind {
			return false, ""
		}
		digits := strings.ReplaceAll(s.Text, "_", "")
		if len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
			return false, ", without a zero before it" // which some take for base 8, and others do not
		}
		if u, err := strconv.ParseUint(digits, 0, 64); err == nil && u <= uint64(high) && T(u) >= low {
			*p = T(u)
			return true, ""
		}
		return false, ""
	}}
}

// Duration is a time span within bounds.
func Duration(p *time.Duration, low, high time.Duration) Single {
	wanted := fmt.Sprintf("a duration from %s to %s, such as 30s or 5m", shortDuration(low), shortDuration(high))
	return Single{Wanted: wanted, Shape: durationShape, Current: func() string { return shortDuration(*p) }, Get: func() any { return *p }, Set: func(s Scalar) (bool, string) {
		v, err := time.ParseDuration(strings.TrimSpace(s.Text))
		if err != nil {
			if _, err := strconv.ParseFloat(s.Text, 64); err == nil {
				return false, unitHint(s, "s")
			}
			return false, spelledOut(s)
		}
		*p = v
		return low <= v && v <= high, ""
	}}
}

// spelledUnits are units that are written out, by their first letters.
var spelledUnits = regexp.MustCompile(`^([0-9]+) ?(d|sec|min|hour|day)[a-z]*$`)

// spelledOut proposes the duration that is meant with a unit that is written out, or with one of days.
func spelledOut(s Scalar) string {
	m := spelledUnits.FindStringSubmatch(s.Text)
	if m == nil || s.kind == anyKind {
		return ""
	}
	n, _ := strconv.Atoi(m[1]) // digits; 0 for too many
	if m[2][0] == 'd' {
		return fmt.Sprintf(" (did you mean \"%dh\"?)", 24*n)
	}
	return fmt.Sprintf(" (did you mean \"%d%c\"?)", n, m[2][0])
}

// unitHint proposes a number with a unit, unless the number is from a variable.
func unitHint(s Scalar, unit string) string {
	if s.kind == anyKind {
		return ", with its unit"
	}
	return fmt.Sprintf(", with its unit (did you mean %q?)", s.Text+unit)
}

// shortDuration writes a duration without parts that are zero.
func shortDuration(v time.Duration) string {
	s := v.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Size is a number of bytes within bounds.
func Size[T int | int32 | int64](p *T, low, high T) Single {
	wanted := fmt.Sprintf("a size from %s to %s, such as 64KiB or 512MiB", FormatSize(int64(low)), FormatSize(int64(high)))
	return Single{Wanted: wanted, Shape: sizeShape, Current: func() string { return FormatSize(int64(*p)) }, Get: func() any { return *p }, Set: func(s Scalar) (bool, string) {
		v, err := parseSize(strings.TrimSpace(s.Text))
		if errors.Is(err, errSizeUnit) {
			unit := "B"
			for _, larger := range []string{"B", "MiB", "GiB"} { // the first that makes a size within the bounds
				if v, err := parseSize(s.Text + larger); err == nil && v >= int64(low) && v <= int64(high) {
					unit = larger
					break
				}
			}
			return false, unitHint(s, unit)
		}
		if errors.Is(err, errSizeUnknown) {
			return false, sizeHelp
		}
		if err != nil || v < int64(low) || v > int64(high) {
			return false, ""
		}
		*p = T(v)
		return true, ""
	}}
}

// Enum is one of a few names, each with what it stands for.
func Enum[T any](p *T, names []string, values []T) Single {
	current := func() string {
		for i, v := range values {
			if any(v) == any(*p) {
				return names[i]
			}
		}
		return ""
	}
	return Single{Wanted: "one of " + Listed(names, "or"), Shape: Shape{"enum": names}, Current: current, Get: func() any { return *p }, Set: func(s Scalar) (bool, string) {
		for i, name := range names {
			if s.Text == name {
				*p = values[i]
				return true, ""
			}
		}
		if s.kind == anyKind {
			return false, "" // a hint could give away what was put in
		}
		return false, Suggest(s.Text, names)
	}}
}

// Names is an enum whose values are its names.
func Names[T ~string](p *T, all ...T) Single {
	names := make([]string, len(all))
	for i, name := range all {
		names[i] = string(name)
	}
	return Enum(p, names, all)
}

// Stringers is an enum whose names are the texts of its values.
func Stringers[T fmt.Stringer](p *T, all ...T) Single {
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = v.String()
	}
	return Enum(p, names, all)
}

// Listed joins names for a sentence.
func Listed(names []string, word string) string {
	switch len(names) {
	case 0:
		return "none"
	case 1:
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " " + word + " " + names[last]
}

// Number is a number within bounds. wanted says what fits.
func Number(p *float64, low, high float64, wanted string) Single {
	return Single{Wanted: wanted, Shape: Shape{"type": "number", "minimum": low, "maximum": high}, Get: func() any { return *p }, Current: func() string { return strconv.FormatFloat(*p, 'g', -1, 64) }, Set: func(s Scalar) (bool, string) {
		v, err := strconv.ParseFloat(s.Text, 64)
		if err != nil || !(v >= low && v <= high) {
			return false, ""
		}
		*p = v
		return true, ""
	}}
}

// Pointer is a JSON pointer, RFC 6901. With whole it may be empty, which is the record itself.
func Pointer(p *string, whole bool) Single {
	pattern := "^/"
	if whole {
		pattern = "^(/|$)"
	}
	return Single{Wanted: "a JSON pointer such as /user/id", Shape: Shape{"type": "string", "pattern": pattern}, Current: func() string { return *p }, Get: func() any { return *p }, Set: func(s Scalar) (bool, string) {
		*p = s.Text
		if whole && s.Text == "" {
			return true, ""
		}
		if !strings.HasPrefix(s.Text, "/") {
			if s.kind == textKind && s.Text != "" && !strings.ContainsAny(s.Text, "$~ ") {
				return false, fmt.Sprintf(" (did you mean %q?)", "/"+strings.ReplaceAll(s.Text, ".", "/"))
			}
			return false, ""
		}
		for rest := s.Text; ; {
			i := strings.IndexByte(rest, '~')
			if i < 0 {
				return true, ""
			}
			rest = rest[i+1:]
			if !strings.HasPrefix(rest, "0") && !strings.HasPrefix(rest, "1") {
				return false, `; "~" stands only in ~0 for "~" and in ~1 for "/"`
			}
		}
	}}
}

package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// value is a place in the typed configuration that a node is decoded into.
type value interface {
	// want says in a message what fits: "a whole number from 1 to 10".
	want() string
	decode(d *decoder, n ast.Node, path string)
}

// scalarValue is a single value.
type scalarValue struct {
	wanted string
	secret bool // the value is not shown in messages
	// shape is what a JSON Schema says of values that are written out, and current the value that there is now, as
	// it would be written.
	shape   shape
	current func() string
	// set takes a value that has substitutions put in. It returns false when the value does not fit, and may
	// say what comes near, to be added to the message, or, beginning with "is", what is wrong.
	set func(s scalar) (ok bool, hint string)
}

func (v scalarValue) want() string { return v.wanted }

func (v scalarValue) decode(d *decoder, n ast.Node, path string) {
	s, ok := d.scalar(n, path, v.wanted)
	if !ok {
		return
	}
	ok, hint := v.set(s)
	if ok {
		return
	}
	if strings.HasPrefix(hint, "is ") {
		d.report(positionOf(n), path, "%s %s", leaf(path), hint)
		return
	}
	shown := s.shown
	if v.secret {
		shown = "not usable"
	}
	d.report(positionOf(n), path, "%s is %s; give %s%s", leaf(path), shown, v.wanted, hint)
}

// text is any text that is not empty.
func text(p *string, example string) value {
	return scalarValue{wanted: "a text such as " + example, shape: shape{"type": "string", "minLength": 1}, current: func() string { return *p }, set: func(s scalar) (bool, string) {
		if s.kind == numberKind || s.kind == boolKind {
			return false, ", in quotes if this is meant"
		}
		*p = s.text
		return s.text != "", ""
	}}
}

// secret is a text that messages do not show.
func secret(p *Secret) value {
	return scalarValue{wanted: "a text, best as ${NAME} or ${file:/path}", secret: true, shape: shape{"type": "string", "minLength": 1}, set: func(s scalar) (bool, string) {
		*p = Secret(s.text)
		if s.kind == numberKind || s.kind == boolKind {
			return false, ", in quotes if it is a number, true or false"
		}
		return s.text != "", ""
	}}
}

// boolean is true or false.
func boolean(p *bool) value {
	return scalarValue{wanted: "true or false", shape: shape{"type": "boolean"}, current: func() string { return strconv.FormatBool(*p) }, set: func(s scalar) (bool, string) {
		switch {
		case s.kind != boolKind && s.kind != anyKind:
			return false, boolHint(s.text)
		case strings.EqualFold(s.text, "true"):
			*p = true
		case strings.EqualFold(s.text, "false"):
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

// integer is a whole number within bounds.
func integer[T int | int32 | int64 | uint64](p *T, low, high T) value {
	limits := shape{"type": "integer", "minimum": low, "maximum": high}
	return scalarValue{wanted: fmt.Sprintf("a whole number from %d to %d", low, high), shape: limits, current: func() string { return fmt.Sprint(*p) }, set: func(s scalar) (bool, string) {
		if s.kind == textKind {
			return false, ""
		}
		digits := strings.ReplaceAll(s.text, "_", "")
		if u, err := strconv.ParseUint(digits, 0, 64); err == nil && u <= uint64(high) && T(u) >= low {
			*p = T(u)
			return true, ""
		}
		return false, ""
	}}
}

// duration is a time span within bounds.
func duration(p *time.Duration, low, high time.Duration) value {
	wanted := fmt.Sprintf("a duration from %s to %s, such as 30s or 5m", shortDuration(low), shortDuration(high))
	return scalarValue{wanted: wanted, shape: durationShape, current: func() string { return shortDuration(*p) }, set: func(s scalar) (bool, string) {
		v, err := time.ParseDuration(strings.TrimSpace(s.text))
		if err != nil {
			if _, err := strconv.ParseFloat(s.text, 64); err == nil {
				return false, unitHint(s, "s")
			}
			return false, ""
		}
		*p = v
		return low <= v && v <= high, ""
	}}
}

// unitHint proposes a number with a unit, unless the number is from a variable.
func unitHint(s scalar, unit string) string {
	if s.kind == anyKind {
		return ", with its unit"
	}
	return fmt.Sprintf(", with its unit (did you mean %q?)", s.text+unit)
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

// size is a number of bytes within bounds.
func size[T int | int32 | int64](p *T, low, high T) value {
	wanted := fmt.Sprintf("a size from %s to %s, such as 64KiB or 512MiB", FormatSize(int64(low)), FormatSize(int64(high)))
	return scalarValue{wanted: wanted, shape: sizeShape, current: func() string { return FormatSize(int64(*p)) }, set: func(s scalar) (bool, string) {
		v, err := parseSize(strings.TrimSpace(s.text))
		if errors.Is(err, errSizeUnit) {
			return false, unitHint(s, "B")
		}
		if err != nil || v < int64(low) || v > int64(high) {
			return false, ""
		}
		*p = T(v)
		return true, ""
	}}
}

// enum is one of a few names, each with what it stands for.
func enum[T any](p *T, names []string, values []T) value {
	current := func() string {
		for i, v := range values {
			if any(v) == any(*p) {
				return names[i]
			}
		}
		return ""
	}
	return scalarValue{wanted: "one of " + listOf(names, "or"), shape: shape{"enum": names}, current: current, set: func(s scalar) (bool, string) {
		for i, name := range names {
			if s.text == name {
				*p = values[i]
				return true, ""
			}
		}
		if s.kind == anyKind {
			return false, "" // a hint could give away what was put in
		}
		return false, Suggest(s.text, names)
	}}
}

// names is an enum whose values are its names.
func names(p *string, all ...string) value { return enum(p, all, all) }

// listOf joins names for a sentence.
func listOf(names []string, word string) string {
	switch len(names) {
	case 0:
		return "none"
	case 1:
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " " + word + " " + names[last]
}

// startValue is where a consumer group without a position begins.
func startValue(p *Start) value {
	policies := []string{StartEarliest, StartLatest, StartCommitted}
	return scalarValue{
		wanted:  "one of " + listOf(policies, "or") + ", or a time such as 2026-07-01T00:00:00Z",
		shape:   shape{"anyOf": []shape{{"enum": policies}, {"type": "string", "format": "date-time", "pattern": `^\d{4}-\d\d-\d\dT`}}},
		current: func() string { return p.Policy },
		set: func(s scalar) (bool, string) {
			for _, policy := range policies {
				if s.text == policy {
					*p = Start{Policy: policy}
					return true, ""
				}
			}
			if t, err := time.Parse(time.RFC3339Nano, s.text); err == nil {
				*p = Start{Policy: StartTime, Time: t.UTC()}
				return true, ""
			}
			if s.kind == anyKind {
				return false, ""
			}
			return false, Suggest(s.text, policies)
		},
	}
}

// rate is a number of records per second.
func rate(p *float64) value {
	const most = 1e9
	return scalarValue{wanted: "a number of records per second from 0 (no limit) to 1e9", shape: shape{"type": "number", "minimum": 0, "maximum": most}, current: func() string { return strconv.FormatFloat(*p, 'g', -1, 64) }, set: func(s scalar) (bool, string) {
		v, err := strconv.ParseFloat(s.text, 64)
		if err != nil || !(v >= 0 && v <= most) {
			return false, ""
		}
		*p = v
		return true, ""
	}}
}

// share is a share of 1.
func share(p *float64, most float64) value {
	return scalarValue{wanted: fmt.Sprintf("a share from 0 to %g", most), shape: shape{"type": "number", "minimum": 0, "maximum": most}, current: func() string { return strconv.FormatFloat(*p, 'g', -1, 64) }, set: func(s scalar) (bool, string) {
		v, err := strconv.ParseFloat(s.text, 64)
		if err != nil || !(v >= 0 && v <= most) {
			return false, ""
		}
		*p = v
		return true, ""
	}}
}

// pointer is a JSON pointer, RFC 6901. With whole it may be empty, which is the record itself.
func pointer(p *string, whole bool) value {
	pattern := "^/"
	if whole {
		pattern = "^(/|$)"
	}
	return scalarValue{wanted: "a JSON pointer such as /user/id", shape: shape{"type": "string", "pattern": pattern}, current: func() string { return *p }, set: func(s scalar) (bool, string) {
		*p = s.text
		if whole && s.text == "" {
			return true, ""
		}
		if !strings.HasPrefix(s.text, "/") {
			if s.kind == textKind && s.text != "" && !strings.ContainsAny(s.text, "$~ ") {
				return false, fmt.Sprintf(" (did you mean %q?)", "/"+strings.ReplaceAll(s.text, ".", "/"))
			}
			return false, ""
		}
		for rest := s.text; ; {
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

// separator is one ASCII character, or a tab by its name.
func separator(p *string) value {
	return scalarValue{wanted: `one character such as ";", or tab`, shape: shape{"anyOf": []shape{{"const": "tab"}, {"type": "string", "maxLength": 1, "minLength": 1}}}, current: func() string { return *p }, set: func(s scalar) (bool, string) {
		if s.text == "tab" {
			s.text = "\t"
		}
		*p = s.text
		return len(s.text) == 1 && s.text[0] < 0x80, ""
	}}
}

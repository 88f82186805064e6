package differ

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/bidi"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/percent"
)

// replace returns q with each of its texts, from which tabs and newlines are removed, changed by f. It is false when
// that changes nothing.
func (q Question) replace(f func(string) string) (Question, bool) {
	changed := false
	on := func(s string) string {
		s = withoutTabs.Replace(s)
		t := f(s)
		changed = changed || t != s
		return t
	}
	q.Input = on(q.Input)
	if q.Base != nil {
		base := on(*q.Base)
		q.Base = &base
	}
	if q.Set != nil {
		q.Set = &Assignment{q.Set.Name, on(q.Set.Value)}
	}
	return q, changed
}

// letter stands in for characters that are taken out, in a domain that stays one with a letter that is not ASCII.
const letter = "\u00e9"

// replaceCharacters returns s with something else for every character that is in a set, escaped or not.
func replaceCharacters(s, by string, in func(rune) bool) string {
	for i := 0; i < len(s); {
		r, size := firstCharacter(s[i:])
		if in(r) {
			s = s[:i] + by + s[i+size:]
			size = len(by)
		}
		i += size
	}
	return s
}

// firstCharacter returns the character at the start of s, whose bytes may be written as triplets, and the length of
// what it is written in: U+FFFD and 1 when there is none.
func firstCharacter(s string) (rune, int) {
	var buf [utf8.UTFMax]byte
	n, size := 0, 0
	for n < len(buf) && size < len(s) && !utf8.FullRune(buf[:n]) {
		width := 1
		if s[size] == '%' && len(s) >= size+3 {
			width = 3
		}
		decoded := percent.Decode(s[size : size+width])
		if len(decoded) != 1 {
			break
		}
		buf[n] = decoded[0]
		n++
		size += width
	}
	if r, used := utf8.DecodeRune(buf[:n]); used == n && r != utf8.RuneError {
		return r, size
	}
	return utf8.RuneError, 1
}

func withoutChangedCharacters(d *Difference) (Question, bool) {
	return d.replace(func(s string) string {
		s = replaceCharacters(s, "", func(r rune) bool { return in(idnaIgnored[:], r) })
		changed := func(r rune) bool { return in(idnaChanges[:], r) }
		return replaceALabels(replaceCharacters(s, letter, changed), changed)
	})
}

func withoutUnassigned(d *Difference) (Question, bool) {
	q, found := d.replace(func(s string) string {
		unassigned := func(r rune) bool { return !unicode.In(r, assigned...) }
		return replaceALabels(replaceCharacters(s, letter, unassigned), unassigned)
	})
	return q, found && d.refused()
}

// assigned holds the characters of the Unicode version that Go knows.
var assigned = []*unicode.RangeTable{unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf, unicode.Co}

// fullIDNA is UTS 46 processing as the standard had it for ASCII domains too.
var fullIDNA = idna.New(
	idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(), idna.CheckJoiners(true), idna.CheckHyphens(false),
	idna.StrictDomainName(false), idna.VerifyDNSLength(false),
)

// acePrefix matches what makes a label an A-label.
var acePrefix = regexp.MustCompile(`(?i)xn--`)

// withoutFailingALabels is about domains that we take since they are ASCII, although UTS 46 processing fails.
func withoutFailingALabels(d *Difference) (Question, bool) {
	failing := failsIDNA(d.URL) || failsIDNA(d.Base) || failsIDNA(d.Before)
	q, found := d.replace(func(s string) string { return acePrefix.ReplaceAllString(s, "xnx") })
	nodeRefuses := d.Theirs == nil || d.Before != nil && d.Theirs.equal(read(d.Before)) || d.Theirs.Get("origin") == "null"
	return q, found && failing && nodeRefuses
}

// failsIDNA reports whether the host of u, or of the URL in u when it is a blob: URL, fails UTS 46 processing.
func failsIDNA(u *urlcore.URL) bool {
	if u != nil && u.Protocol() == "blob:" {
		u, _ = urlcore.Parse(u.Pathname())
	}
	if u == nil || !u.Special() || !strings.Contains(u.Hostname(), "xn--") {
		return false
	}
	_, err := fullIDNA.ToASCII(u.Hostname())
	return err != nil || asciiALabel.MatchString(u.Hostname())
}

// asciiALabel matches A-labels that are empty or end in a hyphen, that is, that stand for ASCII.
var asciiALabel = regexp.MustCompile(`(?i)xn--([^\x00-\x20./\\?#:@%<>[\]^|\x7f\x{3002}\x{ff0e}\x{ff61}]*-)?([^a-z0-9-]|$)`)

func withoutASCIIALabels(d *Difference) (Question, bool) {
	q, found := d.replace(func(s string) string { return asciiALabel.ReplaceAllString(s, "a$2") })
	return q, found && d.refused()
}

// anyALabel matches A-labels.
var anyALabel = regexp.MustCompile(`(?i)xn--[a-z0-9-]+`)

func withoutRightToLeft(d *Difference) (Question, bool) {
	q, found := d.replace(func(s string) string {
		return replaceALabels(replaceCharacters(s, letter, rightToLeft), rightToLeft)
	})
	return q, found && d.refused()
}

// replaceALabels returns s with "a" for every A-label that stands for text with a character of a set.
func replaceALabels(s string, in func(rune) bool) string {
	return anyALabel.ReplaceAllStringFunc(s, func(label string) string {
		if u, err := idna.Punycode.ToUnicode(strings.ToLower(label)); err == nil && strings.ContainsFunc(u, in) {
			return "a"
		}
		return label
	})
}

// rightToLeft reports whether r, or what it is mapped to, makes a domain a Bidi domain.
func rightToLeft(r rune) bool {
	if r >= 0x2135 && r <= 0x2138 {
		return true // symbols that are mapped to Hebrew letters
	}
	p, _ := bidi.LookupRune(r)
	return p.Class() == bidi.R || p.Class() == bidi.AL || p.Class() == bidi.AN
}

// letterColon matches a segment that begins like a drive letter and goes on.
var letterColon = regexp.MustCompile(`(^|[^A-Za-z0-9+.-])([A-Za-z]):([^/\\?#])`)

// longDriveLetter matches the serialization of a file URL with such a segment.
var longDriveLetter = regexp.MustCompile(`^file://[^?#]*/[A-Za-z]:[^/?#]`)

func withoutLetterColon(d *Difference) (Question, bool) {
	q, found := d.replace(func(s string) string { return letterColon.ReplaceAllString(s, "$1$2-$3") })
	return q, found && d.Theirs != nil && longDriveLetter.MatchString(d.Theirs.Get("href"))
}

func withoutJoiners(d *Difference) (Question, bool) {
	q, found := d.replace(func(s string) string {
		return replaceCharacters(s, letter, func(r rune) bool { return r == '\u200c' || r == '\u200d' })
	})
	return q, found && d.refused()
}

func withoutMarks(d *Difference) (Question, bool) {
	q, found := d.replace(func(s string) string { return replaceCharacters(s, letter, unicode.IsMark) })
	return q, found && d.refused()
}

// hyphenFirst matches A-labels whose Punycode begins with a hyphen and has no other.
var hyphenFirst = regexp.MustCompile(`(?i)xn---([a-z0-9]+)`)

func withoutLeadingHyphen(d *Difference) (Question, bool) {
	q, found := d.replace(func(s string) string { return hyphenFirst.ReplaceAllString(s, "a") })
	return q, found && d.refused()
}

// dotFirst matches segments that begin with dots and go on.
var dotFirst = regexp.MustCompile(`([/\\])\.+([^./\\?#%])`)

func withoutLeadingDots(d *Difference) (Question, bool) {
	q, found := d.replace(func(s string) string { return dotFirst.ReplaceAllString(s, "${1}a$2") })
	return q, found && d.Theirs != nil && strings.Contains(d.Theirs.Get("pathname"), "/.")
}

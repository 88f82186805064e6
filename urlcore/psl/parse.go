package psl

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/idna"
)

const (
	maxInput = 32 << 20 // bytes; the list of 2026 has 0.3 MB
	maxName  = 253      // bytes of a name, the limit of DNS
	maxLabel = 63
)

// Errors that [Parse] returns, those of one line inside a [LineError].
var (
	// ErrTooLarge is returned for an input above 32 MiB, or with more than a million names.
	ErrTooLarge = errors.New("psl: list too large")
	// ErrNoRules is returned for an input without rules, such as an empty file.
	ErrNoRules = errors.New("psl: no rules")
	// ErrRule is returned for a line that is no rule.
	ErrRule = errors.New("not a rule")
	// ErrSection is returned for a rule outside of both sections, and for a section mark out of place or missing:
	// a list that ends inside a section was cut off.
	ErrSection = errors.New("sections out of order")
)

// A LineError tells the line of a list that [Parse] does not accept.
type LineError struct {
	Line   int    // from 1
	Text   string // of the line, cut off at 80 bytes
	Reason string
	Err    error // ErrRule, ErrSection or ErrTooLarge
}

// Error returns line, reason and text.
func (e *LineError) Error() string {
	return fmt.Sprintf("psl: line %d: %v: %s: %q", e.Line, e.Err, e.Reason, e.Text)
}

// Unwrap returns e.Err.
func (e *LineError) Unwrap() error { return e.Err }

// Info tells where a list is from.
type Info struct {
	Source  string // the file's "// SOURCE:" comment
	Date    string // its "// VERSION:" comment, as it stands
	Commit  string // its "// COMMIT:" comment
	Digest  string // SHA-256 of the text that was parsed, in hexadecimal
	ICANN   int    // rules in the ICANN section
	Private int    // rules in the private section
}

// Info returns where the list is from and how many rules it has.
func (l *List) Info() Info { return l.info }

// Version names the list: its date and commit when the file tells one of them, else "sha256:" and the first 16
// digits of its digest. Lists with different versions differ. The version of the zero List is "".
func (l *List) Version() string {
	switch i := l.info; {
	case i.Date != "" && i.Commit != "":
		return i.Date + " " + i.Commit
	case i.Date+i.Commit != "":
		return i.Date + i.Commit
	case i.Digest != "":
		return "sha256:" + i.Digest[:16]
	default:
		return ""
	}
}

// Parse reads a list in the format of publicsuffix.org: one rule per line, comments, section marks.
//
// Rules may be in upper case or hold IDN labels in Unicode; they are brought to lower-case A-labels. A wildcard is
// accepted as the first label of a rule only, as everywhere in the published list. Every rule has to be in the
// ICANN or the private section.
//
// An error is a [*LineError], [ErrNoRules], [ErrTooLarge], or comes from r.
func Parse(r io.Reader) (*List, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("psl: %w", err)
	}
	if len(data) > maxInput {
		return nil, ErrTooLarge
	}
	return parse(string(data))
}

// parse is Parse for a text.
func parse(text string) (*List, error) {
	p := parser{builder: newBuilder(strings.Count(text, "\n"))}
	if err := p.parse(text); err != nil {
		return nil, err
	}
	l := p.builder.view()
	sum := sha256.Sum256([]byte(text))
	l.info = p.info
	l.info.Digest = hex.EncodeToString(sum[:])
	l.info.ICANN, l.info.Private = p.builder.rules[ICANN], p.builder.rules[Private]
	return l, nil
}

// A parser reads the lines of a list.
type parser struct {
	builder *builder
	section Section
	info    Info
}

func (p *parser) parse(text string) error {
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\uFEFF")) {
		number++
		line = strings.TrimSpace(line)
		if err := p.line(line); err != nil {
			err.Line, err.Text = number, line[:min(len(line), 80)]
			return err
		}
	}
	if p.section != Unlisted {
		return &LineError{Line: number, Err: ErrSection, Reason: "the list ends before the section does"}
	}
	if p.builder.rules == [3]int{} {
		return ErrNoRules
	}
	return nil
}

// line reads a line without white space around it. The caller fills in the error's line and text.
func (p *parser) line(line string) *LineError {
	if line == "" {
		return nil
	}
	if comment, ok := strings.CutPrefix(line, "//"); ok {
		return p.comment(strings.TrimSpace(comment))
	}
	if p.section == Unlisted {
		return &LineError{Err: ErrSection, Reason: "rule outside of the ICANN and the private section"}
	}
	// A rule ends at the first white space; what follows is a comment.
	for i := range len(line) {
		if line[i] == ' ' || line[i] == '\t' {
			line = line[:i]
			break
		}
	}
	return p.rule(line)
}

// comment reads section marks and what the comments at the top tell about the list.
func (p *parser) comment(text string) *LineError {
	if mark, ok := strings.CutPrefix(text, "==="); ok {
		return p.mark(strings.Trim(mark, "= "))
	}
	key, value, ok := strings.Cut(text, ": ")
	if !ok || p.section != Unlisted {
		return nil
	}
	value = strings.TrimSpace(value)
	switch key {
	case "SOURCE":
		p.info.Source = value
	case "VERSION":
		p.info.Date = value
	case "COMMIT":
		p.info.Commit = value
	}
	return nil
}

// mark begins or ends a section. Marks that do not have to do with the two sections are comments.
func (p *parser) mark(mark string) *LineError {
	want, next := Unlisted, Unlisted
	switch mark {
	case "BEGIN ICANN DOMAINS":
		next = ICANN
	case "END ICANN DOMAINS":
		want = ICANN
	case "BEGIN PRIVATE DOMAINS":
		next = Private
	case "END PRIVATE DOMAINS":
		want = Private
	default:
		return nil
	}
	if p.section != want {
		return &LineError{Err: ErrSection, Reason: "a section begins inside another one, or one ends that has not begun"}
	}
	p.section = next
	return nil
}

// rule reads a rule and hands it to the builder.
func (p *parser) rule(name string) *LineError {
	f := ruleICANN
	switch {
	case name[0] == '!':
		f, name = exceptICANN, name[1:]
	case strings.HasPrefix(name, "*."):
		f, name = wildICANN, name[2:]
	case name == "*": // the default rule, written out
		f, name = wildICANN, ""
	}
	if p.section == Private {
		f <<= 1 // the flag beside it
	}
	if !isNormal(name) {
		ascii, err := toASCII.ToASCII(name)
		if err != nil {
			return &LineError{Err: ErrRule, Reason: err.Error()}
		}
		name = ascii
	}
	if reason := checkName(name, f); reason != "" {
		return &LineError{Err: ErrRule, Reason: reason}
	}
	if !p.builder.add(name, f) {
		return &LineError{Err: ErrTooLarge, Reason: "too many names"}
	}
	return nil
}

// toASCII maps as the URL parser maps a domain.
var toASCII = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))

// isNormal reports whether name is ASCII without upper-case letters.
func isNormal(name string) bool {
	for i := range len(name) {
		if c := name[i]; c >= 0x80 || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

// checkName returns why name, an ASCII name in lower case, can't be in a rule with the given flags, or "".
func checkName(name string, f flags) string {
	if name == "" && f&anyWild != 0 {
		return ""
	}
	if len(name) > maxName {
		return "name longer than 253 bytes"
	}
	labels, start := 0, 0
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '.' {
			if !isLabelByte(name[i]) {
				return fmt.Sprintf("%q in a name (a wildcard can only be the first label)", name[i])
			}
			continue
		}
		if i == start {
			return "empty label"
		}
		if i-start > maxLabel {
			return "label longer than 63 bytes"
		}
		labels, start = labels+1, i+1
	}
	if labels < 2 && f&anyExcept != 0 {
		return "an exception needs two labels"
	}
	return ""
}

func isLabelByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

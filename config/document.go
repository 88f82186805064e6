package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Document is a file that was read: where its values are, apart from what they are. A nil one is of no file.
type Document struct {
	file, hash string
	at         map[string]position
	expanded   map[string]expansion
	bad        map[string]bool // paths with a problem
	notes      []Problem
}

// expansion is a value that had substitutions.
type expansion struct{ source, value string }

// hide puts the variable back into a text, where its value stands between quotes, is long enough to be no part of another word,
// or is a word of its own that is not too short to be one of the message.
func (e expansion) hide(text string) string {
	const word, long = 4, 8
	const mark = "\x00" // the source may have the value in it, as a default
	text = strings.ReplaceAll(text, strconv.Quote(e.value), mark)
	switch {
	case len(e.value) >= long:
		text = strings.ReplaceAll(text, e.value, e.source)
	case len(e.value) >= word:
		pattern := regexp.QuoteMeta(e.value)
		if isWord.MatchString(e.value[:1]) {
			pattern = `\b` + pattern
		}
		if isWord.MatchString(e.value[len(e.value)-1:]) {
			pattern += `\b`
		}
		text = regexp.MustCompile(pattern).ReplaceAllLiteralString(text, e.source)
	}
	return strings.ReplaceAll(text, mark, strconv.Quote(e.source))
}

var isWord = regexp.MustCompile(`\w`)

// File returns the name that the configuration was read under.
func (d *Document) File() string {
	if d == nil {
		return ""
	}
	return d.file
}

// Hash returns a hash of the configuration's text, as it is before substitutions; "" for one that was not read.
func (d *Document) Hash() string {
	if d == nil {
		return ""
	}
	return d.hash
}

// Identity returns a hash of the configuration's text with what substitutions have made of it.
func (d *Document) Identity() string {
	sum := sha256.New()
	_, _ = io.WriteString(sum, d.Hash())
	if d != nil {
		for _, at := range slices.Sorted(maps.Keys(d.expanded)) {
			_, _ = fmt.Fprintf(sum, "\n%q %q", at, d.expanded[at].value)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Given reports whether the file has a value at path, such as "source.kafka.start".
func (d *Document) Given(path string) bool {
	if d == nil {
		return false
	}
	_, ok := d.at[path]
	return ok
}

// Notes returns what is not wrong and can be better, such as a key under a former name, in the order of the lines.
func (d *Document) Notes() []Problem {
	if d == nil {
		return nil
	}
	return d.notes
}

// Sound reports whether no value at one of the paths, below it or above it has a problem of its own.
func (d *Document) Sound(paths ...string) bool {
	return !slices.ContainsFunc(paths, func(p string) bool { return len(d.Unsound(p)) > 0 })
}

// Unsound returns the paths of the values at path, below it and above it that have a problem of their own.
func (d *Document) Unsound(path string) (all []string) {
	if d == nil {
		return nil
	}
	for bad := range d.bad {
		if within(path, bad) || within(bad, path) {
			all = append(all, bad)
		}
	}
	return all
}

// Follows reports whether a problem that a component has with the value at path, within its section, may come of another one that
// the file has: of that value, or of another one in the section that the message names.
func (d *Document) Follows(section, path, message string) bool {
	if !d.Sound(path) {
		return true
	}
	if d != nil {
		for bad := range d.bad {
			if within(section, bad) && regexp.MustCompile(`\b`+regexp.QuoteMeta(leaf(bad))+`\b`).MatchString(message) {
				return true
			}
		}
	}
	return false
}

// within reports whether path is that of a section, or below it.
func within(section, path string) bool {
	rest, ok := strings.CutPrefix(path, section)
	return ok && (rest == "" || section == "" || rest[0] == '.' || rest[0] == '[')
}

// Problem returns a problem of the value at path, for what only those who use the configuration can check. Its
// position is that of the nearest value that the file has, when it does not have that one. Where the message quotes what was
// put in for a variable there, it quotes the variable instead.
func (d *Document) Problem(path, format string, args ...any) Problem {
	p := Problem{Path: path, Message: fmt.Sprintf(format, args...)}
	if d == nil {
		return p
	}
	for at, e := range d.expanded {
		if strings.HasPrefix(at, path) {
			p.Message = e.hide(p.Message)
		}
	}
	for at := path; ; {
		if pos, ok := d.at[at]; ok {
			p.Line, p.Column = pos.line, pos.column
			return p
		}
		i := strings.LastIndexAny(at, ".[")
		if i < 0 {
			return p
		}
		at = at[:i]
	}
}

// Errors makes an error of problems, nil when there are none.
func (d *Document) Errors(problems []Problem) error { return newError(d.File(), problems) }

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
}

// expansion is a value that had substitutions.
type expansion struct{ source, value string }

// hide puts the variable back into a text, where its value stands between quotes, is long enough to be no part of another word,
// or is a word of its own that is not too short to be one of the message.
func (e expansion) hide(text string) string {
	const word, long = 4, 8
	text = strings.ReplaceAll(text, strconv.Quote(e.value), strconv.Quote(e.source))
	switch {
	case len(e.value) >= long:
		return strings.ReplaceAll(text, e.value, e.source)
	case len(e.value) >= word:
		pattern := regexp.QuoteMeta(e.value)
		if isWord.MatchString(e.value[:1]) {
			pattern = `\b` + pattern
		}
		if isWord.MatchString(e.value[len(e.value)-1:]) {
			pattern += `\b`
		}
		return regexp.MustCompile(pattern).ReplaceAllLiteralString(text, e.source)
	}
	return text
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

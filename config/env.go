package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Env is where the substitutions in the values of a configuration come from:
//
//	${NAME}           the environment variable NAME, which has to be set
//	${NAME:-default}  the same, and default when it is not set or empty
//	${file:PATH}      the contents of a file without the line end after its last line; PATH is relative to the
//	                  folder of the configuration
//	$${               the two characters ${
//
// They work in values, not in keys, and after the YAML has been read: what is put in is always a single plain
// value and cannot add keys. Inside [ ] and { } YAML wants quotes around them. Where a list is expected, the
// value may be one such text with commas between the items.
type Env struct {
	// Lookup returns an environment variable and whether it is set.
	Lookup func(name string) (string, bool)
	// ReadFile returns the contents of a file. One of more than a megabyte is refused, so that it may stop there.
	ReadFile func(path string) ([]byte, error)
}

// OSEnv is the environment of the process.
func OSEnv() Env { return Env{Lookup: os.LookupEnv, ReadFile: readFile} }

// expand puts in the substitutions of s. changed reports whether there were any. problem says what is wrong with
// them, without a value.
func (e Env) expand(s string, resolve func(string) string) (out string, changed bool, problem string) {
	if !strings.Contains(s, "${") {
		return s, false, ""
	}
	var b strings.Builder
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			b.WriteString(s)
			return b.String(), changed, ""
		}
		if i > 0 && s[i-1] == '$' {
			b.WriteString(s[:i-1])
			b.WriteString("${")
			s = s[i+2:]
			continue
		}
		end := strings.IndexByte(s[i:], '}')
		if end < 0 {
			return "", true, `"${" without "}"; close it, or write "$${" for the two characters themselves`
		}
		b.WriteString(s[:i])
		value, problem := e.value(s[i+2:i+end], resolve)
		if problem != "" {
			return "", true, problem
		}
		b.WriteString(value)
		changed = true
		s = s[i+end+1:]
	}
}

// value returns what stands for the inner part of one substitution.
func (e Env) value(inner string, resolve func(string) string) (value, problem string) {
	if path, ok := strings.CutPrefix(inner, "file:"); ok {
		return e.file(path, resolve)
	}
	name, fallback, hasFallback := strings.Cut(inner, ":-")
	if !validName(name) {
		return "", fmt.Sprintf("${%s} does not name an environment variable; write ${NAME}, ${NAME:-default} or ${file:/path}", name)
	}
	value, ok := e.Lookup(name)
	switch {
	case hasFallback && value == "":
		return fallback, ""
	case !ok:
		return "", fmt.Sprintf("the environment variable %s is not set; set it, or give a default: ${%s:-default}", name, name)
	}
	return value, ""
}

// file reads the file of a substitution.
func (e Env) file(path string, resolve func(string) string) (value, problem string) {
	if path == "" {
		return "", "${file:} names no file; write ${file:/path}"
	}
	data, err := e.ReadFile(resolve(path))
	switch {
	case err != nil:
		if e := (*fs.PathError)(nil); errors.As(err, &e) {
			err = e.Err // the path is in the message already
		}
		return "", fmt.Sprintf("${file:%s} cannot be read: %v; relative paths begin in the folder of the configuration", path, err)
	case len(data) > MaxFileSize:
		return "", fmt.Sprintf("${file:%s} is larger than %s; it has to hold a single value", path, FormatSize(MaxFileSize))
	}
	text := strings.TrimSuffix(string(data), "\n")
	return strings.TrimSuffix(text, "\r"), ""
}

// validName reports whether s is a name that a shell would accept for a variable.
func validName(s string) bool {
	for i, c := range []byte(s) {
		letter := c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

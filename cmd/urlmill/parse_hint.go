package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
)

// judge returns an error if every row has one, and warns if most have: the codec is not that of the records then.
func (f parseFlags) judge(t pipeline.Totals, files []string, log *slog.Logger) error {
	wrong := t.Invalid + t.Nulled
	if t.Rows == 0 || wrong*2 <= t.Rows {
		return nil
	}
	code := pipeline.Mostly(t.Errors)
	hint := f.hint(files)
	if hint == "" && t.Invalid*2 <= t.Rows {
		return nil // fields that are null are of no other format
	}
	if t.Invalid == t.Rows {
		if hint != "" && f.out != "-" && f.onError == "keep" {
			hint += "; these rows are in " + f.out + ": remove their files first"
		}
		return fmt.Errorf("every row has an error (%s), mostly %s%s", plain.Plural(t.Rows, "row"), code, prefixed("; ", hint))
	}
	attrs := []any{"rows", t.Rows, "with_error", wrong, "mostly", code}
	if hint != "" {
		attrs = append(attrs, "hint", hint)
	}
	log.Warn("most rows have an error", attrs...)
	return nil
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// hint says what the records look like, "" where the codec was chosen, or nothing is known.
func (f parseFlags) hint(files []string) string {
	if slices.Contains(logCodecs(), f.codec) {
		for _, name := range files {
			if line := firstLine(name); line != "" {
				return otherLog(line, f.codec)
			}
		}
		return ""
	}
	if f.codec != "" && f.codec != "lines" || f.urlField != "" || f.nginx != "" || f.apache != "" || f.baseURL != "" {
		return ""
	}
	for _, name := range files {
		if line := firstLine(name); line != "" {
			return lookOf(line)
		}
	}
	return "if a line is not a URL, say with --codec or --url-field what it is"
}

// firstLine returns the first line of a file that has text in it, "" for what is no plain or gzipped file: standard input is gone.
func firstLine(name string) string {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	file, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }() // it was read alone
	const enough = 64 << 10
	in := bufio.NewReader(file)
	var text io.Reader = in
	if magic, err := in.Peek(2); err == nil && bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		if text, err = gzip.NewReader(in); err != nil {
			return ""
		}
	}
	head, _ := io.ReadAll(io.LimitReader(text, enough)) // what there is will do
	for line := range strings.Lines(string(head)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return ""
}

var (
	requestLine = regexp.MustCompile(`\[[^\]]+\] "[A-Z]+ \S+( HTTP/[0-9.]+)?" [0-9]{3} `)
	agentEnd    = regexp.MustCompile(`" "[^"]*"$`)
)

var cdxjLine = regexp.MustCompile(`^\S+\) ?\S* [0-9]{14} \{`)

var (
	commonLine   = regexp.MustCompile(requestLine.String() + `([0-9]+|-)$`)
	combinedLine = regexp.MustCompile(requestLine.String() + `([0-9]+|-) "[^"]*" "[^"]*"$`)
)

// otherLog says which of two formats a line of an access log has that was read in another one, "" for neither.
func otherLog(line, codec string) string {
	switch {
	case combinedLine.MatchString(line) && !slices.Contains([]string{"combined", "nginx", "main"}, codec): // the other two read it as well
		return "these lines have a referrer and a user agent; try --codec combined"
	case commonLine.MatchString(line) && codec != "common":
		return "these lines have no referrer and no user agent; try --codec common"
	}
	return ""
}

// lookOf says what a record that is no URL looks like, and how such are parsed; "" if it is not known.
func lookOf(line string) string {
	switch {
	case requestLine.MatchString(line) && agentEnd.MatchString(line):
		return "this looks like an access log; try --codec combined --base-url https://www.example.com"
	case requestLine.MatchString(line):
		return "this looks like an access log; try --codec common --base-url https://www.example.com"
	case strings.HasPrefix(line, " CDX ") || cdxjLine.MatchString(line):
		return "this looks like an index of an archive; try --codec cdx"
	case strings.HasPrefix(line, "{"):
		return "these look like JSON objects; try --url-field " + urlMember(line)
	case urlcols.WithScheme("https", line) != line:
		return "these have no scheme; try --default-scheme https"
	case strings.Contains(line, "\t"):
		return "this looks like TSV; try --codec tsv --url-field COLUMN"
	case strings.Contains(line, ","):
		return "this looks like CSV; try --codec csv --url-field COLUMN"
	}
	return ""
}

// urlMember returns the pointer to the first member of an object, by its name, that has a URL.
func urlMember(line string) string {
	var object map[string]any
	if json.Unmarshal([]byte(line), &object) == nil {
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if s, ok := object[name].(string); ok && strings.Contains(s, "://") {
				return asPointer(name)
			}
		}
	}
	return "/url"
}

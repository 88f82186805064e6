package config

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// MaxFileSize bounds a configuration, and a file that is put into one.
const MaxFileSize = 1 << 20

// Load reads the configuration in a file into what root is bound to. The error is an [*Error] when the file was read and is not right.
func Load(path string, env Env, root Section) (*Document, error) {
	if reason, advice := Misplaced(path, false); reason != "" {
		return nil, fmt.Errorf("configuration: %q %s; %s", path, reason, advice)
	}
	data, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w; give the path of a file that can be read", err)
	}
	if len(data) > MaxFileSize {
		return nil, fmt.Errorf("configuration: %s is larger than %s", path, FormatSize(MaxFileSize))
	}
	return Parse(path, data, env, root)
}

// ReadFile reads a file that a configuration names, of at most limit bytes. A device is refused: it has no end, and no size that
// says so.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w; give the path of a file that can be read", err)
	}
	defer func() { _ = f.Close() }() // it was read alone
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file; give the path of a file that can be read", path)
	case info.Size() > limit:
		return nil, fmt.Errorf("%s is larger than %s", path, FormatSize(limit))
	}
	data := make([]byte, info.Size())
	_, err = io.ReadFull(f, data)
	return data, err
}

// readFile reads a file, or of one that is larger than MaxFileSize, or has no end, a byte more than that.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was read alone
	return io.ReadAll(io.LimitReader(f, MaxFileSize+1))
}

// Parse reads a configuration that is called file in messages into what root is bound to. Relative paths of ${file:...} begin
// in its folder. The error is an [*Error]; with it the Document is what could be read, nil if that is nothing, and the variables of
// values with a problem have their defaults, or any value.
func Parse(file string, data []byte, env Env, root Section) (*Document, error) {
	d := &decoder{
		root: root, env: env, dir: filepath.Dir(file),
		anchors: map[string]ast.Node{}, bad: map[string]bool{}, at: map[string]position{}, expanded: map[string]expansion{},
	}
	node := d.parse(data)
	if node == nil {
		return nil, newError(file, d.problems)
	}
	d.collectAnchors(node)
	if n := d.resolve(node); n != nil {
		d.decodeSection(n, position{1, 1}, "", root)
	}
	slices.SortStableFunc(d.notes, byPlace)
	sum := fmt.Sprintf("sha256:%x", sha256.Sum256(data))
	return &Document{file: file, at: d.at, expanded: d.expanded, bad: d.bad, notes: d.notes, hash: sum}, newError(file, d.problems)
}

// parse returns the root of the only document in data, or nil after it has reported what is wrong.
func (d *decoder) parse(data []byte) ast.Node {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(data) > MaxFileSize {
		d.report(position{1, 1}, "", "larger than %s", FormatSize(MaxFileSize))
		return nil
	}
	if at, ok := invalidUTF8(data); ok {
		d.report(at, "", "not UTF-8 here; save the file as UTF-8")
		return nil
	}
	if at, ok := deepNesting(data); ok {
		d.report(at, "", "more than %d brackets are open here; close some", maxNesting)
		return nil
	}
	if at, ok := manyDashes(data); ok {
		d.report(at, "", "more than %d lists begin on this line", maxNesting)
		return nil
	}
	if at, ok := manyLines(data); ok {
		d.report(at, "", "more than %d lines; a configuration has fewer", maxLines)
		return nil
	}
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		d.reportSyntax(err, data)
		return nil
	}
	var roots []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.CommentType && doc.Body.Type() != ast.CommentGroupType {
			roots = append(roots, doc.Body)
		}
	}
	switch {
	case len(roots) == 0:
		d.report(position{1, 1}, "", "the configuration is empty; it needs at least a source and a sink")
		return nil
	case len(roots) > 1:
		d.report(positionOf(roots[1]), "", `a second YAML document begins here; keep one, without the line "---" between`)
	}
	return roots[0]
}

// reportSyntax reports what the YAML parser says. Its own rendering would print the lines around the error and
// whatever secrets are there.
func (d *decoder) reportSyntax(err error, data []byte) {
	var e yaml.Error
	if !errors.As(err, &e) {
		d.report(position{1, 1}, "", "not YAML: %v", err)
		return
	}
	at := tokenPosition(e.GetToken())
	hint := ""
	lines := bytes.Split(data, []byte("\n"))
	if at.line <= len(lines) && bytes.Contains(lines[at.line-1], []byte("${")) {
		hint = `; inside [ ] and { } put quotes around a variable: "${NAME}"`
	} else if at.line <= len(lines) && bytes.HasPrefix(bytes.TrimLeft(lines[at.line-1], " "), []byte("\t")) {
		hint = "; YAML is indented by spaces, not by tabs"
	} else {
		for said, advice := range syntaxAdvice {
			if strings.Contains(e.GetMessage(), said) {
				hint = "; " + advice
			}
		}
	}
	d.report(at, "", "not YAML: %s%s", strings.TrimSuffix(e.GetMessage(), "."), hint)
}

// syntaxAdvice says what to do about what the YAML parser says. No message has two of these.
var syntaxAdvice = map[string]string{
	"' must be specified":         "close the bracket, or put a comma between",
	"could not find end":          "close the quotation mark",
	"not allowed in this context": "keys of one section begin in the same column, and a text with a colon needs quotation marks",
}

// The YAML parser takes time, and memory, by the square of brackets within brackets, of lists that begin within lists on one
// line ("- - -"), and of the entries of a mapping and of documents, which take a line each.
const (
	maxNesting = 500
	maxLines   = 10_000
)

// deepNesting returns the place of a bracket within too many others. It counts those in texts and comments too, which
// no configuration has as many of.
func deepNesting(data []byte) (position, bool) {
	depth, at := 0, position{1, 0}
	for _, b := range data {
		at.column++
		switch b {
		case '\n':
			at.line, at.column = at.line+1, 0
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		}
		if depth > maxNesting {
			return at, true
		}
	}
	return position{}, false
}

// manyDashes returns the place of the first line that begins with too many dashes, or question marks, which nest in the same way.
func manyDashes(data []byte) (position, bool) {
	line := 0
	for text := range bytes.Lines(data) {
		line++
		begin := text[:len(text)-len(bytes.TrimLeft(text, "-? "))]
		if len(begin)-bytes.Count(begin, []byte(" ")) > maxNesting {
			return position{line, 1}, true
		}
	}
	return position{}, false
}

// manyLines returns the place of the first line that is too many.
func manyLines(data []byte) (position, bool) {
	if bytes.Count(data, []byte("\n")) < maxLines {
		return position{}, false
	}
	return position{maxLines + 1, 1}, true
}

// invalidUTF8 returns the place of the first byte that is not UTF-8.
func invalidUTF8(data []byte) (position, bool) {
	at := position{1, 1}
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 {
			return at, true
		}
		at.column++
		if r == '\n' {
			at.line, at.column = at.line+1, 1
		}
		data = data[n:]
	}
	return position{}, false
}

// resolvePath makes a path relative to the folder of the configuration.
func (d *decoder) resolvePath(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(d.dir, path)
}

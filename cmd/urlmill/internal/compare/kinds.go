package compare

import (
	"strings"

	"github.com/urlmill/urlmill/urlcore/percent"
)

// The columns that are compared. Parameters come behind the others.
const (
	columnHost  = "host"
	columnPath  = "path"
	columnQuery = "query"
	columnParam = "param"
)

var parts = []string{columnHost, columnPath, columnQuery}

// row is a row whose value of a column changes.
type row struct {
	url, column   string
	before, after value
	err           string // url_error, or ""
}

// kind says in a few words what changes. It is the first of what explains all of the change; what is left is named after
// the column.
func kind(e engine, r row) string {
	switch {
	case r.err != "":
		return "no value any more: " + r.err
	case r.before.null || r.before.text == "" && r.column != columnPath:
		return appeared(e, r)
	case r.after.null:
		return disappeared(r)
	}
	switch r.column {
	case columnHost:
		return hostKind(r)
	case columnPath:
		return pathKind(r)
	case columnQuery:
		return queryKind(r)
	}
	return paramKind(r)
}

// appeared is for what was nothing before.
func appeared(e engine, r row) string {
	if r.column != columnParam {
		if r.after.text == "" {
			return `"" instead of NULL`
		}
		return e.nothing(r.url, r.column)
	}
	if reason := e.nothing(r.url, columnQuery); strings.Contains(reason, ": ") {
		return reason
	}
	if r.after.text == "" {
		return `a parameter without "="`
	}
	return "a name or value that is found only when it is decoded"
}

// disappeared is for what is NULL now.
func disappeared(r row) string {
	switch r.column {
	case columnHost, columnPath:
		return "NULL now"
	case columnQuery:
		return `NULL now: the "?" is of the fragment`
	}
	return "NULL now: the parameter is of the fragment, or the name part of another one"
}

func hostKind(r row) string {
	switch before := r.before.text; {
	case strings.EqualFold(before, r.after.text):
		return "lower case"
	case !ascii(before):
		return "IDNA (xn--)"
	case strings.Contains(r.after.text, ":") && strings.HasPrefix(before, "["):
		return "the short form of an IPv6 address"
	case r.after.text != "" && strings.Trim(r.after.text, "0123456789.") == "":
		return "the usual form of an IPv4 address"
	case strings.Contains(before, "%"):
		return "percent-decoded"
	}
	return "another host"
}

func pathKind(r row) string {
	before, after := r.before.text, r.after.text
	decoded := unescape(before)
	switch {
	case before == "" && after == "/":
		return `"/" instead of an empty path`
	case before == "":
		return `"" before`
	case decoded == unescape(after):
		return "percent-encoded"
	case strings.Contains(r.url, `\`):
		return `"\" read as "/"`
	case strings.ContainsAny(r.url, "\t\n\r"):
		return "tabs and line ends taken out"
	case strings.TrimRight(decoded, " ") == unescape(after):
		return "spaces at the end of the URL taken off"
	case !strings.HasPrefix(after, "/"):
		return "all of the path of a URL without a slash behind its scheme"
	case strings.Contains(decoded, "/.") || strings.HasPrefix(decoded, "."):
		return `"." and ".." taken out`
	}
	return "another path"
}

func queryKind(r row) string {
	switch {
	case unescape(r.before.text) == unescape(r.after.text):
		return "percent-encoded"
	case strings.ContainsAny(r.url, "\t\n\r"):
		return "tabs and line ends taken out"
	case strings.TrimRight(unescape(r.before.text), " ") == unescape(r.after.text):
		return "spaces at the end of the URL taken off"
	}
	return "another query"
}

func paramKind(r row) string {
	decoded := unescape(strings.ReplaceAll(r.before.text, "+", " "))
	switch {
	case strings.ToValidUTF8(decoded, "\ufffd") == r.after.text || decoded == r.after.text:
		return "decoded"
	case strings.Contains(r.before.text, "%") || strings.Contains(r.before.text, "+"):
		return "decoded, and what was no UTF-8 replaced"
	case r.after.text == "":
		return `the first one is without "="`
	}
	return "another value"
}

func unescape(s string) string { return string(percent.AppendDecode(nil, []byte(s))) }

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

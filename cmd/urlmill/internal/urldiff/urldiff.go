// Package urldiff compares what net/url and urlcore read in URLs, for those who go from one to the other.
package urldiff

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	neturl "net/url"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/form"
	"github.com/urlmill/urlmill/urlcore/percent"
)

// Report counts the differences by their kind. Its zero value is ready for use.
type Report struct {
	urls, differ int
	kinds        map[string]*kind

	parser urlcore.Parser
	ours   urlcore.URL
}

// kind is a kind of difference: how many URLs have it, and the first of them.
type kind struct {
	count   int
	example string
	difference
}

// difference is what the two read in one URL.
type difference struct{ kind, theirs, ours string }

// Read adds the URLs of a list, one a line; empty lines are none.
func (r *Report) Read(list io.Reader) error {
	lines := bufio.NewReader(list)
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			r.Add(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Add adds a URL.
func (r *Report) Add(input string) {
	if r.kinds == nil {
		r.kinds = map[string]*kind{}
	}
	all := r.differences(input)
	r.urls++
	if len(all) > 0 {
		r.differ++
	}
	for _, d := range all {
		k := r.kinds[d.kind]
		if k == nil {
			k = &kind{example: input, difference: d}
			r.kinds[d.kind] = k
		}
		k.count++
	}
}

// differences returns how the two differ in a URL.
func (r *Report) differences(input string) []difference {
	theirs, err := neturl.Parse(input)
	failure := r.parser.Parse(&r.ours, []byte(input), nil)
	switch {
	case err != nil && !failure.OK():
		return nil
	case err != nil:
		return []difference{{"only urlcore parses: " + reason(err), "an error", r.ours.Href()}}
	case !failure.OK():
		return []difference{{"only net/url parses: " + failure.Code.String(), theirs.String(), "an error"}}
	}
	var all []difference
	add := func(part, theirs, ours string, kind func(theirs, ours string) string) {
		if theirs != ours {
			all = append(all, difference{part + kind(theirs, ours), theirs, ours})
		}
	}
	u := &r.ours
	password, _ := theirs.User.Password()
	add("scheme", theirs.Scheme, string(u.Bytes(urlcore.Scheme)), escapes)
	add("username", theirs.User.Username(), decode(u.Bytes(urlcore.Username)), escapes)
	add("password", password, decode(u.Bytes(urlcore.Password)), escapes)
	add("host", theirs.Hostname(), strings.Trim(u.Hostname(), "[]"), hostKind)
	add("port", theirs.Port(), u.Port(), portKind)
	add("path", cmp.Or(theirs.Opaque, theirs.EscapedPath()), u.Pathname(), pathKind)
	add("query", theirs.RawQuery, string(u.Bytes(urlcore.Query)), escapes)
	add("parameters", theirs.Query().Encode(), values(u.Bytes(urlcore.Query)), parametersKind)
	add("fragment", theirs.EscapedFragment(), string(u.Bytes(urlcore.Fragment)), escapes)
	return all
}

func decode(text []byte) string { return string(percent.AppendDecode(nil, text)) }

// values writes the parameters of a query as url.Values does.
func values(query []byte) string {
	v := neturl.Values{}
	for _, p := range form.AppendParse(nil, query) {
		v.Add(p.Name, p.Value)
	}
	return v.Encode()
}

// reason returns what an error of net/url says, less what is of one URL only.
func reason(err error) string {
	var e *neturl.Error
	if errors.As(err, &e) {
		err = e.Err
	}
	text, rest, _ := strings.Cut(err.Error(), `"`)
	if i := strings.LastIndexByte(rest, '"'); i >= 0 {
		text += "..." + rest[i+1:]
	}
	return strings.TrimSuffix(strings.TrimPrefix(text, "net/url: "), " ...")
}

// escapes tells text that is only escaped otherwise from other text.
func escapes(theirs, ours string) string {
	if bytes.Equal(percent.Decode(theirs), percent.Decode(ours)) {
		return ": other characters are escaped"
	}
	return ""
}

func hostKind(theirs, ours string) string {
	_, kind, _ := urlcore.ParseHost(ours, false)
	switch {
	case strings.EqualFold(theirs, ours):
		return ": in lower case"
	case kind == urlcore.HostIPv4:
		return ": a number is an address"
	case strings.Contains(ours, "xn--"):
		return ": by the rules of IDNA"
	}
	return ""
}

func portKind(_, ours string) string {
	if ours == "" {
		return ": the scheme's default is left out"
	}
	return ""
}

func pathKind(theirs, ours string) string {
	switch {
	case theirs == "" && ours == "/":
		return `: an empty one is "/"`
	case strings.Contains(decode([]byte(theirs)), "/."):
		return ": dot segments are resolved"
	case strings.Contains(theirs, `%5C`) && !strings.Contains(ours, `%5C`):
		return ": a backslash is a slash"
	}
	return escapes(theirs, ours)
}

func parametersKind(theirs, ours string) string {
	if strings.Count(theirs, "=") < strings.Count(ours, "=") {
		return ": net/url drops those with a semicolon or a bad escape"
	}
	return ""
}

// Write writes the counts, the largest first, with an example of every kind.
func (r *Report) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%d URLs, of which net/url and urlcore read %d alike (%s) and %d otherwise (%s)\n",
		r.urls, r.urls-r.differ, r.share(r.urls-r.differ), r.differ, r.share(r.differ))
	kinds := slices.SortedFunc(maps.Values(r.kinds), func(a, b *kind) int {
		return cmp.Or(b.count-a.count, strings.Compare(a.kind, b.kind))
	})
	for _, k := range kinds {
		fmt.Fprintf(out, "\n%d (%s) %s\n  %s\n  net/url  %s\n  urlcore  %s\n", k.count, r.share(k.count), k.kind, quoted(k.example), quoted(k.theirs), quoted(k.ours))
	}
	return out.Flush()
}

func (r *Report) share(n int) string {
	return fmt.Sprintf("%.2f %%", 100*float64(n)/float64(max(r.urls, 1)))
}

// shown is how much of a value is shown, in bytes.
const shown = 200

// quoted quotes all values but that there is none.
func quoted(value string) string {
	switch {
	case value == "an error":
		return value
	case len(value) > shown:
		return fmt.Sprintf("%q...", value[:shown])
	}
	return fmt.Sprintf("%q", value)
}

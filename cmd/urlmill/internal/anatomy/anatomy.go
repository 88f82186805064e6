// Package anatomy shows a single URL for people: every component, and every error at its place.
package anatomy

import (
	"fmt"
	"io"
	"strings"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/form"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// labelWidth is the width of the longest label and a gap.
const labelWidth = len("registrable domain") + 2

// Write prints what input is when it is resolved against base, which may be nil: the input with every error at its
// place, the URL with its parts underlined and named, and a table of what they mean. It returns whether the input
// parses, and the error of w.
func Write(w io.Writer, input string, base *urlcore.URL, s Style) (ok bool, err error) {
	p := urlcore.Parser{CollectErrors: true}
	var u urlcore.URL
	failure := p.Parse(&u, []byte(input), base)
	marks := marksOf(input, failure, p.ValidationErrors())
	var b strings.Builder
	if !failure.OK() || len(marks) > 0 || u.Href() != input {
		writeInput(&b, input, marks, s)
	}
	if failure.OK() {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		_, domain, _ := u.Site(psl.Default())
		writePicture(&b, &u, domain, s)
		b.WriteByte('\n')
		t := table{&b, s}
		t.parts(&u)
		t.params(&u)
		for _, c := range canonicalForms(&u) {
			t.row("canonical "+c.name, "", c.value, "")
		}
	}
	_, err = io.WriteString(w, b.String())
	return failure.OK(), err
}

// table prints lines of a label and a value.
type table struct {
	b     *strings.Builder
	style Style
}

// row prints a line. color is that of the value.
func (t table) row(label, color, value, note string) {
	fmt.Fprintf(t.b, "  %s", t.style.paint(dim, label))
	if value != "" || note != "" {
		t.b.WriteString(strings.Repeat(" ", max(0, labelWidth-len(label))))
		t.b.WriteString(t.style.paint(color, plain.Text(value)))
	}
	if note != "" {
		t.b.WriteString("  " + t.style.paint(dim, "("+note+")"))
	}
	t.b.WriteByte('\n')
}

// parts prints the getters of the URL class and what the Public Suffix List says.
func (t table) parts(u *urlcore.URL) {
	t.row("href", "", u.Href(), "")
	t.row("origin", "", u.Origin(), when(u.SecurityOrigin().Opaque(), "opaque, the same as no other"))
	t.row("protocol", colors[urlcore.Scheme], u.Protocol(), when(u.Special(), "special"))
	t.row("username", colors[urlcore.Username], u.Username(), "")
	t.row("password", colors[urlcore.Password], u.Password(), "")
	t.row("host", colors[urlcore.Host], u.Host(), "")
	t.row("hostname", colors[urlcore.Host], u.Hostname(), hostNote(u))
	t.row("port", colors[urlcore.Port], u.Port(), portNote(u))
	t.row("pathname", colors[urlcore.Path], u.Pathname(), when(u.OpaquePath(), "opaque"))
	t.row("search", colors[urlcore.Query], u.Search(), when(u.HasQuery() && u.Search() == "", "empty query"))
	t.row("hash", colors[urlcore.Fragment], u.Hash(), when(u.HasFragment() && u.Hash() == "", "empty fragment"))
	suffix, domain, section := u.Site(psl.Default())
	t.row("public suffix", colors[urlcore.Host], string(suffix), sectionNotes[section])
	t.row("registrable domain", bold+";"+colors[urlcore.Host], string(domain), "")
}

// sectionNotes says which part of the Public Suffix List knows a suffix.
var sectionNotes = map[psl.Section]string{psl.ICANN: "ICANN section", psl.Private: "private section"}

// when returns a note if it is true.
func when(isTrue bool, note string) string {
	if isTrue {
		return note
	}
	return ""
}

// hostNote tells the kind of host, and what an IDN reads.
func hostNote(u *urlcore.URL) string {
	kind := u.HostKind().String()
	if u.HostKind() != urlcore.HostDomain {
		return kind
	}
	if text, _ := urlcore.DomainToUnicode(u.Hostname(), false); text != u.Hostname() {
		return kind + ", " + plain.Text(text)
	}
	return kind
}

func portNote(u *urlcore.URL) string {
	if port, ok := u.EffectivePort(); ok && !u.HasPort() {
		return fmt.Sprintf("default %d", port)
	}
	return ""
}

// params prints the parameters of the query, decoded.
func (t table) params(u *urlcore.URL) {
	pairs := form.Parse(string(u.Bytes(urlcore.Query)))
	const most = 40
	width := 0
	for _, p := range pairs {
		width = max(width, min(plain.Width(plain.Text(p.Name)), most))
	}
	label := "params"
	for _, p := range pairs {
		name := plain.Text(p.Name)
		pad := strings.Repeat(" ", max(0, width-plain.Width(name)))
		line := fmt.Sprintf("  %s%s%s%s = %s", t.style.paint(dim, label), strings.Repeat(" ", labelWidth-len(label)),
			t.style.paint(colors[urlcore.Query], name), pad, plain.Text(p.Value))
		fmt.Fprintf(t.b, "%s\n", strings.TrimRight(line, " "))
		label = ""
	}
}

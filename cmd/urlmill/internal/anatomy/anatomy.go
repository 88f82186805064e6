// Package anatomy shows a single URL for people: every component, and every error at its place.
package anatomy

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/form"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// labelWidth is the width of the longest label and a gap.
const labelWidth = len("registrable domain") + 2

// Write prints what input is when it is resolved against base, which may be nil. It returns whether it parses,
// and the error of w.
func Write(w io.Writer, input string, base *urlcore.URL) (ok bool, err error) {
	p := urlcore.Parser{CollectErrors: true}
	var u urlcore.URL
	failure := p.Parse(&u, []byte(input), base)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", plain.Text(input))
	if failure.OK() {
		b.WriteByte('\n')
		writeParts(&b, &u)
		writeParams(&b, &u)
		for _, c := range canonicalForms(&u) {
			part(&b, "canonical "+c.name, c.value, "")
		}
		writeErrors(&b, "noticed", p.ValidationErrors())
	} else {
		writeMark(&b, input, failure)
		writeErrors(&b, "also noticed", without(p.ValidationErrors(), failure))
	}
	_, err = io.WriteString(w, b.String())
	return failure.OK(), err
}

// part prints a line of the table.
func part(b *strings.Builder, label, value, note string) {
	if note != "" {
		note = "  (" + note + ")"
	}
	fmt.Fprintf(b, "%s\n", strings.TrimRight(fmt.Sprintf("  %-*s%s%s", labelWidth, label, plain.Text(value), note), " "))
}

// writeParts prints the getters of the URL class and what the Public Suffix List says.
func writeParts(b *strings.Builder, u *urlcore.URL) {
	part(b, "href", u.Href(), "")
	part(b, "origin", u.Origin(), originNote(u))
	part(b, "protocol", u.Protocol(), schemeNote(u))
	part(b, "username", u.Username(), "")
	part(b, "password", u.Password(), "")
	part(b, "host", u.Host(), "")
	part(b, "hostname", u.Hostname(), hostNote(u))
	part(b, "port", u.Port(), portNote(u))
	part(b, "pathname", u.Pathname(), pathNote(u))
	part(b, "search", u.Search(), emptyNote(u.HasQuery(), u.Search(), "query"))
	part(b, "hash", u.Hash(), emptyNote(u.HasFragment(), u.Hash(), "fragment"))
	suffix, domain, section := u.Site(psl.Default())
	part(b, "public suffix", string(suffix), sectionNotes[section])
	part(b, "registrable domain", string(domain), "")
}

// sectionNotes says which part of the Public Suffix List knows a suffix.
var sectionNotes = map[psl.Section]string{psl.ICANN: "ICANN section", psl.Private: "private section"}

func originNote(u *urlcore.URL) string {
	if u.SecurityOrigin().Opaque() {
		return "opaque, the same as no other"
	}
	return ""
}

func schemeNote(u *urlcore.URL) string {
	if u.Special() {
		return "special"
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

func pathNote(u *urlcore.URL) string {
	if u.OpaquePath() {
		return "opaque"
	}
	return ""
}

// emptyNote tells a part that is there and empty from one that is not there.
func emptyNote(has bool, value, name string) string {
	if has && value == "" {
		return "empty " + name
	}
	return ""
}

// writeParams prints the parameters of the query, decoded.
func writeParams(b *strings.Builder, u *urlcore.URL) {
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
		fmt.Fprintf(b, "%s\n", strings.TrimRight(fmt.Sprintf("  %-*s%s%s = %s", labelWidth, label, name, pad, plain.Text(p.Value)), " "))
		label = ""
	}
}

// writeMark prints a mark below the place of a failure, which the line above shows.
func writeMark(b *strings.Builder, input string, f urlcore.Failure) {
	pos := min(max(f.Pos, 0), len(input))
	for pos > 0 && pos < len(input) && !utf8.RuneStart(input[pos]) {
		pos--
	}
	column := plain.Width(plain.Text(input[:pos]))
	if plain.Text(input) != input {
		column = plain.Width(strings.TrimSuffix(plain.Text(input[:pos]+"\x00"), `\x00`))
	}
	fmt.Fprintf(b, "%s^ %s at byte %d: %s\n", strings.Repeat(" ", column), f.Code, f.Pos, f.Code.Text())
}

// without leaves the failure itself out of the validation errors.
func without(all []urlcore.ValidationError, f urlcore.Failure) []urlcore.ValidationError {
	var out []urlcore.ValidationError
	for _, e := range all {
		if e != urlcore.ValidationError(f) {
			out = append(out, e)
		}
	}
	return out
}

// writeErrors prints validation errors with their positions.
func writeErrors(b *strings.Builder, label string, all []urlcore.ValidationError) {
	for _, e := range all {
		part(b, label, fmt.Sprintf("%s at byte %d: %s", e.Code, e.Pos, e.Code.Text()), "")
		label = ""
	}
}

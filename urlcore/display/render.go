package display

import (
	"strings"

	"github.com/urlmill/urlmill/urlcore"
)

// ellipsis stands for what was cut. Decoding never makes one.
const ellipsis = "…"

// String returns the text of [Render].
func String(u *urlcore.URL, o Options) string { return Render(u, o).Text }

// Render makes u readable. It keeps nothing of u.
//
// https://url.spec.whatwg.org/#url-rendering
func Render(u *urlcore.URL, o Options) Rendering {
	if o.Measure == nil {
		o.Measure = Columns
	}
	t, hints := layout(u, o)
	elided := o.Limit > 0 && t.fit(o.Limit, o.Measure)
	r := t.assemble(o.Bidi)
	r.Hints, r.Elided = hints, elided
	return r
}

// text is a URL on its way to being shown.
type text struct {
	scheme string   // with its colon and slashes
	labels []string // of the host; one for hosts that have none
	kept   int      // how many of the last labels are the registrable domain
	cut    bool     // labels were cut
	port   string   // with its colon
	tail   string   // path, query and fragment
}

// layout takes what o's form shows of u.
func layout(u *urlcore.URL, o Options) (text, Hint) {
	var t text
	t.scheme = u.Protocol()
	hasHost := len(u.Bytes(urlcore.Host)) > 0
	if !hasHost {
		if o.Form == Full {
			t.scheme, t.tail = splitHostless(u)
			t.tail = readable(t.tail, o)
		}
		return t, 0
	}
	t.scheme += "//"
	if o.OmitScheme || o.Form > Origin {
		t.scheme = ""
	}
	if port := u.Port(); port != "" && o.Form <= Origin {
		t.port = ":" + port
	}
	if o.Form == Full {
		t.tail = readable(tailOf(u), o)
	}
	hints := t.setHost(u, o)
	return t, hints
}

// splitHostless divides the serialization of a URL without a host after the colon, or after the slashes of
// an empty host.
func splitHostless(u *urlcore.URL) (scheme, tail string) {
	scheme = u.Protocol()
	if u.HasHost() {
		return scheme + "//", tailOf(u)
	}
	tail = tailOf(u)
	if strings.HasPrefix(tail, "//") {
		tail = "/." + tail // as in the serialization, else it would read as a host
	}
	return scheme, tail
}

// tailOf returns path, query and fragment with their delimiters.
func tailOf(u *urlcore.URL) string {
	start, _ := u.Span(urlcore.Path)
	return string(u.Bytes(urlcore.Href)[start:])
}

// readable decodes tail, unless o says otherwise.
func readable(tail string, o Options) string {
	if o.KeepEscapes {
		return tail
	}
	return string(AppendDecoded(nil, []byte(tail)))
}

// assemble writes the parts one after the other.
func (t *text) assemble(bidi Bidi) Rendering {
	host, domainStart := t.host()
	isolate := bidi == Isolate && (hasRightToLeft(host) || hasRightToLeft(t.tail))
	open, closing := "", ""
	if isolate {
		open, closing = leftToRightIsolate, popIsolate
	}
	var r Rendering
	var b strings.Builder
	b.WriteString(open)
	b.WriteString(t.scheme)
	if host != "" {
		b.WriteString(open)
		r.Host.Start = b.Len()
		b.WriteString(host)
		r.Host.End = b.Len()
		r.Domain = Span{r.Host.Start + domainStart, r.Host.End}
		b.WriteString(closing)
	}
	b.WriteString(t.port)
	b.WriteString(t.tail)
	b.WriteString(closing)
	r.Text = b.String()
	return r
}

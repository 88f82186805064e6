package corpus

import (
	"strconv"
	"strings"
)

// webURL makes the URL of a page.
func (g *generator) webURL() string {
	var b strings.Builder
	b.WriteString(g.weighted([]weighted{{"https://", 72}, {"http://", 28}}))
	b.WriteString(g.host())
	if g.chance(0.07) {
		return b.String()
	}
	b.WriteByte('/')
	if g.chance(0.16) {
		return b.String()
	}
	for depth := g.IntN(4); depth > 0; depth-- {
		b.WriteString(g.segment() + "/")
	}
	b.WriteString(g.weighted([]weighted{{g.segment(), 30}, {g.segment() + "-" + g.segment(), 25}, {g.slug() + ".html", 33}, {"", 15}}))
	if g.chance(0.064) {
		b.WriteByte('?')
		g.query(&b, 1+g.IntN(2))
	}
	if g.chance(0.01) {
		b.WriteString("#" + g.word())
	}
	return b.String()
}

// browserURL makes the URL of a request: pages, scripts, pictures, calls of APIs, beacons.
func (g *generator) browserURL() string {
	var b strings.Builder
	b.WriteString(g.weighted([]weighted{{"https://", 95}, {"http://", 5}}))
	b.WriteString(g.host() + "/")
	for depth := 2 + g.IntN(6); depth > 0; depth-- {
		b.WriteString(g.longSegment() + "/")
	}
	b.WriteString(g.longSegment() + pick(g, []string{"", "", ".js", ".jpg", ".png", ".css", ".woff2", ".json"}))
	if g.chance(0.42) {
		b.WriteByte('?')
		g.query(&b, 1+g.IntN(4)*g.IntN(6))
	}
	return b.String()
}

// segment makes a path segment of a page.
func (g *generator) segment() string {
	switch n := g.IntN(20); {
	case n < 14:
		return g.word()
	case n < 17:
		return g.chars(1+g.IntN(6), digits)
	case n < 19:
		return strings.ToUpper(g.word()[:1]) + g.word()
	default:
		return "%" + strings.ToUpper(g.chars(1, "cde")+g.chars(1, hex)) + "%" + strings.ToUpper(g.chars(1, "89ab")+g.chars(1, hex)) + g.word()
	}
}

// longSegment makes a path segment of a request: hashes and identifiers besides words.
func (g *generator) longSegment() string {
	switch n := g.IntN(20); {
	case n < 9:
		return g.segment()
	case n < 14:
		return g.word() + "-" + g.word() + pick(g, []string{"", "_" + g.word(), "." + g.chars(2, digits)})
	case n < 17:
		return g.chars(8+g.IntN(25), hex)
	default:
		return g.chars(10+g.IntN(16), alphanumeric+"-_")
	}
}

// query makes n parameters.
func (g *generator) query(b *strings.Builder, n int) {
	names := []string{"id", "q", "utm_source", "utm_medium", "utm_campaign", "v", "t", "page", "lang", "ref", "url", "s", "cb", "w", "h", "sid"}
	for i := range n {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(pick(g, names))
		switch k := g.IntN(20); {
		case k == 0: // no value
		case k == 1:
			b.WriteByte('=')
		case k < 8:
			b.WriteString("=" + g.chars(1+g.IntN(10), digits))
		case k < 14:
			b.WriteString("=" + g.word())
		case k < 17:
			b.WriteString("=" + g.chars(8+g.IntN(24), alphanumeric))
		case k < 18:
			b.WriteString("=" + g.word() + "+" + g.word())
		case k < 19:
			b.WriteString("=" + g.word() + "%20" + g.word() + "%2C" + g.word())
		default:
			b.WriteString("=https%3A%2F%2F" + g.host() + "%2F" + g.word() + "%3Fa%3D" + strconv.Itoa(g.IntN(1e5)))
		}
	}
}

// slug makes the name of an article.
func (g *generator) slug() string {
	s := g.word()
	for n := g.IntN(6); n > 0; n-- {
		s += "-" + g.word()
	}
	return s
}

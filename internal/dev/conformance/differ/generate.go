package differ

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/urlmill/urlmill/urlcore"
)

// Generator makes questions by the grammar of URLs, with mistakes of all kinds in them. Equal seeds give equal
// questions.
type Generator struct{ rng *rand.Rand }

// NewGenerator returns a generator at its beginning.
func NewGenerator(seed uint64) *Generator {
	return &Generator{rand.New(rand.NewPCG(seed, 0))}
}

// Parse returns a question about parsing; two of three have a base.
func (g *Generator) Parse() Question {
	if g.one(3) {
		return Question{Input: g.mutate(g.url())}
	}
	base := g.base()
	if g.one(3) {
		return Question{Input: g.mutate(g.url()), Base: &base}
	}
	if g.rng.IntN(4) > 0 && !hierarchical(base) {
		base = g.pick("https://user:pass@example.org:8080/a/b/c?d=e&f#g", "file:///C:/x/y", "foo://h/a/b?c", "foo:/a/b", "ws://h")
	}
	return Question{Input: g.mutate(g.reference()), Base: &base}
}

// hierarchical reports whether references resolve against base.
func hierarchical(base string) bool {
	u, err := urlcore.Parse(base)
	return err == nil && !u.OpaquePath()
}

// Set returns a question about an assignment to a URL, which up to two others may have changed before.
func (g *Generator) Set() Question {
	u, err := urlcore.Parse(g.base())
	for err != nil {
		u, err = urlcore.Parse(g.base())
	}
	for range g.rng.IntN(3) {
		a := g.assignment()
		a.apply(u)
	}
	a := g.assignment()
	return Question{Input: u.Href(), Set: &a}
}

func (g *Generator) assignment() Assignment {
	name := settable[g.rng.IntN(len(settable))]
	return Assignment{name, g.mutate(g.value(name))}
}

// settable names the attributes that can be assigned to.
var settable = []string{
	"href", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash",
}

// value returns something to assign to the attribute of that name, or to a wrong one.
func (g *Generator) value(name string) string {
	if g.one(20) {
		name = settable[g.rng.IntN(len(settable))]
	}
	switch name {
	case "href":
		return g.url()
	case "protocol":
		return strings.TrimSuffix(g.scheme(), ":") + g.pick("", ":", ":", "://x", " ")
	case "username", "password":
		return g.pick(g.credential(), g.credential()+g.pick("@", ":", "/", "?", "#"))
	case "host":
		return g.host() + g.port() + g.pick("", "", "", "/p", "?q", "#f", "\\p", "@h")
	case "hostname":
		return g.host() + g.pick("", "", "", ":", ":80", "/", "?", "#", "\\")
	case "port":
		return strings.TrimPrefix(g.port(), ":") + g.pick("", "", "x", " ", "/", ".5")
	case "pathname":
		return g.path() + g.pick("", "", "?", "#", "?q#f")
	case "search":
		return g.pick("?", "") + g.text(queryTexts)
	default:
		return g.pick("#", "") + g.text(queryTexts)
	}
}

// base returns a URL to resolve against or to change; few of them fail.
func (g *Generator) base() string {
	switch g.rng.IntN(10) {
	case 0, 1, 2, 3, 4, 5:
		return g.text(bases)
	case 6:
		return g.mutate(g.text(bases))
	default:
		return g.url()
	}
}

// bases are URLs of every shape that states of the parser tell apart.
var bases = []string{
	"https://user:pass@example.org:8080/a/b/c?d=e&f#g", "http://h", "http://h/a/b/", "ws://h:81/x?y", "wss://h/", "ftp://h/d/f;t",
	"file:///C:/x/y", "file:///C:", "file:///C:/", "file://host/p/q", "file:///", "file:///x/../C|/y", "file://h/C:/z", "file:",
	"foo:/a/b", "foo:/", "foo://h/a/b?c", "foo://h", "foo://", "foo:///", "foo://u:p@h:9/p", "foo:", "foo:/.//a/b", "foo:/..//p",
	"foo:opaque", "foo:opaque?q", "foo:opaque #f", "foo:opaque  ?q#f", "mailto:a@b.c", "about:blank", "data:text/plain,x y#z",
	"javascript:alert(1)", "blob:https://h:1/x-y", "blob:http://h/", "blob:file:///x", "blob:ws://h/", "blob:", "blob:blob:https://h/",
	"http://[1::2]:81/", "http://127.0.0.1/", "http://xn--n3h.example/", "https://b\u00fccher.example/\u00e9?\u00e9#\u00e9", "http://h./", "http://h/^",
	"not a base", "//h", "", "http://",
}

func (g *Generator) url() string {
	if g.one(40) {
		return g.soup()
	}
	var b strings.Builder
	b.WriteString(g.scheme())
	b.WriteString(g.pick("//", "//", "//", "//", "//", "//", "", "/", "///", "\\\\", "/\\", "\\/", "\\", "////"))
	b.WriteString(g.authority())
	b.WriteString(g.path())
	b.WriteString(g.tail())
	return b.String()
}

// reference returns an input that is most likely relative.
func (g *Generator) reference() string {
	switch g.rng.IntN(8) {
	case 0:
		return g.pick("//", "\\\\", "/\\", "///") + g.authority() + g.path() + g.tail()
	case 1:
		return g.scheme() + g.path() + g.tail()
	case 2:
		return g.tail()
	case 3:
		return g.pick("C|", "C:", "/C|", "/c:", "//C|", "\\C|", "///C|", "C|/", "/C:/") + g.path() + g.tail()
	default:
		return strings.TrimPrefix(g.path(), g.pick("/", "")) + g.tail()
	}
}

// soup returns a sequence of pieces in no order.
func (g *Generator) soup() string {
	var b strings.Builder
	for range g.rng.IntN(10) {
		b.WriteString(g.text(pieces))
	}
	return b.String()
}

func (g *Generator) scheme() string {
	if g.one(4) {
		return g.text(schemes)
	}
	return g.pick("http:", "https:", "ws:", "file:", "foo:")
}

func (g *Generator) authority() string {
	var b strings.Builder
	if g.one(4) {
		b.WriteString(g.pick(
			g.credential()+"@", g.credential()+":"+g.credential()+"@", ":"+g.credential()+"@", "@", ":@",
			g.credential()+"@"+g.credential()+"@", "u:p:q@"))
	}
	b.WriteString(g.host())
	b.WriteString(g.port())
	return b.String()
}

func (g *Generator) credential() string { return g.text(credentials) }

func (g *Generator) host() string {
	switch g.rng.IntN(16) {
	case 0:
		return ""
	case 1, 2:
		return g.ipv4()
	case 3:
		return g.ipv6()
	case 4, 5, 6:
		return g.domain()
	case 7:
		return g.text(oddHosts)
	default:
		return g.pick("h", "example.com", "EXAMPLE.com", "www.a.b.example", "localhost", "a_b-c.d")
	}
}

// domain returns labels of all kinds.
func (g *Generator) domain() string {
	var b strings.Builder
	for i := range 1 + g.rng.IntN(3) {
		if i > 0 {
			b.WriteString(g.pick(".", ".", ".", ".", "\u3002", "\uff0e", "\uff61", "%2E", "..", "%E3%80%82"))
		}
		if g.one(2) {
			b.WriteString(g.text(labels))
		} else {
			b.WriteString(g.pick("a", "example", "com", "B\u00dcCHER", "xn--n3h", "\u65e5\u672c", "a-b", "1a"))
		}
	}
	b.WriteString(g.pick("", "", "", "", "", ".", ".."))
	return b.String()
}

// ipv4 returns a host that ends in a number, or nearly so.
func (g *Generator) ipv4() string {
	var b strings.Builder
	for i := range 1 + g.rng.IntN(5) {
		if i > 0 {
			b.WriteString(g.pick(".", ".", ".", ".", ".", ".", "..", "\u3002"))
		}
		n := g.rng.Uint64() >> g.rng.IntN(64)
		if g.rng.IntN(4) > 0 {
			n &= 0xff
		}
		b.WriteString(g.pick("", "", "", "", "", "", "", "0", "00", "0x", "-", "+"))
		switch g.rng.IntN(8) {
		case 0:
			b.WriteString("0x" + strconv.FormatUint(n, 16))
		case 1:
			b.WriteString("0" + strconv.FormatUint(n, 8))
		case 2:
			b.WriteString(g.text(numbers))
		default:
			b.WriteString(strconv.FormatUint(n, 10))
		}
	}
	b.WriteString(g.pick("", "", "", "", "", ".", ".."))
	return b.String()
}

// ipv6 returns an address in brackets, or nearly so.
func (g *Generator) ipv6() string {
	var parts []string
	for range g.rng.IntN(9) {
		parts = append(parts, g.pick(
			"0", "0", "0", "0", "1", "f", "00ab", "ABCD", "0001", strconv.FormatUint(g.rng.Uint64()>>48, 16),
			strconv.FormatUint(g.rng.Uint64()>>48, 16), "ffff", g.pick("12345", "g", "")))
	}
	if g.one(3) {
		parts = append(parts, g.pick("1.2.3.4", "255.255.255.255", "1.2.3", "1.2.3.256", "01.2.3.4", "1.2.3.4.5", "1..3.4", "1.2.3.x", "0.0.0.0"))
	}
	s := strings.Join(parts, ":")
	if len(parts) < 8 || g.one(3) {
		at := g.rng.IntN(len(s) + 1)
		if i := strings.IndexByte(s[at:], ':'); i >= 0 {
			s = s[:at+i] + ":" + s[at+i:]
		} else {
			s += g.pick("::", "::1", ":")
		}
	}
	return g.pick("[", "[", "[", "[", "[", "[", "[", "[", "[", "", "[[", "[::") + s +
		g.pick("]", "]", "]", "]", "]", "]", "]", "]", "]", "", "]]", "%25eth0]", "].")
}

func (g *Generator) port() string {
	if g.rng.IntN(4) > 0 {
		return ""
	}
	if g.one(2) {
		return ":" + strconv.Itoa(g.rng.IntN(70000))
	}
	return ":" + g.text(ports)
}

func (g *Generator) path() string {
	var b strings.Builder
	for range g.rng.IntN(5) {
		b.WriteString(g.pick("/", "/", "/", "/", "/", "/", "\\", "//", ""))
		b.WriteString(g.text(segments))
		if g.one(6) {
			b.WriteString(g.text(segments))
		}
	}
	return b.String()
}

// tail returns a query and a fragment, or not.
func (g *Generator) tail() string {
	s := ""
	if g.one(3) {
		s = "?" + g.text(queryTexts)
	}
	if g.one(4) {
		s += "#" + g.text(queryTexts)
	}
	return s
}

// mutate changes nothing, or inserts, removes, doubles or replaces something at one to three places.
func (g *Generator) mutate(s string) string {
	if g.rng.IntN(5) < 3 {
		return s
	}
	for range 1 + g.rng.IntN(3) {
		i := g.rng.IntN(len(s) + 1)
		j := min(i+g.rng.IntN(4), len(s))
		switch g.rng.IntN(6) {
		case 0:
			s = s[:i] + s[j:]
		case 1:
			s = s[:j] + s[i:]
		case 2:
			s = s[:i] + g.text(pieces) + s[j:]
		case 3:
			s = s[:i] + string(rune(g.rng.IntN(0x80))) + s[i:]
		case 4:
			s = s[:i] + g.character() + s[i:]
		default:
			s = s[:i] + g.text(pieces) + s[i:]
		}
	}
	return s
}

// character returns a character of any plane, escaped now and then.
func (g *Generator) character() string {
	r := rune(g.rng.IntN(0x2fff))
	switch g.rng.IntN(8) {
	case 0:
		r = rune(g.rng.IntN(0x110000))
	case 1:
		r = rune(0xff00 + g.rng.IntN(0x100))
	}
	s := string(r)
	if g.rng.IntN(4) > 0 {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteString("%" + strconv.FormatUint(uint64(s[i]), 16))
	}
	return b.String()
}

// one is true once in n times.
func (g *Generator) one(n int) bool { return g.rng.IntN(n) == 0 }

func (g *Generator) pick(texts ...string) string { return texts[g.rng.IntN(len(texts))] }

func (g *Generator) text(texts []string) string { return texts[g.rng.IntN(len(texts))] }

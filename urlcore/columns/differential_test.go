package columns

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore/internal/scan"
)

// EachVariant runs a test on every variant of the kernels that this CPU can run.
func EachVariant(t *testing.T, test func(t *testing.T)) {
	for _, v := range scan.Variants() {
		t.Run(v.String(), func(t *testing.T) {
			before := scan.Use(v)
			defer scan.Use(before)
			test(t)
		})
	}
}

// generator makes URLs of all kinds: most of them clean, and every way to be unclean again and again.
type generator struct{ *rand.Rand }

func (g generator) pick(items ...string) string { return items[g.IntN(len(items))] }

func (g generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g generator) word(max int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-_"
	b := make([]byte, 1+g.IntN(max))
	for i := range b {
		b[i] = letters[g.IntN(len(letters))]
	}
	return string(b)
}

func (g generator) host() string {
	switch n := g.IntN(100); {
	case n < 70:
		sub := g.pick("www.", "", "a.b.", g.word(30)+".", "x..", ".")
		if g.chance(80) {
			sub = g.pick("www.", "", g.word(12)+".")
		}
		return sub + g.word(14) + "." + g.pick("com", "co.uk", "github.io", "kawasaki.jp", "city.kawasaki.jp", "ck", "www.ck", "de", "blogspot.com",
			"compute.amazonaws.com", "xn--p1ai", "photography", "local", "c0m", "0xa", "1com", "international", "tokyo.jp", "example")
	case n < 75:
		return fmt.Sprintf("%d.%d.%d.%d", g.IntN(300), g.IntN(256), g.IntN(256), g.IntN(256))
	case n < 80:
		return g.pick("0x7f.1", "1.2.3", "1.2.3.4.5", "127.0.0.1.", "08.1.1.1", "4294967296", "256", "1.2.3.4.", "a.1", "1.2.3.0x10")
	case n < 85:
		return g.pick("EXAMPLE.com", "Www.Example.Co.Uk", "exa%6Dple.com", "a b.com", "a<b.com", "a_b.com", "!$&'()*+,;=.com", "a^b", "a|b", "a%00b")
	case n < 90:
		return g.pick("bücher.example", "☕.de", "ß.de", "例え.jp", "１.２.３.４", "a\u00adb.com", "xn--a.com", "ﬀ.com", "\xff.com", "ü%41.com", "𐹪.com", "ü<.com", "a.b.٣", "a.ü<.com")
	case n < 93:
		return g.pick("[::1]", "[2001:DB8::1]", "[::1", "[1:2]", "[::ffff:1.2.3.4]")
	case n < 97:
		return strings.Repeat("a", 40+g.IntN(40)) + ".com"
	default:
		return g.pick("localhost", "com", "", ".", "..", "com.", "a.", "github.io", "github.io.", "*.ck", "-", "1", "\t", "co.uk", "b.c.kobe.jp")
	}
}

func (g generator) path() string {
	var b strings.Builder
	for range g.IntN(6) {
		b.WriteString(g.pick("/", "/", "/", "/", "/", "//", "\\"))
		if g.chance(85) {
			b.WriteString(g.word(25))
		} else {
			b.WriteString(g.pick(".", "..", "%2e", ".%2E", "%2E%2e", "...", ".well-known", "%C3%BC", "%2x", "%2", "%", "+a", "ü", "a b", "{x}", "'", "^", "`",
				"\"", "<", "|", "\x7f", "\x00", "\t", "%2e%2", "..%2f", ".%", "..;", "\xc3", "C|", "C:", "a:b@c"))
		}
	}
	return b.String()
}

func (g generator) query() string {
	var b strings.Builder
	for range g.IntN(7) {
		switch n := g.IntN(30); {
		case n < 12:
			b.WriteString(g.word(8) + "=" + g.word(12))
		case n < 15:
			b.WriteString(g.word(70) + g.pick("=", "") + g.word(80))
		default:
			b.WriteString(g.pick("a", "=", "a=", "=b", "a==b", "a=b=c", "+", "a+b=c+d", "%20=%20", "x=%zz", "%", "%4", "a=%E4%BD%A0", "%ff=%fe", "%F0%28",
				"'", "\"", "<", "ü", "{}", "?", "/../", "/.", "a=/%2e/", "`", "^", "\\", "\t", "\xff", "%C3=%BC", "%2B", "%26=%3D"))
		}
		b.WriteString(g.pick("&", "&", "&", "&&", ""))
	}
	return b.String()
}

func (g generator) url() string {
	var b strings.Builder
	b.WriteString(g.pick("https://", "https://", "https://", "http://", "http://"))
	if g.chance(8) {
		b.Reset()
		b.WriteString(g.pick("HTTP://", "hTTps://", "http:", "http:/", "https:///", "ftp://", "ws://", "wss://", "file://", "foo://", "mailto:", "blob:https://",
			" https://", "\thttp://", "ht\ntp://", "httpx://", "", "http:\\\\", "//", "data:", "http:////"))
	}
	if g.chance(6) {
		b.WriteString(g.pick("user@", "user:pw@", ":pw@", "@", ":@", "u@v@", "ü@", "a%20:b@", "a/b@", "u:p:q@", "u;@"))
	}
	b.WriteString(g.host())
	if g.chance(10) {
		b.WriteString(g.pick(":80", ":443", ":8080", ":", ":0", ":00080", ":65535", ":65536", ":999999", ":a", ":8 0", ":21", "::", ":80:"))
	}
	b.WriteString(g.path())
	if g.chance(40) {
		b.WriteString("?" + g.query())
	}
	if g.chance(12) {
		b.WriteString("#" + g.pick("", "top", "a b", "`", "#", "?x", "ü", "\"", "<>", "{}'", "/../", "\t", "\x00", "%", "\xff"))
	}
	if g.chance(2) {
		b.WriteString(g.pick(" ", "\n", "\t ", "\x00"))
	}
	return b.String()
}

// mutate changes one byte, or cuts.
func (g generator) mutate(url string) string {
	if url == "" {
		return url
	}
	b := []byte(url)
	i := g.IntN(len(b))
	switch g.IntN(4) {
	case 0:
		b[i] = byte(g.IntN(256))
	case 1:
		b[i] = "/.?#&=%+:@[]\\ '\"<>\t\n"[g.IntN(20)]
	case 2:
		b = b[:i]
	default:
		b = append(b[:i], b[min(i+1+g.IntN(3), len(b)):]...)
	}
	return string(b)
}

// TestDifferential compares whole batches with the oracle: a million rows, or fewer with -short and under the race
// detector, which has nothing to find in one goroutine but what checkptr says.
func TestDifferential(t *testing.T) {
	rows := 1_000_000
	if testing.Short() || raceEnabled {
		rows = 50_000
	}
	seed := uint64(1)
	EachVariant(t, func(t *testing.T) {
		g := generator{rand.New(rand.NewPCG(seed, 42))}
		seed++
		var got Columns
		var want reference
		for done := 0; done < rows && !t.Failed(); {
			// Batches of every size, in slices with and without capacity behind the last row.
			n := 1 + g.IntN(64)
			if g.chance(10) {
				n = 1 + g.IntN(5000)
			}
			var data []byte
			var ends []int32
			for range n {
				u := g.url()
				if g.chance(10) {
					u = g.mutate(u)
				}
				data = append(data, u...)
				ends = append(ends, int32(len(data)))
			}
			if g.chance(50) {
				data = data[:len(data):len(data)]
			}
			got.Want = All
			if g.chance(30) {
				got.Want = Mask(g.IntN(int(All) + 1))
			}
			want.Want = got.Want
			Parse(&got, data, ends)
			want.parse(data, ends, nil, nil)
			checkSame(t, &want.Columns, &got, func(row int) string {
				start := int32(0)
				if row > 0 {
					start = ends[row-1]
				}
				return string(data[start:ends[row]])
			})
			done += n
		}
	})
}

// TestDifferentialBases does the same with bases.
func TestDifferentialBases(t *testing.T) {
	EachVariant(t, func(t *testing.T) {
		g := generator{rand.New(rand.NewPCG(7, 7))}
		var got Columns
		var want reference
		for range 300 {
			var data, bases []byte
			var ends, baseEnds []int32
			base := ""
			for range 1 + g.IntN(50) {
				u := g.url()
				if g.chance(50) {
					u = g.pick("x", "../y?a=b", "//h/x", "#f", "?q", "", "/", "http:x", "https:x", "file:x")
				}
				if g.chance(50) {
					base = g.pick("", "", "https://example.com/a/b", "mailto:x", "nothing", g.url())
				}
				data, bases = append(data, u...), append(bases, base...)
				ends, baseEnds = append(ends, int32(len(data))), append(baseEnds, int32(len(bases)))
			}
			ParseWithBases(&got, data, ends, bases, baseEnds)
			want.parse(data, ends, bases, baseEnds)
			checkSame(t, &want.Columns, &got, func(row int) string { return fmt.Sprint("row ", row) })
			if t.Failed() {
				return
			}
		}
	})
}

// Rows that are larger than a stretch, and stretches of the largest size.
func TestLongRows(t *testing.T) {
	long := strings.Repeat("x", 3*stretchBytes)
	urls := []string{
		"https://example.com/" + long, "https://example.com/a?b=" + long + "&" + long, "https://" + long + ".com/",
		"https://example.com/#" + long, "http://example.com/" + strings.Repeat("../%20/ü", 50000), "https://example.com/?" + strings.Repeat("a=b+c&", 40000),
		"https://example.com/", "", long, "https://example.com/" + strings.Repeat("x", stretchBytes-40), "https://example.com/b",
	}
	var data []byte
	var ends []int32
	for range 3 {
		for _, u := range urls {
			data = append(data, u...)
			ends = append(ends, int32(len(data)))
		}
	}
	for range 3000 {
		data = append(data, "https://www.example.com/some/path?with=query"...)
		ends = append(ends, int32(len(data)))
	}
	var want reference
	want.parse(data, ends, nil, nil)
	EachVariant(t, func(t *testing.T) {
		var got Columns
		Parse(&got, data, ends)
		checkSame(t, &want.Columns, &got, func(row int) string { return fmt.Sprint("row ", row) })
	})
}

// Hosts that need IDNA cost their allocations once, whether they are domains or not.
func TestKnownHostsAllocateNothing(t *testing.T) {
	var data []byte
	var ends []int32
	for i := range 2000 {
		for _, u := range []string{"https://bücher%d.example/ü?ü=ü", "http://a☕b<%d.de/", "https://münchen.de:%d/", "HTTP://EXAMPLE%d.com/../x y", "http://1.2.3.%d/"} {
			data = fmt.Appendf(data, u, i%100)
			ends = append(ends, int32(len(data)))
		}
	}
	EachVariant(t, func(t *testing.T) {
		var c Columns
		Parse(&c, data, ends)
		if n := testing.AllocsPerRun(5, func() { Parse(&c, data, ends) }); n != 0 {
			t.Errorf("%v allocations per batch", n)
		}
	})
}

// The cache of hosts stays within its bound.
func TestKnownHostsBounded(t *testing.T) {
	var c Columns
	for i := range maxKnownHosts + 100 {
		data := fmt.Appendf(nil, "https://ü%d.example/", i)
		Parse(&c, data, []int32{int32(len(data))})
		if c.Invalid != 0 {
			t.Fatalf("%s is no URL", data)
		}
	}
	if n := len(c.hosts.known); n > maxKnownHosts {
		t.Errorf("%d hosts", n)
	}
}

// FuzzBatch compares batches of the lines of a text with the oracle, on every variant.
func FuzzBatch(f *testing.F) {
	g := generator{rand.New(rand.NewPCG(11, 11))}
	for range 50 {
		f.Add(g.url()+"\n"+g.url()+"\n"+g.mutate(g.url()), uint16(All))
	}
	f.Fuzz(func(t *testing.T, lines string, mask uint16) {
		var data []byte
		var ends []int32
		urls := strings.Split(lines, "\n")
		for _, u := range urls {
			data = append(data, u...)
			ends = append(ends, int32(len(data)))
		}
		want := reference{Columns: Columns{Want: Mask(mask) & All}}
		want.parse(data, ends, nil, nil)
		for _, v := range scan.Variants() {
			before := scan.Use(v)
			got := Columns{Want: want.Want}
			Parse(&got, data, ends)
			checkSame(t, &want.Columns, &got, func(row int) string { return urls[row] })
			scan.Use(before)
		}
	})
}

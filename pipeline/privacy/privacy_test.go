package privacy

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/generate"
	"github.com/urlmill/urlmill/urlcore"
)

// policy returns a policy of the default options but for what change does.
func policy(t testing.TB, change func(o *Options)) *Policy {
	t.Helper()
	o := Default()
	o.Keys = "keys"
	if change != nil {
		change(&o)
	}
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := ParseKeys([]byte("2026-01-01 0123456789abcdef\n"))
	if err != nil {
		t.Fatal(err)
	}
	p.SetKeys(keys)
	return p
}

// redact returns a text without what a policy removes.
func redact(r *redactor, text string, f form) string {
	r.takeKey()
	if out, changed := r.appendRedacted(nil, []byte(text), f); changed {
		return string(out)
	}
	return text
}

func TestURLs(t *testing.T) {
	r := policy(t, func(o *Options) { o.Segments = []string{"users"} }).newRedactor()
	for _, c := range []struct{ in, want string }{
		{"https://bob@example.com/", "https://***@example.com/"},
		{"https://bob:p@w@example.com:81/x?a=b", "https://***@example.com:81/x?a=b"},
		{`https:\\bob:pw@example.com\x`, `https:\\***@example.com\x`},
		{"https:bob@example.com/x", "https:***@example.com/x"},
		{"//bob:pw@example.com/x", "//***@example.com/x"},
		{"mailto:bob@example.com", "mailto:***"},
		{"/a?mail=bob@example.com#x", "/a?mail=***#x"},
		{"https://h/?q=bob%40example.com&z=1", "https://h/?q=***&z=1"},
		{"https://h/?q=bob%2540example.com&z=1", "https://h/?q=***&z=1"},
		{"https://h/?q=to+bob+at+x+bob@example.com+now", "https://h/?q=***+now"},
		{"https://h/?u=bob%2btag%40example.co.uk", "https://h/?u=***"},
		{"https://h/?TOKEN=abc;def&x=1", "https://h/?TOKEN=***&x=1"},
		{"https://h/?user%5Bemail%5D=x&filter[token]=2", "https://h/?user%5Bemail%5D=***&filter[token]=***"},
		{"https://h/?next=https%3A%2F%2Fg%2F%3Ftoken%3Dabc%26a%3D1&b=2", "https://h/?next=https%3A%2F%2Fg%2F%3Ftoken%3D***%26a%3D1&b=2"},
		{"https://h/?next=https%3A%2F%2Fu%3Ap%40g%2F", "https://h/?next=https%3A%2F%2F***%40g%2F"},
		{"https://h/a;jsessionid=12AB?x=1", "https://h/a;jsessionid=***?x=1"},
		{"https://h/#access_token=abc&type=bearer", "https://h/#access_token=***&type=bearer"},
		{"https://h/users/bob/orders?users/x", "https://h/users/***/orders?users/x"},
		{"https://h/c/4111111111111111/x", "https://h/c/***/x"},
		{"https://h/?c=4111+1111-1111%201111", "https://h/?c=***"},
		{"https://h/?c=378282246310005", "https://h/?c=***"},
		{"https://h/?c=4111111111111112", "https://h/?c=4111111111111112"},
		{"https://h/?x=24111111111111111", "https://h/?x=24111111111111111"},
		{"https://h/?to=+491701234567&x", "https://h/?to=***&x"},
		{"https://h/?to=%2B49+170+1234567", "https://h/?to=***"},
		{"tel:+1-212-555-0123", "tel:***"},
		{"https://h/call/(212)%20555-0123", "https://h/call/***"},
		{"https://h/?q=a+12345678901", "https://h/?q=a+12345678901"},
		{"https://h/@52.520008,13.404954,17z", "https://h/@***,17z"},
		{"https://h/?ll=-33.8568%2C151.2153", "https://h/?ll=***"},
		{"https://h/?k=AKIAIOSFODNN7EXAMPLE", "https://h/?k=***"},
		{"https://h/ghp_0123456789abcdefghijABCDEFGHIJ012345/x", "https://h/***/x"},
		{"https://h/?x=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-DEF_", "https://h/?x=***"},
		{"https://h/?h=Bearer%20abcdefgh.1", "https://h/?h=***"},
		{"https://h/?x=bo\tb@exa\nmple.com", "https://h/?x=***"},
		{"file:///home/bob@example.com/x", "file:///home/***/x"},
		{"https://cdn/logo@2x.png", "https://cdn/logo@2x.png"},
		{"https://unpkg.com/react@18.2.0/index.js", "https://unpkg.com/react@18.2.0/index.js"},
		{"https://medium.com/@bob/x", "https://medium.com/@bob/x"},
		{"https://h/2026/01/02/1234567-some-thing", "https://h/2026/01/02/1234567-some-thing"},
		{"https://h/?token=", "https://h/?token="},
		{"https://h/?token=***", "https://h/?token=***"},
	} {
		got := redact(r, c.in, asURL)
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.in, got, c.want)
		}
		if suspect := r.suspect([]byte(c.in), true); !suspect && got != c.in {
			t.Errorf("%s is not looked at", c.in)
		}
	}
}

func TestTexts(t *testing.T) {
	r := policy(t, func(o *Options) { o.Address = new(Address); *o.Address = defaultAddress() }).newRedactor()
	for _, c := range []struct{ in, want string }{
		{`{"url":"https:\/\/u:p@h\/?a=1","token":"a\"b","n":1}`, `{"url":"https:\/\/***@h\/?a=1","token":"***","n":1}`},
		{`{"session": {"id": 1, "x": [2]}, "ip": "203.0.113.77", "pwd":12}`, `{"session": "***", "ip": "***", "pwd":"***"}`},
		{`{"mail":null,"who":"bob\u0040example.com"}`, `{"mail":null,"who":"***"}`},
		{`203.0.113.77 - bob [x] "GET /?token=abc HTTP/1.1" 200 "-" 2001:db8:1:2::3`, `203.0.113.0 - bob [x] "GET /?token=*** HTTP/1.1" 200 "-" 2001:db8:1::`},
		{`at 12:34:56 v1.2.3`, `at 12:34:56 v1.2.3`},
		{`sid=abc; theme=dark`, `sid=*** theme=dark`},
		{`authorization is bearer abc123def456 now`, `authorization is *** now`},
		{`the bearer instrument`, `the bearer instrument`},
		{`x ya29.a0AfH6SMBx-0123456789_abcdef y`, `x *** y`},
		{`/?x=ya29.a0AfH6SMBx`, `/?x=ya29.a0AfH6SMBx`},
	} {
		got := redact(r, c.in, asRecord)
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.in, got, c.want)
		}
		if text := redact(r, c.in, asText); !r.suspect([]byte(c.in), false) && text != c.in {
			t.Errorf("%s is not looked at", c.in)
		}
	}
}

func TestMethods(t *testing.T) {
	r := policy(t, func(o *Options) { o.Methods = map[string]string{"email": "hash", "*token*": "drop", "card": "drop"} }).newRedactor()
	plain := redact(r, "/?e=bob@example.com", asURL)
	if len(plain) != len("/?e=")+hashLength || plain != redact(r, "/?e=bob%40example.com", asURL) {
		t.Errorf("hashes are not those of the value: %s", plain)
	}
	for in, want := range map[string]string{
		"/?token=a&b=1":               "/?b=1",
		"/?b=1&token=a":               "/?b=1",
		"/?b=1&token=a#f":             "/?b=1#f",
		"/?token=a":                   "/?",
		"/?b=1&token=a&c=2":           "/?b=1&c=2",
		"/x/4111111111111111/y?z":     "/x/y?z",
		"/?q=a+4111111111111111+b&c":  "/?c",
		"/?token=a&token=b&c=1&token": "/?c=1&token",
	} {
		if got := redact(r, in, asURL); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestAddresses(t *testing.T) {
	g := policy(t, func(o *Options) { o.Address = &Address{Fields: []string{"a"}, IPv4: 24, IPv6: 48} }).newRedactor()
	for in, want := range map[string]string{
		"203.0.113.77": "203.0.113.0", "2001:db8:1:2::3": "2001:db8:1::", "::ffff:203.0.113.77": "203.0.113.0", "-": "-", "": "",
		"203.0.113.77:4711": "203.0.113.0", "[2001:db8:1:2::3]:443": "2001:db8:1::", "203.0.113.77, 198.51.100.9": "203.0.113.0, 198.51.100.0",
		"dsl-77.example.net": "***", "fe80:1:2:3::1%eth0": "fe80:1:2::", "[2001:db8:1:2::3]": "2001:db8:1::", "203.0.113.77:bob": "***", "[2001:db8::3]bob": "***",
	} {
		if got := string(g.appendAddresses(nil, []byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// eachClean calls see with URLs of the generator.
func eachClean(t testing.TB, profile generate.Profile, n int, see func(url []byte)) {
	t.Helper()
	g, err := generate.NewGenerator(generate.Options{Seed: 19, Profile: profile, Format: generate.Lines})
	if err != nil {
		t.Fatal(err)
	}
	var record []byte
	for range n {
		record = g.Append(record[:0])
		see(record)
	}
}

// TestFalsePositives counts the URLs of the generator of which something is removed that is no value of a name that says so.
func TestFalsePositives(t *testing.T) {
	r := policy(t, func(o *Options) { o.Names = nil }).newRedactor()
	const each = 500_000
	for _, profile := range []generate.Profile{generate.Clickstream, generate.Crawl} {
		wrong := 0
		eachClean(t, profile, each, func(url []byte) {
			text := string(url)
			if !r.suspect(url, true) || strings.HasPrefix(text, "mailto:") || strings.HasPrefix(text, "tel:") {
				return
			}
			clear(r.counts)
			if out, changed := r.appendRedacted(nil, url, asURL); changed && r.counts[credentials] == 0 {
				if wrong++; wrong < 20 {
					t.Logf("%s\n%s", url, out)
				}
			}
		})
		t.Logf("%s: %d of %d", profile, wrong, each)
		if wrong > each/100_000 {
			t.Errorf("%s: %d of %d URLs have something removed", profile, wrong, each)
		}
	}
}

// TestPrefilter holds what is looked at before the scan against the scan.
func TestPrefilter(t *testing.T) {
	r := policy(t, nil).newRedactor()
	eachClean(t, generate.Clickstream, 100_000, func(url []byte) { holdPrefilter(t, r, url) })
}

// TestMarking looks at every byte from @ to underscore in every place of a word.
func TestMarking(t *testing.T) {
	for c := 0x40; c < 0x60; c++ {
		for at := range 8 {
			for _, beside := range []uint64{0, ^uint64(0), spaces} {
				w := beside&^(0xff<<(8*at)) | uint64(c)<<(8*at)
				if got, want := marking(w)>>(8*at)&0xff != 0, strings.ContainsRune("@ABGJ_", rune(c)); got != want {
					t.Fatalf("%q at %d is marking: %t", byte(c), at, got)
				}
			}
		}
	}
}

// TestWords compares names that are remembered by their words with those that are looked up.
func TestWords(t *testing.T) {
	r, plain := policy(t, nil).newRedactor(), policy(t, nil).newRedactor()
	rng := rand.New(rand.NewPCG(19, 1))
	pieces := []string{"token", "sid", "utm_source", "a", "%", "&", "?", "&amp;", "/", "email", "user[email]", "x_token_y", "=", "é", "page", "aspsessionidABC", ";", "\x00"}
	for range 100_000 {
		var text []byte
		for range 1 + rng.IntN(8) {
			text = append(text, pieces[rng.IntN(len(pieces))]...)
		}
		text = append(text, "="...)
		want := false
		for from, to := 0, 0; to < len(text); to++ {
			if text[to] == '=' {
				want = want || plain.namedAt(text, from, to)
				from = to + 1
			}
		}
		if got := r.named(text); got != want {
			t.Fatalf("%q has a name: %t, want %t", text, got, want)
		}
	}
}

func holdPrefilter(t *testing.T, r *redactor, text []byte) {
	t.Helper()
	for _, f := range []form{asURL, asText} {
		if r.suspect(text, f == asURL) {
			continue
		}
		if out, changed := r.appendRedacted(nil, text, f); changed {
			t.Fatalf("%q is not looked at, and would become %q", text, out)
		}
	}
}

// FuzzRedact holds the prefilter against the scan, and a URL against what is left of it: the same scheme, host and port, and nothing
// that would be removed the next time.
func FuzzRedact(f *testing.F) {
	for _, s := range []string{
		"https://bob:pw@example.com/a?token=1&e=bob%40example.com#x", `{"token":"x","a":"\u0040"}`, "//a@b/?c=4111 1111 1111 1111", "https:a@b",
		"52.520008,13.404954", "(212) 555-0123", "https://h/?a=b%253Dc&AKIAIOSFODNN7EXAMPLE=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc", "http:///////x@y:80\\z",
	} {
		f.Add(s)
	}
	r := policy(f, nil).newRedactor()
	f.Fuzz(func(t *testing.T, text string) {
		holdPrefilter(t, r, []byte(text))
		var out string
		alloctest.Bound(t, len(text), 256, 1<<20, func() { out = redact(r, text, asURL) })
		before, errBefore := urlcore.Parse(text)
		after, errAfter := urlcore.Parse(out)
		_, rest, _ := strings.Cut(text, ":")
		if errBefore != nil || len(strings.TrimLeft(rest, "/\\\t\r\n")) > len(rest)-2 {
			return // what stands behind https: without slashes is a host, but a path where there is a base
		}
		if errAfter != nil {
			t.Fatalf("%q became %q: %v", text, out, errAfter)
		}
		if before.Protocol() != after.Protocol() || before.Host() != after.Host() {
			t.Fatalf("%q became %q", text, out)
		}
	})
}

// TestSameURL compares the parameters of URLs before and after: those of other names stay.
func TestSameURL(t *testing.T) {
	r := policy(t, nil).newRedactor()
	eachClean(t, generate.Clickstream, 50_000, func(url []byte) {
		text := string(url)
		u, err := urlcore.Parse(text)
		if err != nil {
			return
		}
		separator := "?"
		if strings.ContainsAny(text, "#?\t\r\n ") || redact(r, text, asURL) != text {
			return
		}
		out := redact(r, text+separator+"a=1&token=xyz&b=bob%40example.com&c=%C3%A4", asURL)
		v, err := urlcore.Parse(out)
		if err != nil || v.Host() != u.Host() || v.Pathname() != u.Pathname() || !strings.HasSuffix(out, "?a=1&token=***&b=***&c=%C3%A4") {
			t.Fatalf("%s: %s, %v", text, out, err)
		}
	})
}

func TestAllocations(t *testing.T) {
	r := policy(t, nil).newRedactor()
	var urls [][]byte
	eachClean(t, generate.Clickstream, 1000, func(url []byte) { urls = append(urls, bytes.Clone(url)) })
	dst, secret := make([]byte, 0, 1<<16), []byte("/?a=bob%40example.com&token=x")
	all := func() {
		for _, url := range urls {
			if r.suspect(url, true) {
				_, _ = r.appendRedacted(dst, url, asURL)
			}
		}
		_, _ = r.appendRedacted(dst, secret, asURL)
	}
	all()
	if n := testing.AllocsPerRun(20, all); n > 0 {
		t.Errorf("%v allocations for %d URLs", n, len(urls))
	}
}

// BenchmarkClean is the time for URLs of which nothing is removed: of all passes, and of the shortest, which other processes disturbed least.
func BenchmarkClean(b *testing.B) {
	for _, profile := range []generate.Profile{generate.Clickstream, generate.Crawl} {
		b.Run(string(profile), func(b *testing.B) {
			r := policy(b, nil).newRedactor()
			var urls [][]byte
			size, slow := 0, 0
			eachClean(b, profile, 2_000, func(url []byte) {
				if out, changed := r.appendRedacted(nil, url, asURL); changed {
					_ = out
					return
				}
				urls = append(urls, bytes.Clone(url))
				size += len(url)
				if r.suspect(url, true) {
					slow++
				}
			})
			dst := make([]byte, 0, 1<<16)
			b.ReportAllocs()
			b.ResetTimer()
			shortest := time.Hour
			for range b.N {
				start := time.Now()
				for _, url := range urls {
					if r.suspect(url, true) {
						_, _ = r.appendRedacted(dst, url, asURL)
					}
				}
				shortest = min(shortest, time.Since(start))
			}
			b.ReportMetric(float64(shortest.Nanoseconds())/float64(len(urls)), "least-ns/URL")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(urls)), "ns/URL")
			b.ReportMetric(float64(size)/float64(len(urls)), "bytes/URL")
			b.ReportMetric(float64(slow)/float64(len(urls)), "scanned/URL")
		})
	}
}

// TestRepeatedTexts looks at fields whose texts come again: what is clean is remembered, and nothing else is.
func TestRepeatedTexts(t *testing.T) {
	transform := policy(t, nil).Transforms(func() pipeline.Transform { return passed{} })()
	texts := []string{"Mozilla/5.0 (X11; Linux x86_64)", "to bob@example.com", "https://h/?token=abc", "", "Mozilla/5.0 (X11; Linux x86_64)", "https://h/?a=b"}
	want := []string{texts[0], "to ***", "https://h/?token=***", "", texts[0], texts[5]}
	for range 3 {
		b := pipeline.Batch{Carried: []pipeline.Values{{Field: pipeline.Field{Name: "note", Type: pipeline.String}}}}
		for _, text := range texts {
			b.Carried[0].Text.Append([]byte(text))
			b.Carried[0].Valid = append(b.Carried[0].Valid, true)
		}
		if _, err := transform.Apply(&b); err != nil {
			t.Fatal(err)
		}
		for i := range texts {
			if got := string(b.Carried[0].Text.At(i)); got != want[i] {
				t.Errorf("%q became %q, want %q", texts[i], got, want[i])
			}
		}
	}
}

type passed struct{}

func (passed) Apply(*pipeline.Batch) (pipeline.Output, error) { return pipeline.Output{}, nil }

// TestMessages looks at the key and the headers of a message of Kafka, and at hashes before and after the file of keys is read anew.
func TestMessages(t *testing.T) {
	p := policy(t, func(o *Options) { o.Methods = map[string]string{"session": "hash"} })
	transform := p.Transforms(func() pipeline.Transform { return passed{} })()
	apply := func() *pipeline.Batch {
		var b pipeline.Batch
		b.URLs.Append([]byte("https://h/"))
		b.Keys.Append([]byte(`{"mail":"bob@example.com"}`))
		for _, h := range [][2]string{{"Session", "abc"}, {"trace", "00-7"}, {"Authorization", "x"}, {"note", "from bob@example.com"}} {
			b.Headers.Keys.Append([]byte(h[0]))
			b.Headers.Values.Append([]byte(h[1]))
		}
		b.Headers.EndRow()
		if _, err := transform.Apply(&b); err != nil {
			t.Fatal(err)
		}
		return &b
	}
	b := apply()
	if got := string(b.Keys.At(0)); got != `{"mail":"***"}` {
		t.Errorf("key %s", got)
	}
	for i, want := range []string{string(b.Headers.Values.At(0)), "00-7", "***", "from ***"} {
		if got := string(b.Headers.Values.At(i)); got != want {
			t.Errorf("header %d: %s, want %s", i, got, want)
		}
	}
	first := string(b.Headers.Values.At(0))
	keys, err := ParseKeys([]byte("2026-01-01 another0123456789\n"))
	if err != nil {
		t.Fatal(err)
	}
	if again := string(apply().Headers.Values.At(0)); len(first) != hashLength || again != first {
		t.Errorf("hashes %s and %s by one key", first, again)
	}
	p.SetKeys(keys)
	if second := string(apply().Headers.Values.At(0)); len(second) != hashLength || second == first {
		t.Errorf("hash %s by another key", second)
	}
}

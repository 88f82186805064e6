package lineproto

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/urlmill/urlmill/internal/dev/cputime"
)

func TestServe(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{
			"field", `web,dc=a url="https://www.example.co.uk:8443/a/../b?q=1#top",ms=3i 1700000000000000000`,
			`web,dc=a url="https://www.example.co.uk:8443/a/../b?q=1#top",ms=3i,url_scheme="https",url_host="www.example.co.uk",url_port=8443i,` +
				`url_registrable_domain="example.co.uk",url_path="/b",url_query="q=1",url_fragment="top" 1700000000000000000`,
		},
		{"tag", `web,url=http://a.com/x\,y\ z\=1 ms=3i`, `web,url=http://a.com/x\,y\ z\=1 ms=3i,url_scheme="http",url_host="a.com",url_registrable_domain="a.com",url_path="/x,y%20z=1"`},
		{"field before tag", `web,url=x url="a:b"`, `web,url=x url="a:b",url_scheme="a",url_path="b"`},
		{"no URL", `web url="nope" 1`, `web url="nope",url_error="missing-scheme-non-relative-URL" 1`},
		{"quotes", `web url="a:\"\\b, c=d"`, `web url="a:\"\\b, c=d",url_scheme="a",url_path="\"\\b, c=d"`},
		{"line ends in strings", "web s=\"a\nb\",url=\"a:b\" 1", "web s=\"a\nb\",url=\"a:b\",url_scheme=\"a\",url_path=\"b\" 1"},
		{"escapes before it", `we\ b,a\=b=c\,d u\ rl="x",url="a:b"`, `we\ b,a\=b=c\,d u\ rl="x",url="a:b",url_scheme="a",url_path="b"`},
		{"quotes in tags", `w"eb,a="b url="a:b"`, `w"eb,a="b url="a:b",url_scheme="a",url_path="b"`},
		{"no text", `web url=3i`, ""},
		{"another field", `web,u=http://a/ urls="http://a/",x="url" 5`, ""},
		{"comment", `# web url="a:b"`, ""},
		{"empty", ``, ""},
		{"no metric", `web`, ""},
		{"no field", `web,url=a:b `, ""},
		{"broken field", `web url`, ""},
		{"no measurement", ` url`, ""},
		{"carriage return", "web url=\"a:b\" 1\r", "web url=\"a:b\",url_scheme=\"a\",url_path=\"b\" 1\r"},
	} {
		if test.want == "" {
			test.want = test.in
		}
		in, want := strings.Repeat(test.in+"\n", 3)+test.in, strings.Repeat(test.want+"\n", 3)+test.want
		for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in))} {
			var out bytes.Buffer
			if err := Serve(r, &out, "url"); err != nil || out.String() != want {
				t.Errorf("%s: %v\n%s\nwant\n%s", test.name, err, out.String(), want)
			}
		}
	}
}

// TestName has a field whose name needs escapes.
func TestName(t *testing.T) {
	var out bytes.Buffer
	if err := Serve(strings.NewReader(`web a\ b\=c="x:y"`), &out, "a b=c"); err != nil || out.String() != `web a\ b\=c="x:y",a\ b\=c_scheme="x",a\ b\=c_path="y"` {
		t.Errorf("%v, %s", err, out.String())
	}
}

// TestAtOnce has every metric passed on before the next is written, as Telegraf expects, and an end at the end.
func TestAtOnce(t *testing.T) {
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(inRead, outWrite, "url") }()
	lines := bufio.NewScanner(outRead)
	for i := range 50 {
		if _, err := fmt.Fprintf(inWrite, "web url=\"x:%d\" %d\n", i, i); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf(`web url="x:%d",url_scheme="x",url_path="%d" %d`, i, i, i); !lines.Scan() || lines.Text() != want {
			t.Fatalf("%q, want %q", lines.Text(), want)
		}
	}
	_ = inWrite.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	if err := Serve(strings.NewReader("a b=1\n"), failingWriter{broken}, "url"); !errors.Is(err, broken) {
		t.Error(err)
	}
	var out bytes.Buffer
	if err := Serve(io.MultiReader(strings.NewReader("a b=1\n"), iotest.ErrReader(broken)), &out, "url"); !errors.Is(err, broken) || out.String() != "a b=1\n" {
		t.Errorf("%v, %q", err, out.String())
	}
}

// FuzzSplit checks that a metric only ever gets longer, in one place.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{`m,t=v url="x:y",f=1 2`, `m url="\"`, `m,url=a\ b f=1`, "m f=\"\n\",url=\"x:y\"", `\`, ` `, `,= url="`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m := split(line, "url")
		if m.fieldsEnd > len(line) || m.found && m.fieldsEnd == 0 {
			t.Fatalf("%q: %+v", line, m)
		}
		var out bytes.Buffer
		if err := Serve(bytes.NewReader(line), &out, "url"); err != nil || out.Len() < len(line) {
			t.Fatalf("%q: %v, %q", line, err, out.String())
		}
	})
}

// opened reports whether a metric goes on behind its last line end, found out by going over all of it.
func opened(line []byte) bool {
	end := len(bytes.TrimRight(line, "\r\n"))
	if end == 0 || line[0] == '#' {
		return false
	}
	for at := until(line[:end], 0, " "); at < end && (line[at] == ',' || line[at] == ' '); {
		value := until(line[:end], at+1, "=") + 1
		if value > end {
			return false
		}
		next := until(line[:end], value, ", ")
		if value < end && line[value] == '"' {
			if next = until(line, value+1, `"`) + 1; next > len(line) {
				return true
			}
		}
		if at = next; at < end && line[at] != ',' {
			return false
		}
	}
	return false
}

// TestEnding compares the ends of metrics that are found byte by byte with those that are found anew at every line end.
func TestEnding(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	const alphabet = "a =,\"\\\n\r#ü"
	for range 200_000 {
		line := make([]byte, 1+r.IntN(24))
		for i := range line {
			line[i] = alphabet[r.IntN(len(alphabet))]
		}
		if r.IntN(3) > 0 {
			line = append([]byte(`m f="`), line...)
		}
		var e ending
		for i, b := range line {
			e.read(line[i : i+1])
			if b != '\n' {
				continue
			}
			if want := opened(line[:i+1]); e.open() != want {
				t.Fatalf("%q: open %t, want %t", line[:i+1], e.open(), want)
			} else if !want {
				break
			}
		}
	}
}

// TestLinear: a string with a line end after every byte takes the time of its bytes.
func TestLinear(t *testing.T) {
	const small, factor, bound = 16 << 10, 16, 5
	serve := func(n int) func() {
		metric := "m f=\"" + strings.Repeat("a\n", n/2) + "\",url=\"a:b\" 1\n"
		return func() {
			if err := Serve(strings.NewReader(metric), io.Discard, "url"); err != nil {
				t.Error(err)
			}
		}
	}
	if r := cputime.Ratio(bound, factor, serve(small), serve(small*factor)); r > bound {
		t.Errorf("%d bytes take %.1f times the time of %d times %d", small*factor, r, factor, small)
	}
}

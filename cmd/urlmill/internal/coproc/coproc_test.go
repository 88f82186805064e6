package coproc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/charset"
)

// serve returns the lines that Serve answers to in.
func serve(t *testing.T, in string) []string {
	t.Helper()
	var out bytes.Buffer
	if err := Serve(strings.NewReader(in), &out, Lines); err != nil {
		t.Fatal(err)
	}
	if out.Len() == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func TestAnswers(t *testing.T) {
	const example = `{"href":"https://example.com/","origin":"https://example.com","protocol":"https:","username":"","password":"",` +
		`"host":"example.com","hostname":"example.com","port":"","pathname":"/","search":"","hash":"",` +
		`"public_suffix":"com","registrable_domain":"example.com","params":[]}`
	for _, test := range []struct{ name, in, want string }{
		{"plain", `{"input":"https://example.com"}`, example},
		{"null base", `{"input":"https://example.com","base":null}`, example},
		{"space", " { \"input\" : \"https://example.com\" , \"base\" : null } \r", example},
		{"escapes", `{"input":"\u0068ttps:\/\/example.com"}`, example},
		{"escaped key", `{"\u0069nput":"https://example.com"}`, example},
		{"further members", `{"id":{"a":[1,"}\n"]},"input":"https://example.com","x":1.5e3,"base":null,"y":null}`, example},
		{"last input counts", `{"input":"x:y","input":"https://example.com"}`, example},
		{"last base counts", `{"base":"nope","input":"https://example.com","base":null}`, example},
		{"last base counts with others", `{"a":1,"base":"nope","input":"//example.com","base":"https:x"}`, example},
		{
			"everything", `{"input":"../b?x=1&x=2+%22#f\"","base":"https://us%22er:pa@Example.co.uk:8080/a/c"}`,
			`{"href":"https://us%22er:pa@example.co.uk:8080/b?x=1&x=2+%22#f%22","origin":"https://example.co.uk:8080","protocol":"https:",` +
				`"username":"us%22er","password":"pa","host":"example.co.uk:8080","hostname":"example.co.uk","port":"8080","pathname":"/b",` +
				`"search":"?x=1&x=2+%22","hash":"#f%22","public_suffix":"co.uk","registrable_domain":"example.co.uk","params":[["x","1"],["x","2 \""]]}`,
		},
		{
			"opaque path with quotes", `{"input":"mailto:\"a\\b\"@x?subject=%0A%01%ff&&b"}`,
			`{"href":"mailto:\"a\\b\"@x?subject=%0A%01%ff&&b","origin":"null","protocol":"mailto:","username":"","password":"","host":"","hostname":"",` +
				`"port":"","pathname":"\"a\\b\"@x","search":"?subject=%0A%01%ff&&b","hash":"","public_suffix":null,"registrable_domain":null,` +
				`"params":[["subject","\n\u0001` + "\ufffd" + `"],["b",""]]}`,
		},
		{
			"address", `{"input":"http://[::1]:80/?"}`,
			`{"href":"http://[::1]/?","origin":"http://[::1]","protocol":"http:","username":"","password":"","host":"[::1]","hostname":"[::1]",` +
				`"port":"","pathname":"/","search":"","hash":"","public_suffix":null,"registrable_domain":null,"params":[]}`,
		},
		{
			"suffix alone", `{"input":"http://com/"}`,
			`{"href":"http://com/","origin":"http://com","protocol":"http:","username":"","password":"","host":"com","hostname":"com",` +
				`"port":"","pathname":"/","search":"","hash":"","public_suffix":"com","registrable_domain":null,"params":[]}`,
		},
		{"failure", `{"input":"https://"}`, `{"error":"host-missing","position":8}`},
		{"failure of the base", `{"input":"x","base":"https://"}`, `{"error":"base-host-missing","position":8}`},
		{"empty line", ``, `{"error":"record-malformed","position":0}`},
		{"no object", `"https://example.com"`, `{"error":"record-malformed","position":0}`},
		{"no input", `{"base":null}`, `{"error":"record-malformed","position":13}`},
		{"no input among others", `{"x":null}`, `{"error":"record-malformed","position":10}`},
		{"input null", `{"input":null}`, `{"error":"record-malformed","position":9}`},
		{"input number", `{"input": 5}`, `{"error":"record-malformed","position":10}`},
		{"base number", `{"input":"x","base":5}`, `{"error":"record-malformed","position":20}`},
		{"cut off", `{"input":"https://exa`, `{"error":"record-malformed","position":21}`},
		{"cut off in an escape", `{"input":"\u12`, `{"error":"record-malformed","position":10}`},
		{"cut off after a backslash", `{"input":"\`, `{"error":"record-malformed","position":10}`},
		{"trailing", `{"input":"x:y"} x`, `{"error":"record-malformed","position":16}`},
		{"trailing after others", `{"a":1,"input":"x:y"} x`, `{"error":"record-malformed","position":22}`},
		{"control character", "{\"input\":\"a\tb\"}", `{"error":"record-malformed","position":11}`},
		{"bad escape", `{"input":"\x"}`, `{"error":"record-malformed","position":10}`},
		{"no comma", `{"input":"x:y" "base":null}`, `{"error":"record-malformed","position":15}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := serve(t, test.in+"\n"+`{"input":"https://example.com"}`+"\n")
			if len(got) != 2 || got[0] != test.want || got[1] != example {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), test.want)
			}
		})
	}
}

func TestSurrogatesAndInvalidUTF8(t *testing.T) {
	for in, want := range map[string]string{
		`{"input":"x:\ud83d\ude00"}`:               "x:%F0%9F%98%80",
		`{"input":"x:\ud83d"}`:                     "x:%EF%BF%BD",
		`{"input":"x:\ude00\ud83dz"}`:              "x:%EF%BF%BD%EF%BF%BDz",
		`{"input":"x:\ud83d\u0041"}`:               "x:%EF%BF%BDA",
		`{"input":"x:\ud83d\ud83d\ude00"}`:         "x:%EF%BF%BD%F0%9F%98%80",
		"{\"input\":\"x:\xff\"}":                   "x:%EF%BF%BD",
		"{\"input\":\"x:\xf0\x9f\x98\"}":           "x:%EF%BF%BD",
		"{\"a\":\"\xff\",\"input\":\"x:\xffy\"}":   "x:%EF%BF%BDy",
		"{\"a\":\"\xff\",\"input\":\"x:\\ud800\"}": "x:%EF%BF%BD",
	} {
		var answer struct{ Href string }
		if err := json.Unmarshal([]byte(serve(t, in)[0]), &answer); err != nil {
			t.Fatal(err)
		}
		if answer.Href != want {
			t.Errorf("%q: %q, want %q", in, answer.Href, want)
		}
	}
}

// TestLineEnds checks the last line without a line end and CRLF, with reads of every size.
func TestLineEnds(t *testing.T) {
	if got := serve(t, ""); got != nil {
		t.Errorf("empty input: %q", got)
	}
	lines := []string{`{"input":"a:1"}`, `{"input":"b:2"}`, `{"input":"c:3"}`}
	for _, in := range []string{strings.Join(lines, "\n"), strings.Join(lines, "\n") + "\n", strings.Join(lines, "\r\n") + "\r\n"} {
		want := serve(t, in)
		if len(want) != 3 {
			t.Fatalf("%q: %d answers", in, len(want))
		}
		for _, r := range []io.Reader{iotest.OneByteReader(strings.NewReader(in)), iotest.DataErrReader(strings.NewReader(in))} {
			var out bytes.Buffer
			if err := Serve(r, &out, Lines); err != nil || out.String() != strings.Join(want, "\n")+"\n" {
				t.Errorf("%q in pieces: %q, %v", in, out.String(), err)
			}
		}
	}
}

// TestAtOnce checks that every answer comes before the next line is written.
func TestAtOnce(t *testing.T) {
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	done := make(chan error)
	go func() {
		err := Serve(inRead, outWrite, Lines)
		_ = outWrite.Close()
		done <- err
	}()
	answers := bufio.NewScanner(outRead)
	for i := range 100 {
		if _, err := fmt.Fprintf(inWrite, "{\"input\":\"x:%d\"}\n", i); err != nil {
			t.Fatal(err)
		}
		if !answers.Scan() || !strings.HasPrefix(answers.Text(), fmt.Sprintf(`{"href":"x:%d",`, i)) {
			t.Fatalf("answer %d: %q", i, answers.Text())
		}
	}
	_ = inWrite.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// zeros reads as size bytes 'a' and counts how much was taken.
type zeros struct{ size int }

func (z *zeros) Read(p []byte) (int, error) {
	if z.size == 0 {
		return 0, io.EOF
	}
	n := min(len(p), z.size)
	for i := range p[:n] {
		p[i] = 'a'
	}
	z.size -= n
	return n, nil
}

func TestLongLines(t *testing.T) {
	long := `{"input":"x:` + strings.Repeat("a", 1<<20) + `"}`
	got := serve(t, long+"\n"+`{"input":"x:y"}`+"\n"+long)
	if len(got) != 3 || len(got[0]) < 1<<20 || got[0] != got[2] {
		t.Fatalf("%d answers", len(got))
	}
	const limit = 2 << 20
	in := io.MultiReader(&zeros{3*limit + 5}, strings.NewReader("\n{\"input\":\"x:y\"}\n"), &zeros{limit + readSize})
	var out bytes.Buffer
	if err := serveUpTo(in, &out, Lines, limit); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	tooLarge := fmt.Sprintf(`{"error":"record-too-large","position":%d}`, limit)
	if len(lines) != 4 || lines[0] != tooLarge || !strings.HasPrefix(lines[1], `{"href":"x:y"`) || lines[2] != tooLarge || lines[3] != "" {
		t.Errorf("answers %.300q", lines)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	if err := Serve(strings.NewReader("x\n"), failingWriter{broken}, Lines); !errors.Is(err, broken) {
		t.Errorf("writer: %v", err)
	}
	if err := Serve(strings.NewReader("x"), failingWriter{broken}, Lines); !errors.Is(err, broken) {
		t.Errorf("writer at the end: %v", err)
	}
	if err := Serve(strings.NewReader(strings.Repeat("\n", 1<<20)), failingWriter{broken}, Lines); !errors.Is(err, broken) {
		t.Errorf("writer in the middle: %v", err)
	}
	var out bytes.Buffer
	err := Serve(io.MultiReader(strings.NewReader("x\ny"), iotest.ErrReader(broken)), &out, Lines)
	if !errors.Is(err, broken) || strings.Count(out.String(), "\n") != 2 {
		t.Errorf("reader: %v, %q", err, out.String())
	}
}

// requests are lines as a program would write them.
func requests(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `{"input":"/products/%d/some-article.html?utm_source=newsletter&id=%d","base":"https://www.shop%d.example.co.uk/"}`+"\n", i, i*7, i%10)
	}
	return b.Bytes()
}

func TestAllocations(t *testing.T) {
	var a answerer
	line := bytes.TrimSuffix(requests(1), []byte("\n"))
	escaped := []byte(`{"input":"https:\/\/example.com\/a?b=%20c","base":null}`)
	var out []byte
	allocs := testing.AllocsPerRun(100, func() {
		out = a.append(out[:0], line)
		out = a.append(out, escaped)
	})
	if allocs != 0 {
		t.Errorf("%v allocations for two lines", allocs)
	}
}

// FuzzAppend checks that every line gives one line of JSON, and one that agrees with encoding/json and urlcore.
func FuzzAppend(f *testing.F) {
	for _, seed := range []string{
		`{"input":"https://example.com/?a=b","base":null}`, `{"input":"x","base":"https://h/"}`, `{"a":[{}],"input":"\ud800\u0000"}`, `{`, ``, `{"input":"\`,
	} {
		f.Add([]byte(seed))
	}
	var a answerer
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.ContainsAny(line, "\n") {
			return
		}
		out := a.append(nil, line)
		var answer map[string]any
		if err := json.Unmarshal(out, &answer); err != nil || bytes.Count(out, []byte("\n")) != 1 {
			t.Fatalf("%q: %v: %q", line, err, out)
		}
		var want struct {
			Input *string `json:"input"`
			Base  *string `json:"base"`
		}
		text := charset.AppendUTF8(nil, line) // encoding/json replaces each byte that is not UTF-8, and the decoder of the standard some of them together
		if !bytes.Contains(line, []byte("input")) || json.Unmarshal(text, &want) != nil || want.Input == nil || bytes.Contains(bytes.ToLower(line), []byte("input\"")) && bytes.Count(bytes.ToLower(line), []byte("input\"")) != 1 || bytes.Contains(bytes.ToLower(line), []byte("base")) {
			return // encoding/json matches keys in any case, so only lines with one of them compare
		}
		u, err := urlcore.Parse(*want.Input)
		if href, ok := answer["href"]; ok != (err == nil) || ok && href != u.Href() {
			t.Errorf("%q: %q, want %v, %v", line, out, u, err)
		}
	})
}

func BenchmarkServe(b *testing.B) {
	in := requests(10_000)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Serve(bytes.NewReader(in), io.Discard, Lines); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*10_000/b.Elapsed().Seconds(), "lines/s")
}

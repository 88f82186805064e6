package framing

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// read returns all lines, with a + after those that were cut, and the error at the end.
func read(l *Lines) (lines []string, err error) {
	for {
		record, cut, err := l.Next()
		if err != nil {
			return lines, err
		}
		s := string(record)
		if cut {
			s += "+"
		}
		lines = append(lines, s)
	}
}

func TestLines(t *testing.T) {
	for _, test := range []struct {
		in   string
		max  int
		want []string
	}{
		{"", 9, nil},
		{"a", 9, []string{"a"}},
		{"a\n", 9, []string{"a"}},
		{"a\nb", 9, []string{"a", "b"}},
		{"\n", 9, []string{""}},
		{"\n\na\n\n", 9, []string{"", "", "a", ""}},
		{"a\r\nb\r\n", 9, []string{"a", "b"}},
		{"a\r\r\n\r\n\r", 9, []string{"a\r", "", ""}},
		{"a\rb\n", 9, []string{"a\rb"}},
		{"a\x00b\n\x00\n", 9, []string{"a\x00b", "\x00"}},
		{"\xff\xfe\n", 9, []string{"\xff\xfe"}},
		{"\ufeffa\nb\n", 9, []string{"a", "b"}},
		{"\ufeff", 9, nil},
		{"\ufeff\n", 9, []string{""}},
		{"\ufeff\ufeffa", 9, []string{"\ufeffa"}},
		{"\xef\xbb", 9, []string{"\xef\xbb"}},
		{"\xef\xbbx\n", 9, []string{"\xef\xbbx"}},
		{"a\n\ufeffb\n", 9, []string{"a", "\ufeffb"}},
		{"123\n1234\n12345\n1\n", 3, []string{"123", "123+", "123+", "1"}},
		{"123\r\n1234\r\n123\r", 3, []string{"123", "123+", "123"}},
		{"123\r1\r\n", 3, []string{"123+"}},
		{"1234", 3, []string{"123+"}},
		{"\ufeff123\n\ufeff1\n", 3, []string{"123", "\ufeff+"}},
		{"\xef\xbb\n\xef", 1, []string{"\xef+", "\xef"}},
	} {
		for name, r := range map[string]io.Reader{
			"whole":            strings.NewReader(test.in),
			"byte by byte":     iotest.OneByteReader(strings.NewReader(test.in)),
			"error with data":  iotest.DataErrReader(strings.NewReader(test.in)),
			"through bufio.Rd": bufio.NewReader(strings.NewReader(test.in)),
		} {
			got, err := read(NewLines(r, test.max))
			if !slices.Equal(got, test.want) || !errors.Is(err, io.EOF) {
				t.Errorf("%q at %d, %s: %q, want %q (%v)", test.in, test.max, name, got, test.want, err)
			}
		}
	}
}

// TestError checks that whole lines come before the error, and that what follows them is not taken for a line.
func TestError(t *testing.T) {
	broken := errors.New("broken")
	l := NewLines(io.MultiReader(strings.NewReader("a\nb\nhalf"), iotest.ErrReader(broken)), 9)
	got, err := read(l)
	if !slices.Equal(got, []string{"a", "b"}) || !errors.Is(err, broken) || string(l.Rest()) != "half" {
		t.Errorf("%q, %v, rest %q", got, err, l.Rest())
	}
	if _, _, err := l.Next(); !errors.Is(err, broken) {
		t.Error("the error does not stay:", err)
	}
	if _, err := read(NewLines(stuck{}, 9)); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// chunks hands out one chunk a Read and panics beyond them: what is asked of Ready must not read.
type chunks []string

func (c *chunks) Read(p []byte) (int, error) {
	n := copy(p, (*c)[0])
	*c = (*c)[1:]
	return n, nil
}

// TestAgain reads on after a reader that has nothing for a while, also within a line, one that was cut, or a byte order mark.
func TestAgain(t *testing.T) {
	for _, text := range []string{"a\r\nbb\ncc", "\ufeffa\n\n123456\nb\n", "\ufeff", ""} {
		want, err := read(NewLines(strings.NewReader(text), 3))
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		l := NewLines(&hesitant{r: iotest.OneByteReader(strings.NewReader(text))}, 3)
		var got []string
		again := 0
		for {
			lines, err := read(l)
			if got = append(got, lines...); err != ErrAgain { //nolint:errorlint // as it is
				break
			}
			again++
		}
		if !slices.Equal(got, want) || again != len(text)+1 {
			t.Errorf("%q: %q after %d, want %q", text, got, again, want)
		}
	}
}

// hesitant has nothing each time before it has something.
type hesitant struct {
	r    io.Reader
	wait bool
}

func (h *hesitant) Read(p []byte) (int, error) {
	if h.wait = !h.wait; h.wait {
		return 0, ErrAgain
	}
	return h.r.Read(p)
}

func TestReady(t *testing.T) {
	c := &chunks{"a\nb", "b\n", "12345", "6\nc", "\n"}
	l := NewLines(c, 3)
	if l.Ready() {
		t.Error("ready before the first read")
	}
	for _, step := range []struct {
		want  string
		ready bool // afterwards
	}{{"a", false}, {"bb", false}, {"123", false}, {"c", false}} {
		if got, _, err := l.Next(); string(got) != step.want || err != nil || l.Ready() != step.ready {
			t.Fatalf("%q %v, ready %v, want %+v", got, err, l.Ready(), step)
		}
	}
	l = NewLines(strings.NewReader("12345\nb\n"), 3)
	if _, cut, _ := l.Next(); !cut || !l.Ready() {
		t.Error("not ready though the line after the cut one is there")
	}
	l = NewLines(&chunks{"12", "345"}, 3)
	if l.Fill(); l.Ready() {
		t.Error("ready before the line is too long")
	}
	if l.Fill(); !l.Ready() {
		t.Error("not ready though the line is too long")
	}
	l = NewLines(&chunks{"12345", "6\nc"}, 3)
	_, _, _ = l.Next()
	l.Fill()
	if l.Ready() {
		t.Error("ready though only the end of the line that was cut is there")
	}
}

// TestBuffer checks that a giant line gets through and does not keep its memory.
func TestBuffer(t *testing.T) {
	giant := strings.Repeat("x", 1<<20)
	l := NewLines(iotest.HalfReader(strings.NewReader(giant+"\n"+strings.Repeat("http://a/b\n", 2<<20))), 1<<20)
	if got, cut, err := l.Next(); string(got) != giant || cut || err != nil {
		t.Fatalf("%d bytes, %v %v", len(got), cut, err)
	}
	n := 0
	for {
		if _, _, err := l.Next(); err != nil {
			break
		}
		n++
	}
	if n != 2<<20 || len(l.buf) != firstBuffer {
		t.Errorf("%d lines, %d bytes of memory", n, len(l.buf))
	}
	// A line far beyond the limit costs no more than the limit.
	l = NewLines(strings.NewReader(strings.Repeat("x", 64<<20)+"\nb"), 1000)
	if got, err := read(l); len(got) != 2 || len(got[0]) != 1001 || got[1] != "b" || !errors.Is(err, io.EOF) || len(l.buf) > firstBuffer {
		t.Errorf("%d lines, %d bytes of memory, %v", len(got), len(l.buf), err)
	}
}

func TestAllocations(t *testing.T) {
	text := strings.Repeat("http://www.example.com/a/path?and=query\r\n", 10000)
	r := strings.NewReader(text)
	l := NewLines(r, 1<<20)
	if n := testing.AllocsPerRun(10, func() {
		r.Reset(text)
		l.err = nil
		for {
			if _, _, err := l.Next(); err != nil {
				return
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzLines compares with splitting the whole text, whatever pieces it arrives in.
func FuzzLines(f *testing.F) {
	f.Add([]byte("\ufeffa\r\nb\n\nccccccccc\r\r\n"), uint8(3), uint8(5))
	f.Add([]byte("aaaa\r\naaa\r\n\xef\xbb"), uint8(1), uint8(3))
	f.Fuzz(func(t *testing.T, text []byte, piece, limit uint8) {
		limit = max(limit, 1)
		want := split(text, int(limit))
		got, err := read(NewLines(&pieces{bytes.NewReader(text), int(piece) + 1}, int(limit)))
		if !errors.Is(err, io.EOF) || !slices.Equal(got, want) {
			t.Fatalf("%q at %d: %q, want %q (%v)", text, limit, got, want, err)
		}
		p := &pieces{bytes.NewReader(text), int(piece) + 1}
		got, err = readReady(NewLines(p, int(limit)), p)
		if !errors.Is(err, io.EOF) || !slices.Equal(got, want) {
			t.Fatalf("%q at %d, when ready: %q, want %q (%v)", text, limit, got, want, err)
		}
	})
}

// readReady does what read does, by Fill and Ready, and sees to it that Next does not read then.
func readReady(l *Lines, p *pieces) (lines []string, err error) {
	n := p.n
	for {
		for !l.Ready() {
			p.n = n
			l.Fill()
		}
		p.n = 0
		record, cut, err := l.Next()
		if err != nil {
			return lines, err
		}
		s := string(record)
		if cut {
			s += "+"
		}
		lines = append(lines, s)
	}
}

func split(text []byte, limit int) (lines []string) {
	text = bytes.TrimPrefix(text, bom)
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, newline)
		s := string(bytes.TrimSuffix(line, []byte("\r")))
		if len(s) > limit {
			s = s[:limit] + "+"
		}
		lines = append(lines, s)
	}
	return lines
}

// pieces reads n bytes at a time.
type pieces struct {
	r io.Reader
	n int
}

func (p *pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(p.n, len(b))]) }

func BenchmarkLines(b *testing.B) {
	text := strings.Repeat("https://www.example.co.uk/shop/garden/chairs?id=8841&utm_source=newsletter\n", 1<<14)
	b.SetBytes(int64(len(text)) >> 14)
	r := strings.NewReader(text)
	l := NewLines(r, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := l.Next(); err != nil {
			r.Reset(text)
			l.err = nil
		}
	}
}

package coproc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/held"
)

// frame returns messages in a framing.
func frame(f Framing, messages ...string) (out []byte) {
	for _, m := range messages {
		switch f {
		case Uint32:
			out = append(binary.BigEndian.AppendUint32(out, uint32(len(m))), m...)
		case Netstring:
			out = fmt.Appendf(out, "%d:%s,", len(m), m)
		case Lines:
			out = append(append(out, m...), '\n')
		}
	}
	return out
}

// TestFramings checks that every framing has the answers that lines have, with reads of every size.
func TestFramings(t *testing.T) {
	requests := []string{`{"input":"https://example.com/?a=b"}`, "", "{", `{"input":"x","base":"https://a/b"}`, `{"input":"https://"}`}
	want := serve(t, strings.Join(requests, "\n")+"\n")
	for _, name := range Framings {
		f := Framing(name)
		in := frame(f, requests...)
		for _, r := range []io.Reader{bytes.NewReader(in), iotest.OneByteReader(bytes.NewReader(in)), iotest.DataErrReader(bytes.NewReader(in))} {
			var out bytes.Buffer
			if err := Serve(r, &out, f); err != nil || !bytes.Equal(out.Bytes(), frame(f, want...)) {
				t.Errorf("%s: %v, %q", f, err, out.String())
			}
		}
		if err := Serve(strings.NewReader(""), failingWriter{}, f); err != nil {
			t.Errorf("%s: nothing: %v", f, err)
		}
	}
	// A length may count line ends.
	var out bytes.Buffer
	if err := Serve(bytes.NewReader(frame(Uint32, "{\n\"input\":\n\"x:y\"}")), &out, Uint32); err != nil || !strings.Contains(out.String(), `{"href":"x:y"`) {
		t.Errorf("%v, %q", err, out.String())
	}
}

// TestFramedAtOnce writes messages one after the other and waits for each answer, as Redpanda Connect does: length and
// message are written apart.
func TestFramedAtOnce(t *testing.T) {
	for _, f := range []Framing{Uint32, Netstring} {
		inRead, inWrite := io.Pipe()
		outRead, outWrite := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- Serve(inRead, outWrite, f) }()
		for i := range 50 {
			request := fmt.Sprintf(`{"input":"x:%d"}`, i)
			want := frame(f, serve(t, request)...)
			whole := frame(f, request)
			head := bytes.IndexByte(whole, '{')
			for _, part := range [][]byte{whole[:head], whole[head : head+len(request)], whole[head+len(request):]} {
				if len(part) == 0 {
					continue // a pipe waits for a reader of nothing
				}
				if _, err := inWrite.Write(part); err != nil {
					t.Fatal(err)
				}
			}
			got := make([]byte, len(want))
			if _, err := io.ReadFull(outRead, got); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s %d: %v, %q", f, i, err, got)
			}
		}
		_ = inWrite.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestBackPressure checks that nothing is read on while nobody takes the answers.
func TestBackPressure(t *testing.T) {
	for _, name := range Framings {
		f := Framing(name)
		var messages []string
		for range 1000 {
			messages = append(messages, `{"input":"http://example.com/`+strings.Repeat("a", 1000)+`"}`)
		}
		block := frame(f, messages...)
		taken, full := 0, errors.New("full")
		in := readerFunc(func(p []byte) (int, error) {
			n := copy(p, block[taken%len(block):])
			taken += n
			return n, nil
		})
		err := Serve(in, failingWriter{full}, f)
		if !errors.Is(err, full) || taken > 4*(readSize+held.Size) {
			t.Errorf("%s: %v after %d bytes", f, err, taken)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestFramingErrors(t *testing.T) {
	good := `{"input":"x:y"}`
	for _, test := range []struct {
		f        Framing
		in, want string
	}{
		{Uint32, string(frame(Uint32, good)) + "\x00", "unexpected EOF"},
		{Uint32, string(frame(Uint32, good)) + "\x00\x00\x00\x09abc", "unexpected EOF"},
		{Netstring, string(frame(Netstring, good)) + "3", "unexpected EOF"},
		{Netstring, string(frame(Netstring, good)) + "3:ab", "unexpected EOF"},
		{Netstring, string(frame(Netstring, good)) + "3:abc", "unexpected EOF"},
		{Netstring, string(frame(Netstring, good)) + "3:abcd", "comma"},
		{Netstring, string(frame(Netstring, good)) + ":", "in the length"},
		{Netstring, string(frame(Netstring, good)) + "-1:", "in the length"},
		{Netstring, string(frame(Netstring, good)) + "03:abc,", "in the length"},
		{Netstring, string(frame(Netstring, good)) + "99999999999999:", "in the length"},
	} {
		var out bytes.Buffer
		err := Serve(strings.NewReader(test.in), &out, test.f)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(out.String(), `"href":"x:y"`) {
			t.Errorf("%s %q: %v, %q", test.f, test.in, err, out.String())
		}
	}
	// What is too long is skipped, and answered.
	in := frame(Uint32, good, strings.Repeat("a", 3*readSize), good)
	var out bytes.Buffer
	if err := serveUpTo(bytes.NewReader(in), &out, Uint32, 2*readSize); err != nil {
		t.Fatal(err)
	}
	answer := serve(t, good)[0]
	if want := frame(Uint32, answer, fmt.Sprintf(`{"error":"record-too-large","position":%d}`, 2*readSize), answer); !bytes.Equal(out.Bytes(), want) {
		t.Errorf("%q", out.String())
	}
	// What is longer than what is read at once, but not too long, is answered.
	long := `{"input":"x:` + strings.Repeat("a", 2*readSize) + `"}`
	out.Reset()
	if err := Serve(bytes.NewReader(frame(Netstring, long)), &out, Netstring); err != nil || out.Len() < 4*readSize {
		t.Errorf("%v, %d bytes", err, out.Len())
	}
}

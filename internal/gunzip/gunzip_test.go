package gunzip

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

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

// read returns what a reader of a compressed text returns before its error, which is the same however the text comes in.
func read(in []byte) (text []byte, err error) {
	for i, size := range []int{16, 23, 4096} {
		d, wrong := NewReader(bufio.NewReaderSize(bytes.NewReader(in), size))
		var got []byte
		if wrong == nil {
			got, wrong = io.ReadAll(d)
		}
		var corrupt, before flate.CorruptInputError
		if same := errors.Is(wrong, err) || errors.As(wrong, &corrupt) && errors.As(err, &before); i > 0 && (!same || !bytes.Equal(got, text)) {
			panic(fmt.Sprintf("%d bytes, %v; with a buffer of %d bytes %d bytes, %v", len(text), err, size, len(got), wrong))
		}
		text, err = got, wrong
	}
	return text, err
}

func peer(in []byte) ([]byte, error) {
	d, err := gzip.NewReader(bytes.NewReader(in))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(d)
}

func zip(text []byte, level int) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, level)
	if err != nil {
		panic(err)
	}
	w.Name, w.Comment, w.Extra = "a name", "a comment", []byte("extra")
	_, _ = w.Write(text[:len(text)/3])
	_ = w.Flush()
	_, _ = w.Write(text[len(text)/3:])
	_ = w.Close()
	return out.Bytes()
}

// texts are of all kinds that make blocks of all kinds.
func texts() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, 300_000)
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	var lines, skewed bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&lines, "%d GET https://shop.example.com/garden/%x?id=%d\n", i, r.Uint32()%5000, r.IntN(1e6))
	}
	for range 200_000 { // codes of all lengths
		skewed.WriteByte(byte(r.ExpFloat64() * 12))
	}
	return map[string][]byte{
		"empty": {}, "byte": {'x'}, "random": random, "lines": lines.Bytes(), "skewed": skewed.Bytes(), "short": []byte("a short text"),
		"run": bytes.Repeat([]byte("a"), 400_000), "period": []byte(strings.Repeat("abc", 100_000)), "far": append(append(random[:32768:32768], random[:32768]...), random[:1000]...),
	}
}

func TestTexts(t *testing.T) {
	for name, text := range texts() {
		for level := flate.HuffmanOnly; level <= 9; level++ {
			packed := zip(text, level)
			for _, members := range []int{1, 3} {
				got, err := read(bytes.Repeat(packed, members))
				if err != nil || !bytes.Equal(got, bytes.Repeat(text, members)) {
					t.Errorf("%s, level %d, %d members: %v", name, level, members, err)
				}
			}
		}
	}
}

// TestCut: of a file that was cut, all is returned that is there, and the error says so.
func TestCut(t *testing.T) {
	text := texts()["lines"][:1000]
	for _, level := range []int{flate.NoCompression, flate.HuffmanOnly, 1, 6} {
		packed := zip(text, level)
		for n := range packed {
			got, err := read(packed[:n])
			want, _ := peer(packed[:n])
			if n == 0 && !errors.Is(err, io.EOF) || n > 0 && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("level %d, %d bytes: %v", level, n, err)
			}
			if !bytes.HasPrefix(text, got) || len(got) < len(want) {
				t.Fatalf("level %d, %d bytes: %d bytes, and a peer %d", level, n, len(got), len(want))
			}
		}
	}
}

func TestDamaged(t *testing.T) {
	packed := zip([]byte("a short text"), 6)
	flip := func(at int) []byte {
		other := bytes.Clone(packed)
		other[(at+len(other))%len(other)] ^= 1
		return other
	}
	for name, c := range map[string]struct {
		in   []byte
		want error
	}{
		"no gzip": {flip(0), gzip.ErrHeader}, "flags": {append([]byte{0x1f, 0x8b, 8, 0x40}, packed[4:]...), gzip.ErrHeader},
		"name": {append([]byte{0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 0}, bytes.Repeat([]byte("x"), 512)...), gzip.ErrHeader}, "checksum": {flip(-8), gzip.ErrChecksum}, "size": {flip(-1), gzip.ErrChecksum},
		"garbage behind": {append(bytes.Clone(packed), "garbage"...), gzip.ErrHeader},
	} {
		if _, err := read(c.in); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	failing := errors.New("the network")
	d, err := NewReader(bufio.NewReader(io.MultiReader(bytes.NewReader(packed[:len(packed)-4]), iotest.ErrReader(failing))))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(d); !errors.Is(err, failing) || string(got) != "a short text" {
		t.Errorf("%q, %v", got, err)
	}
}

// compare reads a text that may be none, in pieces of several sizes, beside a peer.
func compare(t *testing.T, in []byte) {
	t.Helper()
	got, err := read(in)
	want, wrong := peer(in)
	if (err == nil) != (wrong == nil) {
		t.Fatalf("%v, and a peer says %v", err, wrong)
	}
	if err == nil && !bytes.Equal(got, want) || !bytes.HasPrefix(got, want) && !bytes.HasPrefix(want, got) {
		t.Fatalf("%d bytes that a peer has not", len(got))
	}
}

// TestChanged: a file of which a byte is another is read as by a peer, or refused by both.
func TestChanged(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, text := range [][]byte{texts()["lines"][:2000], texts()["skewed"][:2000], []byte("a short text")} {
		for _, level := range []int{flate.NoCompression, flate.HuffmanOnly, 1, 9} {
			packed := zip(text, level)
			for range 300 {
				other := bytes.Clone(packed)
				for range 1 + r.IntN(2) {
					other[r.IntN(len(other))] ^= 1 << r.IntN(8)
				}
				compare(t, other)
			}
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, text := range texts() {
		f.Add(zip(text[:min(len(text), 500)], 6))
	}
	f.Fuzz(compare)
}

func Benchmark(b *testing.B) {
	text := texts()["lines"]
	packed := zip(text, 6)
	for name, read := range map[string]func(*bufio.Reader) (io.Reader, error){
		"ours":      func(r *bufio.Reader) (io.Reader, error) { return NewReader(r) },
		"klauspost": func(r *bufio.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			buf := make([]byte, 256<<10)
			for b.Loop() {
				d, err := read(bufio.NewReaderSize(bytes.NewReader(packed), 128<<10))
				for err == nil {
					_, err = d.Read(buf)
				}
				if !errors.Is(err, io.EOF) {
					b.Fatal(err)
				}
			}
		})
	}
}

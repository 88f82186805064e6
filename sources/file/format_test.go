package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/urlmill/urlmill/internal/dev/alloctest"
)

// fixtures are the files in testdata with all 2000 lines.
var fixtures = []string{"lines.gz", "lines.zst", "lines.lz4", "lines.lz4legacy", "lines.bz2", "lines.xz"}

// writers compress; bzip2 and xz have no writers in Go.
var writers = map[string]func(io.Writer) io.WriteCloser{
	"gzip":   func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"S2":     func(w io.Writer) io.WriteCloser { return s2.NewWriter(w, s2.WriterBlockSize(16<<10)) },
	"snappy": func(w io.Writer) io.WriteCloser { return s2.NewWriter(w, s2.WriterSnappyCompat()) },
	"zstd": func(w io.Writer) io.WriteCloser {
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err)
		}
		return z
	},
	"LZ4": func(w io.Writer) io.WriteCloser {
		z := lz4.NewWriter(w)
		if err := z.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.ChecksumOption(false)); err != nil {
			panic(err)
		}
		return z
	},
}

func compress(tb testing.TB, format string, text []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := writers[format](&b)
	if _, err := w.Write(text); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// compressed returns the same lines in every format, two streams each.
func compressed(tb testing.TB) map[string][]byte {
	tb.Helper()
	files := map[string][]byte{}
	for _, name := range fixtures {
		files[name] = fixture(tb, name)
	}
	for name := range writers {
		files[name] = append(compress(tb, name, testLines(0, 1000)), compress(tb, name, testLines(1000, 2000))...)
	}
	return files
}

// TestFormats reads every format under names that say something else.
func TestFormats(t *testing.T) {
	want := linesOf(testLines(0, 2000))
	for name, data := range compressed(t) {
		for _, alias := range []string{"lines.txt", "lines.gz", "lines.zip"} {
			same(t, name, readAll(t, write(t, alias, data)), want)
		}
	}
	same(t, "text", readAll(t, write(t, "text.gz", testLines(0, 2000))), want)
}

func TestFormatsEmpty(t *testing.T) {
	for name := range writers {
		same(t, name, readAll(t, write(t, "empty", compress(t, name, nil))), nil)
	}
	same(t, "xz", readAll(t, filepath.Join("testdata", "empty.xz")), nil)
	same(t, "bzip2", readAll(t, filepath.Join("testdata", "empty.bz2")), nil)
	same(t, "nothing", readAll(t, write(t, "empty", nil)), nil)
	same(t, "only a skippable frame", readAll(t, write(t, "empty", []byte("\x50\x2a\x4d\x18\x01\x00\x00\x00x"))), nil)
}

// TestTextThatBeginsLikeAFormat checks that short texts are not mistaken for the start of a compressed file.
func TestTextThatBeginsLikeAFormat(t *testing.T) {
	for _, text := range []string{"B", "BZh", "BZh9", "BZh91AY&SX", "(", "P", "PK", "PAR1", "7z", "ARROW1", "Obj", "U*M\x17", "\x1f", "\xff\xfe"} {
		same(t, fmt.Sprintf("%q", text), readAll(t, write(t, "text", []byte(text+"\nb\n"))), []string{text, "b"})
		if text[len(text)-1] < 0x7f && text[0] >= ' ' {
			same(t, fmt.Sprintf("only %q", text), readAll(t, write(t, "text", []byte(text))), linesOf([]byte(text)))
		}
	}
}

func TestFormatsNotRead(t *testing.T) {
	for name, data := range map[string]string{
		"UTF-16": "\xff\xfeh\x00t\x00\n\x00", "zip": "PK\x03\x04\x14\x00", "7z": "7z\xbc\xaf\x27\x1c\x00", "compress (.Z)": "\x1f\x9d\x90", "Parquet": "PAR1\x15\x04",
		"Arrow IPC": "ARROW1\x00\x00\xff", "Avro": "Obj\x01\x04",
	} {
		path, other := write(t, "file", []byte(data)), write(t, "other", []byte("a\n"))
		r, err := run(t, newSource(t, Options{Paths: []string{path, other}}))
		if err == nil || !strings.Contains(err.Error(), path+": "+name+" file: ") || !strings.Contains(err.Error(), "convert it first") {
			t.Errorf("%s: %v", name, err)
		}
		same(t, name, r.all(), []string{"a"})
	}
	if _, err := run(t, newSource(t, Options{Paths: []string{write(t, "file", []byte("\xfe\xff\x00h"))}})); !errors.Is(err, errUTF16) {
		t.Error(err)
	}
}

// TestTruncated cuts every format and checks that the whole lines before the cut are delivered, that the error says
// where and what to do, and that the next file is read.
func TestTruncated(t *testing.T) {
	want := linesOf(testLines(0, 2000))
	for name, data := range compressed(t) {
		for _, part := range []float64{0.05, 0.3, 0.6, 0.95, 1} {
			size := min(int(part*float64(len(data))), len(data)-1)
			path, other := write(t, "cut", data[:size]), write(t, "other", []byte("other\n"))
			r, err := run(t, newSource(t, Options{Paths: []string{path, other}, Parallel: 1}))
			var read *ReadError
			if !errors.As(err, &read) {
				t.Errorf("%s cut at %d: %v", name, size, err)
				continue
			}
			rows := r.rows[path]
			same(t, name, rows, want[:len(rows)])
			same(t, name, r.rows[other], []string{"other"})
			if part > 0.9 && len(rows) < 700 && name != "lines.lz4legacy" { // that is a single block
				t.Errorf("%s cut at %d of %d: only %d rows", name, size, len(data), len(rows))
			}
			if read.Path != path || read.Record != int64(len(rows)) || read.Offset > int64(size) || read.Offset < int64(size)-9000 || read.Size != int64(size) {
				t.Errorf("%s cut at %d, %d rows: %+v", name, size, len(rows), read)
			}
			for _, s := range []string{path, "ends too early", fmt.Sprintf("byte %d of %d", read.Offset, size), "get the whole file", fmt.Sprintf("record %d is next", len(rows))} {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%s: %q does not say %q", name, err, s)
				}
			}
		}
	}
}

// TestTruncatedGzip compares with what the standard tool gets out of the same file.
func TestTruncatedGzip(t *testing.T) {
	data := fixture(t, "lines.gz")
	data = data[:len(data)/3]
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	path := write(t, "cut", data)
	r, err := run(t, newSource(t, Options{Paths: []string{path}}))
	same(t, "gzip", r.rows[path], linesOf(whole))
	var read *ReadError
	if !errors.As(err, &read) || read.Rest != len(text)-len(whole) || read.Rest == 0 {
		t.Errorf("%+v", err)
	}
	if !strings.Contains(err.Error(), fmt.Sprintf("the %d bytes of an unfinished line", read.Rest)) {
		t.Error(err)
	}
}

// TestTruncatedAnywhere cuts files of two streams at every byte. What is between the streams, and the two marks at
// which formats without checksums and end marks cannot be told from whole ones, pass.
func TestTruncatedAnywhere(t *testing.T) {
	text, path := testLines(0, 10), filepath.Join(t.TempDir(), "cut")
	step := 1
	if testing.Short() {
		step = 7
	}
	for name := range writers {
		one := compress(t, name, text)
		data := append(bytes.Clone(one), one...)
		for size := 1; size < len(data); size += step {
			put(t, path, data[:size])
			r, err := run(t, newSource(t, Options{Paths: []string{path}}))
			if rows := r.rows[path]; size > 1 {
				want := linesOf(append(text, text...))
				same(t, fmt.Sprintf("%s cut at %d", name, size), rows, want[:min(len(rows), len(want))])
				if len(rows) < size/len(one)*10 {
					t.Errorf("%s cut at %d of %d: %d rows", name, size, len(data), len(rows))
				}
			}
			if err != nil {
				continue
			}
			streamHeader := strings.HasPrefix(string(one), "\xff\x06") && (size == 10 || size == len(one)+10)
			if size != len(one) && !streamHeader && size > 1 {
				t.Errorf("%s cut at %d of %d: no error", name, size, len(data))
			}
		}
	}
}

func TestTruncatedSkippableFrame(t *testing.T) {
	for _, data := range []string{"\x50\x2a\x4d\x18\x01\x00", "\x50\x2a\x4d\x18\x03\x00\x00\x00ab"} {
		_, err := run(t, newSource(t, Options{Paths: []string{write(t, "cut", []byte(data))}}))
		if err == nil || !strings.Contains(err.Error(), "the skippable frame data ends too early") {
			t.Error(err)
		}
	}
}

// TestTruncatedSkipping cuts a file before the position to go on at.
func TestTruncatedSkipping(t *testing.T) {
	path := write(t, "cut", fixture(t, "lines.gz")[:10000])
	r := &reader{start: map[string]int64{path: 1999}}
	var read *ReadError
	if err := newSource(t, Options{Paths: []string{path}}).Run(t.Context(), nil, r.each); !errors.As(err, &read) || read.Record < 500 || read.Record > 999 {
		t.Error(err)
	}
}

// TestDamaged flips bits behind the magic. Whatever comes of it, it is the right rows or an error, never a panic.
func TestDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "damaged")
	rnd := rand.New(rand.NewPCG(1, 2))
	want := linesOf(testLines(0, 2000))
	for name, data := range compressed(t) {
		if name == "LZ4" || name == "lines.lz4legacy" || name == "lines.lz4" || name == "lines.zst" {
			continue // a stream in there has no checksum
		}
		for range 60 {
			damaged := bytes.Clone(data)
			damaged[10+rnd.IntN(len(damaged)-10)] ^= 1 << rnd.IntN(8)
			put(t, path, damaged)
			r, err := run(t, newSource(t, Options{Paths: []string{path}}))
			if err == nil {
				same(t, name, r.rows[path], want)
			}
		}
	}
}

// awaited reads a stream and waits for what it reads.
type awaited struct {
	t *testing.T
	s *stream
}

func (a awaited) Read(p []byte) (int, error) {
	if err := a.s.await(a.t.Context()); err != nil {
		return 0, err
	}
	return a.s.Read(p)
}

// FuzzDecompress sees to it that no content makes a decompressor panic or go on for ever.
func FuzzDecompress(f *testing.F) {
	for name := range writers {
		f.Add(compress(f, name, testLines(0, 20)))
	}
	for _, name := range fixtures {
		f.Add(fixture(f, name))
	}
	f.Add([]byte("text\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		// A window as large as is allowed, which one decoder keeps and another makes anew for each stream of fewer than a hundred
		// bytes, and nothing that grows with what comes out.
		const window = 64 << 20
		alloctest.Bound(t, len(data), window/100, 4*window, func() {
			s := newStream(t.Context(), input{path: Stdin}, bytes.NewReader(data), nil, new(atomic.Int64), window, "")
			defer s.close()
			if n, err := io.Copy(io.Discard, io.LimitReader(awaited{t, s}, 16<<20)); err == nil && n < 16<<20 && s.offset != int64(len(data)) {
				t.Errorf("no error, but only %d of %d bytes were read", s.offset, len(data))
			}
		})
	})
}

package file

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// bgzip compresses text as bgzip does: members of up to 64 KiB that say how long they are, and an empty one at the end.
func bgzip(tb testing.TB, text []byte) []byte { return blocked(tb, text, 4) }

func blocked(tb testing.TB, text []byte, level int) []byte {
	tb.Helper()
	var all bytes.Buffer
	for end := false; !end; {
		n := min(len(text), 65280)
		end = n == 0
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, level)
		z.Extra = []byte("BC\x02\x00\x00\x00")
		_, _ = z.Write(text[:n])
		if err := z.Close(); err != nil {
			tb.Fatal(err)
		}
		binary.LittleEndian.PutUint16(b.Bytes()[16:], uint16(b.Len()-1))
		all.Write(b.Bytes())
		text = text[n:]
	}
	return all.Bytes()
}

// frames compresses text into zstd frames of so many bytes, which say how large they are or not, with a skippable frame before every
// third one, as pzstd writes them, and one like a table at the end.
func frames(tb testing.TB, text []byte, size int, says bool) []byte {
	tb.Helper()
	var all bytes.Buffer
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		tb.Fatal(err)
	}
	skip := func(n int) {
		all.WriteString("\x5e\x2a\x4d\x18")
		_ = binary.Write(&all, binary.LittleEndian, uint32(n))
		all.Write(bytes.Repeat([]byte("t"), n))
	}
	for i := 0; len(text) > 0; i++ {
		n := min(len(text), size)
		if i%3 == 0 {
			skip(4)
		}
		if says {
			all.Write(z.EncodeAll(text[:n], nil))
		} else {
			z.Reset(&all)
			_, _ = io.Copy(z, struct{ io.Reader }{bytes.NewReader(text[:n])})
			if err := z.Close(); err != nil {
				tb.Fatal(err)
			}
		}
		text = text[n:]
	}
	skip(1000)
	return all.Bytes()
}

// inMembers returns content of several members in different forms, of text that compresses to more than membersFrom.
func inMembers(tb testing.TB, text []byte) map[string][]byte {
	tb.Helper()
	var plain []byte
	for at := 0; at < len(text); at += 300_000 {
		plain = append(plain, compress(tb, "gzip", text[at:min(len(text), at+300_000)])...)
	}
	half := len(text) / 2
	return map[string][]byte{
		"bgzip":             bgzip(tb, text),
		"gzip":              compress(tb, "gzip", text),
		"gzip members":      plain,
		"bgzip, then gzip":  append(bgzip(tb, text[:half]), compress(tb, "gzip", text[half:])...),
		"gzip, then bgzip":  append(compress(tb, "gzip", text[:half]), bgzip(tb, text[half:])...),
		"zstd":              compress(tb, "zstd", text),
		"zstd small frames": frames(tb, text, 10_000, true),
		"zstd frames":       frames(tb, text, 1<<20, true),
		"zstd silent":       frames(tb, text, 700_000, false),
		"zstd large frame":  append(frames(tb, text[:half], 1<<20, true), frames(tb, text[half:], 1<<30, true)...),
	}
}

// noise returns about n bytes of lines that do not compress well.
func noise(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "https://host%d.example/%x%x%x?n=%d\n", r.IntN(1000), r.Uint64(), r.Uint64(), r.Uint64(), i)
	}
	return b.Bytes()
}

// decoded reads a file by a stream of its own, one that decompresses side by side or not, and returns the content, what it ended with,
// and at which byte.
func decoded(t testing.TB, path string, size int64, window int) (content []byte, format string, offset int64, err error) {
	t.Helper()
	var read atomic.Int64
	s := newStream(t.Context(), input{path: path, size: size}, nil, nil, &read, window, "")
	defer s.close()
	for {
		if err := s.await(t.Context()); err != nil {
			t.Fatal(err)
		}
		for len(s.rest) > 0 {
			content, s.rest = append(content, s.rest...), nil
		}
		if s.err != nil {
			return content, s.format, s.offset, s.err
		}
	}
}

// cores gives the test so many.
func cores(t testing.TB, n int) {
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// What is decompressed side by side is what one after the other gives, whatever is damaged or missing: content, error, and its place.
func TestMembers(t *testing.T) {
	text := noise(3 << 20)
	r := rand.New(rand.NewPCG(3, 4))
	for name, data := range inMembers(t, text) {
		t.Run(name, func(t *testing.T) {
			path := write(t, "f", nil)
			for i := range 10 {
				bad := bytes.Clone(data)
				switch at := r.IntN(len(bad)); i % 5 {
				case 1:
					bad = bad[:at]
				case 2:
					bad[at] ^= 1 << r.IntN(8)
				case 3: // something between
					bad = append(append(bytes.Clone(bad[:at]), "something"...), bad[at:]...)
				case 4:
					bad = append(bad, "behind"...)
				}
				put(t, path, bad)
				cores(t, 1)
				want, format, offset, wantErr := decoded(t, path, 0, maxWindow)
				cores(t, 3)
				got, gotFormat, gotOffset, err := decoded(t, path, 0, maxWindow)
				if !bytes.Equal(got, want) || gotFormat != format || fmt.Sprint(err) != fmt.Sprint(wantErr) {
					t.Fatalf("change %d: %d bytes of %s and %v, want %d of %s and %v", i, len(got), gotFormat, err, len(want), format, wantErr)
				}
				if i%5 == 0 && !bytes.Equal(got, text) {
					t.Fatal("another content")
				}
				if wantErr != io.EOF && (gotOffset < offset-readBuffer || gotOffset > offset+readBuffer) { //nolint:errorlint // as it is returned
					t.Errorf("change %d: %v at byte %d, want %d", i, err, gotOffset, offset)
				}
			}
		})
	}
}

// Frames larger than fit beside each other, and windows larger than allowed, are left to the ordinary decoder.
func TestMembersMemory(t *testing.T) {
	cores(t, 4)
	text := noise(6 << 20)
	path := write(t, "f", frames(t, text, 2<<20, true))
	got, _, _, err := decoded(t, path, 0, 8<<20)
	if err != io.EOF || !bytes.Equal(got, text) { //nolint:errorlint // as it is returned
		t.Errorf("%d bytes: %v", len(got), err)
	}
	many := bytes.Repeat([]byte("\x5e\x2a\x4d\x18\x00\x00\x00\x00"), 1<<20) // frames without content
	put(t, path, append(frames(t, text[:1<<20], 1000, true), many...))
	if got, _, _, err = decoded(t, path, 0, 8<<20); err != io.EOF || len(got) != 1<<20 { //nolint:errorlint // as it is returned
		t.Errorf("%d bytes: %v", len(got), err)
	}
	members := bytes.Repeat(bgzip(t, nil), 100_000)
	put(t, path, append(members, bgzip(t, text[:100])...))
	if got, _, _, err = decoded(t, path, 0, 8<<20); err != io.EOF || len(got) != 100 { //nolint:errorlint // as it is returned
		t.Errorf("%d bytes: %v", len(got), err)
	}
}

// A lane that ends in the middle leaves nothing behind; the package's tests fail otherwise.
func TestMembersAbandoned(t *testing.T) {
	cores(t, 3)
	for _, data := range inMembers(t, noise(3<<20)) {
		path := write(t, "f", data)
		for range 5 {
			var read atomic.Int64
			s := newStream(t.Context(), input{path: path, size: int64(len(data))}, nil, nil, &read, maxWindow, "")
			_ = s.await(t.Context())
			s.close()
		}
	}
}

// URLMILL_MEMBERS=256 shows how fast so many MiB are decompressed with 1 and 2 cores, the best of five.
func TestMembersRate(t *testing.T) {
	size, rounds := 3, 1
	if n, err := strconv.Atoi(os.Getenv("URLMILL_MEMBERS")); err == nil {
		size, rounds = n, 5
	}
	text := noise(size << 20)
	for name, data := range inMembers(t, text) {
		path := write(t, "f", data)
		var best [3]float64
		for i := range 2 * rounds {
			n := 1 + i%2
			cores(t, n)
			start := time.Now()
			got, _, _, err := decoded(t, path, 0, maxWindow)
			if err != io.EOF || len(got) != len(text) { //nolint:errorlint // as it is returned
				t.Fatalf("%s: %d bytes: %v", name, len(got), err)
			}
			best[n] = max(best[n], float64(len(text))/1e6/time.Since(start).Seconds())
		}
		t.Logf("%-18s 1 core %4.0f MB/s, 2 cores %4.0f MB/s", name, best[1], best[2])
	}
}

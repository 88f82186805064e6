package file

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/therootcompany/xz"
)

// The most memory that a zstd or xz file may ask for by its header, without a memory limit of the program and with the
// smallest one. The first is more than any of their standard levels, and than what their command line tools accept unasked;
// the second is what every decoder has to accept (RFC 8878, 3.1.1.1.2).
const (
	maxWindow = 512 << 20
	minWindow = 8 << 20
)

// windowLimit returns how large a window may be where so many files are read side by side. A decoder takes twice as much; a
// quarter of the memory limit of the runtime, which memory_limit sets, is for all of them.
func windowLimit(parallel int) int {
	return int(max(minWindow, min(maxWindow, debug.SetMemoryLimit(-1)/8/int64(max(1, parallel)))))
}

// format is a kind of content, known by how it begins.
type format struct {
	name  string
	magic string // ? stands for any byte
	// open returns the content, whose decoder may have a window of so many bytes; an io.Closer among them is to be closed. Nil for what is not read, and not
	// taken for text either, with the reason in no if it is not that of most.
	open func(r *bufio.Reader, window int) (io.Reader, error)
	no   error
	// cut and decoder are for [members], nil where members do not say where they end. cut appends the next one to a piece, and has the
	// error errNoCut for one that is left to open; decoder returns what decompresses pieces in so many goroutines.
	cut     func(r *bufio.Reader, p *piece, most int) error
	decoder func(n, window int) (decode func(*piece) bool, end func())
	// skip is set for a frame without content, which is left out: four bytes, a length, and that many bytes.
	skip bool
}

var formats = append([]format{
	{name: "gzip", magic: "\x1f\x8b\x08", open: openGzip, cut: cutGzip, decoder: gzipDecoder},
	{name: "zstd", magic: "\x28\xb5\x2f\xfd", open: openZstd, cut: cutZstd, decoder: zstdDecoder},
	{name: "snappy", magic: "\xff\x06\x00\x00sNaPpY", open: openS2},
	{name: "S2", magic: "\xff\x06\x00\x00S2sTwO", open: openS2},
	{name: "LZ4", magic: "\x04\x22\x4d\x18", open: openLZ4},
	{name: "LZ4", magic: "\x02\x21\x4c\x18", open: openLZ4}, // the frames of before 2013, still used by Linux
	// A text could begin with BZh. The start of the first block settles it.
	{name: "bzip2", magic: "BZh?\x31\x41\x59\x26\x53\x59", open: openBzip2},
	{name: "bzip2", magic: "BZh?\x17\x72\x45\x38\x50\x90", open: openBzip2},
	{name: "xz", magic: "\xfd7zXZ\x00", open: openXZ},
	{name: "zip", magic: "PK\x03\x04"},
	{name: "7z", magic: "7z\xbc\xaf\x27\x1c"},
	{name: "compress (.Z)", magic: "\x1f\x9d"},
	{name: "Parquet", magic: "PAR1\x15"},
	{name: "Arrow IPC", magic: "ARROW1\x00\x00"},
	{name: "Avro", magic: "Obj\x01"},
	// A byte order mark and a first character of ASCII, as shells of Windows write what is redirected.
	{name: "UTF-16", magic: "\xff\xfe?\x00", no: errUTF16},
	{name: "UTF-16", magic: "\xfe\xff\x00", no: errUTF16},
}, skippable()...)

// skippable returns the frames that zstd and LZ4 files may have before their content, for the use of whoever wrote
// them.
func skippable() (frames []format) {
	for i := range 16 {
		frames = append(frames, format{name: "skippable frame", magic: string([]byte{0x50 + byte(i), 0x2a, 0x4d, 0x18}), skip: true})
	}
	return frames
}

// match reports whether data begins like the format, and whether that is still open because data is too short.
func (f *format) match(data []byte) (yes, open bool) {
	for i := 0; i < len(f.magic); i++ {
		if i == len(data) {
			return false, true
		}
		if f.magic[i] != '?' && f.magic[i] != data[i] {
			return false, false
		}
	}
	return true, false
}

// recognise returns the format of what r begins with, nil for text. It waits for no more than it takes to tell: for
// a text, mostly one byte.
func recognise(r *bufio.Reader) (*format, error) {
	for n := 1; ; n++ {
		head, err := r.Peek(n)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		var undecided *format
		for i := range formats {
			yes, open := formats[i].match(head)
			if yes {
				return &formats[i], nil
			}
			if open {
				undecided = &formats[i]
			}
		}
		if undecided == nil {
			return nil, nil
		}
		if err != nil {
			// All there is is the start of a magic. If that is no text, it is a file cut off there.
			if len(head) > 1 && bytes.ContainsFunc(head, func(c rune) bool { return c < ' ' || c > '~' }) {
				return undecided, nil
			}
			return nil, nil
		}
	}
}

// decompress returns the content of r and the name of its format, "text" for what is not compressed. The name also
// comes with an error. With many, members may be decompressed side by side.
func decompress(r *bufio.Reader, window int, many bool) (content io.Reader, name string, err error) {
	for {
		f, err := recognise(r)
		switch {
		case err != nil:
			return nil, "text", err
		case f == nil:
			return r, "text", nil
		case f.skip:
			if err := skipFrame(r); err != nil {
				return nil, f.name, err
			}
		case f.open == nil && f.no != nil:
			return nil, f.name, f.no
		case f.open == nil:
			return nil, f.name, errNotRead
		default:
			if many {
				if m := newMembers(r, f, window); m != nil {
					return m, f.name, nil
				}
			}
			content, err = f.open(r, window)
			return content, f.name, err
		}
	}
}

// skipFrame reads over a frame without content.
func skipFrame(r *bufio.Reader) error {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(head[4:]))
	if _, err := io.CopyN(io.Discard, r, n); err != nil {
		return fmt.Errorf("skippable frame of %d bytes: %w", n, noEOF(err))
	}
	return nil
}

// openGzip reads all members of a gzip file (RFC 1952).
func openGzip(r *bufio.Reader, _ int) (io.Reader, error) { return gzip.NewReader(r) }

// openZstd reads all frames of a zstd file (RFC 8878), in the goroutine that reads: its own would read ahead of the
// position that errors name, and there is a goroutine per file already.
func openZstd(r *bufio.Reader, window int) (io.Reader, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(uint64(window)))
	if err != nil {
		return nil, err
	}
	return &windowed{d, d.Close, window}, nil
}

// openS2 reads the framing format of snappy and its extension S2.
func openS2(r *bufio.Reader, _ int) (io.Reader, error) { return s2.NewReader(r), nil }

// openLZ4 reads all frames of an LZ4 file.
func openLZ4(r *bufio.Reader, _ int) (io.Reader, error) { return lz4.NewReader(r), nil }

// openBzip2 reads all streams of a bzip2 file.
func openBzip2(r *bufio.Reader, _ int) (io.Reader, error) { return bzip2.NewReader(r), nil }

// openXZ reads all streams of an xz file.
func openXZ(r *bufio.Reader, window int) (io.Reader, error) {
	x, err := xz.NewReader(r, uint32(window))
	if err != nil {
		return nil, windowError(err, window)
	}
	return &windowed{x, nil, window}, nil
}

// windowed is a decoder that says what to do about a window that is too large.
type windowed struct {
	io.Reader
	close  func() // nil for none
	window int
}

func (w *windowed) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	return n, windowError(err, w.window)
}

// Close implements [io.Closer].
func (w *windowed) Close() error {
	if w.close != nil {
		w.close()
	}
	return nil
}

// errWindow is the error of a file that asks for a larger window than it gets.
type errWindow struct{ limit int }

func (e *errWindow) Error() string {
	return fmt.Sprintf("it was compressed with a window of more than %d MiB, which its decoder would need twice and for every file "+
		"that is read at the same time", e.limit>>20)
}

func windowError(err error, window int) error {
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, xz.ErrMemlimit) {
		return &errWindow{window}
	}
	return err
}

// noEOF makes of the end of the input in the middle of something the error that it is.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

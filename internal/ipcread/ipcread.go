// Package ipcread reads Arrow IPC streams and files of unknown origin, with arrow's reader. The reader allocates what a message
// claims, and panics over offsets that lead elsewhere. So every message is compared with the bytes that are there, and with a
// limit, before it, and every record afterwards.
package ipcread

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/internal/decoded"
)

// errMalformed is the error of bytes that are no message.
var errMalformed = errors.New("it is malformed")

func tooLarge(n, limit int64) error { return decoded.TooLarge(n, limit, "record batches") }

// recovered turns a panic of the library over a damaged file into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("it is damaged: %v", p)
	}
}

// Reader reads a stream. It belongs to one goroutine at a time.
type Reader struct {
	*ipc.Reader
	err error
}

// NewReader reads the schema of a stream. No byte behind the stream is read.
func NewReader(in io.Reader) (_ *Reader, err error) {
	defer recovered(&err)
	m := &messages{in: in, limit: decoded.Limit()}
	m.Retain()
	r, err := ipc.NewReaderFromMessageReader(m, ipc.WithAllocator(&m.memory))
	if err != nil {
		return nil, err
	}
	return &Reader{Reader: r}, nil
}

// Next reports whether there is another record, which [ipc.Reader.Record] returns. It is valid until the next call.
func (r *Reader) Next() bool {
	if r.err != nil || !r.Reader.Next() {
		return false
	}
	r.err = checkRecord(r.Record())
	return r.err == nil
}

// Err returns the error that Next has ended with, nil at the end of the stream.
func (r *Reader) Err() error {
	if r.err != nil {
		return r.err
	}
	return r.Reader.Err()
}

// messages implements [ipc.MessageReader].
type messages struct {
	in    io.Reader
	limit int64
	last  *ipc.Message
	refs  atomic.Int64
	// memory is what the last message may be decoded into.
	memory bounded
}

// bounded gives the library memory for a message. It takes the columns' buffers from the metadata by number, and does not see
// where the list of them ends: what stands behind it may be a buffer of any size.
type bounded struct {
	memory.GoAllocator
	left int64
}

// reset allows for a message of at most limit bytes, once more for what the library makes of it, and for rounding.
func (b *bounded) reset(limit int64) { b.left = 2*limit + 1<<20 }

// take panics as the library does over other damage, which [recovered] and the library's reader turn into an error.
func (b *bounded) take(n int) {
	if n < 0 || int64(n) > b.left {
		panic(fmt.Errorf("%w: its columns have more buffers than it lists", errMalformed))
	}
	b.left -= int64(n)
}

// Allocate implements [memory.Allocator].
func (b *bounded) Allocate(n int) []byte {
	b.take(n)
	return b.GoAllocator.Allocate(n)
}

// Reallocate implements [memory.Allocator].
func (b *bounded) Reallocate(n int, old []byte) []byte {
	b.take(n)
	return b.GoAllocator.Reallocate(n, old)
}

// Retain implements [ipc.MessageReader].
func (m *messages) Retain() { m.refs.Add(1) }

// Release implements [ipc.MessageReader].
func (m *messages) Release() {
	if m.refs.Add(-1) == 0 {
		m.drop()
	}
}

func (m *messages) drop() {
	if m.last != nil {
		m.last.Release()
		m.last = nil
	}
}

// continuation begins every message since Arrow 0.15.
const continuation = 0xffffffff

// Message implements [ipc.MessageReader]. The message is valid until the next call.
func (m *messages) Message() (*ipc.Message, error) {
	length, err := m.word()
	if err != nil {
		return nil, err
	}
	if length == continuation {
		if length, err = m.word(); err != nil {
			return nil, err
		}
	}
	if length == 0 {
		return nil, io.EOF
	}
	if int64(length) > m.limit {
		return nil, fmt.Errorf("%w: a message with metadata of %d bytes", errMalformed, length)
	}
	meta, err := readAll(m.in, int64(length))
	if err != nil {
		return nil, fmt.Errorf("the metadata of a message: %w", err)
	}
	msg, err := parse(meta, m.limit)
	if err != nil {
		return nil, err
	}
	body, err := readAll(m.in, msg.body)
	if err != nil {
		return nil, fmt.Errorf("the body of a message: %w", err)
	}
	if err := msg.checkBody(func(p []byte, at int64) error { copy(p, body[at:]); return nil }, msg.body); err != nil {
		return nil, err
	}
	m.drop()
	m.memory.reset(m.limit)
	m.last = ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body))
	return m.last, nil
}

// word reads what a message begins with. The end of the input is the end of the stream there.
func (m *messages) word() (uint32, error) {
	var b [4]byte
	_, err := io.ReadFull(m.in, b[:])
	return binary.LittleEndian.Uint32(b[:]), err
}

// readAll reads n bytes. It takes memory as they come, since n is what a message claims.
func readAll(in io.Reader, n int64) ([]byte, error) {
	const step = 1 << 20
	data := make([]byte, 0, min(n, step))
	for int64(len(data)) < n {
		if len(data) == cap(data) {
			data = append(make([]byte, 0, min(n, int64(2*cap(data)))), data...)
		}
		k, err := io.ReadFull(in, data[len(data):cap(data)])
		data = data[:len(data)+k]
		if err != nil {
			return nil, noEOF(err)
		}
	}
	return data, nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// FileReader reads a file.
type FileReader struct {
	r      *ipc.FileReader
	f      ipc.ReadAtSeeker
	limit  int64
	blocks []block // of the record batches
	memory bounded // what a record may be decoded into
}

// magic begins and ends a file.
const magic = "ARROW1"

// NewFileReader reads the footer of a file of the given size, its schema and its dictionaries.
func NewFileReader(f ipc.ReadAtSeeker, size int64) (_ *FileReader, err error) {
	defer recovered(&err)
	r := &FileReader{f: f, limit: decoded.Limit()}
	const tail = 4 + len(magic)
	var end [tail]byte
	if size < int64(tail+2*len(magic)) {
		return nil, fmt.Errorf("%d bytes are no Arrow file", size)
	}
	if _, err := f.ReadAt(end[:], size-int64(tail)); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if string(end[4:]) != magic {
		return nil, fmt.Errorf("the file ends with %q instead of %q: it is no Arrow file, or it is cut off", end[4:], magic)
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if length == 0 || length > size-int64(tail+len(magic)) || length > r.limit {
		return nil, fmt.Errorf("a footer of %d bytes in a file of %d", length, size)
	}
	footer, err := readAll(io.NewSectionReader(f, size-int64(tail)-length, length), length)
	if err != nil {
		return nil, err
	}
	dictionaries, records, err := parseFooter(footer, r.limit, size)
	if err != nil {
		return nil, fmt.Errorf("the footer: %w", err)
	}
	r.blocks = records
	for i, d := range dictionaries {
		if err := r.check(d); err != nil {
			return nil, fmt.Errorf("dictionary %d: %w", i, err)
		}
	}
	r.memory.reset(r.limit)
	r.r, err = ipc.NewFileReader(f, ipc.WithAllocator(&r.memory))
	return r, err
}

// Schema returns the schema of the records.
func (f *FileReader) Schema() *arrow.Schema { return f.r.Schema() }

// NumRecords returns the number of record batches.
func (f *FileReader) NumRecords() int { return len(f.blocks) }

// Record returns a record, which is valid until the next call.
func (f *FileReader) Record(i int) (_ arrow.Record, err error) {
	defer recovered(&err)
	if err := f.check(f.blocks[i]); err != nil {
		return nil, err
	}
	f.memory.reset(f.limit)
	r, err := f.r.Record(i)
	if err != nil {
		return nil, err
	}
	return r, checkRecord(r)
}

// Close gives the memory back. The file stays open.
func (f *FileReader) Close() error { return f.r.Close() }

// block is where a message lies in a file.
type block struct{ offset, meta, body int64 }

// check compares the message of a block with what there is.
func (f *FileReader) check(b block) error {
	meta, err := readAll(io.NewSectionReader(f.f, b.offset, b.meta), b.meta)
	if err != nil {
		return err
	}
	if len(meta) < 8 {
		return fmt.Errorf("%w: a message with metadata of %d bytes", errMalformed, len(meta))
	}
	switch binary.LittleEndian.Uint32(meta) {
	case 0:
	case continuation:
		meta = meta[8:]
	default:
		meta = meta[4:]
	}
	msg, err := parse(meta, f.limit)
	if err != nil {
		return err
	}
	return msg.checkBody(func(p []byte, at int64) error {
		_, err := f.f.ReadAt(p, b.offset+b.meta+at)
		return err
	}, b.body)
}

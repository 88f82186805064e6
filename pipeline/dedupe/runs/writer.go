package runs

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/cespare/xxhash/v2"
)

// Info says what is in a run.
type Info struct {
	Keys  int64 `json:"keys"`
	Bytes int64 `json:"bytes"`
	// Least and Most are the least and the greatest value.
	Least uint64 `json:"least,omitempty"`
	Most  uint64 `json:"most,omitempty"`
}

// Writer writes a run, once through.
type Writer struct {
	out     io.Writer
	buf     []byte // blocks to be written
	pending []entry
	last    entry
	firsts  []number
	ends    []int64 // of the blocks
	info    Info
}

// writeSize is how many bytes are written at a time.
const writeSize = 256 << 10

// NewWriter returns a writer of a run into out, which is not closed.
func NewWriter(out io.Writer) *Writer {
	return &Writer{out: out, pending: make([]entry, 0, blockKeys), info: Info{Least: math.MaxUint64}}
}

var errOrder = errors.New("keys are not in order")

// Add adds keys with one value. They are in order, and none is before one that was added.
func (w *Writer) Add(keys []Key, value uint64) error {
	for i := range keys {
		if err := w.add(&entry{numberOf(&keys[i]), value}); err != nil {
			return err
		}
	}
	return nil
}

// add adds an entry. One that was added last is left out.
func (w *Writer) add(e *entry) error {
	if w.info.Keys > 0 && !w.last.less(e) {
		if w.last == *e {
			return nil
		}
		if e.number.less(w.last.number) {
			return errOrder
		}
	}
	w.last = *e
	w.info.Keys++
	w.info.Least, w.info.Most = min(w.info.Least, e.value), max(w.info.Most, e.value)
	if w.pending = append(w.pending, *e); len(w.pending) == blockKeys {
		return w.flush()
	}
	return nil
}

// flush ends the block.
func (w *Writer) flush() error {
	before := len(w.buf)
	w.buf = appendBlock(w.buf, w.pending)
	w.info.Bytes += int64(len(w.buf) - before)
	w.firsts, w.ends = append(w.firsts, w.pending[0].number), append(w.ends, w.info.Bytes)
	w.pending = w.pending[:0]
	if len(w.buf) < writeSize {
		return nil
	}
	return w.write()
}

func (w *Writer) write() error {
	_, err := w.out.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

// The index has for each block its first key (16 bytes, big-endian) and its length (4). The trailer has the numbers of keys and of blocks, the least
// and the greatest value, the sum of all this from the index on, and magic.
const (
	indexSize   = 16 + 4
	trailerSize = 4*8 + sumSize + len(magic)
	magic       = "urlkeys1"
)

// Finish writes what is left, and returns what is in the run. A run may have no keys.
func (w *Writer) Finish() (Info, error) {
	if len(w.pending) > 0 {
		if err := w.flush(); err != nil {
			return Info{}, err
		}
	}
	if w.info.Keys == 0 {
		w.info.Least = 0
	}
	if err := w.write(); err != nil {
		return Info{}, err
	}
	sum, last := xxhash.New(), int64(0)
	for i, first := range w.firsts {
		w.buf = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(w.buf, first.hi), first.lo)
		w.buf = binary.LittleEndian.AppendUint32(w.buf, uint32(w.ends[i]-last))
		if last = w.ends[i]; len(w.buf) >= writeSize {
			_, _ = sum.Write(w.buf)
			w.info.Bytes += int64(len(w.buf))
			if err := w.write(); err != nil {
				return Info{}, err
			}
		}
	}
	for _, v := range []uint64{uint64(w.info.Keys), uint64(len(w.firsts)), w.info.Least, w.info.Most} {
		w.buf = binary.LittleEndian.AppendUint64(w.buf, v)
	}
	_, _ = sum.Write(w.buf)
	w.buf = append(binary.LittleEndian.AppendUint64(w.buf, sum.Sum64()), magic...)
	w.info.Bytes += int64(len(w.buf))
	return w.info, w.write()
}

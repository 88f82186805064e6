package runs

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
)

// Run is a run that can be read. Its methods may be called side by side. It has its index in memory, three quarters of a bit a
// key, and closes nothing.
type Run struct {
	in     io.ReaderAt
	info   Info
	firsts []number
	ends   []int64 // of the blocks
	filter *Filter // of its keys; nil where every key has to be sought
	// filtered is how far the filter has the keys: those whose first bits are less, or all when it is the highest number.
	filtered atomic.Uint64
}

// OpenRun opens the run that in has, of size bytes. It reads the index. in may be a section of a larger file.
func OpenRun(in io.ReaderAt, size int64) (*Run, error) {
	var trailer [trailerSize]byte
	if size < int64(len(trailer)) {
		return nil, fmt.Errorf("%w: it is too short", ErrDamaged)
	}
	if err := readAt(in, trailer[:], size-int64(len(trailer))); err != nil {
		return nil, err
	}
	if string(trailer[4*8+sumSize:]) != magic {
		return nil, fmt.Errorf("%w: it does not end as one does", ErrDamaged)
	}
	number64 := func(i int) uint64 { return binary.LittleEndian.Uint64(trailer[8*i:]) }
	r := &Run{in: in, info: Info{Keys: int64(number64(0)), Bytes: size, Least: number64(2), Most: number64(3)}}
	blocks := number64(1)
	// All but the last block are full, and the index is in the file: what is claimed beyond that is not believed.
	if blocks > uint64(size)/indexSize || uint64(r.info.Keys) > blocks*blockKeys || uint64(r.info.Keys)+blockKeys <= blocks*blockKeys {
		return nil, fmt.Errorf("%w: its sizes do not fit", ErrDamaged)
	}
	return r, r.readIndex(int(blocks), trailer[:])
}

func (r *Run) readIndex(blocks int, trailer []byte) error {
	index := int64(blocks) * indexSize
	at := r.info.Bytes - int64(len(trailer)) - index
	r.firsts, r.ends = make([]number, 0, blocks), make([]int64, 0, blocks)
	sum, end := xxhash.New(), int64(0)
	buf := make([]byte, min(index, writeSize/indexSize*indexSize))
	for from := at; from < at+index; from += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), at+index-from)]
		if err := readAt(r.in, buf, from); err != nil {
			return err
		}
		_, _ = sum.Write(buf)
		for e := buf; len(e) > 0; e = e[indexSize:] {
			first := numberOf((*Key)(e))
			length := int64(binary.LittleEndian.Uint32(e[16:]))
			if n := len(r.firsts); length > maxBlock || n > 0 && first.less(r.firsts[n-1]) {
				return fmt.Errorf("%w: its index is not in order", ErrDamaged)
			}
			end += length
			r.firsts, r.ends = append(r.firsts, first), append(r.ends, end)
		}
	}
	_, _ = sum.Write(trailer[:4*8])
	if end != at || sum.Sum64() != binary.LittleEndian.Uint64(trailer[4*8:]) {
		return fmt.Errorf("%w: its index is not what was written", ErrDamaged)
	}
	return nil
}

// readAt reads all of buf.
func readAt(in io.ReaderAt, buf []byte, at int64) error {
	n, err := in.ReadAt(buf, at)
	if n == len(buf) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it is cut off", ErrDamaged)
	}
	return err
}

// Info returns what is in the run.
func (r *Run) Info() Info { return r.info }

func (r *Run) begin(block int) int64 {
	if block == 0 {
		return 0
	}
	return r.ends[block-1]
}

var blocks = sync.Pool{New: func() any { return new([maxBlock]byte) }}

// Find sets found for the keys that the run has. It does not look for those for which found is set. Keys are in order, so that a
// block is read once for all of them.
func (r *Run) Find(keys []Key, found []bool) error {
	var asked []sought
	for i := range keys {
		if !found[i] {
			asked = append(asked, sought{numberOf(&keys[i]), i})
		}
	}
	_, err := r.find(asked, found, nil)
	return err
}

// sought is a key that is looked for, and its place among those that were asked for.
type sought struct {
	number
	at int
}

// find sets found for the keys that the run has, which become hot, and returns those that it does not have, in the room of asked.
func (r *Run) find(asked []sought, found []bool, h *hot) ([]sought, error) {
	filtered := r.filtered.Load()
	room := blocks.Get().(*[maxBlock]byte)
	defer blocks.Put(room)
	left := asked[:0]
	var read block
	has := -1 // the block that was read
	for _, q := range asked {
		if r.filter != nil && (filtered == math.MaxUint64 || q.hi < filtered) && !r.filter.has(q.number) {
			left = append(left, q)
			continue
		}
		i := lastNotAfter(r.firsts, q.number)
		if i >= 0 && i != has {
			data := room[:r.ends[i]-r.begin(i)]
			err := readAt(r.in, data, r.begin(i))
			if err == nil {
				read, err = parseBlock(data)
			}
			if err != nil {
				return nil, err
			}
			has = i
		}
		// A key that is there several times, with other values, may begin in a block before; here are the others of it.
		if i >= 0 && read.has(r.firsts[i], q.number) {
			found[q.at] = true
			if h != nil {
				h.add(q.number)
			}
		} else {
			left = append(left, q)
		}
	}
	return left, nil
}

// Each calls each for some keys at a time, with their values, in order, until it returns an error, or ctx ends. The slices are
// valid until it returns.
func (r *Run) Each(ctx context.Context, each func(keys []Key, values []uint64) error) error {
	var keys []Key
	var values []uint64
	s := r.scan(ctx, 0)
	for {
		entries, err := s.next()
		if err != nil || entries == nil {
			return err
		}
		keys, values = keys[:0], values[:0]
		for i := range entries {
			keys, values = append(keys, entries[i].key()), append(values, entries[i].value)
		}
		if err := each(keys, values); err != nil {
			return err
		}
	}
}

// source gives entries in order.
type source interface {
	// next returns some entries, which are valid until it is called again, and none at the end.
	next() ([]entry, error)
}

// scan is a source of all entries of a run from a block on.
type scan struct {
	ctx     context.Context
	run     *Run
	block   int
	buf     []byte
	from    int64 // place of buf
	entries []entry
}

// scanSize is how many bytes are read at a time.
const scanSize = 128 << 10

func (r *Run) scan(ctx context.Context, block int) *scan {
	return &scan{ctx: ctx, run: r, block: block}
}

func (s *scan) next() ([]entry, error) {
	r := s.run
	if s.block == len(r.firsts) {
		return nil, nil
	}
	begin, end := r.begin(s.block), r.ends[s.block]
	if end > s.from+int64(len(s.buf)) {
		if err := s.ctx.Err(); err != nil {
			return nil, err
		}
		if s.buf == nil {
			s.buf = make([]byte, min(scanSize, r.ends[len(r.ends)-1]))
		}
		s.from, s.buf = begin, s.buf[:min(int64(cap(s.buf)), r.ends[len(r.ends)-1]-begin)]
		if err := readAt(r.in, s.buf, begin); err != nil {
			return nil, err
		}
	}
	b, err := parseBlock(s.buf[begin-s.from : end-s.from])
	if err != nil {
		return nil, err
	}
	s.entries, err = b.appendTo(s.entries[:0], r.firsts[s.block])
	s.block++
	return s.entries, err
}

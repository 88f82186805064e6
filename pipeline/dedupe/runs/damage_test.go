package runs

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
)

// readAll reads and searches a run in every way.
func readAll(data []byte, asked []Key) error {
	r, err := OpenRun(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	err = r.Each(context.Background(), func([]Key, []uint64) error { return nil })
	return errors.Join(err, r.Find(asked, make([]bool, len(asked))))
}

// TestDamage changes every byte of a run, and cuts it off everywhere: it is refused.
func TestDamage(t *testing.T) {
	keys := randomKeys(1, 300)
	_, data := runOf(t, keys, func(i int) uint64 { return uint64(i) })
	for i := range data {
		data[i] ^= 1 << (i % 8)
		if err := readAll(data, keys); !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d of %d is another: %v", i, len(data), err)
		}
		data[i] ^= 1 << (i % 8)
		if err := readAll(data[:i], keys); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut off after %d of %d bytes: %v", i, len(data), err)
		}
	}
	if err := readAll(data, keys); err != nil {
		t.Fatal(err)
	}
}

// FuzzRun reads files that may lie: the sums of the index and of a block are made right, as they would hide what is before them.
func FuzzRun(f *testing.F) {
	keys := randomKeys(1, 300)
	for _, n := range []int{0, 1, 300} {
		_, data := runOf(f, keys[:n], func(i int) uint64 { return uint64(i * i) })
		f.Add(data, uint16(0))
		f.Add(data, uint16(len(data)/2))
	}
	f.Fuzz(func(t *testing.T, data []byte, block uint16) {
		data = bytes.Clone(data)
		if end := len(data) - trailerSize; end >= 0 {
			if b := int(block); b >= blockHead && b+sumSize <= end {
				binary.LittleEndian.PutUint64(data[b:], xxhash.Sum64(data[:b]))
			}
			blocks := binary.LittleEndian.Uint64(data[end+8:])
			if index := blocks * indexSize; blocks < 1<<16 && index <= uint64(end) {
				sum := xxhash.Sum64(data[uint64(end)-index : end+4*8])
				binary.LittleEndian.PutUint64(data[end+4*8:], sum)
			}
			copy(data[end+4*8+sumSize:], magic)
		}
		alloctest.Bound(t, len(data), 32, 2<<20, func() { _ = readAll(data, keys) })
	})
}

package encode

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// seed keys the hashes of all dictionaries of the process, so that nobody can send values that collide on purpose. What is
// written does not depend on it.
var seed = maphash.MakeSeed()

// interner numbers distinct values in the order of their appearance. Values are back to back in data, in a table with
// linear probing are their numbers, each beside half of the hash, so that values are only compared when they are
// very likely equal.
type interner struct {
	data  []byte
	ends  []int32  // of value i in data, at i+1; the first is zero
	slots []uint64 // hash<<32 | number+1
}

// release gives all memory back.
func (d *interner) release() {
	bytePool.put(d.data)
	int32Pool.put(d.ends)
	uint64Pool.put(d.slots)
	*d = interner{}
}

func (d *interner) memory() int64 { return int64(cap(d.data) + 4*cap(d.ends) + 8*cap(d.slots)) }

func (d *interner) len() int { return max(0, len(d.ends)-1) }

func (d *interner) value(id int) []byte { return d.data[d.ends[id]:d.ends[id+1]] }

// id returns the number of a value, which is added if it is new.
func (d *interner) id(v []byte) uint32 {
	if 2*d.len() >= len(d.slots) { // also at the start
		d.grow()
	}
	h := hash(v)
	mask := uint64(len(d.slots) - 1)
	tag := h &^ 0xffffffff
	for i := h & mask; ; i = (i + 1) & mask {
		s := d.slots[i]
		if s == 0 {
			d.slots[i] = tag | uint64(len(d.ends))
			d.data = bytePool.appendTo(d.data, v)
			d.ends = int32Pool.grow(d.ends, 1)
			d.ends = append(d.ends, int32(len(d.data)))
			return uint32(len(d.ends) - 2)
		}
		if s&^0xffffffff == tag {
			id := uint32(s) - 1
			if string(d.data[d.ends[id]:d.ends[id+1]]) == string(v) {
				return id
			}
		}
	}
}

func (d *interner) grow() {
	n := max(256, 2*len(d.slots))
	if len(d.ends) == 0 {
		d.ends = append(int32Pool.get(64), 0)
	}
	uint64Pool.put(d.slots)
	d.slots = uint64Pool.get(n)[:n]
	clear(d.slots)
	mask := uint64(n - 1)
	for id := range d.len() {
		h := hash(d.value(id))
		i := h & mask
		for d.slots[i] != 0 {
			i = (i + 1) & mask
		}
		d.slots[i] = h&^0xffffffff | uint64(id+1)
	}
}

func hash(v []byte) uint64 { return maphash.Bytes(seed, v) }

// appendDictionary appends all values as PLAIN: fixed is their width, or zero for those of different lengths.
func (d *interner) appendDictionary(dst []byte, fixed int) []byte {
	if fixed > 0 {
		return append(dst, d.data...)
	}
	for i := range d.len() {
		v := d.value(i)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(v)))
		dst = append(dst, v...)
	}
	return dst
}

// indexWidth returns the bits of an index into n values. Some readers do not take zero.
func indexWidth(n int) uint { return uint(max(1, bits.Len(uint(max(0, n-1))))) }

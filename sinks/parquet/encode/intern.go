package encode

import (
	"encoding/binary"
	"math/bits"
)

// interner numbers distinct values in the order of their appearance. Values are back to back in data, in a table with
// linear probing are their numbers, each beside half of the hash, so that values are only compared when they are
// very likely equal.
type interner struct {
	data   []byte
	ends   []int32  // of value i in data, at i+1; the first is zero
	slots  []uint64 // upper half of the hash, number+1; the place is by the former
	expect int      // values of the dictionary before
}

// release gives all memory back.
func (d *interner) release() {
	bytePool.put(d.data)
	int32Pool.put(d.ends)
	uint64Pool.put(d.slots)
	*d = interner{expect: d.len()}
}

func (d *interner) memory() int64 { return int64(cap(d.data) + 4*cap(d.ends) + 8*cap(d.slots)) }

func (d *interner) len() int { return max(0, len(d.ends)-1) }

// interned is the size of a dictionary.
type interned struct{ values, bytes int }

func (d *interner) size() interned { return interned{d.len(), len(d.data)} }

func (d *interner) value(id int) []byte { return d.data[d.ends[id]:d.ends[id+1]] }

// id returns the number of a value, which is added if it is new.
func (d *interner) id(v []byte) uint32 {
	if d.crowded(1) {
		d.grow()
	}
	return d.find(v, hash(v))
}

// find does the same where there is room for one more.
func (d *interner) find(v []byte, h uint64) uint32 {
	mask := uint64(len(d.slots) - 1)
	tag := h &^ 0xffffffff
	for i := h >> 32 & mask; ; i = (i + 1) & mask {
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

// lot is the number of values that are looked up side by side.
const lot = 16

// appendIDs appends the numbers of texts that stand back to back in data. Large dictionaries are not in the fastest cache:
// the steps of a look-up, each of which waits for memory, are made for a lot of values at a time, so that they wait
// together.
func (d *interner) appendIDs(dst []uint32, data []byte, lens []int32) []uint32 {
	var hashes [lot]uint64
	var found [lot]uint64
	var starts, ends [lot]int32
	at := 0
	for len(lens) > 0 {
		n := min(lot, len(lens))
		for d.crowded(lot) {
			d.grow()
		}
		mask := uint64(len(d.slots) - 1)
		pos := at
		for i, k := range lens[:n] {
			h := hash(data[pos : pos+int(k)])
			pos += int(k)
			hashes[i], found[i] = h, d.slots[h>>32&mask]
		}
		for i := range n {
			s := found[i]
			if ends[i] = -1; s != 0 && s>>32 == hashes[i]>>32 {
				starts[i], ends[i] = d.ends[uint32(s)-1], d.ends[uint32(s)]
			}
		}
		for i, k := range lens[:n] {
			v := data[at : at+int(k)]
			at += int(k)
			if e := ends[i]; e >= 0 && string(d.data[starts[i]:e]) == string(v) {
				dst = append(dst, uint32(found[i])-1)
			} else {
				dst = append(dst, d.find(v, hashes[i]))
			}
		}
		lens = lens[n:]
	}
	return dst
}

// crowded tells whether the table is too small for n values more.
func (d *interner) crowded(n int) bool { return 2*(d.len()+n) > len(d.slots) }

// grow doubles the table. The first is as large as the dictionary before would need.
func (d *interner) grow() {
	n := max(256, 2*len(d.slots))
	if len(d.ends) == 0 {
		d.ends = append(int32Pool.get(64), 0)
		n = max(n, 2<<bits.Len(uint(d.expect)))
	}
	old := d.slots
	d.slots = uint64Pool.get(n)[:n]
	clear(d.slots)
	mask := uint64(n - 1)
	for _, s := range old {
		if s != 0 {
			i := s >> 32 & mask
			for d.slots[i] != 0 {
				i = (i + 1) & mask
			}
			d.slots[i] = s
		}
	}
	uint64Pool.put(old)
}

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

package encode

import (
	"encoding/binary"
	"math/bits"
)

// interner numbers distinct values in the order of their appearance. Values are back to back in data, in a table with
// linear probing are their numbers, each beside half of the hash, so that values are only compared when they are
// very likely equal.
type interner struct {
	data   []byte   // with slack behind it
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
			d.data = append(bytePool.grow(d.data, len(v)+slack), v...)
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

// lookups is the state of a lot of look-ups.
type lookups struct {
	hashes [lot]uint64
	found  [lot]uint64 // the slot, or an empty one; then the number, or missing
}

// missing stands for the number of a value that is not where it was looked for.
const missing = 1 << 32

// appendIDs appends the numbers of texts that stand back to back in data, behind which there are slack bytes more. Large
// dictionaries are not in the fastest cache: the steps of a look-up, each of which waits for memory, are made for a lot
// of values at a time, so that they wait together.
func (d *interner) appendIDs(dst []uint32, data []byte, lens []int32) []uint32 {
	var l lookups
	data = data[:len(data)+slack]
	dst = uint32Pool.grow(dst, len(lens))
	at := 0
	for len(lens) > 0 {
		some := lens[:min(lot, len(lens))]
		lens = lens[len(some):]
		for d.crowded(lot) {
			d.grow()
		}
		l.locate(d.slots, data, at, some)
		l.compare(d, data, at, some)
		for i, k := range some {
			id := l.found[i&(lot-1)]
			if id == missing {
				id = uint64(d.find(data[at:at+int(k)], l.hashes[i&(lot-1)]))
			}
			at += int(k)
			dst = append(dst, uint32(id))
		}
	}
	return dst
}

// locate hashes the values that begin at in data and looks for their slots in the two places where nearly all are.
func (l *lookups) locate(slots []uint64, data []byte, at int, lens []int32) {
	mask := uint64(len(slots) - 1)
	for i, k := range lens {
		n, h, from := uint(k), uint64(0), at
		at += int(k)
		for n > slack {
			h = hashBlock(h, (*block)(data[from:]), &masks[slack])
			from += slack
			n -= slack
		}
		h = hashBlock(h^uint64(k), (*block)(data[from:]), &masks[n])
		place := h >> 32
		s, next := slots[place&mask], slots[(place+1)&mask]
		if next>>32 == place {
			s = next
		}
		l.hashes[i&(lot-1)], l.found[i&(lot-1)] = h, s
	}
}

// compare turns the slots into numbers.
func (l *lookups) compare(d *interner, data []byte, at int, lens []int32) {
	known, ends := d.data[:len(d.data)+slack], d.ends
	for i, k := range lens {
		s, v := l.found[i&(lot-1)], data[at:]
		at += int(k)
		id := uint64(missing)
		if s != 0 && s>>32 == l.hashes[i&(lot-1)]>>32 {
			pair := ends[uint32(s)-1:][:2]
			if start := pair[0]; pair[1]-start == k && equalTexts(known[start:], v, uint(k)) {
				id = uint64(uint32(s) - 1)
			}
		}
		l.found[i&(lot-1)] = id
	}
}

// equalTexts compares the first n bytes of two slices that have slack bytes more.
func equalTexts(a, b []byte, n uint) bool {
	for n > slack {
		if !equalBlocks((*block)(a), (*block)(b), &masks[slack]) {
			return false
		}
		a, b, n = a[slack:], b[slack:], n-slack
	}
	return equalBlocks((*block)(a), (*block)(b), &masks[n])
}

// crowded tells whether the table is too small for n values more.
func (d *interner) crowded(n int) bool { return 2*(d.len()+n) > len(d.slots) }

// grow doubles the table. The first is as large as the dictionary before would need.
func (d *interner) grow() {
	n := max(256, 2*len(d.slots))
	if len(d.ends) == 0 {
		d.ends = append(int32Pool.get(64), 0)
		d.data = bytePool.get(slack)
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

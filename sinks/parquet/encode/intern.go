package encode

import (
	"encoding/binary"
	"math/bits"
)

// interner numbers distinct values in the order of their appearance. Values are back to back in data; in a table with
// linear probing are their numbers, each beside as much of the hash as there is room for, so that values are only
// compared when they are very likely equal. The table is what look-ups miss the caches with, and so it is small.
type interner struct {
	data   []byte   // with slack behind it
	ends   []int32  // of value i in data, at i+1; the first is zero
	slots  []uint32 // the lowest bits are number+1, the place is by the lowest bits of the hash; above are the hash's highest
	bits   uint     // of a place, and of number+1
	expect int      // values of the dictionary before
}

// release gives all memory back.
func (d *interner) release() {
	bytePool.put(d.data)
	int32Pool.put(d.ends)
	uint32Pool.put(d.slots)
	*d = interner{expect: d.len()}
}

func (d *interner) memory() int64 { return int64(cap(d.data) + 4*cap(d.ends) + 4*cap(d.slots)) }

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
	mask, numbers := uint64(len(d.slots)-1), uint32(len(d.slots)-1)
	tag := d.tag(h)
	for i := h & mask; ; i = (i + 1) & mask {
		s := d.slots[i]
		if s == 0 {
			d.slots[i] = tag | uint32(len(d.ends))
			d.data = append(bytePool.grow(d.data, len(v)+slack), v...)
			d.ends = int32Pool.grow(d.ends, 1)
			d.ends = append(d.ends, int32(len(d.data)))
			return uint32(len(d.ends) - 2)
		}
		if s&^numbers == tag {
			id := s&numbers - 1
			if string(d.data[d.ends[id]:d.ends[id+1]]) == string(v) {
				return id
			}
		}
	}
}

// tag returns what a slot has of a hash, in its place.
func (d *interner) tag(h uint64) uint32 { return uint32(h>>32) &^ (1<<d.bits - 1) }

// lot is the number of values that are looked up side by side.
const lot = 16

// lookups is the state of a lot of look-ups.
type lookups struct {
	hashes [lot]uint64
	found  [lot]uint32 // number+1, or 0 for a value that is not where it was looked for
}

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
		l.locate(d, data, at, some)
		l.compare(d, data, at, some)
		for i, k := range some {
			id := l.found[i&(lot-1)] - 1
			if id == ^uint32(0) {
				id = d.find(data[at:at+int(k)], l.hashes[i&(lot-1)])
			}
			at += int(k)
			dst = append(dst, id)
		}
	}
	return dst
}

// locate hashes the values that begin at in data and looks for them in the two places where nearly all are. Hashing a
// short value is [hashBlock], written out, since calls would cost as much again.
func (l *lookups) locate(d *interner, data []byte, at int, lens []int32) {
	slots := d.slots
	mask, numbers := uint64(len(slots)-1), uint32(len(slots)-1)
	for i, k := range lens {
		var h uint64
		if n := uint(k); n <= slack {
			v, m := (*block)(data[at:]), &masks[n]
			h = fold(le64(v, 0)&m[0]^keys[0]^uint64(n), le64(v, 8)&m[1]^keys[1]) ^
				bits.RotateLeft64(fold(le64(v, 16)&m[2]^keys[2], le64(v, 24)&m[3]^keys[3]^uint64(n)), 32)
		} else {
			h = hashText(data[at:], n)
		}
		at += int(k)
		s, next := slots[h&mask], slots[(h+1)&mask]
		tag := uint32(h>>32) &^ numbers
		if next&^numbers == tag {
			s = next
		}
		if s&^numbers != tag {
			s = 0
		}
		l.hashes[i&(lot-1)], l.found[i&(lot-1)] = h, s&numbers
	}
}

// compare drops the numbers of values that are others.
func (l *lookups) compare(d *interner, data []byte, at int, lens []int32) {
	known, ends := d.data[:len(d.data)+slack], d.ends
	for i, k := range lens {
		v := data[at:]
		at += int(k)
		id := l.found[i&(lot-1)]
		if id == 0 {
			continue
		}
		pair := ends[id-1:][:2]
		if start := pair[0]; pair[1]-start != k || !equalTexts(known[start:], v, uint(k)) {
			l.found[i&(lot-1)] = 0
		}
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
		n = max(n, 2<<bits.Len(uint(max(1, d.expect)-1)))
	}
	uint32Pool.put(d.slots)
	d.slots = uint32Pool.get(n)[:n]
	d.bits = uint(bits.Len(uint(n)) - 1)
	clear(d.slots)
	mask := uint64(n - 1)
	data := d.data[:len(d.data)+slack]
	for id := range d.len() {
		h := hashText(data[d.ends[id]:], uint(d.ends[id+1]-d.ends[id]))
		i := h & mask
		for d.slots[i] != 0 {
			i = (i + 1) & mask
		}
		d.slots[i] = d.tag(h) | uint32(id+1)
	}
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

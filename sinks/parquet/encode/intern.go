package encode

import (
	"encoding/binary"
	"math/bits"
)

// interner numbers distinct values in the order of their appearance. Values are back to back in data; in a table with
// linear probing are their numbers, each beside as much of the hash as there is room for, so that values are only
// compared when they are very likely equal. The table is what look-ups miss the caches with, and so it is small.
//
// A slot of 32 bits, in a table of 1<<bits slots:
//
//	31              bits              0
//	┌─────────────────┬───────────────┐
//	│ tag: top bits   │ number + 1,   │   the place of the slot is given by the lowest bits of the hash,
//	│ of hash[63:32]  │ 0 for empty   │   or is one of those that follow
//	└─────────────────┴───────────────┘
//
// The table is at most half full, so that number+1 fits into the bits of a place, and probing ends at an empty slot.
type interner struct {
	data   []byte   // with slack behind it
	ends   []int32  // of value i in data, at i+1; the first is zero
	slots  []uint32 // as above
	bits   uint     // of a place, and of number+1
	expect int      // values that the first table is made for
}

// release gives all memory back. Called again, it keeps the size that it has noted the first time.
func (d *interner) release() {
	if d.ends == nil {
		return
	}
	bytePool.put(d.data)
	int32Pool.put(d.ends)
	uint32Pool.put(d.slots)
	*d = interner{expect: d.len()} // len reads the slice's header, not the memory that another goroutine may have by now
}

func (d *interner) memory() int64 { return int64(cap(d.data) + 4*cap(d.ends) + 4*cap(d.slots)) }

func (d *interner) len() int { return max(0, len(d.ends)-1) }

// interned is the size of a dictionary.
type interned struct{ values, bytes int }

func (d *interner) size() interned { return interned{d.len(), len(d.data)} }

// value returns the value with a number. It aliases d.data and is valid until another value is added.
func (d *interner) value(id int) []byte { return d.data[d.ends[id]:d.ends[id+1]] }

// id returns the number of a value, which is added if it is new. v needs no slack behind it, which appendIDs asks for. Both
// use one table, so hash and hashText have to agree.
func (d *interner) id(v []byte) uint32 {
	if d.crowded(1) {
		d.grow()
	}
	return d.find(v, hash(v))
}

// find does the same for a value with the hash h, in a table that is not crowded: without an empty slot it would not end.
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

// tag returns the part of a hash that a slot has, already in its place.
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
//
// The two steps do not find a value that is new, however often the lot has it. The loop behind them asks find for each of
// its occurrences: the first one adds it, and the others get its number.
func (d *interner) appendIDs(dst []uint32, data []byte, lens []int32) []uint32 {
	var l lookups
	data = data[:len(data)+slack]
	dst = uint32Pool.grow(dst, len(lens))
	at := 0
	for len(lens) > 0 {
		some := lens[:min(lot, len(lens))]
		lens = lens[len(some):]
		// Before the steps: they hold on to the table, and find must not have to move it.
		for d.crowded(lot) {
			d.grow()
		}
		l.locate(d, data, at, some)
		l.compare(d, data, at, some)
		for i, k := range some {
			id := l.found[i&(lot-1)] - 1 // the mask saves the check of bounds
			if id == ^uint32(0) {
				id = d.find(data[at:at+int(k)], l.hashes[i&(lot-1)])
			}
			at += int(k)
			dst = append(dst, id)
		}
	}
	return dst
}

// locate hashes the values that begin at in data and looks for them in the two places where nearly all are. It compares
// tags alone; l.found may be wrong until compare. Hashing a short value is [hashBlock], written out, since calls would cost
// as much again. A change to one has to be made to the other, or find would number values again that locate does not see.
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
		// Two assignments under a condition instead of branches. Where both slots have the tag, one of the two values is not
		// looked at; if it is the right one, find is asked, and finds it.
		if next&^numbers == tag {
			s = next
		}
		if s&^numbers != tag {
			s = 0
		}
		l.hashes[i&(lot-1)], l.found[i&(lot-1)] = h, s&numbers
	}
}

// compare sets found to 0 where the value with that number is another one.
func (l *lookups) compare(d *interner, data []byte, at int, lens []int32) {
	known, ends := d.data[:len(d.data)+slack], d.ends
	for i, k := range lens {
		v := data[at:]
		at += int(k)
		id := l.found[i&(lot-1)]
		if id == 0 {
			continue
		}
		pair := ends[id-1:][:2] // of the value id-1; sliced so that bounds are checked once
		if start := pair[0]; pair[1]-start != k || !equalTexts(known[start:], v, uint(k)) {
			l.found[i&(lot-1)] = 0
		}
	}
}

// equalTexts reports whether the first n bytes of two slices that have slack bytes more are equal.
func equalTexts(a, b []byte, n uint) bool {
	for n > slack {
		if !equalBlocks((*block)(a), (*block)(b), &masks[slack]) {
			return false
		}
		a, b, n = a[slack:], b[slack:], n-slack
	}
	return equalBlocks((*block)(a), (*block)(b), &masks[n])
}

// crowded reports whether the table is too small for n values more.
func (d *interner) crowded(n int) bool { return 2*(d.len()+n) > len(d.slots) }

// grow doubles the table. The first is as large as expect values need, with at least 256 slots.
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
	clear(d.slots) // memory of the pool has undefined contents
	mask := uint64(n - 1)
	data := d.data[:len(d.data)+slack]
	// Hashes are made anew: a slot has too few bits of them to tell where the value goes in a larger table.
	for id := range d.len() {
		h := hashText(data[d.ends[id]:], uint(d.ends[id+1]-d.ends[id]))
		i := h & mask
		for d.slots[i] != 0 {
			i = (i + 1) & mask
		}
		d.slots[i] = d.tag(h) | uint32(id+1)
	}
}

// appendDictionary appends all values as PLAIN. fixed is their width in bytes, or zero for texts, which get their lengths.
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

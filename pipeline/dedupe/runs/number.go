package runs

import (
	"cmp"
	"encoding/binary"
	"math/bits"
)

// Key is what a set has: a hash of 128 bits.
type Key [16]byte

// number is a key as a number, whose order is that of the bytes.
type number struct{ hi, lo uint64 }

// entry is a key with its value.
type entry struct {
	number
	value uint64
}

func numberOf(k *Key) number {
	return number{binary.BigEndian.Uint64(k[:8]), binary.BigEndian.Uint64(k[8:])}
}

func (n number) key() (k Key) {
	binary.BigEndian.PutUint64(k[:8], n.hi)
	binary.BigEndian.PutUint64(k[8:], n.lo)
	return k
}

func (n number) less(m number) bool { return n.hi < m.hi || n.hi == m.hi && n.lo < m.lo }

func (n number) minus(m number) number {
	lo, borrow := bits.Sub64(n.lo, m.lo, 0)
	hi, _ := bits.Sub64(n.hi, m.hi, borrow)
	return number{hi, lo}
}

func (n number) plus(m number) number {
	lo, carry := bits.Add64(n.lo, m.lo, 0)
	hi, _ := bits.Add64(n.hi, m.hi, carry)
	return number{hi, lo}
}

// less is the order of runs.
func (e *entry) less(f *entry) bool {
	if e.hi != f.hi {
		return e.hi < f.hi
	}
	return e.lo < f.lo || e.lo == f.lo && e.value < f.value
}

// lastNotAfter returns the place of the last of sorted items that is n or less, and -1 without one: at first near the place where it is
// if items are spread evenly.
func lastNotAfter(items []number, n number) int {
	if len(items) == 0 || n.less(items[0]) {
		return -1
	}
	guess, _ := bits.Mul64(n.hi, uint64(len(items)))
	low, high := int(guess), int(guess)+1 // items[low] <= n < items[high], once that is so
	for step := 8; low > 0 && n.less(items[low]); step *= 2 {
		low, high = max(low-step, 0), low
	}
	for step := 8; high < len(items) && !n.less(items[high]); step *= 2 {
		low, high = high, min(high+step, len(items))
	}
	for high-low > 1 {
		if mid := int(uint(low+high) / 2); n.less(items[mid]) {
			high = mid
		} else {
			low = mid
		}
	}
	return low
}

// Compare is bytes.Compare, for keys that mostly differ in their first bytes.
func Compare(a, b *Key) int {
	x, y := numberOf(a), numberOf(b)
	if x.hi != y.hi {
		return cmp.Compare(x.hi, y.hi)
	}
	return cmp.Compare(x.lo, y.lo)
}

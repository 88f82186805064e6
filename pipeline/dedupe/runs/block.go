package runs

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

// blockKeys is how many keys a block has, but for the last one of a run. A key that is sought costs one block: of 128, the index
// would take twice the memory.
const blockKeys = 256

// A block begins with a header of 16 bytes: how many keys there are but one (1), bits of a middle (1), bits of a value (1), 0 (1), words of heads (2),
// 0 (2), least value (8). What a key is more than the first one of the block, which the index has, is cut in three: the low
// 64 bits; a middle, of as many bits as leave about two heads for each key; and the head. For key i, the bit i + head is
// set among the heads. Then fields of bits: all middles, all values less the least one, and room at their end, so that two words can be
// read for each. Then the low parts, and the sum of all that. Numbers are little-endian.
const (
	blockHead = 16
	sumSize   = 8
	// maxBlock is the size of the largest block, whose heads are three bits a key.
	maxBlock = blockHead + (3*blockKeys/64+1+2*blockKeys+2+blockKeys)*8 + sumSize
)

// ErrDamaged is the error of a run that is not what was written.
var ErrDamaged = errors.New("a file of keys is damaged")

// appendBlock appends a block of entries in order, of which there is one at least, and blockKeys at most.
func appendBlock(dst []byte, entries []entry) []byte {
	n, start := len(entries), len(dst)
	base, least, most := entries[0].number, entries[0].value, entries[0].value
	for i := range entries {
		least, most = min(least, entries[i].value), max(most, entries[i].value)
	}
	span := entries[n-1].minus(base).hi
	middle := max(bits.Len64(span)-bits.Len(uint(n)), 0)
	valueBits := bits.Len64(most - least)
	words := (n + int(span>>middle) + 64) / 64
	fields := n*(middle+valueBits)/64 + 2
	dst = append(dst, byte(n-1), byte(middle), byte(valueBits), 0, byte(words), byte(words>>8), 0, 0)
	dst = binary.LittleEndian.AppendUint64(dst, least)
	var room [maxBlock / 8]uint64
	heads, packed := room[:words], room[words:words+fields]
	lows := room[words+fields:][:n]
	for i := range entries {
		d := entries[i].minus(base)
		at := uint64(i) + d.hi>>middle
		heads[at>>6] |= 1 << (at & 63)
		putField(packed, i*middle, d.hi&(1<<middle-1))
		putField(packed, n*middle+i*valueBits, entries[i].value-least)
		lows[i] = d.lo
	}
	for _, w := range room[:words+fields+n] {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return binary.LittleEndian.AppendUint64(dst, xxhash.Sum64(dst[start:]))
}

// putField puts a field at a bit. The word after that of the bit is there.
func putField(words []uint64, bit int, v uint64) {
	at, shift := bit>>6, bit&63
	words[at] |= v << shift
	words[at+1] |= v >> 1 >> (63 - shift)
}

// block is one that was read, whose sizes fit.
type block struct {
	n, middle, value    int
	least               uint64
	heads, fields, lows []byte
}

// parseBlock checks a block. What it returns refers to data.
func parseBlock(data []byte) (b block, err error) {
	if len(data) < blockHead+sumSize {
		return b, ErrDamaged
	}
	end := len(data) - sumSize
	if xxhash.Sum64(data[:end]) != binary.LittleEndian.Uint64(data[end:]) {
		return b, ErrDamaged
	}
	b = block{n: int(data[0]) + 1, middle: int(data[1]), value: int(data[2]), least: binary.LittleEndian.Uint64(data[8:])}
	words := int(binary.LittleEndian.Uint16(data[4:]))
	fields := b.n*(b.middle+b.value)/64 + 2
	if b.middle > 64 || b.value > 64 || end != blockHead+8*(words+fields+b.n) {
		return b, ErrDamaged
	}
	data = data[blockHead:end]
	b.heads, b.fields, b.lows = data[:8*words], data[8*words:8*(words+fields)], data[8*(words+fields):]
	return b, nil
}

func word(data []byte, i int) uint64 { return binary.LittleEndian.Uint64(data[8*i:]) }

// field returns the field of width bits at a bit.
func (b *block) field(bit, width int) uint64 {
	at, shift := bit>>6, bit&63
	two := b.fields[8*at:][:16]
	return (binary.LittleEndian.Uint64(two)>>shift | binary.LittleEndian.Uint64(two[8:])<<1<<(63-shift)) & (1<<width - 1)
}

// appendTo appends the entries of a block whose first key is base.
func (b *block) appendTo(dst []entry, base number) ([]entry, error) {
	i, values := 0, b.n*b.middle
	for w := range len(b.heads) / 8 {
		for heads := word(b.heads, w); heads != 0; heads &= heads - 1 {
			if i == b.n {
				return dst, ErrDamaged
			}
			head := uint64(w*64 + bits.TrailingZeros64(heads) - i)
			d := number{head<<b.middle | b.field(i*b.middle, b.middle), word(b.lows, i)}
			dst = append(dst, entry{base.plus(d), b.least + b.field(values+i*b.value, b.value)})
			i++
		}
	}
	if i != b.n {
		return dst, ErrDamaged
	}
	return dst, nil
}

// has reports whether a key is in a block whose first key is base, which is not after it.
func (b *block) has(base, n number) bool {
	d := n.minus(base)
	head := d.hi >> b.middle
	if head >= uint64(len(b.heads))*8 {
		return false
	}
	// The keys of a head have their bits after as many zeros as there are heads before.
	w, left := 0, int(head)
	for ; w < len(b.heads)/8; w++ {
		zeros := 64 - bits.OnesCount64(word(b.heads, w))
		if zeros >= left {
			break
		}
		left -= zeros
	}
	if w == len(b.heads)/8 {
		return false
	}
	zeros, at := ^word(b.heads, w), 64*w
	if left > 0 {
		for range left - 1 {
			zeros &= zeros - 1
		}
		at += bits.TrailingZeros64(zeros) + 1
	}
	middle := d.hi & (1<<b.middle - 1)
	for i := at - int(head); i >= 0 && i < b.n && at < 8*len(b.heads) && b.heads[at>>3]>>(at&7)&1 != 0; i, at = i+1, at+1 {
		switch m := b.field(i*b.middle, b.middle); {
		case m > middle:
			return false
		case m == middle && word(b.lows, i) == d.lo:
			return true
		}
	}
	return false
}

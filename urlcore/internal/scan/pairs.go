package scan

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Pair is where a name and its value are.
type Pair struct{ Key, Value Span }

// The words of a Pair, for [Gather].
const (
	PairWords = 4

	KeyWord, ValueWord = 0, 2
)

// Queries takes queries apart into pairs.
type Queries struct {
	// Text holds the queries back to back; query i ends at Ends[i]-Start. What is not there is empty.
	Text  []byte
	Ends  []int32
	Start int
	// Counts gets, for each query, how many pairs there are up to its end, and Before more. It has to be as long as Ends.
	Counts []int32
	Before int32

	// Pairs are the pairs of all queries; their positions are those in Text.
	Pairs []Pair
	// Escaped are the numbers of the pairs that hold plus or percent signs.
	Escaped []int32

	// Bitmaps of the text, of the classes of their names.
	amp, equal, escape, memory []byte
	tailBlock

	// Scratch of the kernels: bitmaps of the ends of queries and of where pairs begin, how many pairs and escapes there
	// are before each word of a bitmap, and where pairs begin and end.
	rowEnds, begin []byte
	before         [][2]uint32
	starts, ends   []uint32
}

// Split takes the queries apart, by the rules of application/x-www-form-urlencoded.
//
// https://url.spec.whatwg.org/#concept-urlencoded-parser
func (q *Queries) Split() {
	q.Pairs, q.Escaped = q.Pairs[:0], q.Escaped[:0]
	_ = q.Counts[:len(q.Ends)]
	if len(q.Text) == 0 {
		for i := range q.Counts {
			q.Counts[i] = q.Before
		}
		return
	}
	q.classify()
	splitPairs(q)
}

// classify makes the bitmaps and room for the pairs, of which there are no more than queries and ampersands.
func (q *Queries) classify() {
	stride := layOut(&q.memory, len(q.Text), &q.amp, &q.equal, &q.escape, &q.rowEnds, &q.begin)
	pairs := len(q.Ends)
	whole, rest := q.blocks(q.Text)
	if len(whole) > 0 {
		pairs += classifyQuery(q.memory[Lead:], stride, whole)
	}
	if len(rest) > 0 {
		pairs += classifyQuery(q.memory[Lead+len(whole)/8:], stride, rest)
	}
	q.Pairs, q.Escaped = slices.Grow(q.Pairs, pairs), slices.Grow(q.Escaped, pairs+1)
}

// classifyQueryGeneric is the reference of the kernels of this name: it makes bitmaps of the classes Amp, Equal and
// Escape, and returns how many are of Amp. It takes eight bytes at a time: those that differ from a character have their
// highest bit in the sum, and a multiplication brings these bits together.
func classifyQueryGeneric(dst []byte, stride int, text []byte) int {
	const low, high, collect = 0x0101010101010101, 0x8080808080808080, 0x0102040810204080
	n := 0
	amps, equals, escapes := dst, dst[stride:], dst[2*stride:]
	for at := 0; at+8 <= len(text); at += 8 {
		word := binary.LittleEndian.Uint64(text[at:])
		ascii := word &^ high
		amp := (ascii ^ '&'*low) + 0x7F*low
		equal := (ascii ^ '='*low) + 0x7F*low
		escape := ((ascii ^ '+'*low) + 0x7F*low) & ((ascii ^ '%'*low) + 0x7F*low)
		amp = ^(amp | word) & high >> 7
		amps[at/8] = byte(amp * collect >> 56)
		equals[at/8] = byte(^(equal | word) & high >> 7 * collect >> 56)
		escapes[at/8] = byte(^(escape | word) & high >> 7 * collect >> 56)
		n += int(amp * low >> 56)
	}
	return n
}

// splitPairsGeneric is the reference of the kernels of this name. Pairs and Escaped have room. It looks at as much of the
// bitmaps as a window shows from where a pair begins, and further only for longer pairs.
func splitPairsGeneric(q *Queries) {
	at := 0
	pairs := q.Pairs
	for i, e := range q.Ends {
		for end := int(e) - q.Start; at < end; {
			size := min(bits.TrailingZeros64(Window(q.amp, at)), end-at)
			name := min(bits.TrailingZeros64(Window(q.equal, at)), size)
			escapes := Window(q.escape, at) & (1<<(uint(size)&63) - 1)
			if size > window {
				size = Next(q.amp, at, end) - at
				name = Next(q.equal, at, at+size) - at
				escapes = uint64(at + size - Next(q.escape, at, at+size))
			}
			if size > 0 {
				if escapes != 0 {
					q.Escaped = append(q.Escaped, int32(len(pairs)))
				}
				start, pairEnd := uint32(at), uint32(at+size)
				pairs = append(pairs, Pair{Span{start, start + uint32(name)}, Span{min(start+uint32(name)+1, pairEnd), pairEnd}})
			}
			at += size + 1
		}
		at = int(e) - q.Start
		q.Counts[i] = q.Before + int32(len(pairs))
	}
	q.Pairs = pairs
}

// window is how many bits [Window] shows at least.
const window = 57

// nextNear is [Next] for a bit that is mostly near.
func nextNear(bitmap []byte, i, limit int) int {
	if w := Window(bitmap, i); w != 0 {
		return min(i+bits.TrailingZeros64(w), limit)
	}
	return Next(bitmap, i, limit)
}

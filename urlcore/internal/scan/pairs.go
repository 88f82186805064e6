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
	if !Bitmapped() {
		q.splitByTable()
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
// Escape, and returns how many are of Amp.
func classifyQueryGeneric(dst []byte, stride int, text []byte) int {
	n := 0
	for at := 0; at < len(text); at += block {
		var amp, equal, escape uint64
		for i, c := range text[at : at+block] {
			class := Classes[c]
			amp |= uint64(class/Amp&1) << i
			equal |= uint64(class/Equal&1) << i
			escape |= uint64(class/Escape&1) << i
		}
		n += bits.OnesCount64(amp)
		for i, word := range [...]uint64{amp, equal, escape} {
			binary.LittleEndian.PutUint64(dst[i*stride+at/8:], word)
		}
	}
	return n
}

// splitPairsGeneric is the reference of the kernel of this name. Pairs and Escaped have room.
func splitPairsGeneric(q *Queries) {
	at := 0
	for i, e := range q.Ends {
		for end := int(e) - q.Start; at < end; {
			pairEnd := Next(q.amp, at, end)
			if pairEnd > at {
				nameEnd := Next(q.equal, at, pairEnd)
				q.add(at, nameEnd, pairEnd, Next(q.escape, at, pairEnd) < pairEnd)
			}
			at = pairEnd + 1
		}
		at = int(e) - q.Start
		q.Counts[i] = q.Before + int32(len(q.Pairs))
	}
}

// add appends the pair of which the name begins at at.
func (q *Queries) add(at, nameEnd, pairEnd int, escaped bool) {
	if escaped {
		q.Escaped = append(q.Escaped, int32(len(q.Pairs)))
	}
	span := func(start, end int) Span { return Span{uint32(start), uint32(end)} }
	q.Pairs = append(q.Pairs, Pair{span(at, nameEnd), span(min(nameEnd+1, pairEnd), pairEnd)})
}

// splitByTable is splitPairs without bitmaps.
func (q *Queries) splitByTable() {
	at := 0
	for i, e := range q.Ends {
		end := int(e) - q.Start
		for query := q.Text[at:end]; len(query) > 0; {
			pairEnd, nameEnd, escaped := endOfPair(query)
			if pairEnd > 0 {
				q.add(at, at+nameEnd, at+pairEnd, escaped)
			}
			pairEnd = min(pairEnd+1, len(query))
			query = query[pairEnd:]
			at += pairEnd
		}
		q.Counts[i] = q.Before + int32(len(q.Pairs))
	}
}

// endOfPair returns where the first pair of a query ends, and where its name does, and whether something in it is
// escaped.
func endOfPair(query []byte) (pairEnd, nameEnd int, escaped bool) {
	nameEnd = -1
	for i, c := range query {
		class := Classes[c]
		if class&(Amp|Equal|Escape) == 0 {
			continue
		}
		if class&Amp != 0 {
			query = query[:i]
			break
		}
		if class&Escape != 0 {
			escaped = true
		} else if nameEnd < 0 {
			nameEnd = i
		}
	}
	if nameEnd < 0 {
		nameEnd = len(query)
	}
	return len(query), nameEnd, escaped
}

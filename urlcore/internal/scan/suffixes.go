package scan

import (
	"encoding/binary"
	"math/bits"
)

// SuffixFilter tells most hosts whose public suffix is their last label by the last two labels. It errs in one
// direction only: of the hosts that it calls irregular some are not. Its zero value calls all of them regular.
//
// It is a Bloom filter with two bits in one word. 16 KiB hold the 7,000 pairs of the Public Suffix List so thinly
// that one regular host in a hundred is called irregular.
type SuffixFilter struct {
	pairs [1 << pairBits]uint64
	wild  [64]uint64 // last labels below which everything is irregular

	// final is a hash table, of a power of two of places and at most half full, of the pairs of up to eight bytes each
	// that are the public suffix of all hosts that end in them, but for those with a third label in thirds.
	final  []pairOfTails
	finals int
	thirds [1 << pairBits]uint64 // a filter like pairs
}

// pairOfTails are two labels of up to eight bytes as [tail] gives them; two zeros stand for none.
type pairOfTails struct{ label, tld uint64 }

const pairBits = 11

// Constants of the hash functions: odd, without a pattern.
const (
	hashTLD  = 0x9E3779B97F4A7C15
	hashPair = 0xD6E8FEB86659FD93
)

// Where in a hash the numbers of a word and of bits in it are.
const (
	pairShift, pairBit1, pairBit2 = 64 - pairBits, 40, 34
	wildShift, wildBit            = 58, 52
)

// isFinal reports whether two labels of up to eight bytes are a public suffix.
func (f *SuffixFilter) isFinal(p pairOfTails) bool {
	if len(f.final) == 0 {
		return false
	}
	mask := uint64(len(f.final) - 1)
	for i := p.slot(); ; i++ {
		switch f.final[i&mask] {
		case p:
			return true
		case pairOfTails{}:
			return false
		}
	}
}

func (p pairOfTails) slot() uint64 {
	return (bits.RotateLeft64(p.label*hashPair, 32) ^ p.tld) * hashTLD >> 32
}

// addFinal puts a pair into the table.
func (f *SuffixFilter) addFinal(p pairOfTails) {
	if 2*(f.finals+1) > len(f.final) {
		old := f.final
		f.final, f.finals = make([]pairOfTails, max(64, 2*len(old))), 0
		for _, p := range old {
			if p != (pairOfTails{}) {
				f.addFinal(p)
			}
		}
	}
	mask := uint64(len(f.final) - 1)
	i := p.slot()
	for f.final[i&mask] != (pairOfTails{}) {
		i++
	}
	f.final[i&mask] = p
	f.finals++
}

// Add makes hosts irregular that end in tld, after a dot and label; all that end in tld if label is empty. suffix
// tells that the two are the public suffix of these hosts, but of those that have a third label before that was
// added by AddThird.
func (f *SuffixFilter) Add(label, tld string, suffix bool) {
	h := hashOfTLD(tail(tld), len(tld))
	if label == "" {
		f.wild[h>>wildShift] |= 1 << (h >> wildBit & 63)
		return
	}
	h = hashOfPair(h, tail(label), len(label))
	f.pairs[h>>pairShift] |= 1<<(h>>pairBit1&63) | 1<<(h>>pairBit2&63)
	if suffix && len(label) <= 8 && len(tld) <= 8 {
		f.addFinal(pairOfTails{tail(label), tail(tld)})
	}
}

// AddThird makes an exception to the suffix label.tld.
func (f *SuffixFilter) AddThird(third, label, tld string) {
	h := hashOfThird(pairOfTails{tail(label), tail(tld)}, tail(third), len(third))
	f.thirds[h>>pairShift] |= 1<<(h>>pairBit1&63) | 1<<(h>>pairBit2&63)
}

// hasThird reports whether an exception may have been added to the suffix p, for a label given as [tail] and length.
func (f *SuffixFilter) hasThird(p pairOfTails, third uint64, size int) bool {
	h := hashOfThird(p, third, size)
	word := f.thirds[h>>pairShift]
	return word>>(h>>pairBit1&63)&(word>>(h>>pairBit2&63))&1 != 0
}

func hashOfThird(p pairOfTails, tail uint64, size int) uint64 {
	return hashOfPair(hashOfPair(p.tld*hashTLD, p.label, 0), tail, size)
}

// irregular reports whether hosts with these last labels are irregular. The labels are given as [tail] and length.
func (f *SuffixFilter) irregular(label uint64, labelSize int, tld uint64, tldSize int) bool {
	w := hashOfTLD(tld, tldSize)
	h := hashOfPair(w, label, labelSize)
	word := f.pairs[h>>pairShift]
	return word>>(h>>pairBit1&63)&(word>>(h>>pairBit2&63))&1 != 0 || f.wild[w>>wildShift]>>(w>>wildBit&63)&1 != 0
}

// Irregular reports whether the host that ends at end is irregular, of which the last label begins at tld and the one
// before that, which is not empty, at label. Eight bytes must stand in front of where that ends.
func (f *SuffixFilter) Irregular(text []byte, label, tld, end int) bool {
	labelSize, tldSize := tld-1-label, end-tld
	return f.irregular(tailBefore(text, tld-1, labelSize), labelSize, tailBefore(text, end, tldSize), tldSize)
}

// EndsInTwo tells that the last two labels of the host that ends at end, which begin at label and at tld, are its public
// suffix. The label before them begins at third, which is label if there is none, and is not empty else. It is false also
// where that is not easily told. Eight bytes must stand in front of where each label ends.
func (f *SuffixFilter) EndsInTwo(text []byte, third, label, tld, end int) bool {
	labelSize, tldSize := tld-1-label, end-tld
	if labelSize <= 0 || labelSize > 8 || tldSize > 8 {
		return false
	}
	two := pairOfTails{tailBefore(text, tld-1, labelSize), tailBefore(text, end, tldSize)}
	if !f.isFinal(two) {
		return false
	}
	if third == label {
		return true
	}
	size := label - 1 - third
	return size > 0 && !f.hasThird(two, tailBefore(text, label-1, size), size)
}

func hashOfTLD(tail uint64, size int) uint64 { return (tail + uint64(size)) * hashTLD }

func hashOfPair(tld, tail uint64, size int) uint64 {
	return (tld ^ (bits.RotateLeft64(tail, 7) + uint64(size))) * hashPair
}

// tail returns the last eight bytes of a label, the first of them lowest; behind a shorter one there are zeros.
func tail(label string) uint64 {
	var b [8]byte
	copy(b[:], label[max(len(label)-8, 0):])
	return binary.LittleEndian.Uint64(b[:])
}

// tailBefore returns the [tail] of the label of a size that ends before end, where eight bytes must be.
func tailBefore(text []byte, end, size int) uint64 {
	return binary.LittleEndian.Uint64(text[end-8:]) >> (uint(8*(8-min(size, 8))) & 63)
}

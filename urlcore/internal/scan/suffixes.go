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
}

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

// Reset makes f the zero value.
func (f *SuffixFilter) Reset() { *f = SuffixFilter{} }

// Add makes hosts irregular that end in tld, after a dot and label; all that end in tld if label is empty.
func (f *SuffixFilter) Add(label, tld string) {
	h := hashOfTLD(tail(tld), len(tld))
	if label == "" {
		f.wild[h>>wildShift] |= 1 << (h >> wildBit & 63)
		return
	}
	h = hashOfPair(h, tail(label), len(label))
	f.pairs[h>>pairShift] |= 1<<(h>>pairBit1&63) | 1<<(h>>pairBit2&63)
}

// irregular tells whether hosts with these last labels are irregular. The labels are given as [tail] and length.
func (f *SuffixFilter) irregular(label uint64, labelSize int, tld uint64, tldSize int) bool {
	w := hashOfTLD(tld, tldSize)
	h := hashOfPair(w, label, labelSize)
	word := f.pairs[h>>pairShift]
	return word>>(h>>pairBit1&63)&(word>>(h>>pairBit2&63))&1 != 0 || f.wild[w>>wildShift]>>(w>>wildBit&63)&1 != 0
}

func hashOfTLD(tail uint64, size int) uint64 { return (tail + uint64(size)) * hashTLD }

func hashOfPair(tld, tail uint64, size int) uint64 {
	return (tld ^ (bits.RotateLeft64(tail, 7) + uint64(size))) * hashPair
}

// tail returns the last eight bytes of a label, the last of them highest; a shorter one has zeros in front.
func tail(label string) uint64 {
	var b [8]byte
	n := min(len(label), 8)
	copy(b[8-n:], label[len(label)-n:])
	return binary.LittleEndian.Uint64(b[:])
}

// tailBefore returns the [tail] of the label of a size that ends before end, where eight bytes must be.
func tailBefore(text []byte, end, size int) uint64 {
	drop := uint(8*(8-min(size, 8))) & 63
	return binary.LittleEndian.Uint64(text[end-8:]) >> drop << drop
}

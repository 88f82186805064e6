package recordbatch

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// abortedSize is the size of an entry in a fetch answer's list of aborted transactions: producer and first
// offset, 64 bits each.
const abortedSize = 16

// aborted is a transaction that was aborted: what its producer wrote from the offset first on to the marker
// that ends it.
type aborted struct{ producer, first int64 }

// transactions leaves out what was aborted.
//
// A fetch answer lists the aborted transactions that overlap it, in the order in which they ended, so that
// nothing has to be remembered from one answer to the next. A producer has at most one open at a time.
//
// Source: KIP-98, "Consumer's read_committed mode".
type transactions struct {
	list  []aborted          // by first offset
	begun int                // so many of them have, where we read
	open  map[int64]struct{} // producers of those whose end has not come yet
}

// reset begins with the list of an answer.
func (t *transactions) reset(list []byte) {
	t.list, t.begun = t.list[:0], 0
	clear(t.open)
	for ; len(list) >= abortedSize; list = list[abortedSize:] {
		t.list = append(t.list, aborted{
			int64(binary.BigEndian.Uint64(list)), int64(binary.BigEndian.Uint64(list[abortedSize/2:])),
		})
	}
	slices.SortFunc(t.list, func(a, b aborted) int { return cmp.Compare(a.first, b.first) })
}

// advance notes that reading has come to a batch that ends with the offset last.
func (t *transactions) advance(last int64) {
	for ; t.begun < len(t.list) && t.list[t.begun].first <= last; t.begun++ {
		if t.open == nil {
			t.open = make(map[int64]struct{})
		}
		t.open[t.list[t.begun].producer] = struct{}{}
	}
}

// isAborted reports whether what the producer writes here was aborted.
func (t *transactions) isAborted(producer int64) bool {
	_, is := t.open[producer]
	return is
}

// leftOut reports whether the batch e, which is sound and ends with the offset last, holds no records: it is the marker
// of a transaction, or was aborted.
func (t *transactions) leftOut(e []byte, last int64) bool {
	attributes := binary.BigEndian.Uint16(e[attributesAt:])
	if attributes&(isControl|isTransactional) == 0 {
		return false
	}
	producer := int64(binary.BigEndian.Uint64(e[producerAt:]))
	t.advance(last)
	if attributes&isControl != 0 {
		if isAbortMarker(e) {
			delete(t.open, producer)
		}
		return true
	}
	return t.isAborted(producer)
}

// isAbortMarker reports whether the control batch e says that a transaction was aborted. Its one record has a key of
// two 16-bit numbers, a version and the type; there are types that have nothing to do with transactions.
func isAbortMarker(e []byte) bool {
	const abort = 0
	c := cursor{b: e[headerSize:]}
	body := cursor{b: c.bytes()}
	if len(body.b) == 0 {
		return false
	}
	body.b = body.b[1:] // attributes
	body.varint()       // time
	body.varint()       // offset
	key := body.bytes()
	return len(key) >= 4 && binary.BigEndian.Uint16(key[2:]) == abort
}

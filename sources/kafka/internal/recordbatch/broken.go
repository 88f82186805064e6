package recordbatch

import (
	"encoding/binary"
	"hash/crc32"
)

// Broken returns the bytes of the entry that the last Next failed at, as they were received, and the offset to go on
// at behind it, -1 if that cannot be told. The bytes are valid until Reset.
//
// What an entry says of its own end cannot be believed when its checksum is wrong, and going on too late would
// leave out records that are sound. So the header counts only where two of its fields agree, and the beginning of a
// sound entry behind it where that is earlier.
func (r *Reader) Broken() (entry []byte, next int64) {
	if r.err == nil {
		return nil, -1
	}
	if r.sound {
		return r.entry, atLeast(r.end, r.next+1)
	}
	next = Behind(r.entry, r.next)
	if e, offset := soundBatch(r.set); e != nil && offset > r.next && (next < 0 || offset < next) {
		next = offset
	}
	return r.entry, next
}

// Behind returns the offset to go on at behind the first entry of set, of which there may be only the beginning, as
// its header has it, -1 if the header does not agree with itself. Records before offset from have been read.
func Behind(set []byte, from int64) int64 {
	if len(set) < entryMin {
		return -1
	}
	offset := int64(binary.BigEndian.Uint64(set))
	switch magic := set[magicAt]; {
	case magic < 2:
		return atLeast(offset+1, from+1)
	case magic > 2 || len(set) < headerSize:
		return -1
	}
	delta := int32(binary.BigEndian.Uint32(set[lastDeltaAt:]))
	count := int32(binary.BigEndian.Uint32(set[countAt:]))
	if delta < 0 || count != delta+1 { // compaction makes the count smaller; then nothing proves the delta
		return -1
	}
	return atLeast(offset+int64(delta)+1, from+1)
}

// atLeast returns offset, -1 if it is less than the minimum.
func atLeast(offset, minimum int64) int64 {
	if offset < minimum {
		return -1
	}
	return offset
}

// soundBatch returns the first entry of set and its offset if it is a batch of format v2 whose checksum is right.
func soundBatch(set []byte) ([]byte, int64) {
	e, offset, err := entry(set)
	if err != nil || len(e) < headerSize || e[magicAt] != 2 {
		return nil, 0
	}
	if crc32.Checksum(e[attributesAt:], castagnoli) != binary.BigEndian.Uint32(e[batchCRCAt:]) {
		return nil, 0
	}
	return e, offset
}

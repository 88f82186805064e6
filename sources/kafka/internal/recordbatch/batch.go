package recordbatch

import (
	"encoding/binary"
	"hash/crc32"
)

// Places within a record batch of format v2.
const (
	batchCRCAt   = 17
	attributesAt = 21
	lastDeltaAt  = 23
	firstTimeAt  = 27
	maxTimeAt    = 35
	producerAt   = 43
	countAt      = 57
	headerSize   = 61
)

// Attributes of a batch or message.
const (
	codecMask       = 0x07
	appendTime      = 0x08 // the timestamps are the broker's
	isTransactional = 0x10
	isControl       = 0x20 // the records are markers of transactions
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// batch is what is left to read of a record batch.
type batch struct {
	rest      []byte // decompressed
	left      int    // records in rest
	base      int64
	last      int64 // offset
	firstTime int64
	maxTime   int64
	brokers   bool // maxTime is the timestamp of every record
}

// openBatch checks and decompresses the batch e, whose records begin at base and end with last.
func (r *Reader) openBatch(e []byte, base, last int64) error {
	want := binary.BigEndian.Uint32(e[batchCRCAt:])
	if got := crc32.Checksum(e[attributesAt:], castagnoli); got != want {
		return corrupt(base, "CRC-32C is %08x and should be %08x", got, want)
	}
	r.sound = true
	attributes := binary.BigEndian.Uint16(e[attributesAt:])
	r.batch = batch{base: base, last: last}
	if r.txns.leftOut(e, last) {
		return nil
	}
	r.batch.firstTime = int64(binary.BigEndian.Uint64(e[firstTimeAt:]))
	r.batch.maxTime = int64(binary.BigEndian.Uint64(e[maxTimeAt:]))
	r.batch.brokers = attributes&appendTime != 0
	left := int32(binary.BigEndian.Uint32(e[countAt:]))
	if left < 0 {
		return corrupt(base, "a batch of %d records", left)
	}
	if left == 0 {
		return nil // compaction keeps a batch without records for its sequence number
	}
	rest := e[headerSize:]
	if codec := attributes & codecMask; codec != 0 {
		var err error
		if rest, err = r.decompress(codec, rest, base); err != nil {
			return err
		}
	}
	r.batch.rest, r.batch.left = rest, int(left)
	return nil
}

// next takes the next record off the batch.
func (b *batch) next(rec *Record) error {
	c := cursor{b: b.rest}
	body := cursor{b: c.bytes(), bad: c.bad}
	if len(body.b) == 0 {
		return corrupt(b.base, "a batch that ends %d records early", b.left)
	}
	body.b = body.b[1:] // attributes, all unused
	timeDelta, offsetDelta := body.varint(), body.varint()
	rec.Key, rec.Value = body.bytes(), body.bytes()
	rec.numHeaders, rec.headers = 0, nil
	n := body.varint()
	if n != 0 {
		if n < 0 || n > int64(len(body.b)) {
			return corrupt(b.base+offsetDelta, "%d headers", n)
		}
		rec.numHeaders, rec.headers = int(n), body.b
		for range n {
			body.bytes()
			body.bytes()
		}
	}
	if body.bad || len(body.b) != 0 {
		return corrupt(b.base+offsetDelta, "the record's fields do not fill its length")
	}
	rec.Offset = b.base + offsetDelta
	if offsetDelta < 0 || rec.Offset > b.last {
		return corrupt(b.base, "a record with offset %d in a batch that ends with %d", rec.Offset, b.last)
	}
	rec.Timestamp = b.firstTime + timeDelta
	if b.brokers {
		rec.Timestamp = b.maxTime
	}
	b.rest = c.b
	b.left--
	if b.left == 0 && len(b.rest) != 0 {
		return corrupt(b.base, "%d bytes after the last record", len(b.rest))
	}
	return nil
}

package recordbatch

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const codecSnappyFramed = 100 // stands for snappy in the Java client's frame

// batchSpec describes a record batch; zero fields give a plain one.
type batchSpec struct {
	base       int64
	lastDelta  int32 // of the batch; that of the last record if zero
	codec      uint16
	attributes uint16
	firstTime  int64
	maxTime    int64
	records    []kmsg.Record
}

// recordAt returns a record at delta after its batch's base.
func recordAt(delta int32, key, value []byte, headers ...kmsg.Header) kmsg.Record {
	return kmsg.Record{OffsetDelta: delta, TimestampDelta64: int64(delta), Key: key, Value: value, Headers: headers}
}

func (s batchSpec) encode(tb testing.TB) []byte {
	tb.Helper()
	var body []byte
	last := s.lastDelta
	for _, r := range s.records {
		r.Length = 0
		r.Length = int32(len(r.AppendTo(nil)) - 1) // without the length itself, here one byte
		body = r.AppendTo(body)
		last = max(last, r.OffsetDelta)
	}
	codec := s.codec
	body = compress(tb, codec, body)
	if codec == codecSnappyFramed {
		codec = codecSnappy
	}
	b := kmsg.RecordBatch{
		FirstOffset:     s.base,
		Magic:           2,
		Attributes:      int16(s.attributes | codec),
		LastOffsetDelta: last,
		FirstTimestamp:  s.firstTime,
		MaxTimestamp:    s.maxTime,
		ProducerID:      -1,
		NumRecords:      int32(len(s.records)),
		Records:         body,
	}
	e := b.AppendTo(nil)
	binary.BigEndian.PutUint32(e[lengthAt:], uint32(len(e)-lengthAt-4))
	sign(e)
	return e
}

// sign sets the checksum of a batch.
func sign(e []byte) {
	binary.BigEndian.PutUint32(e[batchCRCAt:], crc32.Checksum(e[attributesAt:], castagnoli))
}

// encodeMessage returns a message of format v0 or v1.
func encodeMessage(magic byte, offset int64, attributes byte, time int64, key, value []byte) []byte {
	e := binary.BigEndian.AppendUint64(nil, uint64(offset))
	e = append(e, make([]byte, 8)...) // length and CRC
	e = append(e, magic, attributes)
	if magic == 1 {
		e = binary.BigEndian.AppendUint64(e, uint64(time))
	}
	for _, v := range [][]byte{key, value} {
		if v == nil {
			e = append(e, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		e = binary.BigEndian.AppendUint32(e, uint32(len(v)))
		e = append(e, v...)
	}
	binary.BigEndian.PutUint32(e[lengthAt:], uint32(len(e)-lengthAt-4))
	binary.BigEndian.PutUint32(e[crcAtOld:], crc32.ChecksumIEEE(e[magicAt:]))
	return e
}

func compress(tb testing.TB, codec uint16, body []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	var err error
	switch codec {
	case 0:
		return body
	case codecGzip:
		w := gzip.NewWriter(&out)
		_, err = w.Write(body)
		if err == nil {
			err = w.Close()
		}
	case codecSnappy:
		return s2.EncodeSnappy(nil, body)
	case codecSnappyFramed:
		out.Write(snappyFrame)
		out.Write([]byte{0, 0, 0, 1, 0, 0, 0, 1})
		for half := range bytes.SplitSeq(body, []byte("SPLIT")) {
			block := s2.EncodeSnappy(nil, half)
			out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(block))))
			out.Write(block)
		}
	case codecLZ4:
		w := lz4.NewWriter(&out)
		_, err = w.Write(body)
		if err == nil {
			err = w.Close()
		}
	case codecZstd:
		var w *zstd.Encoder
		if w, err = zstd.NewWriter(&out); err == nil {
			_, err = w.Write(body)
		}
		if err == nil {
			err = w.Close()
		}
	default:
		out.Write(body)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Kinds of messages.
const (
	schemaMessage = 1
	recordMessage = 3
)

// message is one of a stream, with a header that f makes, and claims a body.
func message(kind byte, body int64, f func(b *flatbuffers.Builder) flatbuffers.UOffsetT) []byte {
	b := flatbuffers.NewBuilder(64)
	header := f(b)
	b.StartObject(5)
	b.PrependInt64Slot(3, body, 0)
	b.PrependUOffsetTSlot(2, header, 0)
	b.PrependByteSlot(1, kind, 0)
	b.Finish(b.EndObject())
	meta := b.FinishedBytes()
	return append(binary.LittleEndian.AppendUint32([]byte{0xff, 0xff, 0xff, 0xff}, uint32(len(meta))), meta...)
}

func tables(b *flatbuffers.Builder, all ...flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	b.StartVector(4, len(all), 4)
	for _, f := range all {
		b.PrependUOffsetT(f)
	}
	return b.EndVector(len(all))
}

// field is one of a type, of Arrow's numbers, with children.
func field(b *flatbuffers.Builder, name string, typ byte, children ...flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	n, list := b.CreateString(name), tables(b, children...)
	b.StartObject(0)
	t := b.EndObject()
	b.StartObject(7)
	b.PrependUOffsetTSlot(5, list, 0)
	b.PrependUOffsetTSlot(3, t, 0)
	b.PrependByteSlot(2, typ, 0)
	b.PrependUOffsetTSlot(0, n, 0)
	return b.EndObject()
}

func schemaOf(b *flatbuffers.Builder, all ...flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	list := tables(b, all...)
	b.StartObject(4)
	b.PrependUOffsetTSlot(1, list, 0)
	return b.EndObject()
}

// span is where a buffer is said to be.
type span struct{ at, length int64 }

// batchOf is a record batch of one column.
func batchOf(rows int64, codec int8, spans ...span) func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	return func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
		pairs := func(all []span) flatbuffers.UOffsetT {
			b.StartVector(16, len(all), 8)
			for i := len(all) - 1; i >= 0; i-- {
				b.Prep(8, 16)
				b.PrependInt64(all[i].length)
				b.PrependInt64(all[i].at)
			}
			return b.EndVector(len(all))
		}
		buffers, nodes := pairs(spans), pairs([]span{{rows, 0}})
		var compression flatbuffers.UOffsetT
		if codec >= 0 {
			b.StartObject(2)
			b.PrependInt8Slot(0, codec, 0)
			compression = b.EndObject()
		}
		b.StartObject(5)
		b.PrependUOffsetTSlot(3, compression, 0)
		b.PrependUOffsetTSlot(2, buffers, 0)
		b.PrependUOffsetTSlot(1, nodes, 0)
		b.PrependInt64Slot(0, rows, 0)
		return b.EndObject()
	}
}

// sharedChildren is a struct of two children that are one, which has two that are one, and so on.
func sharedChildren(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	const structType = 13
	f := field(b, "x", structType)
	for range 40 {
		f = field(b, "x", structType, f, f)
	}
	return schemaOf(b, f)
}

func nestedLists(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	const listType = 12
	f := field(b, "x", 5)
	for range 20_000 {
		f = field(b, "x", listType, f)
	}
	return schemaOf(b, f)
}

// arrowHostile are streams of some bytes.
func arrowHostile() map[string][]byte {
	schema := message(schemaMessage, 0, func(b *flatbuffers.Builder) flatbuffers.UOffsetT { return schemaOf(b, field(b, "url", 5)) })
	after := func(m []byte, body ...byte) []byte { return append(append(bytes.Clone(schema), m...), body...) }
	offsets := func(all ...int32) []byte {
		var b []byte
		for _, o := range all {
			b = binary.LittleEndian.AppendUint32(b, uint32(o))
		}
		return append(b, "0123456789abcdef0123456789abcdef0123456789abcdef"...)
	}
	at := func(all ...int32) []byte {
		n := int64(4 * len(all))
		return after(message(recordMessage, n+48, batchOf(int64(len(all)-1), -1, span{}, span{0, n}, span{n, 48})), offsets(all...)...)
	}
	long := bytes.ReplaceAll(schema, []byte{1, 0, 0, 0}, []byte{0xff, 0xff, 0xff, 0x0f})
	compressed := func(n uint64, codec int8) []byte {
		body := append(binary.LittleEndian.AppendUint64(nil, n), 1, 2, 3, 4, 5, 6, 7, 8)
		return after(message(recordMessage, 16, batchOf(1, codec, span{}, span{0, 16}, span{})), body...)
	}
	return map[string][]byte{
		"metadata-claim":  {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0x30},
		"metadata-minus":  {0xff, 0xff, 0xff, 0xff, 0xf0, 0xff, 0xff, 0xff},
		"body-claim":      after(message(recordMessage, 1<<40, batchOf(1, -1))),
		"body-94g":        after(message(recordMessage, 94<<30, batchOf(1, -1, span{}, span{0, 94 << 30}, span{})), 1, 2, 3),
		"body-minus":      after(message(recordMessage, -1, batchOf(1, -1))),
		"buffer-claim":    after(message(recordMessage, 8, batchOf(1, -1, span{}, span{0, 1 << 40}, span{})), make([]byte, 8)...),
		"buffer-before":   after(message(recordMessage, 8, batchOf(1, -1, span{}, span{-8, 8}, span{})), make([]byte, 8)...),
		"rows-claim":      after(message(recordMessage, 0, batchOf(1<<40, -1))),
		"rows-minus":      after(message(recordMessage, 0, batchOf(-1, -1, span{}, span{}, span{}))),
		"no-buffers":      after(message(recordMessage, 0, batchOf(1, -1))),
		"decompress-4g":   compressed(4<<30, 1),
		"decompress-lz4":  compressed(1<<40, 0),
		"decompress-less": compressed(1<<64-8, 1),
		"unknown-codec":   compressed(8, 9),
		"offsets-fall":    at(0, -1_000_000_000, 36, 48),
		"offsets-beyond":  at(0, 90, 1<<30),
		"offsets-minus":   at(-(1 << 30), 16, 40),
		"fields-claim":    long,
		"shared":          message(schemaMessage, 0, sharedChildren),
		"nested":          message(schemaMessage, 0, nestedLists),
		"record-first":    message(recordMessage, 0, batchOf(1, -1)),
		"footer-zeros":    []byte("ARROW10000000000000000\x02\x00\x00\x00ARROW1"),
		"footer-claim":    []byte("ARROW1\x00\x0000000000\xff\xff\xff\x7fARROW1"),
		"footer-minus":    []byte("ARROW1\x00\x0000000000\x00\x00\x00\x80ARROW1"),
	}
}

// arrowCases are those, and mutated files and streams, through convert and head, and as blocks of a user defined function.
func arrowCases() []*testCase {
	var all []*testCase
	for name, data := range arrowHostile() {
		bad := beside(func(*workplace) ([]byte, error) { return data, nil })
		all = append(all,
			commandOver("arrow", name, ".arrows", []int{0, 1}, bad, "convert", "BAD", "out.ndjson"),
			commandOver("arrow", name, ".arrows", []int{0, 1}, bad, "parquet", "head", "BAD"),
			inputCase("udf", "arrow-"+name, []int{0, 1}, data, "udf", "clickhouse", "--format", "ArrowStream", "--columns", "host,path"))
	}
	bases := []string{"bad-none.arrow", "bad-lz4.arrow", "bad-none.arrows", "bad-zstd.arrows", "bad-lz4.arrows"}
	for i := range 60 {
		base := bases[i%len(bases)]
		format, name := "arrow file", fmt.Sprintf("mutated%02d", i)
		if base[len(base)-1] == 's' {
			format = "arrow stream"
		}
		switch i / len(bases) % 3 {
		case 0:
			all = append(all, commandOver(format, name, ".arrow", []int{0, 1}, mutated(base), "convert", "BAD", "out.ndjson"))
		case 1:
			all = append(all, commandOver(format, name, ".arrow", []int{0, 1}, mutated(base), "convert", "BAD", "out.parquet"))
		case 2:
			all = append(all, commandOver(format, name, ".arrow", []int{0, 1}, mutated(base), "parquet", "head", "BAD"))
		}
	}
	return all
}

package main

import (
	"encoding/binary"
	"fmt"
	"strings"
)

func plainValue(url string) []byte { return []byte(url) }

func avroValue(url string) []byte {
	out := append(binary.AppendVarint(nil, int64(len(url))), url...)
	return append(out, 0) // no tags
}

func protoValue(url string) []byte {
	return append(append([]byte{0x0a}, binary.AppendUvarint(nil, uint64(len(url)))...), url...)
}

const (
	tagsOfAvro = `{"type":"record","name":"Click","fields":[{"name":"url","type":"string"},{"name":"tags","type":{"type":"array","items":` +
		`{"type":"record","name":"Tag","fields":[{"name":"attribute_identifier_number","type":"int"}]}}}]}`
	tagsOfProto = "syntax = \"proto3\";\nmessage Tag { string name = 1; Tag inner = 2; }\nmessage Click { string url = 1; repeated Tag tags = 2; }\n"
	avroCodec   = "avro: {schema: av.avsc, url: /url, carry: [{name: tags, pointer: /tags, type: json}]}"
	protoCodec  = "protobuf: {schema: pb.proto, message: Click, url: /url, carry: [{name: tags, pointer: /tags, type: json}]}"
)

// topicCases are records of a topic.
func topicCases() []*testCase {
	one := func(times int, v value) func(*workplace) [][]value {
		all := make([]value, times)
		for i := range all {
			all[i] = v
		}
		return func(*workplace) [][]value { return [][]value{all} }
	}
	plain := topicCase{format: "topic", codec: "lines: {}", partitions: 1, encode: plainValue}
	avro := topicCase{format: "avro", codec: avroCodec, files: map[string]string{"av.avsc": tagsOfAvro}, partitions: 1, encode: avroValue}
	proto := topicCase{format: "protobuf", codec: protoCodec, files: map[string]string{"pb.proto": tagsOfProto}, partitions: 1, encode: protoValue}
	url := []byte("https://bad.example/")
	var all []*testCase
	add := func(c topicCase, name string, batches func(*workplace) [][]value) {
		c.name, c.batches = name, batches
		all = append(all, c.build())
	}
	many := plain
	many.partitions = 24
	add(many, "zeros-24", one(1, value{head: url, body: "a", times: 100 << 20}))
	add(plain, "batch-300m", one(300, value{head: url, body: "a", times: 1 << 20}))
	add(plain, "record-300m", one(1, value{head: url, body: "a", times: 300 << 20}))
	add(plain, "parameters", one(20, value{head: []byte("https://bad.example/?"), body: "a&", times: 500_000}))
	headers := plain
	headers.headers = 2_000_000
	add(headers, "headers", one(2, value{head: url}))
	add(avro, "items", one(1, value{head: binary.AppendVarint(avroValue(string(url))[:len(url)+1], 20_000_000), body: "\x00", times: 20_000_000, tail: []byte{0}}))
	add(avro, "items-json", one(1, value{head: binary.AppendVarint(avroValue(string(url))[:len(url)+1], 15_000_000), body: "\x00", times: 15_000_000, tail: []byte{0}}))
	add(avro, "items-claim", one(1, value{head: binary.AppendVarint(avroValue(string(url))[:len(url)+1], 1<<40)}))
	add(avro, "block-claim", one(1, value{head: append(binary.AppendVarint(avroValue(string(url))[:len(url)+1], -1<<62), 1)}))
	add(avro, "text-claim", one(1, value{head: binary.AppendVarint(nil, 1<<40)}))
	add(avro, "text-minus", one(1, value{head: binary.AppendVarint(nil, -5)}))
	add(proto, "empty-messages", one(1, value{head: protoValue(string(url)), body: "\x12\x00", times: 10_000_000}))
	add(proto, "messages", one(1, value{head: protoValue(string(url)), body: "\x12\x02\x0a\x00", times: 4_000_000}))
	add(proto, "nested", one(1, value{head: append(protoValue(string(url)), nestedMessages(20_000)...)}))
	add(proto, "groups", one(1, value{head: protoValue(string(url)), body: "\x1b", times: 5_000_000}))
	add(proto, "length-claim", one(1, value{head: append([]byte{0x0a}, binary.AppendUvarint(nil, 1<<62)...)}))
	for i := range 8 {
		for _, c := range []topicCase{avro, proto} {
			add(c, fmt.Sprintf("mutated%02d", i), func(w *workplace) [][]value {
				good := c.encode("https://bad.example/a?b=c")
				tags := append(good[:len(good)-1:len(good)-1], 4, 2, 8, 0)
				if c.format == "protobuf" {
					tags = append(good[:len(good):len(good)], "\x12\x03\x0a\x01x\x12\x07\x0a\x01y\x12\x02\x0a\x00"...)
				}
				values := make([]value, 200)
				for i := range values {
					values[i] = value{head: mutate(w.random, tags)}
				}
				return [][]value{values}
			})
		}
	}
	add(plain, "lines", one(50, value{head: []byte("https://good" + strings.Repeat("é.", 1000) + "com/\n\x00\x1b[31m"), body: "\xff", times: 10_000}))
	return all
}

// nestedMessages is a tag within a tag, so deep.
func nestedMessages(deep int) []byte {
	length := make([]int, deep+1) // of what is within each level
	for i := 1; i <= deep; i++ {
		length[i] = length[i-1] + 1 + len(binary.AppendUvarint(nil, uint64(length[i-1])))
	}
	var out []byte
	for i := deep; i > 0; i-- {
		out = binary.AppendUvarint(append(out, 0x12), uint64(length[i-1]))
	}
	return out
}

package codectest

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/avro"
	"github.com/urlmill/urlmill/sources/codec/protobuf"
	"github.com/urlmill/urlmill/sources/codec/schema"
)

// schemaID is the number that the records have for their schema.
const schemaID = 7

// header begins a record.
func header() []byte { return binary.BigEndian.AppendUint32([]byte{0}, schemaID) }

const avroHit = `{"type":"record","name":"Hit","namespace":"org.example","fields":[
	{"name":"at","type":{"type":"long","logicalType":"timestamp-micros"}},
	{"name":"id","type":"string"},
	{"name":"client","type":{"type":"record","name":"Client","fields":[{"name":"ip","type":"string"},{"name":"agent","type":"string"},{"name":"user","type":["null","string"]}]}},
	{"name":"request","type":{"type":"record","name":"Request","fields":[
		{"name":"method","type":{"type":"enum","name":"Method","symbols":["GET","POST"]}},{"name":"url","type":"string"},
		{"name":"headers","type":{"type":"map","values":"string"}}]}},
	{"name":"status","type":"int"},{"name":"bytes","type":"long"},{"name":"seconds","type":"double"}]}`

// hitFields are the fields that go along.
func hitFields() []codec.CarriedField {
	return []codec.CarriedField{
		{Name: "time", Pointer: "/at", Type: pipeline.Timestamp},
		{Name: "remote_addr", Pointer: "/client/ip"},
		{Name: "user_agent", Pointer: "/client/agent"},
		{Name: "method", Pointer: "/request/method"},
		{Name: "referer", Pointer: "/request/headers/Referer"},
		{Name: "status", Pointer: "/status", Type: pipeline.Int64},
		{Name: "bytes", Pointer: "/bytes", Type: pipeline.Int64},
		{Name: "seconds", Pointer: "/seconds", Type: pipeline.Float64},
	}
}

// avroRecord writes the request as avroHit has it.
func avroRecord(i int) []byte {
	h := NewHit(i)
	r := header()
	number := func(n int64) { r = binary.AppendVarint(r, n) }
	text := func(s string) {
		number(int64(len(s)))
		r = append(r, s...)
	}
	number(h.Time.UnixMicro())
	text(h.ID)
	text(h.IP)
	text(h.Agent)
	if h.User == "" {
		number(0)
	} else {
		number(1)
		text(h.User)
	}
	number(map[string]int64{"GET": 0, "POST": 1}[h.Method])
	text(h.URL())
	number(2)
	text("Accept")
	text("*/*")
	text("Referer")
	text(h.Referer)
	number(0)
	number(int64(h.Status))
	number(int64(h.Bytes))
	return binary.LittleEndian.AppendUint64(r, math.Float64bits(float64(h.Micros)/1e6))
}

const protobufHit = `syntax = "proto3"; package org.example; import "google/protobuf/timestamp.proto";
message Hit {
	message Client { string ip = 1; string agent = 2; optional string user = 3; }
	enum Method { GET = 0; POST = 1; }
	message Request { Method method = 1; string url = 2; map<string, string> headers = 3; }
	google.protobuf.Timestamp at = 1; string id = 2; Client client = 3; Request request = 4; int32 status = 5; int64 bytes = 6; double seconds = 7;
}`

// protobufRecord writes the request as protobufHit has it.
func protobufRecord(i int) []byte {
	h := NewHit(i)
	number := func(b []byte, field protowire.Number, n uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), n)
	}
	text := func(b []byte, field protowire.Number, s string) []byte {
		return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
	}
	client := text(text(nil, 1, h.IP), 2, h.Agent)
	if h.User != "" {
		client = text(client, 3, h.User)
	}
	request := number(nil, 1, map[string]uint64{"GET": 0, "POST": 1}[h.Method])
	request = text(request, 2, h.URL())
	request = text(request, 3, string(text(text(nil, 1, "Accept"), 2, "*/*")))
	request = text(request, 3, string(text(text(nil, 1, "Referer"), 2, h.Referer)))
	r := append(header(), 0) // the first message
	r = text(r, 1, string(number(number(nil, 1, uint64(h.Time.Unix())), 2, uint64(h.Time.Nanosecond()))))
	r = text(text(text(r, 2, h.ID), 3, string(client)), 4, string(request))
	r = number(number(r, 5, uint64(h.Status)), 6, uint64(h.Bytes))
	return protowire.AppendFixed64(protowire.AppendTag(r, 7, protowire.Fixed64Type), math.Float64bits(float64(h.Micros)/1e6))
}

// schemaCases are those of records with a schema.
func schemaCases() []Case {
	return []Case{{
		Codec: "avro", Name: "avro", Referer: "referer", Record: avroRecord,
		New: func() (codec.Factory, error) {
			return avro.New(schema.Options{Schema: schemaregistry.Schema{Text: avroHit}, Framed: true, URL: "/request/url", Carry: hitFields()})
		},
		Malformed: map[string]string{
			"": "record-malformed 0", "x": "record-malformed 0", "\x01\x00\x00\x00\x07\x00": "record-malformed 0", "\x00\x00\x00\x00\x07": "record-malformed 5",
			string(avroRecord(0)[:40]): "record-malformed 30", string(avroRecord(0)) + "x": fmt.Sprint("record-malformed ", len(avroRecord(0))),
		},
	}, {
		Codec: "protobuf", Name: "protobuf", Referer: "referer", Record: protobufRecord,
		New: func() (codec.Factory, error) {
			return protobuf.New(protobuf.Options{Options: schema.Options{
				Schema: schemaregistry.Schema{Text: protobufHit}, Framed: true, URL: "/request/url", Carry: hitFields(),
			}})
		},
		Malformed: map[string]string{
			"": "record-malformed 0", "\x00\x00\x00\x00\x07": "record-schema 5", "\x00\x00\x00\x00\x07\x80": "record-schema 5",
			"\x00\x00\x00\x00\x07\x00": "record-field-missing -1", "\x00\x00\x00\x00\x07\x00\x22\x05a": "record-malformed 7",
		},
	}, {
		Codec: "jsonschema", Name: "jsonschema", Referer: "referer",
		New: func() (codec.Factory, error) {
			return schema.NewJSON(schema.Options{URL: "/url", Carry: []codec.CarriedField{
				{Name: "time", Pointer: "/ts", Type: pipeline.Timestamp, Time: codec.EpochMillis},
				{Name: "remote_addr", Pointer: "/client/ip"},
				{Name: "status", Pointer: "/status", Type: pipeline.Int64},
				{Name: "referer", Pointer: "/referer"},
			}})
		},
		Record: func(i int) []byte {
			h := NewHit(i)
			return fmt.Appendf(header(), `{"ts":%d,"client":{"ip":%q,"agent":%q},"url":%q,"referer":%q,"status":%d,"id":%q}`,
				h.Time.UnixMilli(), h.IP, h.Agent, h.URL(), h.Referer, h.Status, h.ID)
		},
		Malformed: map[string]string{
			"": "record-malformed 0", `{"url":"http://a/"}`: "record-malformed 0", "\x00\x00\x00\x00\x07": "record-malformed 5",
			"\x00\x00\x00\x00\x07{\"url\":7}": "record-field-type 12", "\x00\x00\x00\x00\x07{}": "record-field-missing -1",
		},
	}}
}

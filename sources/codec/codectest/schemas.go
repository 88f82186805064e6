package codectest

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/avro"
	"github.com/urlmill/urlmill/sources/codec/schema"
	"github.com/urlmill/urlmill/sources/codec/schema/registry"
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

// schemaCases are those of records with a schema.
func schemaCases() []Case {
	return []Case{{
		Codec: "avro", Name: "avro", Referer: "referer", Record: avroRecord,
		New: func() (codec.Factory, error) {
			return avro.New(schema.Options{Schema: registry.Schema{Text: avroHit}, Framed: true, URL: "/request/url", Carry: hitFields()})
		},
		Malformed: map[string]string{
			"": "record-malformed 0", "x": "record-malformed 0", "\x01\x00\x00\x00\x07\x00": "record-malformed 0", "\x00\x00\x00\x00\x07": "record-malformed 5",
			string(avroRecord(0)[:40]): "record-malformed 30", string(avroRecord(0)) + "x": fmt.Sprint("record-malformed ", len(avroRecord(0))),
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

package avro

import (
	"encoding/json"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/schema"
	"github.com/urlmill/urlmill/sources/codec/schema/schematest"
)

// FuzzSchema reads records by schemas that are as they come, with one that they refer to.
func FuzzSchema(f *testing.F) {
	record := encode(f, clickSchema, click())
	f.Add(clickSchema, "", record)
	f.Add(`{"type":"record","name":"R","fields":[{"name":"url","type":"U"},{"name":"r","type":["null","R"]}]}`,
		`{"type":"fixed","name":"U","size":3}`, []byte("a:b\x02c:d\x00"))
	f.Add(`{"type":"map","values":{"type":"array","items":"null"}}`, "", []byte("\x02\x06url\xfe\xff\x03\x00\x00"))
	f.Add(`["null",{"type":"enum","name":"E","symbols":["a"]},"string"]`, "", []byte("\x04\x06x:y"))
	f.Fuzz(func(t *testing.T, text, reference string, record []byte) {
		o := schema.Options{Schema: schemaregistry.Schema{Text: text}, URL: "/url", Carry: []codec.CarriedField{{Name: "r", Pointer: "/r", Type: pipeline.JSON}}}
		if reference != "" {
			o.Schema.References = []schemaregistry.Reference{{Name: "U", Text: reference}}
		}
		alloctest.Bound(t, len(text)+len(reference)+len(record), 4<<10, 4<<20, func() {
			if factory, err := New(o); err == nil {
				schematest.Row(t, factory, record)
			}
		})
	})
}

// FuzzJSON shows values as JSON, which has to be valid, in memory of the record's size.
func FuzzJSON(f *testing.F) {
	record := encode(f, clickSchema, click())
	f.Add(record)
	f.Add(record[:len(record)-3])
	o := clickOptions()
	o.Carry = nil
	for _, name := range []string{"/request", "/previous", "/nothing", "/price", "/session", "/at", "/share", "/request/headers/Referer"} {
		o.Carry = append(o.Carry, codec.CarriedField{Name: name, Pointer: name, Type: pipeline.JSON})
	}
	factory, err := New(o)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		alloctest.Bound(t, len(record), 256, 1<<20, func() {
			for name, value := range schematest.Row(t, factory, record) {
				if text, ok := value.(string); ok && name[0] == '/' && !json.Valid([]byte(text)) {
					t.Fatalf("%s: %s", name, text)
				}
			}
		})
	})
}

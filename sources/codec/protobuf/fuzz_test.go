package protobuf

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

// FuzzSchema reads records by schemas that are as they come, with one that they import.
func FuzzSchema(f *testing.F) {
	f.Add(clickSchema, commonSchema, click(f, clickJSON))
	f.Add(`syntax = "proto2"; import "common.proto"; message M { optional string url = 1; optional group G = 2 { repeated M r = 3 [packed = true]; } }`,
		`syntax = "proto3"; package common;`, []byte("\x0a\x03a:b\x13\x1a\x00\x14"))
	f.Add(`edition = "2023"; message M { map<string, M> r = 2147483647; extensions 4 to max; reserved 2, 3; oneof o { bytes url = 1; } }`, "", []byte("\x0a\x01\xff"))
	f.Fuzz(func(t *testing.T, text, imported string, record []byte) {
		o := Options{Options: schema.Options{
			Schema: schemaregistry.Schema{Text: text, References: []schemaregistry.Reference{{Name: "common.proto", Text: imported}}},
			URL:    "/url", Carry: []codec.CarriedField{{Name: "r", Pointer: "/r", Type: pipeline.JSON}},
		}}
		// The compiler links the standard imports anew each time.
		alloctest.Bound(t, len(text)+len(imported)+len(record), 16<<10, 32<<20, func() {
			if factory, err := New(o); err == nil {
				schematest.Row(t, factory, record)
			}
		})
	})
}

// FuzzJSON shows values as JSON, which has to be valid, in memory of the record's size.
func FuzzJSON(f *testing.F) {
	f.Add(click(f, clickJSON))
	f.Add(append(click(f, clickJSON), click(f, `{"request":{"url":"later"},"left":"l"}`)...))
	o := clickOptions()
	o.Carry = nil
	for _, name := range []string{"/request", "/part", "/numbers", "/at", "/took", "/price", "/big", "/share", "/request/headers/Referer"} {
		o.Carry = append(o.Carry, codec.CarriedField{Name: name, Pointer: name, Type: pipeline.JSON})
	}
	factory, err := New(o)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		alloctest.Bound(t, len(record), 4<<10, 1<<20, func() {
			for name, value := range schematest.Row(t, factory, record) {
				if text, ok := value.(string); ok && name[0] == '/' && !json.Valid([]byte(text)) {
					t.Fatalf("%s: %s", name, text)
				}
			}
		})
	})
}

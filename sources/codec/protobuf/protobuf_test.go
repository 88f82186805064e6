package protobuf

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/schema"
	"github.com/urlmill/urlmill/sources/codec/schema/schematest"
)

const clickSchema = `syntax = "proto3";
package org.example;
import "google/protobuf/timestamp.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/wrappers.proto";
import "confluent/type/decimal.proto";
import "common.proto";
message Outer { message Inner { string url = 1; } }
message Click {
  enum Kind { VIEW = 0; BUY = 1; }
  message Request { string url = 1; map<string, string> headers = 2; repeated Hop hops = 3; map<int32, Hop> by_number = 4; }
  message Hop { bytes ip = 1; double ms = 2; }
  sint64 id = 1;
  Request request = 2;
  optional string page_url = 3;
  google.protobuf.Timestamp at = 4;
  google.protobuf.Duration took = 5;
  google.protobuf.Int64Value user = 6;
  confluent.type.Decimal price = 7;
  Kind kind = 8;
  repeated int32 numbers = 9;
  repeated string tags = 10;
  bool ok = 11;
  fixed64 big = 12;
  oneof either { string left = 13; string right = 14; }
  common.Part part = 200;
  float share = 16;
  uint64 seconds = 17;
  int32 unset = 18;
  google.protobuf.Int64Value nobody = 19;
}`

const commonSchema = `syntax = "proto2"; package common; message Part { optional string name = 1; optional int32 n = 2 [default = 7]; optional group G = 3 { optional string x = 1; } }`

const clickJSON = `{"id":"-7","request":{"url":"../b?x=é","headers":{"Referer":"https://r.example/","X":""},"hops":[{"ip":"MTAuMC4wLjE=","ms":1.5},{"ip":"MTAuMC4wLjI=","ms":2.5}],
	"by_number":{"5":{"ms":9}}},
	"page_url":"https://example.org/a/","at":"2026-11-21T12:00:00.123456Z","took":"1.5s","user":"42","price":{"value":"z8c=","precision":10,"scale":2},
	"kind":"BUY","numbers":[1,2,300],"tags":["a","b"],"ok":true,"big":"18446744073709551615","right":"r","part":{"name":"p","g":{"x":"in a group"}},"share":0.5,
	"seconds":"1795262400"}`

func clickOptions() Options {
	return Options{Message: "org.example.Click", Options: schema.Options{
		Schema: schemaregistry.Schema{Text: clickSchema, References: []schemaregistry.Reference{{Name: "common.proto", Text: commonSchema}}},
		URL:    "/request/url", Base: "/pageUrl",
		Carry: []codec.CarriedField{
			{Name: "id", Pointer: "/id", Type: pipeline.Int64},
			{Name: "referer", Pointer: "/request/headers/Referer"},
			{Name: "ip", Pointer: "/request/hops/1/ip"},
			{Name: "ms", Pointer: "/request/hops/0/ms", Type: pipeline.Float64},
			{Name: "at", Pointer: "/at", Type: pipeline.Timestamp},
			{Name: "took", Pointer: "/took", Type: pipeline.Float64},
			{Name: "user", Pointer: "/user", Type: pipeline.Int64},
			{Name: "price", Pointer: "/price"},
			{Name: "kind", Pointer: "/kind"},
			{Name: "second", Pointer: "/numbers/1", Type: pipeline.Int64},
			{Name: "tag", Pointer: "/tags/1"},
			{Name: "ok", Pointer: "/ok", Type: pipeline.Bool},
			{Name: "left", Pointer: "/left"},
			{Name: "right", Pointer: "/right"},
			{Name: "part", Pointer: "/part/name"},
			{Name: "grouped", Pointer: "/part/g/x"},
			{Name: "defaulted", Pointer: "/part/n", Type: pipeline.Int64},
			{Name: "share", Pointer: "/share", Type: pipeline.Float64},
			{Name: "seconds", Pointer: "/seconds", Type: pipeline.Timestamp, Time: codec.EpochSeconds},
			{Name: "unset", Pointer: "/unset", Type: pipeline.Int64},
			{Name: "nobody", Pointer: "/nobody", Type: pipeline.Int64},
			{Name: "absent", Pointer: "/absent/at/all"},
			{Name: "by_number", Pointer: "/request/by_number/5/ms", Type: pipeline.Float64},
			{Name: "big", Pointer: "/big", Type: pipeline.JSON},
			{Name: "numbers", Pointer: "/numbers", Type: pipeline.JSON},
			{Name: "headers", Pointer: "/request/headers", Type: pipeline.JSON},
			{Name: "hop", Pointer: "/request/hops/1", Type: pipeline.JSON},
		},
	}}
}

// click encodes a record from its JSON.
func click(t testing.TB, text string) []byte {
	t.Helper()
	file, err := parse(clickOptions().Schema)
	if err != nil {
		t.Fatal(err)
	}
	m := dynamicpb.NewMessage(file.Messages().ByName("Click"))
	if err := protojson.Unmarshal([]byte(text), m); err != nil {
		t.Fatal(err)
	}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// row decodes a record as [schematest.Row] does.
func row(t testing.TB, o Options, record []byte) map[string]any {
	t.Helper()
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return schematest.Row(t, f, record)
}

func TestClick(t *testing.T) {
	want := map[string]any{
		"url": "../b?x=é", "base": "https://example.org/a/", "id": int64(-7), "referer": "https://r.example/", "ip": "10.0.0.2", "ms": 1.5,
		"at": int64(1795262400123456), "took": 1.5, "user": int64(42), "price": "-123.45", "kind": "BUY", "second": int64(2), "tag": "b",
		"ok": true, "right": "r", "part": "p", "grouped": "in a group", "share": 0.5, "seconds": int64(1795262400000000), "unset": int64(0),
		"by_number": 9.0, "big": "18446744073709551615", "numbers": "[1,2,300]", "headers": `{"Referer":"https://r.example/","X":""}`,
		"hop": `{"ip":"MTAuMC4wLjI=","ms":2.5}`,
	}
	record := click(t, clickJSON)
	if diff := cmp.Diff(want, row(t, clickOptions(), record)); diff != "" {
		t.Error(diff)
	}
	// A message may come in parts, of which later ones win; a list goes on; the last of a oneof counts.
	record = append(record, click(t, `{"request":{"url":"later"},"tags":["c"],"left":"l","numbers":[]}`)...)
	want["url"], want["left"] = "later", "l"
	delete(want, "right")
	if diff := cmp.Diff(want, row(t, clickOptions(), record)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"fault": "record-field-missing", "pos": int64(-1), "id": int64(0), "kind": "VIEW", "ok": false, "share": 0.0, "seconds": int64(0), "unset": int64(0), "big": "0"},
		row(t, clickOptions(), nil)); diff != "" {
		t.Error(diff)
	}
}

func TestMalformed(t *testing.T) {
	o := clickOptions()
	for record, pos := range map[string]int64{
		"\x00": 0, "\x07": 0, "\x0c": 0, "\x08": 1, "\x12\x05a": 1, "\x12\x02\x0a\x05": 3, "\x61\x00": 1, "\x80": 0,
		"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01": 1, "\xfa\x7f\x02": 2,
	} {
		got := row(t, o, []byte(record))
		if got["fault"] != "record-malformed" || got["pos"] != pos {
			t.Errorf("%q: %v at %v, want %d", record, got["fault"], got["pos"], pos)
		}
	}
	o.Base, o.Carry = "", []codec.CarriedField{{Name: "tags", Pointer: "/tags"}, {Name: "id", Pointer: "/id"}}
	got := row(t, o, click(t, `{"request":{"url":"u"},"tags":["a"]}`))
	if diff := cmp.Diff(map[string]any{"url": "u", "fault": "field-type", "pos": int64(6)}, got); diff != "" {
		t.Error(diff)
	}
}

// TestPlaces: the header says where in the schema the message is.
func TestPlaces(t *testing.T) {
	o := clickOptions()
	o.Framed, o.Carry, o.Base, o.URL = true, nil, "", "/url"
	file, err := parse(o.Schema)
	if err != nil {
		t.Fatal(err)
	}
	o.Message = "org.example.Outer.Inner"
	frame := func(place string) []byte {
		return append(binary.BigEndian.AppendUint32([]byte{0}, 9), place+"\x0a\x01u"...)
	}
	if got := row(t, o, frame("\x00")); got["url"] != "u" {
		t.Errorf("named message: %v", got)
	}
	c := &compiled{file: file, pointers: [][]string{{"url"}}, framed: true, readers: map[string]*reader{}}
	for place, want := range map[string]string{
		"\x00": "org.example.Outer", "\x02\x00": "org.example.Outer", "\x04\x00\x00": "org.example.Outer.Inner", "\x04\x02\x02": "org.example.Click.Hop",
		"\x02\x04": "", "\x01": "", "": "", "\x04\x00": "", "\x04\x00\x02": "", "\x80": "", "\xfe\xff\x7f": "",
	} {
		for range 2 {
			r, skip, ok := c.Reader([]byte(place))
			if ok != (want != "") || ok && (string(r.(*reader).desc.FullName()) != want || skip != len(place)) {
				t.Errorf("%q: %v, want %s", place, ok, want)
			}
		}
	}
}

func TestSchemas(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"schema: there is no message x; there are org.example.Outer":             func(o *Options) { o.Message = "x" },
		"schema: give message, since there are several":                          func(o *Options) { o.Message = "" },
		"schema: urlmill-record.proto:7:8":                                       func(o *Options) { o.Schema.References = nil },
		"message: records of a registry say which message they are; take it out": func(o *Options) { o.Registry = &schemaregistry.Options{} },
	} {
		o := clickOptions()
		change(&o)
		if _, err := New(o); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestReadFile: imports are found beside the schema, and nowhere else.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "schemas"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("outside.proto", `syntax = "proto3"; message Outside {}`)
	write("schemas/b.proto", `syntax = "proto3"; import public 'c.proto'; import "../outside.proto";`)
	write("schemas/c.proto", `syntax = "proto3"; package c; message C { string url = 1; }`)
	write("schemas/a.proto", `syntax = "proto3"; import "b.proto"; import "google/protobuf/any.proto"; message A { c.C c = 1; }`)
	s, err := ReadFile(filepath.Join(dir, "schemas", "a.proto"))
	if err != nil || len(s.References) != 2 || s.References[0].Name != "c.proto" || s.References[1].Name != "b.proto" {
		t.Errorf("%v %+v", err, s)
	}
	if _, err := parse(s); err == nil || !strings.Contains(err.Error(), "outside.proto") {
		t.Error(err)
	}
	write("schemas/b.proto", `syntax = "proto3"; import public "c.proto";`)
	if s, err = ReadFile(filepath.Join(dir, "schemas", "a.proto")); err != nil {
		t.Fatal(err)
	}
	o := Options{Options: schema.Options{Schema: s, URL: "/c/url"}}
	if got := row(t, o, []byte("\x0a\x03\x0a\x01u")); got["url"] != "u" {
		t.Error(got)
	}
}

func TestAllocations(t *testing.T) {
	o := clickOptions()
	o.Carry = o.Carry[:23]
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	schematest.NoAllocations(t, f, click(t, clickJSON))
}

// TestTwoKeys: what the library panics over is null in JSON, and the other values are there.
func TestTwoKeys(t *testing.T) {
	o := clickOptions()
	o.Base, o.Carry = "", []codec.CarriedField{{Name: "headers", Pointer: "/request/headers", Type: pipeline.JSON}, {Name: "request", Pointer: "/request", Type: pipeline.JSON}}
	got := row(t, o, []byte("\x12\x11\x0a\x01u\x12\x0c\x0a\x01k\x09xxxxxxxx"))
	if got["url"] != "u" || got["request"] != "null" {
		t.Error(got)
	}
}

// FuzzRead compares what is read with what another implementation reads.
func FuzzRead(f *testing.F) {
	f.Add(click(f, clickJSON))
	f.Add(append(click(f, clickJSON), click(f, `{"request":{"url":"later"},"left":"l"}`)...))
	o := clickOptions()
	file, err := parse(o.Schema)
	if err != nil {
		f.Fatal(err)
	}
	factory, err := New(o)
	if err != nil {
		f.Fatal(err)
	}
	click := file.Messages().ByName("Click")
	fields := click.Fields()
	request := fields.ByName("request").Message().Fields()
	f.Fuzz(func(t *testing.T, record []byte) {
		var got map[string]any
		alloctest.Bound(t, len(record), 256, 4<<20, func() { got = schematest.Row(t, factory, record) })
		m := dynamicpb.NewMessage(click)
		if err := unmarshal(record, m); err != nil {
			return // the other reads all of it, and wants UTF-8
		}
		if got["fault"] == "record-malformed" {
			t.Fatalf("read by another, but not here: %v", got)
		}
		if want := m.Get(fields.ByName("id")).Int(); got["id"] != want {
			t.Fatalf("id %v, want %d", got["id"], want)
		}
		want := m.Get(fields.ByName("request")).Message().Get(request.ByName("url")).String()
		if url, _ := got["url"].(string); url != want {
			t.Fatalf("URL %q, want %q", url, want)
		}
		left := m.Get(fields.ByName("left")).String()
		if text, _ := got["left"].(string); text != left {
			t.Fatalf("left %q, want %q", text, left)
		}
	})
}

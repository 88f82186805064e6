package protobuf

import (
	"bytes"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/schema"
	"github.com/urlmill/urlmill/sources/codec/schema/schematest"
)

const treeSchema = `syntax = "proto3"; import "google/protobuf/any.proto";
	enum Kind { ` + "A_KIND_WITH_A_LONG_NAME" + ` = 0; }
	message Tree { string url = 1; repeated Tree trees = 2; repeated int32 numbers = 3; string text = 4; map<int32, Tree> by_number = 5;
	  repeated Kind kinds = 6; bytes data = 7; repeated fixed32 fixed = 8; google.protobuf.Any any = 9; repeated string texts = 10; Tree inner = 11; }`

// tagged returns a field of n bytes.
func tagged(number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
}

// trees are records that become large as messages, or as JSON.
func trees(n int) map[string][]byte {
	nulls := bytes.Repeat([]byte{0x0a, 2, 8, 0}, n) // of a google.protobuf.ListValue
	any := append(tagged(1, []byte("type.googleapis.com/google.protobuf.ListValue")), tagged(2, nulls)...)
	keys := []byte{}
	for i := range n {
		keys = append(keys, tagged(5, protowire.AppendVarint([]byte{8}, uint64(i)))...)
	}
	return map[string][]byte{
		"empty messages": bytes.Repeat([]byte{0x12, 0}, n), "messages": bytes.Repeat([]byte{0x12, 2, 0x22, 0}, n),
		"packed": tagged(3, make([]byte, n)), "unpacked": bytes.Repeat([]byte{0x18, 0}, n), "enums": tagged(6, make([]byte, n)),
		"control characters": tagged(4, make([]byte, 4*n)), "bytes": tagged(7, make([]byte, 4*n)), "fixed": tagged(8, make([]byte, 4*n)),
		"any": tagged(9, any), "map": keys, "texts": bytes.Repeat([]byte{0x52, 0}, n), "unknown": bytes.Repeat([]byte{0xf8, 1, 0}, n),
	}
}

func treeCodec(t *testing.T) codec.Factory {
	t.Helper()
	f, err := New(Options{Message: "Tree", Options: schema.Options{
		Schema: schemaregistry.Schema{Text: treeSchema}, URL: "/url",
		Carry: []codec.CarriedField{{Name: "all", Pointer: "", Type: pipeline.JSON}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFootprint: what is counted of a record is about what the library takes, and no less than its JSON.
func TestFootprint(t *testing.T) {
	const most = 1 << 30
	file, err := parse(schemaregistry.Schema{Text: treeSchema})
	if err != nil {
		t.Fatal(err)
	}
	desc := file.Messages().ByName("Tree")
	all := trees(20_000)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var before, after runtime.MemStats
		m := dynamicpb.NewMessage(desc)
		for range 3 { // until what pools hold of the case before is gone
			runtime.GC()
		}
		runtime.ReadMemStats(&before)
		if err := unmarshal(all[name], m); err != nil {
			t.Fatal(name, err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
		if err != nil {
			t.Fatal(name, err)
		}
		got, held := footprint(all[name], desc, most, 0), int(after.HeapAlloc)-int(before.HeapAlloc)
		t.Logf("%s: %d bytes are %d, of which the library holds %d, and %d as JSON", name, len(all[name]), got, held, len(text))
		if held > got+got/4 || len(text) > got {
			t.Errorf("%s: %d bytes are counted as %d, and are %d, and %d as JSON", name, len(all[name]), got, held, len(text))
		}
		if got := footprint(all[name], desc, 1000, 0); got <= 1000 {
			t.Errorf("%s: %d are within 1000 bytes", name, got)
		}
	}
}

// TestRecordThatGrows: a record that takes many times its length as messages, or as JSON, has its URL and no JSON, and does not take it.
func TestRecordThatGrows(t *testing.T) {
	f := treeCodec(t)
	for name, tree := range trees(300_000) {
		record := append(tagged(1, []byte("http://a.example/")), tree...)
		if name == "bytes" || name == "unknown" {
			continue // no longer than twice the record
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		row := schematest.Row(t, f, record)
		runtime.ReadMemStats(&after)
		if row["url"] != "http://a.example/" || row["fault"] != "record-too-large" || row["all"] != nil {
			t.Errorf("%s: %.300v", name, row)
		}
		if n := int(after.TotalAlloc - before.TotalAlloc); n > 12*len(record)+8<<20 {
			t.Errorf("%s: %d bytes allocated %d", name, len(record), n)
		}
	}
	if row := schematest.Row(t, f, append(tagged(1, []byte("u")), trees(300)["empty messages"]...)); row["fault"] != nil || len(row["all"].(string)) < 900 {
		t.Errorf("%v", row)
	}
}

// TestDeepSchema: a schema that nests deeply, or a file that it imports, is an error in memory of its length.
func TestDeepSchema(t *testing.T) {
	const depth = 100_000
	text := `syntax = "proto3"; ` + strings.Repeat("message A {", depth) + strings.Repeat("}", depth)
	for name, s := range map[string]schemaregistry.Schema{
		"schema": {Text: text},
		"import": {Text: `syntax = "proto3"; import "a.proto"; message M {}`, References: []schemaregistry.Reference{{Name: "a.proto", Text: text}}},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := New(Options{Options: schema.Options{Schema: s, URL: "/u"}})
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "more than 500 brackets") {
			t.Errorf("%s: %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(4*len(text)) {
			t.Errorf("%s: %d bytes allocated %d", name, len(text), n)
		}
	}
}

package avro

import (
	"encoding/binary"
	"runtime"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/schema"
	"github.com/urlmill/urlmill/sources/codec/schema/schematest"
)

// TestDeepSchema: a schema that nests deeply is an error in memory of its length.
func TestDeepSchema(t *testing.T) {
	const depth = 200_000
	text := strings.Repeat(`{"type":"array","items":`, depth) + `"int"` + strings.Repeat("}", depth)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := New(schema.Options{Schema: schemaregistry.Schema{Text: text}, URL: "/u"})
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "more than 500 brackets") {
		t.Error(err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > uint64(4*len(text)) {
		t.Errorf("%d bytes allocated %d", len(text), n)
	}
}

// TestRecordThatGrows: a record that is many times its length as JSON has its URL and no JSON, and does not take it.
func TestRecordThatGrows(t *testing.T) {
	const n = 1 << 20
	f, err := New(schema.Options{
		Schema: schemaregistry.Schema{Text: `{"type":"record","name":"R","fields":[{"name":"url","type":"string"},{"name":"text","type":"string"},` +
			`{"name":"items","type":{"type":"array","items":{"type":"record","name":"I","fields":[{"name":"a_long_name_of_a_field","type":"int"}]}}},` +
			`{"name":"keys","type":{"type":"map","values":"string"}}]}`},
		URL: "/url",
		Carry: []codec.CarriedField{
			{Name: "text", Pointer: "/text", Type: pipeline.JSON},
			{Name: "items", Pointer: "/items", Type: pipeline.JSON},
			{Name: "keys", Pointer: "/keys", Type: pipeline.JSON},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	text := func(size int) []byte { return append(binary.AppendVarint(nil, int64(size)), make([]byte, size)...) }
	block := func(count int, items []byte) []byte {
		return append(append(binary.AppendVarint(nil, int64(count)), items...), 0)
	}
	for name, rest := range map[string][]byte{
		"text":  append(text(n), 0, 0),
		"items": append(append([]byte{0}, block(n, make([]byte, n))...), 0),
		"keys":  append([]byte{0, 0}, block(1, append(text(0), text(n)...))...),
	} {
		record := append([]byte("\x02u"), rest...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		row := schematest.Row(t, f, record)
		runtime.ReadMemStats(&after)
		if row["url"] != "u" || row["fault"] != "record-too-large" || row[name] != nil {
			t.Errorf("%s: %.300v", name, row)
		}
		if n := int(after.TotalAlloc - before.TotalAlloc); n > 16*len(record) {
			t.Errorf("%s: %d bytes allocated %d", name, len(record), n)
		}
	}
}

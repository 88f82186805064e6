package avro

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/schema"
	"github.com/urlmill/urlmill/sources/codec/schema/registry"
)

// TestVectors reads what another implementation has written; see testdata/vectors.py.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Schema  string
		Vectors []struct {
			Record string
			Want   map[string]any
		}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&file); err != nil || len(file.Vectors) < 2 {
		t.Fatal(len(file.Vectors), err)
	}
	types := map[string]pipeline.FieldType{} // by the values of the first
	for name, want := range file.Vectors[0].Want {
		switch v := want.(type) {
		case bool:
			types[name] = pipeline.Bool
		case json.Number:
			types[name] = pipeline.Int64
			if strings.Contains(string(v), ".") {
				types[name] = pipeline.Float64
			}
		}
	}
	types["at"], types["exact"] = pipeline.Timestamp, pipeline.Timestamp
	o := schema.Options{Schema: registry.Schema{Text: file.Schema}, URL: "/none"}
	for name := range file.Vectors[0].Want {
		o.Carry = append(o.Carry, codec.CarriedField{Name: name, Pointer: "/" + name, Type: types[name]})
	}
	for i, v := range file.Vectors {
		record, err := hex.DecodeString(v.Record)
		if err != nil {
			t.Fatal(err)
		}
		got := row(t, o, record)
		if got["fault"] != "record-field-missing" {
			t.Errorf("vector %d: %v", i, got["fault"])
		}
		for name, want := range v.Want {
			value, there := got[name]
			if !there {
				value = nil
			}
			a, _ := json.Marshal(value)
			b, _ := json.Marshal(want)
			if f, ok := value.(float64); ok && f == 0 {
				b = bytes.TrimSuffix(b, []byte(".0"))
			}
			if string(a) != string(b) {
				t.Errorf("vector %d: %s is %s, want %s", i, name, a, b)
			}
		}
	}
}

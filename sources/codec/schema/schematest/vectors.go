// Package schematest is for the tests of codecs whose records have a schema.
package schematest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/schema"
)

// Vectors reads what another implementation has written: the records of testdata/vectors.json, in hexadecimal, with their
// schema and the values that have to come out. row decodes a record, and returns what is not null by its name, and the code
// of its fault as fault. The schema has no field for the URL, so that this is the fault of every record.
func Vectors(t *testing.T, row func(o schema.Options, record []byte) map[string]any) {
	t.Helper()
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
	o := schema.Options{Schema: schemaregistry.Schema{Text: file.Schema}, URL: "/none", Carry: fields(file.Vectors[0].Want)}
	for i, v := range file.Vectors {
		record, err := hex.DecodeString(v.Record)
		if err != nil {
			t.Fatal(err)
		}
		got := row(o, record)
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

// fields are those of the values, of types that fit them; at and exact are times.
func fields(values map[string]any) (fields []codec.CarriedField) {
	for name, value := range values {
		f := codec.CarriedField{Name: name, Pointer: "/" + name}
		switch v := value.(type) {
		case bool:
			f.Type = pipeline.Bool
		case json.Number:
			f.Type = pipeline.Int64
			if strings.Contains(string(v), ".") {
				f.Type = pipeline.Float64
			}
		}
		if name == "at" || name == "exact" {
			f.Type = pipeline.Timestamp
		}
		fields = append(fields, f)
	}
	return fields
}

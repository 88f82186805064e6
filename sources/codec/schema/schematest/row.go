package schematest

import (
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// Row decodes a record with a new instance of f, and returns what is not null: fields by their names, url, base, and of a
// fault its code as fault and its position as pos. A record that is no row fails the test.
func Row(t testing.TB, f codec.Factory, record []byte) map[string]any {
	t.Helper()
	c, b := f.New(), &pipeline.Batch{}
	c.Prepare(b)
	if !c.Decode(b, record) {
		t.Fatal("no row")
	}
	got := map[string]any{}
	if b.URLs.Valid[0] {
		got["url"] = string(b.URLs.At(0))
	}
	if f.HasBase() && b.Bases.Valid[0] {
		got["base"] = string(b.Bases.At(0))
	}
	for i := range b.Carried {
		v := &b.Carried[i]
		if len(v.Valid) != 1 {
			t.Fatalf("%s: %d values", v.Field.Name, len(v.Valid))
		}
		if !v.Valid[0] {
			continue
		}
		switch v.Field.Type {
		case pipeline.Int64, pipeline.Timestamp:
			got[v.Field.Name] = v.Ints[0]
		case pipeline.Float64:
			got[v.Field.Name] = v.Floats[0]
		case pipeline.Bool:
			got[v.Field.Name] = v.Bools[0]
		default:
			got[v.Field.Name] = string(v.Text.At(0))
		}
	}
	for _, fault := range b.Faults {
		got["fault"], got["pos"] = fault.Code.String(), fault.Pos
	}
	return got
}

// NoAllocations checks that decoding the record, and one that is null, allocates nothing.
func NoAllocations(t *testing.T, f codec.Factory, record []byte) {
	t.Helper()
	c, b := f.New(), &pipeline.Batch{}
	run := func() {
		b.Reset()
		c.Prepare(b)
		c.Decode(b, record)
		c.DecodeNull(b)
	}
	run()
	if n := testing.AllocsPerRun(100, run); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

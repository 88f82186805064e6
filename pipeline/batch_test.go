package pipeline_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/pipeline"
)

// row is one record of a batch, as plain values.
type row struct {
	URL, Base, Record, Key *string
	Offset, Timestamp      int64
	Headers                [][2]*string
	Carried                []any
	Fault                  pipeline.FaultCode
}

func value(c *pipeline.NullBytes, i int) *string {
	if c.Len() == 0 || !c.Valid[i] {
		return nil
	}
	s := string(c.At(i))
	return &s
}

func rowsOf(b *pipeline.Batch) []row {
	var rows []row
	faults := make(map[int32]pipeline.FaultCode)
	for _, f := range b.Faults {
		faults[f.Row] = f.Code
	}
	for i := range b.Len() {
		r := row{
			URL: value(&b.URLs, i), Base: value(&b.Bases, i), Record: value(&b.Records, i), Key: value(&b.Keys, i),
			Offset: b.Offsets[i], Timestamp: b.Timestamps[i], Fault: faults[int32(i)],
		}
		start := int32(0)
		if i > 0 {
			start = b.Headers.Ends[i-1]
		}
		for e := start; e < b.Headers.Ends[i]; e++ {
			key := string(b.Headers.Keys.At(int(e)))
			r.Headers = append(r.Headers, [2]*string{&key, value(&b.Headers.Values, int(e))})
		}
		for _, v := range b.Carried {
			r.Carried = append(r.Carried, carried(v, i))
		}
		rows = append(rows, r)
	}
	return rows
}

func carried(v pipeline.Values, i int) any {
	if !v.Valid[i] {
		return nil
	}
	switch v.Field.Type {
	case pipeline.Int64, pipeline.Timestamp:
		return v.Ints[i]
	case pipeline.Float64:
		return v.Floats[i]
	case pipeline.Bool:
		return v.Bools[i]
	default:
		return string(v.Text.At(i))
	}
}

func fill(t *rapid.T, b *pipeline.Batch, n int) {
	text := rapid.StringN(0, 8, 16)
	null := func(c *pipeline.NullBytes, label string) {
		if rapid.Bool().Draw(t, label) {
			c.Append([]byte(text.Draw(t, label)))
		} else {
			c.AppendNull()
		}
	}
	for _, typ := range pipeline.FieldTypes() {
		b.Carried = append(b.Carried, pipeline.Values{Field: pipeline.Field{Name: fmt.Sprint(typ), Type: typ}})
	}
	for i := range n {
		null(&b.URLs, "url")
		null(&b.Bases, "base")
		null(&b.Records, "record")
		null(&b.Keys, "key")
		b.Offsets = append(b.Offsets, int64(i)*2)
		b.Timestamps = append(b.Timestamps, int64(i))
		for range rapid.IntRange(0, 3).Draw(t, "headers") {
			b.Headers.Keys.Append([]byte(text.Draw(t, "header")))
			null(&b.Headers.Values, "header value")
		}
		b.Headers.EndRow()
		for c := range b.Carried {
			v := &b.Carried[c]
			if rapid.Bool().Draw(t, "null") {
				v.AppendNull()
				continue
			}
			v.Valid = append(v.Valid, true)
			switch v.Field.Type {
			case pipeline.Int64, pipeline.Timestamp:
				v.Ints = append(v.Ints, int64(i))
			case pipeline.Float64:
				v.Floats = append(v.Floats, float64(i))
			case pipeline.Bool:
				v.Bools = append(v.Bools, true)
			default:
				v.Text.Append([]byte(text.Draw(t, "carried")))
			}
		}
		if rapid.Bool().Draw(t, "fault") {
			b.Faults = append(b.Faults, pipeline.Fault{Row: int32(i), Code: pipeline.FaultMalformed})
		}
	}
}

func TestCompactKeepsTheRightRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 20).Draw(t, "rows")
		var b pipeline.Batch
		fill(t, &b, n)
		keep := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "keep")
		var want []row
		for i, r := range rowsOf(&b) {
			if keep[i] {
				want = append(want, r)
			}
		}
		b.Compact(keep)
		if diff := cmp.Diff(want, rowsOf(&b)); diff != "" {
			t.Fatal(diff)
		}
		b.Reset()
		if b.Len() != 0 || len(b.Carried) != len(pipeline.FieldTypes()) || len(b.Faults) != 0 || b.Headers.Keys.Len() != 0 {
			t.Fatal("Reset left something")
		}
	})
}

func TestCompactAllocatesNothing(t *testing.T) {
	var b pipeline.Batch
	keep := make([]bool, 100)
	for i := range keep {
		b.URLs.Append([]byte("https://example.com/"))
		b.Offsets = append(b.Offsets, int64(i))
		keep[i] = true
	}
	if n := testing.AllocsPerRun(10, func() { b.Compact(keep) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestRawIsTheURLWithoutRecords(t *testing.T) {
	var b pipeline.Batch
	b.URLs.Append([]byte("u"))
	b.URLs.AppendNull()
	if raw, ok := b.Raw(0); string(raw) != "u" || !ok {
		t.Errorf("%q %v", raw, ok)
	}
	if _, ok := b.Raw(1); ok {
		t.Error("a tombstone has no raw record")
	}
	b.Records.Append([]byte(`{"url":"u"}`))
	b.Records.AppendNull()
	if raw, ok := b.Raw(0); string(raw) != `{"url":"u"}` || !ok {
		t.Errorf("%q %v", raw, ok)
	}
}

func TestFaultNamesAreDistinct(t *testing.T) {
	seen := make(map[string]bool)
	for c := pipeline.FaultMalformed; c <= pipeline.FaultSchema; c++ {
		if name := c.String(); name == "" || seen[name] {
			t.Errorf("code %d: name %q", c, name)
		} else {
			seen[name] = true
		}
	}
}

// TestFull fills one column after the other: each of them ends a batch, so that the offsets of none overflow.
func TestFull(t *testing.T) {
	value := []byte("0123456789")
	for name, add := range map[string]func(*pipeline.Batch){
		"URLs": func(b *pipeline.Batch) { b.URLs.Append(value) }, "bases": func(b *pipeline.Batch) { b.Bases.Append(value) },
		"records": func(b *pipeline.Batch) { b.Records.Append(value) }, "keys": func(b *pipeline.Batch) { b.Keys.Append(value) },
		"URLs with bases": func(b *pipeline.Batch) { b.URLs.Append(value[:5]); b.Bases.Append(value[5:]) },
		"header keys":     func(b *pipeline.Batch) { b.Headers.Keys.Append(value) },
		"header values":   func(b *pipeline.Batch) { b.Headers.Values.Append(value) },
		"carried":         func(b *pipeline.Batch) { b.Carried[1].Text.Append(value) },
		"rows":            func(b *pipeline.Batch) { b.Offsets = append(b.Offsets, 1, 2, 3, 4, 5) },
	} {
		b := &pipeline.Batch{MaxRows: 10, MaxBytes: 20, Carried: make([]pipeline.Values, 2)}
		add(b)
		if b.Full() {
			t.Errorf("%s: full too early", name)
		}
		if add(b); !b.Full() {
			t.Errorf("%s: not full", name)
		}
	}
}

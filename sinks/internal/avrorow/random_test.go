package avrorow

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
	twmb "github.com/twmb/avro"

	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/ndjson"
	"github.com/urlmill/urlmill/sinks/sinktest"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/avro"
	"github.com/urlmill/urlmill/sources/codec/schema"
)

// FuzzRows reads random rows of every type that sinks have with the codec avro, and with the library that it takes schemas
// from, and compares what the codec has read with the JSON of the rows.
func FuzzRows(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, uint8(seed*13), 0.1*float64(seed%10), 0.2*float64(seed%4), uint16(seed*7), uint8(seed))
	}
	s := sinktest.AllTypes()
	rows, err := New(s, "Row")
	if err != nil {
		f.Fatal(err)
	}
	objects, err := ndjson.NewRows(s)
	if err != nil {
		f.Fatal(err)
	}
	parsed, factory, e := twmb.MustParse(rows.Schema()), everyColumn(f, s, rows.Schema()), rows.NewEncoder()
	f.Fuzz(func(t *testing.T, seed uint64, n uint8, nulls, empty float64, longest uint16, first uint8) {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		defer mem.AssertSize(t, 0)
		shape := sinktest.Shape{Nulls: nulls, Empty: empty, MaxText: 1 + int(longest%2000), MaxList: 1 + int(longest%100)}
		all := sinktest.Random(mem, s, int(n), 0, seed, shape)
		defer all.Release()
		r := all.NewSlice(int64(min(first, n)), int64(n))
		defer r.Release()
		avroRows, ends, err := e.Append(nil, nil, nil, r)
		if err != nil {
			t.Fatal(err)
		}
		want, wantEnds := objects.Append(nil, nil, r)
		start, wantStart := 0, 0
		for i := range ends {
			value := avroRows[start:ends[i]]
			var generic any
			if _, err := parsed.Decode(value, &generic); err != nil {
				t.Fatalf("row %d is no Avro: %v\n%x", i, err, value)
			}
			compare(t, factory, s, value, want[wantStart:wantEnds[i]])
			start, wantStart = ends[i], wantEnds[i]
		}
	})
}

// everyColumn returns the codec that carries every column, as JSON.
func everyColumn(tb testing.TB, s *arrow.Schema, text string) codec.Factory {
	tb.Helper()
	o := schema.Options{Schema: schemaregistry.Schema{Type: "AVRO", Text: text}, URL: "/none"}
	for _, f := range s.Fields() {
		o.Carry = append(o.Carry, codec.CarriedField{Name: f.Name, Pointer: "/" + f.Name, Type: pipeline.JSON})
	}
	factory, err := avro.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return factory
}

// compare reads a value with the codec, and compares it with a row as an object.
func compare(t *testing.T, factory codec.Factory, s *arrow.Schema, value, object []byte) {
	t.Helper()
	c, b := factory.New(), &pipeline.Batch{}
	c.Prepare(b)
	if !c.Decode(b, value) || len(b.Faults) != 1 || b.Faults[0].Code != pipeline.FaultFieldMissing {
		t.Fatalf("faults %v\n%x", b.Faults, value)
	}
	var want map[string]any
	decode(t, object, &want)
	for i, f := range s.Fields() {
		var got any
		decode(t, b.Carried[i].Text.At(0), &got)
		if a, b := plain(f.Type, want[f.Name]), plain(f.Type, got); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %v, want %v", f.Name, b, a)
		}
	}
}

func decode(t *testing.T, data []byte, v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
}

// plain returns a value of JSON in one of the forms that it may have there.
func plain(t arrow.DataType, v any) any {
	if _, text := v.(string); v == nil || text && arrow.IsFloating(t.ID()) { // infinite
		return nil
	}
	switch t := t.(type) {
	case *arrow.ListType:
		for i, item := range v.([]any) {
			v.([]any)[i] = plain(t.Elem(), item)
		}
	case *arrow.StructType:
		for _, f := range t.Fields() {
			v.(map[string]any)[f.Name] = plain(f.Type, v.(map[string]any)[f.Name])
		}
	case *arrow.TimestampType:
		at, err := time.Parse(time.RFC3339Nano, v.(string))
		if err != nil {
			return err
		}
		return at.UnixMicro()
	case *arrow.Uint64Type:
		return fmt.Sprint(v)
	case *arrow.Float32Type:
		return float32(number(v))
	case *arrow.Float64Type:
		return number(v)
	}
	return v
}

func number(v any) float64 {
	f, err := v.(json.Number).Float64()
	if err != nil && !math.IsInf(f, 0) {
		return math.NaN() // which is equal to nothing
	}
	return f
}

package schema

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"

	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// oneText is a format whose records are a text that counts as the URL.
var oneText = Format{Type: "AVRO", Compile: func(schemaregistry.Schema, [][]string) (Compiled, error) { return textReader{}, nil }}

type textReader struct{}

func (r textReader) Reader([]byte) (Reader, int, bool) { return r, 0, true }

func (textReader) Read(payload []byte, values []Value) (int, bool) {
	values[0] = Value{Kind: Text, Data: payload}
	return 0, true
}

func (textReader) AppendJSON(dst []byte, _ *Value, _ int) ([]byte, bool) { return dst, true }

func frame(id uint32, payload string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, id), payload...)
}

// decode resolves and decodes a record, and returns its URL and its fault.
func decode(t *testing.T, c codec.Codec, record []byte) string {
	t.Helper()
	if err := c.(codec.Resolver).Resolve(context.Background(), record); err != nil {
		t.Fatal(err)
	}
	if !c.(codec.Resolver).Resolved(record) {
		t.Fatal("resolved, and not")
	}
	var b pipeline.Batch
	c.Prepare(&b)
	if !c.Decode(&b, record) {
		t.Fatal("no row")
	}
	if raw, ok := b.Raw(0); !ok || string(raw) != string(record) {
		t.Fatalf("raw %q", raw)
	}
	out := string(b.URLs.At(0))
	for _, f := range b.Faults {
		out += fmt.Sprintf(" %s@%d", f.Code, f.Pos)
	}
	return out
}

// newRegistry returns a registry with a schema of each type, and counts what it is asked for.
func newRegistry(t *testing.T) (o *schemaregistry.Options, asked *atomic.Int64) {
	t.Helper()
	fake := srfake.New()
	t.Cleanup(fake.Close)
	fake.SeedSchema("a", 1, 1, sr.Schema{Schema: `"string"`})
	fake.SeedSchema("p", 1, 2, sr.Schema{Schema: `syntax = "proto3";`, Type: sr.TypeProtobuf})
	fake.SeedSchema("j", 1, 3, sr.Schema{Schema: `{}`, Type: sr.TypeJSON})
	asked = new(atomic.Int64)
	fake.Intercept(func(http.ResponseWriter, *http.Request) bool { asked.Add(1); return false })
	return &schemaregistry.Options{URLs: []string{fake.URL()}}, asked
}

// TestOnce: a schema is asked for once, by whoever is first, and so is one that there is none of.
func TestOnce(t *testing.T) {
	o, asked := newRegistry(t)
	f, err := New(oneText, Options{Registry: o, URL: "/"})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 16 {
		c := f.New()
		if c.(codec.Resolver).Resolved(frame(1, "")) && asked.Load() == 0 {
			t.Error("resolved before anybody has asked")
		}
		all.Go(func() {
			for _, record := range [][]byte{frame(1, "x"), frame(9, "x")} {
				if err := c.(codec.Resolver).Resolve(context.Background(), record); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if asked.Load() != 2 {
		t.Errorf("asked %d times for two schemas", asked.Load())
	}
	c := f.New()
	for _, test := range []struct {
		record []byte
		want   string
	}{
		{frame(1, "u"), "u"},
		{frame(9, "u"), " record-schema@1"},
		{frame(2, "u"), " record-schema@1"},
		{[]byte("\x00\x00\x00\x00"), " record-malformed@0"},
		{frame(1, ""), " record-field-missing@-1"},
		{frame(1, "v"), "v"},
	} {
		if got := decode(t, c, test.record); got != test.want {
			t.Errorf("%q: %s, want %s", test.record, got, test.want)
		}
	}
	if asked.Load() != 3 {
		t.Errorf("asked %d times for three schemas", asked.Load())
	}
}

// TestUnknownFlood: records that name a different schema each, none of which there is, do not cost a request each, and take no
// memory each.
func TestUnknownFlood(t *testing.T) {
	o, asked := newRegistry(t)
	f, err := New(oneText, Options{Registry: o, URL: "/"})
	if err != nil {
		t.Fatal(err)
	}
	c := f.New()
	for id := range byte(200) {
		for high := range byte(10) {
			record := append([]byte{0, 0, 1 + high, 0, id}, "x"...)
			if err := c.(codec.Resolver).Resolve(t.Context(), record); err != nil {
				t.Fatal(err)
			}
			if got := decode(t, c, record); got != " record-schema@1" {
				t.Fatalf("%x: %s", record, got)
			}
		}
	}
	if asked.Load() > maxUnknown {
		t.Errorf("asked %d times for schemas that are not there", asked.Load())
	}
}

// TestSchemasForAll: of a registry that has a schema for every number those are kept that were asked for last, and a record that was
// resolved is decoded whatever others have asked for since.
func TestSchemasForAll(t *testing.T) {
	for _, test := range []struct{ size, ask, kept int }{{0, maxCompiled + 20, maxCompiled}, {maxText / 3, 9, 2}} {
		f, err := New(oneText, Options{Registry: &schemaregistry.Options{URLs: []string{"http://127.0.0.1:1"}}, URL: "/"})
		if err != nil {
			t.Fatal(err)
		}
		known := f.(*factory).schemas
		first, others := f.New(), f.New()
		ask := func(c codec.Codec, id uint32) {
			if _, there := known.get(id); !there {
				known.mu.Lock()
				known.keep(id, &entry{busy: make(chan struct{}, 1)}, textReader{}, schemaregistry.Schema{
					Text: strings.Repeat(" ", test.size), References: []schemaregistry.Reference{{Text: " "}},
				})
				known.mu.Unlock()
			}
			if got := decode(t, c, frame(id, "u")); got != "u" {
				t.Fatalf("%d: %s", id, got)
			}
		}
		ask(first, 0)
		for id := range test.ask {
			ask(others, uint32(1+id))
			if id%4 == 0 {
				ask(f.New(), 1) // is in use
			}
		}
		if len(known.entries) != test.kept || known.compiled != test.kept || known.text != test.kept*(test.size+1) {
			t.Errorf("%d schemas are kept, %d of them compiled, of %d bytes", len(known.entries), known.compiled, known.text)
		}
		if known.entries[0] != nil || known.entries[1] == nil {
			t.Error("others were forgotten than what was asked for least recently")
		}
		var b pipeline.Batch
		first.Prepare(&b)
		if first.Decode(&b, frame(0, "u")); string(b.URLs.At(0)) != "u" {
			t.Errorf("%q, %v", b.URLs.At(0), b.Faults)
		}
	}
}

// TestUnresolved: a source that does not resolve gives rows all the same.
func TestUnresolved(t *testing.T) {
	o, _ := newRegistry(t)
	f, err := New(oneText, Options{Registry: o, URL: "/"})
	if err != nil {
		t.Fatal(err)
	}
	c := f.New()
	var b pipeline.Batch
	c.Prepare(&b)
	codec.DecodeCut(c, &b, frame(1, "u"))
	if len(b.Faults) != 1 || b.Faults[0].Code != pipeline.FaultTooLarge || b.URLs.Len() != 1 {
		t.Errorf("%+v", b.Faults)
	}
}

func TestJSONWithRegistry(t *testing.T) {
	o, _ := newRegistry(t)
	f, err := NewJSON(Options{Registry: o, URL: "/url"})
	if err != nil {
		t.Fatal(err)
	}
	c := f.New()
	for record, want := range map[string]string{
		string(frame(3, `{"url":"u"}`)): "u", string(frame(1, `{"url":"u"}`)): " record-schema@1", string(frame(8, `{"url":"u"}`)): " record-schema@1",
		string(frame(3, `{"url":`)): " record-malformed@12", `{"url":"u"}`: " record-malformed@0",
	} {
		if got := decode(t, c, []byte(record)); got != want {
			t.Errorf("%q: %s, want %s", record, got, want)
		}
	}
	if _, err := NewJSON(Options{Schema: schemaregistry.Schema{Text: "x"}, URL: "/url"}); err == nil || !strings.HasPrefix(err.Error(), "schema: ") {
		t.Error(err)
	}
}

func TestValues(t *testing.T) {
	for _, test := range []struct {
		v          Value
		text, json string
	}{
		{Value{Kind: Text, Data: []byte("a\"\n\x01é")}, "a\"\n\x01é", `"a\"\n\u0001é"`},
		{Value{Kind: Bytes, Data: []byte{1, 2}}, "\x01\x02", `"AQI="`},
		{Value{Kind: Int, Num: -5}, "-", "-5"},
		{Value{Kind: Uint, Num: -1}, "-", "18446744073709551615"},
		{Value{Kind: Float, Float: math.NaN()}, "-", `"NaN"`},
		{Value{Kind: Bool, Num: 1}, "-", "true"},
		{Value{Kind: Enum, Symbol: "A", Num: 3}, "A", `"A"`},
		{Value{Kind: Decimal, Data: []byte{0xff}, Scale: 3}, "-0.001", `"-0.001"`},
		{Value{Kind: Decimal, Data: []byte{0x80, 0, 0, 0, 0, 0, 0, 0}}, "-9223372036854775808", `"-9223372036854775808"`},
		{Value{Kind: Decimal, Data: []byte{0x80, 0, 0, 0, 0, 0, 0, 0, 0}, Scale: 2}, "-23611832414348226068.48", `"-23611832414348226068.48"`},
		{Value{Kind: Decimal, Scale: 2}, "0.00", `"0.00"`},
		{Value{Kind: Date, Num: -1}, "1969-12-31", `"1969-12-31"`},
		{Value{Kind: Clock, Num: 1}, "00:00:00.000001", `"00:00:00.000001"`},
		{Value{Kind: Instant, Num: -1}, "1969-12-31T23:59:59.999999Z", `"1969-12-31T23:59:59.999999Z"`},
		{Value{Kind: UUID, Data: make([]byte, 16)}, "00000000-0000-0000-0000-000000000000", `"00000000-0000-0000-0000-000000000000"`},
		{Value{Kind: Null}, "-", "null"},
	} {
		text, ok := test.v.appendText(nil)
		if !ok {
			text = []byte("-")
		}
		if json := test.v.AppendJSON(nil); string(text) != test.text || string(json) != test.json {
			t.Errorf("%+v: %q and %s, want %q and %s", test.v, text, json, test.text, test.json)
		}
	}
	for _, test := range []struct {
		v      Value
		format codec.TimeFormat
		want   int64
		ok     bool
	}{
		{Value{Kind: Int, Num: 5}, codec.EpochSeconds, 5_000_000, true},
		{Value{Kind: Int, Num: 5}, codec.EpochMillis, 5000, true},
		{Value{Kind: Int, Num: -1}, codec.EpochNanos, -1, true},
		{Value{Kind: Int, Num: math.MaxInt64}, codec.EpochMillis, 0, false},
		{Value{Kind: Int, Num: 5}, codec.RFC3339, 0, false},
		{Value{Kind: Float, Float: 1.5}, codec.EpochSeconds, 1_500_000, true},
		{Value{Kind: Float, Float: 1e300}, codec.EpochSeconds, 0, false},
		{Value{Kind: Date, Num: 1}, codec.RFC3339, 86400e6, true},
		{Value{Kind: Date, Num: math.MaxInt32 * 100}, codec.RFC3339, 0, false},
		{Value{Kind: Text, Data: []byte("1970-01-01T00:00:01Z")}, codec.RFC3339, 1e6, true},
		{Value{Kind: Instant, Num: 7}, codec.EpochSeconds, 7, true},
		{Value{Kind: Bool}, codec.EpochSeconds, 0, false},
	} {
		if got, ok := timestamp(&test.v, test.format); ok != test.ok || ok && got != test.want {
			t.Errorf("%+v: %d %v, want %d %v", test.v, got, ok, test.want, test.ok)
		}
	}
}

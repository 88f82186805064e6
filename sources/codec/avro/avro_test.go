package avro

import (
	"bytes"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/avro"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/schema"
	"github.com/urlmill/urlmill/sources/codec/schema/schematest"
)

const clickSchema = `{"type":"record","name":"Click","namespace":"org.example","fields":[
	{"name":"id","type":"long"},
	{"name":"request","type":["null",{"type":"record","name":"Request","fields":[
		{"name":"url","type":"string"},
		{"name":"headers","type":{"type":"map","values":["null","string"]}},
		{"name":"hops","type":{"type":"array","items":{"type":"record","name":"Hop","fields":[{"name":"ip","type":"bytes"},{"name":"ms","type":"double"}]}}}]}]},
	{"name":"page","aliases":["site"],"type":["null","string"],"default":null},
	{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},
	{"name":"micros","type":{"type":"long","logicalType":"timestamp-micros"}},
	{"name":"day","type":{"type":"int","logicalType":"date"}},
	{"name":"clock","type":{"type":"int","logicalType":"time-millis"}},
	{"name":"price","type":{"type":"bytes","logicalType":"decimal","precision":20,"scale":2}},
	{"name":"session","type":{"type":"fixed","name":"Session","size":16,"logicalType":"uuid"}},
	{"name":"kind","type":{"type":"enum","name":"Kind","symbols":["VIEW","BUY"]}},
	{"name":"ok","type":"boolean"},
	{"name":"share","type":"float"},
	{"name":"seconds","type":"int"},
	{"name":"previous","type":["null","Click"],"default":null},
	{"name":"nothing","type":{"type":"array","items":"null"}}]}`

func click() map[string]any {
	return map[string]any{
		"id": int64(-7), "page": "https://example.org/a/", "at": time.UnixMilli(1795262400123).UTC(), "micros": time.UnixMicro(1795262400123456).UTC(),
		"request": map[string]any{
			"url": "../b?x=é", "headers": map[string]any{"Referer": "https://r.example/", "X": nil},
			"hops": []any{map[string]any{"ip": []byte("10.0.0.1"), "ms": 1.5}, map[string]any{"ip": []byte("10.0.0.2"), "ms": 2.5}},
		},
		"day": time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), "clock": 3723004 * time.Millisecond, "price": big.NewRat(-12345, 100),
		"session": [16]byte{0: 0x12, 15: 0xef}, "kind": "BUY", "ok": true, "share": float32(0.5), "seconds": int32(1795262400), "nothing": []any{nil, nil},
		"previous": map[string]any{
			"id": int64(1), "request": nil, "page": nil, "at": time.UnixMilli(0), "micros": time.UnixMicro(0), "day": time.Unix(0, 0).UTC(), "clock": time.Duration(0),
			"price": big.NewRat(5, 100), "session": [16]byte{}, "kind": "VIEW", "ok": false, "share": float32(math.Inf(1)), "seconds": int32(0), "nothing": []any{}, "previous": nil,
		},
	}
}

func clickOptions() schema.Options {
	return schema.Options{
		Schema: schemaregistry.Schema{Text: clickSchema}, URL: "/request/url", Base: "/site",
		Carry: []codec.CarriedField{
			{Name: "id", Pointer: "/id", Type: pipeline.Int64},
			{Name: "referer", Pointer: "/request/headers/Referer"},
			{Name: "ip", Pointer: "/request/hops/1/ip"},
			{Name: "ms", Pointer: "/request/hops/0/ms", Type: pipeline.Float64},
			{Name: "at", Pointer: "/at", Type: pipeline.Timestamp},
			{Name: "micros", Pointer: "/micros", Type: pipeline.Timestamp},
			{Name: "day", Pointer: "/day", Type: pipeline.Timestamp},
			{Name: "day_text", Pointer: "/day"},
			{Name: "clock", Pointer: "/clock"},
			{Name: "price", Pointer: "/price"},
			{Name: "price_number", Pointer: "/price", Type: pipeline.Float64},
			{Name: "session", Pointer: "/session"},
			{Name: "kind", Pointer: "/kind"},
			{Name: "ok", Pointer: "/ok", Type: pipeline.Bool},
			{Name: "share", Pointer: "/share", Type: pipeline.Float64},
			{Name: "seconds", Pointer: "/seconds", Type: pipeline.Timestamp, Time: codec.EpochSeconds},
			{Name: "request", Pointer: "/request", Type: pipeline.JSON},
			{Name: "previous", Pointer: "/previous", Type: pipeline.JSON},
			{Name: "nothing", Pointer: "/nothing", Type: pipeline.JSON},
			{Name: "absent", Pointer: "/absent/at/all"},
			{Name: "third", Pointer: "/request/hops/2/ip"},
			{Name: "inner", Pointer: "/previous/id", Type: pipeline.Int64},
		},
	}
}

func encode(t testing.TB, text string, v any) []byte {
	t.Helper()
	data, err := avro.MustParse(text).Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// row decodes a record as [schematest.Row] does.
func row(t testing.TB, o schema.Options, record []byte) map[string]any {
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
		"at": int64(1795262400123000), "micros": int64(1795262400123456), "day": int64(1795219200000000), "day_text": "2026-11-21",
		"clock": "01:02:03.004", "price": "-123.45", "price_number": -123.45, "session": "12000000-0000-0000-0000-0000000000ef", "kind": "BUY",
		"ok": true, "share": 0.5, "seconds": int64(1795262400000000), "nothing": "[null,null]", "inner": int64(1),
		"request": `{"url":"../b?x=é","headers":{"Referer":"https://r.example/","X":null},"hops":[{"ip":"MTAuMC4wLjE=","ms":1.5},{"ip":"MTAuMC4wLjI=","ms":2.5}]}`,
		"previous": `{"id":1,"request":null,"page":null,"at":"1970-01-01T00:00:00Z","micros":"1970-01-01T00:00:00Z","day":"1970-01-01","clock":"00:00:00",` +
			`"price":"0.05","session":"00000000-0000-0000-0000-000000000000","kind":"VIEW","ok":false,"share":"+Inf","seconds":0,"previous":null,"nothing":[]}`,
	}
	record := encode(t, clickSchema, click())
	got := row(t, clickOptions(), record)
	if strings.HasPrefix(got["request"].(string), `{"url":"../b?x=é","headers":{"X"`) { // the encoder's order
		want["request"] = strings.Replace(want["request"].(string), `"Referer":"https://r.example/","X":null`, `"X":null,"Referer":"https://r.example/"`, 1)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for n := range record { // cut anywhere it is malformed
		got := row(t, clickOptions(), record[:n])
		if got["fault"] != "record-malformed" || got["url"] != nil || got["pos"].(int64) > int64(n) {
			t.Fatalf("%d bytes: %v", n, got)
		}
	}
	if got := row(t, clickOptions(), append(record, 0)); got["fault"] != "record-malformed" || got["pos"] != int64(len(record)) {
		t.Errorf("more than the record: %v", got)
	}
}

func TestFaults(t *testing.T) {
	const text = `{"type":"record","name":"R","fields":[{"name":"url","type":["null","string","long"]},{"name":"n","type":"long"}]}`
	o := schema.Options{Schema: schemaregistry.Schema{Text: text}, URL: "/url", Carry: []codec.CarriedField{{Name: "n", Pointer: "/n"}}}
	for _, test := range []struct {
		record string
		want   map[string]any
	}{
		{"\x00\x02", map[string]any{"fault": "record-field-missing", "pos": int64(-1)}},
		{"\x02\x00\x02", map[string]any{"fault": "record-field-missing", "pos": int64(-1)}},
		{"\x04\x0a\x02", map[string]any{"fault": "record-field-type", "pos": int64(1)}},
		{"\x02\x02a\x02", map[string]any{"fault": "field-type", "pos": int64(3), "url": "a"}},
		{"\x06\x02", map[string]any{"fault": "record-malformed", "pos": int64(0)}},
		{"\x02\x04a", map[string]any{"fault": "record-malformed", "pos": int64(1)}},
		{"\x02\x01", map[string]any{"fault": "record-malformed", "pos": int64(1)}},
		{"\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", map[string]any{"fault": "record-malformed", "pos": int64(1)}},
	} {
		if diff := cmp.Diff(test.want, row(t, o, []byte(test.record))); diff != "" {
			t.Errorf("%q: %s", test.record, diff)
		}
	}
}

// TestBombs: a few bytes do not keep anybody busy for long.
func TestBombs(t *testing.T) {
	for text, record := range map[string]string{
		`{"type":"array","items":"null"}`:                                   "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00",
		`{"type":"array","items":{"type":"record","name":"E","fields":[]}}`: "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00",
		`{"type":"map","values":"null"}`:                                    "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00",
	} {
		o := schema.Options{
			Schema: schemaregistry.Schema{Text: `{"type":"record","name":"R","fields":[{"name":"u","type":` + text + `}]}`},
			URL:    "/x", Carry: []codec.CarriedField{{Name: "u", Pointer: "/u", Type: pipeline.JSON}},
		}
		if got := row(t, o, []byte(record)); got["fault"] != "record-malformed" {
			t.Errorf("%s: %v", text, got)
		}
	}
	deep := `{"type":"record","name":"R","fields":[{"name":"r","type":["null","R"]},{"name":"a","type":["null","string"]}]}`
	record := strings.Repeat("\x02", 1<<20)
	if got := row(t, schema.Options{Schema: schemaregistry.Schema{Text: deep}, URL: "/a"}, []byte(record)); got["fault"] != "record-malformed" {
		t.Error(got)
	}
}

// TestReferences: a schema may name types of others.
func TestReferences(t *testing.T) {
	o := schema.Options{
		Schema: schemaregistry.Schema{
			Text: `{"type":"record","name":"R","namespace":"a","fields":[{"name":"p","type":"b.Page"},{"name":"q","type":["null","b.Page"]}]}`,
			References: []schemaregistry.Reference{
				{Name: "b.URL", Text: `{"type":"record","name":"b.URL","fields":[{"name":"text","type":"string"}]}`},
				{Name: "b.Page", Text: `{"type":"record","name":"b.Page","fields":[{"name":"url","type":"b.URL"}]}`},
			},
		}, URL: "/q/url/text", Base: "/p/url/text",
	}
	if diff := cmp.Diff(map[string]any{"url": "b", "base": "a"}, row(t, o, []byte("\x02a\x02\x02b"))); diff != "" {
		t.Error(diff)
	}
	o.Schema.References = nil
	if _, err := New(o); err == nil || !strings.HasPrefix(err.Error(), "schema: ") {
		t.Error(err)
	}
}

func TestAllocations(t *testing.T) {
	o := clickOptions()
	o.Carry = o.Carry[:16]
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	schematest.NoAllocations(t, f, encode(t, clickSchema, click()))
}

// FuzzRead compares what is read with what another implementation reads.
func FuzzRead(f *testing.F) {
	record := encode(f, clickSchema, click())
	f.Add(record)
	f.Add(record[:len(record)-3])
	other := avro.MustParse(clickSchema)
	o := clickOptions()
	f.Fuzz(func(t *testing.T, record []byte) {
		var got map[string]any
		alloctest.Bound(t, len(record), 256, 4<<20, func() { got = row(t, o, record) })
		var v any
		rest, err := other.Decode(record, &v)
		if ok := err == nil && len(rest) == 0; !ok || got["fault"] == "record-malformed" {
			// The other refuses more, such as text that is not UTF-8 and dates out of range, and takes negative numbers for the
			// first symbol of an enum.
			if same, err := other.Encode(v); ok && err == nil && bytes.Equal(same, record) {
				t.Fatalf("read as %v, but not here: %v", v, got)
			}
			return
		}
		fields := v.(map[string]any)
		if fields["id"] != got["id"] || fields["ok"] != got["ok"] || !reflect.DeepEqual(fields["kind"], got["kind"]) {
			t.Fatalf("%v, want %v", got, fields)
		}
		if request, ok := fields["request"].(map[string]any); ok && request["url"] != "" && got["url"] != request["url"] {
			t.Fatalf("URL %v, want %v", got["url"], request["url"])
		}
	})
}

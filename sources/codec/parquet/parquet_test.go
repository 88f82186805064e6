package parquet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"github.com/urlmill/urlmill/internal/decoded"
	"github.com/urlmill/urlmill/internal/dev/alloctest"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

type visit struct {
	URL    *string   `parquet:"url"`
	Page   string    `parquet:"page,dict"`
	At     time.Time `parquet:"at,timestamp(millisecond)"`
	Nanos  int64     `parquet:"nanos,timestamp(nanosecond)"`
	Day    int32     `parquet:"day,date"`
	N      int32     `parquet:"n"`
	Big    uint64    `parquet:"big"`
	Price  int64     `parquet:"price,decimal(2:18)"`
	Share  *float64  `parquet:"share,optional"`
	OK     bool      `parquet:"ok"`
	ID     [16]byte  `parquet:"id,uuid"`
	Tags   []string  `parquet:"tags,list"`
	Client client    `parquet:"client,optional"`
	Unused string    `parquet:"unused"`
}

type client struct {
	IP string `parquet:"ip,optional"`
}

// visits makes a file of n rows in row groups of at most group rows.
func visits(t testing.TB, n, group int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[visit](&out, parquet.MaxRowsPerRowGroup(int64(group)), parquet.PageBufferSize(1000))
	for i := range n {
		url := fmt.Sprintf("https://a.example/%d", i)
		v := visit{
			URL: &url, Page: "https://a.example/", At: time.UnixMilli(int64(i)), Nanos: int64(i)*1000 + 7, Day: int32(i), N: int32(-i), Big: uint64(i),
			Price: int64(-i), OK: i%2 == 0, ID: [16]byte{byte(i)}, Tags: []string{"a", "b"}, Client: client{IP: fmt.Sprint("10.0.0.", i)}, Unused: strings.Repeat("x", 100),
		}
		if i%5 == 4 {
			v.URL, v.Client = nil, client{}
		} else {
			v.Share = new(float64)
			*v.Share = float64(i) / 2
		}
		if i == 3 {
			v.Big = 1 << 63
		}
		if _, err := w.Write([]visit{v}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func options() Options {
	return Options{URL: "url", Base: "page", Carry: []codec.CarriedColumn{
		{Name: "at", Column: "at", Type: pipeline.Timestamp},
		{Name: "nanos", Column: "nanos", Type: pipeline.Timestamp},
		{Name: "day", Column: "day", Type: pipeline.Timestamp},
		{Name: "n", Column: "n", Type: pipeline.Int64},
		{Name: "seconds", Column: "n", Type: pipeline.Timestamp, Time: codec.EpochSeconds},
		{Name: "big", Column: "big", Type: pipeline.Int64},
		{Name: "price", Column: "price"},
		{Name: "share", Column: "share", Type: pipeline.Float64},
		{Name: "ok", Column: "ok", Type: pipeline.Bool},
		{Name: "id", Column: "id"},
		{Name: "ip", Column: "client.ip"},
		{Name: "gone", Column: "gone"},
	}}
}

// rowsOf reads a file from a row on, in batches of at most max rows, and returns every row as text.
func rowsOf(t testing.TB, o Options, data []byte, from int64, max int) (rows []string, err error) {
	t.Helper()
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	table, err := f.OpenTable(bytes.NewReader(data), int64(len(data)), 1<<20)
	if err != nil {
		return nil, err
	}
	defer table.Close()
	if err := table.Skip(from); err != nil {
		return nil, err
	}
	c, b := f.New(), &pipeline.Batch{MaxRows: max, MaxBytes: 1 << 20}
	for {
		b.Reset()
		c.Prepare(b)
		next, err := table.Append(t.Context(), b, 0)
		n := int(next)
		if n > max || b.URLs.Len() != n || b.Records.Len() != 0 || f.HasBase() && b.Bases.Len() != n {
			t.Fatalf("%d rows, %d URLs, %d bases", n, b.URLs.Len(), b.Bases.Len())
		}
		for i := range n {
			rows = append(rows, show(t, f, b, i))
		}
		if n == 0 || err != nil {
			return rows, err
		}
	}
}

func show(t testing.TB, f codec.Factory, b *pipeline.Batch, i int) string {
	t.Helper()
	out := "-"
	if b.URLs.Valid[i] {
		out = string(b.URLs.At(i))
	}
	if f.HasBase() && b.Bases.Valid[i] {
		out += " " + string(b.Bases.At(i))
	}
	for k := range b.Carried {
		v := &b.Carried[k]
		if len(v.Valid) != b.URLs.Len() || v.Text.Len()+len(v.Ints)+len(v.Floats)+len(v.Bools) != b.URLs.Len() {
			t.Fatalf("%s: %d validities of %d rows", v.Field.Name, len(v.Valid), b.URLs.Len())
		}
		switch {
		case !v.Valid[i]:
			out += " -"
		case v.Field.Type == pipeline.Int64 || v.Field.Type == pipeline.Timestamp:
			out += fmt.Sprint(" ", v.Ints[i])
		case v.Field.Type == pipeline.Float64:
			out += fmt.Sprint(" ", v.Floats[i])
		case v.Field.Type == pipeline.Bool:
			out += fmt.Sprint(" ", v.Bools[i])
		default:
			out += " " + string(v.Text.At(i))
		}
	}
	for _, fault := range b.Faults {
		if int(fault.Row) == i {
			out += " " + fault.Code.String()
		}
	}
	return out
}

func TestRows(t *testing.T) {
	got, err := rowsOf(t, options(), visits(t, 5, 3), 0, 100)
	want := []string{
		"https://a.example/0 https://a.example/ 0 0 0 0 0 0 0.00 0 true 00000000-0000-0000-0000-000000000000 10.0.0.0 -",
		"https://a.example/1 https://a.example/ 1000 1 86400000000 -1 -1000000 1 -0.01 0.5 false 01000000-0000-0000-0000-000000000000 10.0.0.1 -",
		"https://a.example/2 https://a.example/ 2000 2 172800000000 -2 -2000000 2 -0.02 1 true 02000000-0000-0000-0000-000000000000 10.0.0.2 -",
		"https://a.example/3 https://a.example/ 3000 3 259200000000 -3 -3000000 - -0.03 1.5 false 03000000-0000-0000-0000-000000000000 10.0.0.3 - field-type",
		"- https://a.example/ 4000 4 345600000000 -4 -4000000 4 -0.04 - true 04000000-0000-0000-0000-000000000000 - - record-field-missing",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	o := options()
	o.URL, o.Base, o.Carry = "n", "", nil
	if got, err := rowsOf(t, o, visits(t, 1, 3), 0, 100); err != nil || len(got) != 1 || got[0] != "- record-field-type" {
		t.Error(err, got)
	}
	if got, err := rowsOf(t, options(), visits(t, 0, 3), 0, 100); err != nil || len(got) != 0 {
		t.Error(err, got)
	}
}

// TestSkip: wherever reading begins and however large batches are, the rows from there on are the same.
func TestSkip(t *testing.T) {
	data := visits(t, 1500, 400)
	all, err := rowsOf(t, options(), data, 0, 1<<20)
	if err != nil || len(all) != 1500 {
		t.Fatal(len(all), err)
	}
	for _, from := range []int64{0, 1, 399, 400, 401, 799, 1203, 1499, 1500} {
		for _, max := range []int{1, 7, 1000} {
			got, err := rowsOf(t, options(), data, from, max)
			if err != nil || len(got) != len(all)-int(from) || len(got) > 0 && cmp.Diff(all[from:], got) != "" {
				t.Fatalf("from %d, %d at a time: %d rows, %v", from, max, len(got), err)
			}
		}
	}
}

// TestLarge: rows are few to a batch where they are large, and a URL has its limit.
func TestLarge(t *testing.T) {
	type row struct {
		URL string `parquet:"url"`
	}
	var out bytes.Buffer
	rows := make([]row, 100)
	for i := range rows {
		rows[i].URL = "http://a/" + strings.Repeat("x", 100_000)
	}
	if err := parquet.Write(&out, rows); err != nil {
		t.Fatal(err)
	}
	f, err := New(Options{URL: "url"})
	if err != nil {
		t.Fatal(err)
	}
	table, err := f.OpenTable(bytes.NewReader(out.Bytes()), int64(out.Len()), 50_000)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	b := &pipeline.Batch{MaxRows: 1000, MaxBytes: 500_000}
	next, err := table.Append(t.Context(), b, 0)
	n := int(next)
	if err != nil || n < 5 || n > 12 || len(b.URLs.At(0)) != 50_000 || len(b.Faults) != n || b.Faults[0].Code != pipeline.FaultTooLarge {
		t.Errorf("%d rows of %d bytes, %v", n, len(b.URLs.Data), err)
	}
}

// TestMalformed: what is no file, or is damaged, is an error that says so; rows before the damage are whole.
func TestMalformed(t *testing.T) {
	data := visits(t, 600, 200)
	for name, test := range map[string]struct {
		o    Options
		data []byte
		want string
	}{
		"empty":       {options(), nil, "no Parquet file"},
		"text":        {options(), []byte("https://a.example/ and more text than a footer has"), "no Parquet file"},
		"cut":         {options(), data[:len(data)-20], "no Parquet file"},
		"no column":   {Options{URL: "uri"}, data, `there is no column "uri"; there are url, page, at`},
		"in a list":   {Options{URL: "url", Carry: []codec.CarriedColumn{{Name: "t", Column: "tags.list.element"}}}, data, "within a list"},
		"group alone": {Options{URL: "client"}, data, `there is no column "client"`},
	} {
		if rows, err := rowsOf(t, test.o, test.data, 0, 100); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %d rows, %v", name, len(rows), err)
		}
	}
	all, err := rowsOf(t, options(), data, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	failed := 0
	for range 200 {
		damaged := bytes.Clone(data)
		at := 4 + r.IntN(len(damaged)-4)
		clear(damaged[at:min(at+64, len(damaged))])
		rows, err := rowsOf(t, options(), damaged, 0, 100)
		if err != nil {
			failed++
		}
		if len(rows) > len(all) {
			t.Fatalf("%d rows of %d", len(rows), len(all))
		}
	}
	if failed == 0 {
		t.Error("no damage was noticed")
	}
}

func TestValidate(t *testing.T) {
	for want, o := range map[string]Options{
		"url: empty":        {},
		"carry[0].name: em": {URL: "u", Carry: []codec.CarriedColumn{{Column: "a"}}},
		"carry[1].name: ":   {URL: "u", Carry: []codec.CarriedColumn{{Name: "a", Column: "a"}, {Name: "a", Column: "b"}}},
		"carry[0].type: un": {URL: "u", Carry: []codec.CarriedColumn{{Name: "a", Column: "a", Type: 99}}},
	} {
		if _, err := New(o); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	f, err := New(options())
	if err != nil {
		t.Fatal(err)
	}
	c, b := f.New(), &pipeline.Batch{}
	c.Prepare(b)
	c.Decode(b, []byte("x"))
	c.DecodeNull(b)
	if len(b.Faults) != 2 || b.Faults[0].Code != pipeline.FaultMalformed || b.Faults[1].Code != pipeline.FaultNull {
		t.Errorf("%+v", b.Faults)
	}
}

// FuzzOpenTable reads damaged files: there are rows, or an error, and nothing else.
func FuzzOpenTable(f *testing.F) {
	f.Add(visits(f, 20, 7))
	f.Add(visits(f, 1, 7)[:100])
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 64<<10 {
			return
		}
		alloctest.Bound(t, len(data), 64, 16*decoded.MinLimit, func() {
			_, _ = rowsOf(t, options(), data, 0, 50)
			_, _ = rowsOf(t, options(), data, 10, 50)
		})
	})
}

// capture is a row of Common Crawl's columnar index, as Spark writes it, but for columns that are no different from these.
type capture struct {
	Key      string           `parquet:"url_surtkey"`
	URL      string           `parquet:"url"`
	Host     *string          `parquet:"url_host_name,optional,dict"`
	Port     *int32           `parquet:"url_port,optional"`
	Fetched  deprecated.Int96 `parquet:"fetch_time"`
	Status   int16            `parquet:"fetch_status"`
	Redirect *string          `parquet:"fetch_redirect,optional"`
	Filename string           `parquet:"warc_filename,dict"`
	Offset   int32            `parquet:"warc_record_offset"`
	Length   int32            `parquet:"warc_record_length"`
}

// TestColumnarIndex reads rows of Common Crawl's columnar index, whose times are of the type that Spark writes.
func TestColumnarIndex(t *testing.T) {
	const day, micros = 2461369, 50100_000_000 // 2026-11-24 13:55:00, in Julian days
	nanos := uint64(micros) * 1000
	host := "www.example.com"
	rows := []capture{{
		Key: "com,example)/", URL: "https://www.example.com/", Host: &host, Fetched: deprecated.Int96{uint32(nanos), uint32(nanos >> 32), day},
		Status: 200, Filename: "crawl-data/a.warc.gz", Offset: 477, Length: 569,
	}}
	var out bytes.Buffer
	if err := parquet.Write(&out, rows); err != nil {
		t.Fatal(err)
	}
	f, err := New(Options{URL: "url", Carry: []codec.CarriedColumn{
		{Name: "fetch_time", Type: pipeline.Timestamp},
		{Name: "fetch_status", Type: pipeline.Int64},
		{Name: "fetch_redirect"},
		{Name: "warc_filename"},
		{Name: "warc_record_offset", Type: pipeline.Int64},
		{Name: "warc_record_length", Type: pipeline.Int64},
	}})
	if err != nil {
		t.Fatal(err)
	}
	table, err := f.OpenTable(bytes.NewReader(out.Bytes()), int64(out.Len()), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	b := &pipeline.Batch{MaxRows: 10, MaxBytes: 1 << 20}
	f.New().Prepare(b)
	if _, err := table.Append(t.Context(), b, 0); err != nil {
		t.Fatal(err)
	}
	at := time.UnixMicro(b.Carried[0].Ints[0]).UTC().Format(time.RFC3339)
	if string(b.URLs.At(0)) != rows[0].URL || at != "2026-11-24T13:55:00Z" || b.Carried[1].Ints[0] != 200 || b.Carried[2].Valid[0] ||
		string(b.Carried[3].Text.At(0)) != rows[0].Filename || b.Carried[4].Ints[0] != 477 || b.Carried[5].Ints[0] != 569 || len(b.Faults) > 0 {
		t.Errorf("%s, %+v, %v", at, b.Carried, b.Faults)
	}
}

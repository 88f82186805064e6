package urlcols_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/google/go-cmp/cmp"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
)

// rowsOf renders a record as one JSON object a row, in Arrow's own way.
func rowsOf(t *testing.T, r arrow.Record) []map[string]any {
	t.Helper()
	if r == nil {
		return nil
	}
	text, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return rows
}

func kafkaOptions() urlcols.Options {
	return urlcols.Options{
		Provenance: urlcols.KafkaProvenance, HasBase: true, KeepsRecords: true,
		Carried: []pipeline.Field{
			{Name: "user", Type: pipeline.String},
			{Name: "n", Type: pipeline.Int64},
			{Name: "f", Type: pipeline.Float64},
			{Name: "b", Type: pipeline.Bool},
			{Name: "at", Type: pipeline.Timestamp},
			{Name: "any", Type: pipeline.JSON},
		},
	}
}

// kafkaBatch has a good row, a relative one, an unparseable one, a broken record and a tombstone.
func kafkaBatch() *pipeline.Batch {
	b := &pipeline.Batch{Lane: pipeline.LaneID{Stream: "clicks", Partition: 3}, First: 100, Next: 110}
	for _, f := range kafkaOptions().Carried {
		b.Carried = append(b.Carried, pipeline.Values{Field: f})
	}
	add := func(offset int64, url, base, record string) {
		b.Offsets = append(b.Offsets, offset)
		b.Timestamps = append(b.Timestamps, 1_700_000_000_000_000+offset)
		b.URLs.Append([]byte(url))
		b.Bases.Append([]byte(base))
		b.Records.Append([]byte(record))
		b.Keys.Append([]byte("key"))
		b.Headers.Keys.Append([]byte("trace"))
		b.Headers.Values.AppendNull()
		b.Headers.EndRow()
		b.Carried[0].Text.Append([]byte("u\xff"))
		b.Carried[1].Ints = append(b.Carried[1].Ints, offset)
		b.Carried[2].Floats = append(b.Carried[2].Floats, 1.5)
		b.Carried[3].Bools = append(b.Carried[3].Bools, true)
		b.Carried[4].Ints = append(b.Carried[4].Ints, 0)
		b.Carried[5].Text.Append([]byte(`{"a":1}`))
		for i := range b.Carried {
			b.Carried[i].Valid = append(b.Carried[i].Valid, true)
		}
	}
	empty := func(offset int64, record string, code pipeline.FaultCode, pos int64) {
		b.Faults = append(b.Faults, pipeline.Fault{Row: int32(b.Len()), Code: code, Pos: pos})
		b.Offsets = append(b.Offsets, offset)
		b.Timestamps = append(b.Timestamps, 0)
		b.URLs.AppendNull()
		b.Bases.Append([]byte("https://example.com/the-base-of-no-url"))
		if record == "" {
			b.Records.AppendNull()
		} else {
			b.Records.Append([]byte(record))
		}
		b.Keys.AppendNull()
		b.Headers.EndRow()
		for i := range b.Carried {
			b.Carried[i].AppendNull()
		}
	}
	add(100, "https://www.example.co.uk/p?q=a+b&q=%C3%BC", "", `{"url":"…"}`)
	add(102, "../x#f", "http://user@example.com:81/a/b", "{}")
	add(103, "http://a b/", "", "{}")
	empty(105, "{broken", pipeline.FaultMalformed, 1)
	empty(107, "", pipeline.FaultNull, -1)
	add(109, "/x", "nonsense", "{}")
	return b
}

func apply(t *testing.T, opts urlcols.Options, b *pipeline.Batch) (pipeline.Output, error) {
	t.Helper()
	plan, err := urlcols.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	out, err := plan.NewTransform().Apply(b)
	if r := out.Records[pipeline.Rows]; r == nil || !r.Schema().Equal(plan.Schemas()[pipeline.Rows]) {
		t.Fatalf("record %v does not have the plan's schema", r)
	}
	return out, err
}

func TestColumnsOfAKafkaBatch(t *testing.T) {
	out, err := apply(t, kafkaOptions(), kafkaBatch())
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(t, out.Records[pipeline.Rows])
	carried := func(offset float64) map[string]any {
		return map[string]any{
			"user": "u\uFFFD", "n": offset, "f": 1.5, "b": true, "at": "1970-01-01 00:00:00", "any": `{"a":1}`,
			"topic": "clicks", "partition": 3.0, "offset": offset, "key": "a2V5",
			"headers": []any{map[string]any{"key": "trace", "value": nil}},
		}
	}
	merge := func(base map[string]any, more map[string]any) map[string]any {
		for k, v := range more {
			base[k] = v
		}
		return base
	}
	wants := []map[string]any{
		merge(carried(100), map[string]any{
			"url": "https://www.example.co.uk/p?q=a+b&q=%C3%BC", "base_url": "", "timestamp": "2023-11-14 22:13:20.0001",
			"href": "https://www.example.co.uk/p?q=a+b&q=%C3%BC", "scheme": "https", "has_username": false,
			"host": "www.example.co.uk", "port": nil, "origin": "https://www.example.co.uk",
			"registrable_domain": "example.co.uk", "public_suffix": "co.uk", "path": "/p", "query": "q=a+b&q=%C3%BC",
			"params": []any{
				map[string]any{"key": "q", "value": "a b"},
				map[string]any{"key": "q", "value": "ü"},
			},
			"fragment": nil, "url_error": nil, "url_error_pos": nil, "field_error": nil, "raw": nil,
		}),
		merge(carried(102), map[string]any{
			"url": "../x#f", "base_url": "http://user@example.com:81/a/b", "timestamp": "2023-11-14 22:13:20.000102",
			"href": "http://user@example.com:81/x#f", "scheme": "http", "has_username": true,
			"host": "example.com", "port": 81.0, "origin": "http://example.com:81",
			"registrable_domain": "example.com", "public_suffix": "com", "path": "/x", "query": nil, "params": nil,
			"fragment": "f", "url_error": nil, "url_error_pos": nil, "field_error": nil, "raw": nil,
		}),
	}
	for i, want := range wants {
		if diff := cmp.Diff(want, rows[i]); diff != "" {
			t.Errorf("row %d: %s", i, diff)
		}
	}
	type errorOf struct{ Code, Pos, URL, Raw, Href any }
	var got []errorOf
	for _, r := range rows[2:] {
		got = append(got, errorOf{r["url_error"], r["url_error_pos"], r["url"], r["raw"], r["href"]})
	}
	want := []errorOf{
		{"domain-to-ASCII", 8.0, "http://a b/", nil, nil},
		{"record-malformed", 1.0, nil, "e2Jyb2tlbg==", nil},
		{"record-null", nil, nil, nil, nil},
		{"base-missing-scheme-non-relative-URL", 0.0, "/x", nil, nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	wantCounts := []pipeline.ErrorCount{
		{Code: "domain-to-ASCII", Rows: 1},
		{Code: "base-missing-scheme-non-relative-URL", Rows: 1},
		{Code: "record-malformed", Rows: 1},
		{Code: "record-null", Rows: 1},
	}
	if diff := cmp.Diff(wantCounts, out.Errors); diff != "" || out.Invalid != 4 || out.Dropped != 0 {
		t.Errorf("invalid %d, dropped %d, %s", out.Invalid, out.Dropped, diff)
	}
}

func offsets(rows []map[string]any) []float64 {
	var list []float64
	for _, r := range rows {
		list = append(list, r["offset"].(float64))
	}
	return list
}

func TestPolicies(t *testing.T) {
	for policy, want := range map[pipeline.OnError]struct{ rows, dead []float64 }{
		pipeline.Keep:          {[]float64{100, 102, 103, 105, 107, 109}, nil},
		pipeline.Drop:          {[]float64{100, 102}, nil},
		pipeline.ToDeadLetters: {[]float64{100, 102}, []float64{103, 105, 107, 109}},
		pipeline.Fail:          {[]float64{100, 102}, nil},
	} {
		opts := kafkaOptions()
		opts.OnError = policy
		out, err := apply(t, opts, kafkaBatch())
		if diff := cmp.Diff(want.rows, offsets(rowsOf(t, out.Records[pipeline.Rows]))); diff != "" {
			t.Errorf("policy %d: %s", policy, diff)
		}
		dead := rowsOf(t, out.Records[pipeline.DeadLetters])
		if diff := cmp.Diff(want.dead, offsets(dead)); diff != "" {
			t.Errorf("policy %d: dead letters: %s", policy, diff)
		}
		if policy == pipeline.ToDeadLetters {
			checkDeadLetters(t, dead)
		}
		var rowErr *pipeline.RowError
		if policy != pipeline.Fail {
			if err != nil {
				t.Errorf("policy %d: %v", policy, err)
			}
		} else if !errors.As(err, &rowErr) || rowErr.Offset != 103 || rowErr.Code != "domain-to-ASCII" ||
			rowErr.Pos != 8 || rowErr.Lane.String() != "clicks/3" {
			t.Errorf("fail: got %v", err)
		}
		if policy == pipeline.Drop && out.Dropped != 4 {
			t.Errorf("%d rows dropped", out.Dropped)
		}
	}
}

// A carried field that does not fit is no error of the URL: its row is there, or goes where on_field_error says, with its name.
func TestFieldErrors(t *testing.T) {
	const code = "field-type:n"
	for _, test := range []struct {
		on              pipeline.OnError
		field           pipeline.OnFieldError
		rows, dead      []float64
		invalid, nulled int64
		urlError        any // of the row of offset 102
	}{
		{pipeline.Keep, pipeline.KeepField, []float64{100, 102, 103, 105, 107, 109}, nil, 4, 1, nil},
		{pipeline.Drop, pipeline.KeepField, []float64{100, 102}, nil, 4, 1, nil},
		{pipeline.Keep, pipeline.FieldIsRowError, []float64{100, 102, 103, 105, 107, 109}, nil, 5, 0, code},
		{pipeline.Drop, pipeline.FieldIsRowError, []float64{100}, nil, 5, 0, nil},
		{pipeline.Drop, pipeline.FieldToDeadLetters, []float64{100}, []float64{102}, 5, 0, nil},
		{pipeline.Fail, pipeline.FieldToDeadLetters, []float64{100}, []float64{102}, 2, 0, nil},
		{pipeline.Fail, pipeline.FieldIsRowError, []float64{100}, nil, 1, 0, nil},
	} {
		opts := kafkaOptions()
		opts.OnError, opts.OnFieldError = test.on, test.field
		b := kafkaBatch()
		b.Carried[1].Valid[1] = false
		b.Faults = slices.Insert(b.Faults, 0, pipeline.Fault{Row: 1, Code: pipeline.FaultCarried, Field: 1, Pos: 7})
		out, _ := apply(t, opts, b)
		rows := rowsOf(t, out.Records[pipeline.Rows])
		var dead []float64
		if r := out.Records[pipeline.DeadLetters]; r != nil {
			letters := rowsOf(t, r)
			if dead = offsets(letters); letters[0]["url_error"] != code || string(out.DeadURLs.At(0)) != "../x#f" {
				t.Errorf("%v, %v: %v", test.on, test.field, letters)
			}
		}
		if got := offsets(rows); !slices.Equal(got, test.rows) || !slices.Equal(dead, test.dead) || out.Invalid != test.invalid || out.Nulled != test.nulled {
			t.Errorf("%v, %v: rows %v, dead letters %v, %d invalid, %d nulled", test.on, test.field, got, dead, out.Invalid, out.Nulled)
		}
		if len(rows) > 1 && (rows[1]["field_error"] != code || rows[1]["n"] != nil || rows[1]["raw"] == nil || rows[1]["url_error"] != test.urlError || rows[0]["field_error"] != nil) {
			t.Errorf("%v, %v: %v", test.on, test.field, rows[1])
		}
		if !slices.ContainsFunc(out.Errors, func(e pipeline.ErrorCount) bool { return e.Code == code && e.Rows == 1 }) {
			t.Errorf("%v, %v: %v", test.on, test.field, out.Errors)
		}
	}
}

func checkDeadLetters(t *testing.T, dead []map[string]any) {
	t.Helper()
	want := map[string]any{
		"topic": "clicks", "partition": 3.0, "offset": 105.0, "timestamp": "1970-01-01 00:00:00", "key": nil,
		"headers": []any{}, "url_error": "record-malformed", "url_error_pos": 1.0, "raw": "e2Jyb2tlbg==",
	}
	if diff := cmp.Diff(want, dead[1]); diff != "" {
		t.Errorf("dead letter: %s", diff)
	}
	if dead[2]["raw"] != nil {
		t.Errorf("a tombstone has the raw record %v", dead[2]["raw"])
	}
}

func TestInvalidUTF8IsShownAndKept(t *testing.T) {
	// Together the two URLs are UTF-8, each alone is not.
	b := &pipeline.Batch{Lane: pipeline.LaneID{Stream: "f.txt"}}
	for i, url := range []string{"https://e.com/\xc3", "\xbc", "https://e.com/"} {
		b.URLs.Append([]byte(url))
		b.Offsets = append(b.Offsets, int64(i))
	}
	out, err := apply(t, urlcols.Options{Provenance: urlcols.FileProvenance, Include: []string{"url", "raw", "href", "file", "record"}}, b)
	if err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{
		{"url": "https://e.com/\uFFFD", "raw": "aHR0cHM6Ly9lLmNvbS/D", "href": "https://e.com/%EF%BF%BD", "file": "f.txt", "record": 0.0},
		{"url": "\uFFFD", "raw": "vA==", "href": nil, "file": "f.txt", "record": 1.0},
		{"url": "https://e.com/", "raw": nil, "href": "https://e.com/", "file": "f.txt", "record": 2.0},
	}
	if diff := cmp.Diff(want, rowsOf(t, out.Records[pipeline.Rows])); diff != "" {
		t.Error(diff)
	}
}

func TestEmptyBatch(t *testing.T) {
	opts := kafkaOptions()
	opts.OnError = pipeline.ToDeadLetters
	b := kafkaBatch()
	b.Reset()
	out, err := apply(t, opts, b)
	if err != nil || out.Records[pipeline.Rows].NumRows() != 0 || out.Records[pipeline.DeadLetters] != nil {
		t.Errorf("%v %v", out, err)
	}
}

func TestTransformIsReusable(t *testing.T) {
	opts := kafkaOptions()
	opts.OnError = pipeline.ToDeadLetters
	plan, err := urlcols.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	fresh, used := plan.NewTransform(), plan.NewTransform()
	want, err := fresh.Apply(kafkaBatch())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		got, err := used.Apply(kafkaBatch())
		if err != nil {
			t.Fatal(err)
		}
		for table := range want.Records {
			if diff := cmp.Diff(rowsOf(t, want.Records[table]), rowsOf(t, got.Records[table])); diff != "" {
				t.Fatal(diff)
			}
		}
	}
}

func TestSelection(t *testing.T) {
	opts := kafkaOptions()
	opts.Include = []string{"offset", "host", "user"}
	opts.Exclude = []string{"user"}
	opts.Rename = map[string]string{"host": "domain"}
	plan, err := urlcols.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range plan.Schemas()[pipeline.Rows].Fields() {
		names = append(names, f.Name)
	}
	if diff := cmp.Diff([]string{"offset", "domain"}, names); diff != "" {
		t.Error(diff)
	}
	out, _ := plan.NewTransform().Apply(kafkaBatch())
	want := map[string]any{"offset": 102.0, "domain": "example.com"}
	if diff := cmp.Diff(want, rowsOf(t, out.Records[pipeline.Rows])[1]); diff != "" {
		t.Error(diff)
	}
}

// Errors are found also when no column of the parser is wanted.
func TestErrorsWithoutURLColumns(t *testing.T) {
	opts := kafkaOptions()
	opts.Include = []string{"offset"}
	opts.OnError = pipeline.Drop
	out, err := apply(t, opts, kafkaBatch())
	if err != nil || out.Dropped != 4 || out.Records[pipeline.Rows].NumRows() != 2 {
		t.Errorf("%+v %v", out, err)
	}
}

func TestBadOptions(t *testing.T) {
	for _, c := range []struct {
		change func(*urlcols.Options)
		want   string
	}{
		{func(o *urlcols.Options) { o.Include = []string{"hosst"} }, `include: column "hosst": there is no such column; there are url, base_url, href`},
		{func(o *urlcols.Options) { o.Exclude = []string{"file"} }, `exclude: column "file"`},
		{func(o *urlcols.Options) { o.Rename = map[string]string{"x": "y"} }, `rename: column "x"`},
		{func(o *urlcols.Options) { o.Rename = map[string]string{"host": "path"} }, `column "path": is there twice`},
		{func(o *urlcols.Options) { o.Rename = map[string]string{"host": ""} }, `needs a name`},
		{func(o *urlcols.Options) { o.Include, o.Exclude = []string{"host"}, []string{"host"} }, "no column is left"},
		{func(o *urlcols.Options) { o.Include = []string{"host", "host"} }, "is there twice"},
		{func(o *urlcols.Options) { o.Carried[0].Name = "host" }, "is there twice"},
	} {
		opts := kafkaOptions()
		c.change(&opts)
		_, err := urlcols.New(opts)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	want := strings.Fields("url href scheme has_username host port origin registrable_domain public_suffix path query " +
		"params fragment url_error url_error_pos raw " +
		"effective_port extension surt_key subdomain registry_suffix registry_domain host_reversed top_level_domain " +
		"host_2nd_last_part host_3rd_last_part host_4th_last_part host_5th_last_part " +
		"kept_url kept_front userinfo kept_origin kept_public_suffix kept_params")
	if diff := cmp.Diff(want, urlcols.Names(urlcols.Options{})); diff != "" {
		t.Error(diff)
	}
}

func TestErrorNamesAreDistinct(t *testing.T) {
	seen := make(map[string]bool)
	for _, name := range urlcols.ErrorNames() {
		if seen[name] {
			t.Errorf("%q is there twice", name)
		}
		seen[name] = true
	}
	for _, name := range []string{"host-missing", "base-host-missing", "record-too-large"} {
		if !seen[name] {
			t.Errorf("%q is missing", name)
		}
	}
}

// illFormed returns the first text of an array, and of those within it, that is no UTF-8.
func illFormed(a arrow.Array) string {
	switch a := a.(type) {
	case *array.String:
		for i := range a.Len() {
			if !utf8.ValidString(a.Value(i)) {
				return a.Value(i)
			}
		}
	case array.ListLike:
		return illFormed(a.ListValues())
	case *array.Struct:
		for i := range a.NumField() {
			if bad := illFormed(a.Field(i)); bad != "" {
				return bad
			}
		}
	}
	return ""
}

// TestTextIsUTF8 has bytes that are no UTF-8 in all that records and streams have: a column that says it is text has none.
func TestTextIsUTF8(t *testing.T) {
	const bad = "b\xffa\xf0\x9fd"
	for _, p := range []urlcols.Provenance{urlcols.FileProvenance, urlcols.KafkaProvenance} {
		b := kafkaBatch()
		b.Lane.Stream = bad
		for i, end := range b.Headers.Keys.Ends {
			copy(b.Headers.Keys.Data[int(end)-len("trace"):end], "k\xff\xfee")
			b.URLs.Data[b.URLs.Ends[i]-1] = 0xff
		}
		o := kafkaOptions()
		o.Provenance, o.OnError = p, pipeline.ToDeadLetters
		out, err := apply(t, o, b)
		if err != nil {
			t.Fatal(err)
		}
		for table, r := range out.Records {
			for i, c := range r.Columns() {
				if bad := illFormed(c); bad != "" {
					t.Errorf("%s: column %s: %q", pipeline.Table(table), r.ColumnName(i), bad)
				}
			}
			if name, found := map[urlcols.Provenance]string{urlcols.FileProvenance: "file", urlcols.KafkaProvenance: "topic"}[p], rowsOf(t, r); found[0][name] != "b\uFFFDa\uFFFDd" {
				t.Errorf("%s: %s is %q", pipeline.Table(table), name, found[0][name])
			}
		}
	}
}

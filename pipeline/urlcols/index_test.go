package urlcols_test

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/google/go-cmp/cmp"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/sources/codec/warc"
)

// published is a column of Common Crawl's columnar index as cc-index-table describes it.
type published struct {
	name, kind string
	required   bool // it is never null there
	always     bool // nor in ours
	elsewhere  bool // it is the name of a folder, or a part of one: no column of ours
}

// publishedColumns are those of schema/cc-index-schema-flat.json in their order, of the crawls since CC-MAIN-2026-30.
var publishedColumns = []published{
	{name: "url_surtkey", kind: "string", required: true},
	{name: "url", kind: "string", required: true},
	{name: "url_host_name", kind: "string", required: true},
	{name: "url_host_tld", kind: "string"},
	{name: "url_host_2nd_last_part", kind: "string"},
	{name: "url_host_3rd_last_part", kind: "string"},
	{name: "url_host_4th_last_part", kind: "string"},
	{name: "url_host_5th_last_part", kind: "string"},
	{name: "url_host_registry_suffix", kind: "string"},
	{name: "url_host_registered_domain", kind: "string"},
	{name: "url_host_private_suffix", kind: "string"},
	{name: "url_host_private_domain", kind: "string"},
	{name: "url_host_name_reversed", kind: "string"},
	{name: "url_protocol", kind: "string", required: true},
	{name: "url_port", kind: "integer"},
	{name: "url_path", kind: "string", required: true},
	{name: "url_query", kind: "string"},
	{name: "fetch_time", kind: "timestamp", required: true},
	{name: "fetch_status", kind: "short", required: true},
	{name: "fetch_redirect", kind: "string"},
	{name: "content_digest", kind: "string"},
	{name: "content_mime_type", kind: "string"},
	{name: "content_mime_detected", kind: "string"},
	{name: "content_charset", kind: "string"},
	{name: "content_languages", kind: "string"},
	{name: "content_truncated", kind: "string"},
	{name: "warc_record_id", kind: "binary", required: true},
	{name: "warc_filename", kind: "string", required: true, always: true},
	{name: "warc_record_offset", kind: "integer", required: true},
	{name: "warc_record_length", kind: "integer", required: true},
	{name: "warc_segment", kind: "string", required: true, elsewhere: true},
	{name: "crawl", kind: "string", required: true, elsewhere: true},
	{name: "subset", kind: "string", required: true, elsewhere: true},
}

// sparkTypes are the types of Spark, in which the schema is written.
var sparkTypes = map[arrow.Type]string{
	arrow.STRING: "string", arrow.INT16: "short", arrow.INT32: "integer", arrow.INT64: "long", arrow.TIMESTAMP: "timestamp", arrow.BINARY: "binary",
}

// indexPlan returns a plan with the profile, of archives.
func indexPlan(t *testing.T) (*urlcols.Plan, []pipeline.Field) {
	t.Helper()
	f, err := warc.New(warc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := urlcols.New(urlcols.Options{Profile: "cc_index", Provenance: urlcols.FileProvenance, Carried: f.Fields()})
	if err != nil {
		t.Fatal(err)
	}
	return plan, f.Fields()
}

// TestIndexProfile compares the columns of an index of archives with the published ones: names, order, types, and whether they may be
// null. Of those that are required there, all but the name of the file may be null in ours, as those of a URL with an error are.
func TestIndexProfile(t *testing.T) {
	var want, got []published
	for _, c := range publishedColumns {
		if !c.elsewhere {
			want = append(want, published{name: c.name, kind: c.kind, always: c.always})
		}
	}
	plan, _ := indexPlan(t)
	for _, f := range plan.Schemas()[pipeline.Rows].Fields() {
		got = append(got, published{name: f.Name, kind: sparkTypes[f.Type.ID()], always: !f.Nullable})
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(published{})); diff != "" {
		t.Error(diff)
	}
}

// TestIndexRequired checks that what is never null in the published index is not null in ours for a record that has everything.
func TestIndexRequired(t *testing.T) {
	rows := indexRows(t, []int64{1764000000000000, 200, 477, 569}, "urn:uuid:019d6d22-5cf4-7ad9-8a24-81690cf43c7d")
	for _, c := range publishedColumns {
		if c.required && !c.elsewhere && rows[0][c.name] == nil {
			t.Errorf("%s is null", c.name)
		}
	}
	if rows[0]["url_surtkey"] != "com,example)/" || rows[0]["warc_record_offset"] != 477.0 || rows[0]["fetch_status"] != 200.0 {
		t.Errorf("%v", rows[0])
	}
	if got := rows[0]["warc_record_id"]; got != "AZ1tIlz0etmKJIFpDPQ8fQ==" {
		t.Errorf("warc_record_id is %v", got)
	}
}

// TestIndexNarrows has values that the types of the index cannot hold.
func TestIndexNarrows(t *testing.T) {
	for _, id := range []string{
		"", "urn:uuid:", "019d6d22-5cf4-7ad9-8a24-81690cf43c7", "019d6d225-cf4-7ad9-8a24-81690cf43c7d", "019d6d22-5cf4-7ad9-8a24-81690cf43c7x", "urn:x:019d6d22-5cf4-7ad9-8a24-81690cf43c7d",
	} {
		row := indexRows(t, []int64{0, 1 << 15, 1 << 31, -1<<31 - 1}, id)[0]
		for _, name := range []string{"fetch_status", "warc_record_offset", "warc_record_length", "warc_record_id"} {
			if row[name] != nil {
				t.Errorf("%s is %v, of %q", name, row[name], id)
			}
		}
	}
	row := indexRows(t, []int64{0, 1<<15 - 1, 1<<31 - 1, -1 << 31}, "019D6D22-5CF4-7AD9-8A24-81690CF43C7D")[0]
	if row["fetch_status"] != 32767.0 || row["warc_record_offset"] != 2147483647.0 || row["warc_record_length"] != -2147483648.0 || row["warc_record_id"] == nil {
		t.Errorf("%v", row)
	}
}

// indexRows returns the rows of three records, the last of which has nulls: time, status, offset and length, and the identifier.
func indexRows(t *testing.T, numbers []int64, id string) []map[string]any {
	t.Helper()
	plan, fields := indexPlan(t)
	b := &pipeline.Batch{Lane: pipeline.LaneID{Stream: "a.warc.gz"}, Offsets: []int64{0, 1, 2}}
	at := map[string]int64{"fetch_time": numbers[0], "fetch_status": numbers[1], "warc_offset": numbers[2], "warc_length": numbers[3]}
	for i, f := range fields {
		b.Carried = append(b.Carried, pipeline.Values{Field: f})
		v := &b.Carried[i]
		for range 2 {
			switch v.Valid = append(v.Valid, true); {
			case f.Type != pipeline.String:
				v.Ints = append(v.Ints, at[f.Name])
			case f.Name == "warc_record_id":
				v.Text.Append([]byte(id))
			default:
				v.Text.Append([]byte("x"))
			}
		}
		v.AppendNull()
	}
	for range b.Offsets {
		b.URLs.Append([]byte("http://www.example.com/"))
	}
	out, err := plan.NewTransform().Apply(b)
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(t, out.Records[pipeline.Rows])
	for _, name := range []string{"fetch_status", "warc_record_offset", "warc_record_id"} {
		if rows[2][name] != nil {
			t.Errorf("%s of a null is %v", name, rows[2][name])
		}
	}
	return rows
}

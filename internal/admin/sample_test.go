package admin

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/urlmill/urlmill/pipeline"
)

// TestBadOnce: a row is listed once, also with on_field_error: error, where the error of the row is that of the field.
func TestBadOnce(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	text := func(name string) arrow.Field {
		return arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true}
	}
	b := array.NewRecordBuilder(alloc, arrow.NewSchema([]arrow.Field{text("href"), text("url_error"), text("field_error")}, nil))
	defer b.Release()
	for _, row := range [][3]string{{"a", "field-type:user", "field-type:user"}, {"b", "", ""}, {"c", "host-missing", "field-type:user"}, {"d", "", "field-type:user"}} {
		for i, v := range row {
			if c := b.Field(i).(*array.StringBuilder); v == "" {
				c.AppendNull()
			} else {
				c.Append(v)
			}
		}
	}
	var out pipeline.Output
	out.Invalid, out.Nulled = 2, 1
	out.Records[pipeline.Rows] = b.NewRecord()
	defer out.Records[pipeline.Rows].Release()
	m := NewMonitor()
	m.opts.Columns = Columns{URL: "href", Code: "url_error", Field: "field_error"}
	m.look(pipeline.LaneID{Stream: "clicks"}, &out)
	got := [][2]string{}
	for _, bad := range m.bad.list() {
		got = append(got, [2]string{bad.URL, bad.Code})
	}
	want := [][2]string{{"a", "field-type:user"}, {"c", "host-missing, field-type:user"}, {"d", "field-type:user"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

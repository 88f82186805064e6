package admin

import (
	"strconv"
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

// TestVisits counts channels and bots of batches, and checks that no more than maxNames names become series.
func TestVisits(t *testing.T) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	batch := func(values ...string) *array.String {
		for _, v := range values {
			if v == "" {
				b.AppendNull()
			} else {
				b.Append(v)
			}
		}
		return b.NewStringArray()
	}
	m := NewMonitor()
	m.Attach(Watch{Stats: new(pipeline.Stats)})
	m.countVisits(batch("Direct", "Direct", "", "Email", "Direct"), nil)
	m.countVisits(batch("Email"), batch("", "search", "seo", "search"))
	if diff := cmp.Diff([]Share{{"Direct", 0.6}, {"Email", 0.4}}, m.channels.shares(m.channels.total())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Share{{"search", 0.2}, {"seo", 0.1}}, m.bots.shares(10)); diff != "" {
		t.Error(diff)
	}
	metrics, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range metrics {
		if f.GetName() == "urlmill_channel_rows_total" || f.GetName() == "urlmill_bot_rows_total" {
			for _, s := range f.GetMetric() {
				got[s.GetLabel()[0].GetName()+"="+s.GetLabel()[0].GetValue()] = s.GetCounter().GetValue()
			}
		}
	}
	if diff := cmp.Diff(map[string]float64{"channel=Direct": 3, "channel=Email": 2, "bot=search": 2, "bot=seo": 1}, got); diff != "" {
		t.Error(diff)
	}
	for i := range 10 * maxNames {
		m.countVisits(batch(strconv.Itoa(i)), nil)
	}
	if len(m.channels.counts) != maxNames+1 || m.channels.counts[otherNames] != 9*maxNames+2 {
		t.Errorf("%d names, %d others", len(m.channels.counts), m.channels.counts[otherNames])
	}
}

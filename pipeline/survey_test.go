package pipeline_test

import (
	"fmt"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
)

func TestHold(t *testing.T) {
	known := func(start, next int64, of string) *pipeline.Known {
		return &pipeline.Known{Start: start, Mark: pipeline.Mark{Next: next, Of: of}}
	}
	for _, c := range []struct {
		name         string
		known        *pipeline.Known
		first, end   int64
		of           string
		acknowledged int64
		want         string
	}{
		{"all read", known(0, 100, "a"), 0, 100, "a", 100, "[]"},
		{"identity not recorded", known(0, 100, ""), 0, 100, "a", 100, "[]"},
		{"identity not known", known(0, 100, "a"), 0, 100, "", 100, "[]"},
		{"nothing read", nil, 20, 50, "a", pipeline.Unknown, "[unread 20-50]"},
		{"nothing there", nil, 20, 20, "a", pipeline.Unknown, "[]"},
		{"lag", known(0, 60, "a"), 0, 100, "a", 60, "[unread 60-100]"},
		{"what was read is gone", known(0, 60, "a"), 50, 60, "a", 60, "[]"},
		{"started late", known(40, 60, "a"), 0, 60, "a", 60, "[before_start 0-40]"},
		{"retention", known(0, 60, "a"), 80, 100, "a", 60, "[never_read 60-80 unread 80-100]"},
		{"tail gone", known(0, 60, "a"), 0, 100, "a", 90, "[tail_gone 60-90 unread 90-100]"},
		{"tail gone, and gone from the log", known(0, 60, "a"), 95, 100, "a", 90, "[never_read 60-95 unread 95-100]"},
		{"all gone from the output", nil, 0, 100, "a", 90, "[tail_gone 0-90 unread 90-100]"},
		{"behind the end", known(0, 60, "a"), 0, 50, "a", 60, "[behind_end 50-60]"},
		{"another topic", known(0, 60, "a"), 0, 100, "b", 60, "[other_source -1--1]"},
	} {
		var got []string
		for _, f := range pipeline.Hold(c.known, c.first, c.end, c.of, c.acknowledged) {
			got = append(got, fmt.Sprintf("%s %d-%d", f.Kind, f.First, f.Next))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

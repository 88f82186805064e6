package pipeline_test

import (
	"strings"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
)

// TestRowErrorPlace checks how the error of the policy "fail" names the record.
func TestRowErrorPlace(t *testing.T) {
	for _, c := range []struct {
		lane pipeline.LaneID
		want string
	}{
		{pipeline.LaneID{Stream: "clicks", Partition: 3}, "clicks/3: offset 1: host-missing in "},
		{pipeline.LaneID{Stream: "clicks", Partition: 3, Session: "5e551011"}, "clicks/3: offset 1: host-missing in "},
		{pipeline.LaneID{Stream: "a/urls.txt", Session: "x1"}, "a/urls.txt: record 1 (counted from 0): host-missing in "},
		{pipeline.LaneID{Stream: "-", Session: "x1"}, "standard input: record 1 (counted from 0): host-missing in "},
	} {
		e := &pipeline.RowError{Lane: c.lane, Offset: 1, Numbered: c.lane.Session == "x1", Code: "host-missing", Pos: -1, Input: "https://"}
		if got := e.Error(); !strings.HasPrefix(got, c.want) {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

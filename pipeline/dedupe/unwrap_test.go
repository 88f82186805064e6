package dedupe

import (
	"testing"

	"github.com/urlmill/urlmill/pipeline"
)

// loading is a sink that counts what it loads into a database.
type loading struct{ disk }

func (*loading) Count(c *pipeline.Counts) { c.Loads = &pipeline.LoadCounts{Loads: 3, Retries: 4} }

// TestCountsOfInnerSink finds the counts of the sink behind beside those of duplicates.
func TestCountsOfInnerSink(t *testing.T) {
	sink, err := New(new(loading), Options{Path: "/seen", KeyColumn: "url_key", Mode: Drop})
	if err != nil {
		t.Fatal(err)
	}
	c := pipeline.CountsOf(nil, sink)
	if c.Loads == nil || *c.Loads != (pipeline.LoadCounts{Loads: 3, Retries: 4}) {
		t.Errorf("loads of the database behind it: %+v", c.Loads)
	}
	if c.Duplicates == nil || *c.Duplicates != (pipeline.DuplicateCounts{Dropped: true}) {
		t.Errorf("duplicates: %+v", c.Duplicates)
	}
}

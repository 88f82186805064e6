package dedupe

import (
	"testing"

	"github.com/urlmill/urlmill/pipeline"
)

// loading is a sink that counts what it loads into a database.
type loading struct{ disk }

func (*loading) Loaded() (rows, bytes, loads, retries int64) { return 1, 2, 3, 4 }

// TestCountsOfInnerSink finds the counts of the sink behind, whatever they are of.
func TestCountsOfInnerSink(t *testing.T) {
	sink, err := New(new(loading), Options{Path: "/seen", KeyColumn: "url_key"})
	if err != nil {
		t.Fatal(err)
	}
	counting, ok := pipeline.As[interface {
		Loaded() (rows, bytes, loads, retries int64)
	}](pipeline.Sink(sink))
	if !ok {
		t.Fatal("the loads of the database behind it are not counted")
	}
	if _, _, loads, retries := counting.Loaded(); loads != 3 || retries != 4 {
		t.Errorf("%d loads, %d retries", loads, retries)
	}
}

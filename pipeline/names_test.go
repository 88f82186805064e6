package pipeline_test

import (
	"fmt"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
)

// TestNames: what can be configured has a name of its own, and the lists have all of it, in the order of the values.
func TestNames(t *testing.T) {
	want := "[string int64 float64 bool timestamp json] [keep drop dead_letter fail] unknown unknown"
	last := pipeline.JSON + 1
	if got := fmt.Sprintf("%v %v %v %v", pipeline.FieldTypes(), pipeline.OnErrors(), last, pipeline.Fail+1); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for i, typ := range pipeline.FieldTypes() {
		if int(typ) != i {
			t.Errorf("%v is at %d", typ, i)
		}
	}
}

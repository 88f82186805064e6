package delimited

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// TestCommas: a line of separators, or a header that is one, does not take many times its length, then or afterwards.
func TestCommas(t *testing.T) {
	commas := bytes.Repeat([]byte{','}, 4<<20)
	f, err := New(Options{URL: "url", Carry: []codec.CarriedColumn{{Name: "a", Column: "a"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range [][]byte{[]byte("url,a"), append([]byte("url,a"), commas...)} {
		c, b := f.New(), &pipeline.Batch{}
		b.Records.Data = make([]byte, 0, len(commas)+1)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c.Prepare(b)
		c.Decode(b, header)
		c.Decode(b, commas)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(len(commas)+16<<20) {
			t.Errorf("%d bytes allocated %d", len(commas), n)
		}
		if b.URLs.Len() != 1 || len(b.Faults) != 1 {
			t.Errorf("%d rows, %v", b.URLs.Len(), b.Faults)
		}
	}
}

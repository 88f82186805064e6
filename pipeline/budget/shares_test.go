package budget_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/pipeline/budget"
)

// Whatever is asked for, the shares fit into the limit; the least limit that an error names is enough, and a MiB less is
// not.
func TestDivide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := budget.Needs{
			Workers:    rapid.IntRange(1, 256).Draw(t, "workers"),
			BatchBytes: rapid.SampledFrom([]int{0, 1 << 10, 1 << 20, 256 << 20}).Draw(t, "batch"),
			UsualBatch: 4 << 20,
			Code:       rapid.Int64Range(0, 128<<20).Draw(t, "code"),
			Fetches:    rapid.Bool().Draw(t, "fetches"),
			Fixed:      rapid.Int64Range(0, 1<<30).Draw(t, "fixed"),
		}
		if n.Fetches {
			n.Fetch = rapid.SampledFrom([]int64{0, 1 << 20, 1 << 30}).Draw(t, "fetch")
		}
		least := budget.Least(n)
		limit := rapid.Int64Range(least, 4*least).Draw(t, "limit")
		s, err := budget.Divide(limit, n)
		if err != nil {
			t.Fatal(err)
		}
		if sum := int64(s.Batches)*s.BatchMemory + s.Fetch + s.Files; sum > s.Go || s.Go > limit-n.Code {
			t.Fatalf("%+v is %d of %d", s, sum, limit)
		}
		if s.Batches < n.Workers+2 || s.BatchBytes < 1<<10 || s.BatchBytes > 256<<20 || s.Files < 16<<20 || n.Fetches && s.Fetch < 1<<20 {
			t.Fatalf("%d are divided into %+v", limit, s)
		}
		if n.BatchBytes > 0 && s.BatchBytes != n.BatchBytes || n.Fetch > 0 && s.Fetch != n.Fetch {
			t.Fatalf("%+v is not as asked for", s)
		}
		_, err = budget.Divide(least-1<<20, n)
		var small *budget.TooSmallError
		if !errors.As(err, &small) || small.Least != least {
			t.Fatalf("a MiB less gives %v", err)
		}
	})
}

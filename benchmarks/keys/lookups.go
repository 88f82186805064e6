package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/urlmill/urlmill/internal/dev/cputime"
	"github.com/urlmill/urlmill/pipeline/dedupe/runs"
)

// batchRows is how many rows the pipeline asks for at once.
const batchRows = 8192

// hotKeys is how many keys are asked for again and again.
const hotKeys = 64 << 10

// lookups is what a kind of look-ups takes.
type lookups struct {
	Store string  `json:"store"`
	Keys  uint64  `json:"keys"`
	What  string  `json:"what"`
	Ns    float64 `json:"cpu_ns"`
	Rate  float64 `json:"per_cpu_s"`
}

// lookups asks for keys that are not there, for others each of which was not asked for before, and for some again and again.
func (o options) lookups(r *report, store string, keys uint64, find func([]runs.Key, []bool) error) error {
	rng := rand.New(rand.NewPCG(1, 1))
	fresh := keys
	for _, kind := range []struct {
		what string
		next func() uint64
		want bool
	}{
		{"new", func() uint64 { fresh++; return fresh - 1 }, false},
		{"old", func() uint64 { return rng.Uint64N(keys) }, true},
		{"hot", func() uint64 { return rng.Uint64N(min(hotKeys, keys)) }, true},
	} {
		var took []float64
		for round := range o.rounds + 1 { // the first one warms up
			var used time.Duration
			for asked := uint64(0); asked < o.asked; asked += batchRows {
				batch, found := make([]runs.Key, batchRows), make([]bool, batchRows)
				for i := range batch {
					batch[i] = keyOf(kind.next())
				}
				runs.Sort(batch, func(k *runs.Key) *runs.Key { return k })
				began := cputime.Used()
				if err := find(batch, found); err != nil {
					return err
				}
				used += cputime.Used() - began
				for _, is := range found {
					if is != kind.want {
						return fmt.Errorf("a key that is %s is found: %t", kind.what, is)
					}
				}
			}
			if round > 0 {
				took = append(took, float64(used.Nanoseconds())/float64(o.asked))
			}
		}
		l := &lookups{store, keys, kind.what, median(took), 1e9 / median(took)}
		r.Lookups = append(r.Lookups, l)
		fmt.Printf("%s of %d keys, %s: %.0f ns, %.1f million a second\n", store, keys, l.What, l.Ns, l.Rate/1e6)
	}
	return nil
}

package dedupe

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/cockroachdb/pebble/vfs"

	"github.com/urlmill/urlmill/pipeline"
)

// gathering counts the rows of all lanes that are no duplicates, by key.
type gathering struct {
	t      *testing.T
	mu     sync.Mutex
	firsts map[int64]int
	rows   int
}

func (g *gathering) Start(context.Context, pipeline.Schemas) error { return nil }
func (g *gathering) Close() error                                  { return nil }

func (g *gathering) Open(context.Context, pipeline.LaneID) (pipeline.Writer, int64, error) {
	return gatherer{g: g}, 0, nil
}

type gatherer struct {
	pipeline.Writer
	g *gathering
}

func (w gatherer) Write(_ context.Context, _ pipeline.Table, r arrow.Record, _ pipeline.Span) error {
	rows := rowsOf(w.g.t, r)
	w.g.mu.Lock()
	defer w.g.mu.Unlock()
	for _, r := range rows {
		w.g.rows++
		if !r.duplicate {
			w.g.firsts[r.key]++
		}
	}
	return nil
}
func (w gatherer) Commit(context.Context) (int64, error) { return 0, nil }
func (w gatherer) Abandon() error                        { return nil }

// TestLanesSideBySide has lanes commit the same keys at the same time: each is new for one of them, whenever the others
// commit.
func TestLanesSideBySide(t *testing.T) {
	const lanes, records, rows, keys = 4, 150, 60, 4000
	for _, approximate := range []*Approximate{nil, {Memory: 4 << 20, Keys: keys}} {
		t.Run(fmt.Sprintf("approximate=%t", approximate != nil), func(t *testing.T) {
			inner := &gathering{t: t, firsts: make(map[int64]int)}
			sink, err := New(inner, Options{Path: "/seen", KeyColumn: "url_key", Approximate: approximate, fs: vfs.NewMem()})
			if err != nil {
				t.Fatal(err)
			}
			if err := sink.Start(t.Context(), pipeline.Schemas{testSchema}); err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			for i := range lanes {
				all.Go(func() {
					w, _, err := sink.Open(t.Context(), lane(i))
					if err != nil {
						t.Error(err)
						return
					}
					rng := rand.New(rand.NewPCG(1, uint64(i)))
					for n := range records {
						var batch []row
						for k := range rows {
							batch = append(batch, row{key: rng.Int64N(keys) * int64(n+1) / records, offset: int64(n*rows + k)})
						}
						r := record(batch)
						if err := w.Write(t.Context(), pipeline.Rows, r, pipeline.Span{Next: int64((n + 1) * rows)}); err != nil {
							t.Error(err)
						}
						r.Release()
						if _, err := w.Commit(t.Context()); err != nil {
							t.Error(err)
						}
					}
					if err := w.Abandon(); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			for key, n := range inner.firsts {
				if n != 1 {
					t.Errorf("key %d is new %d times", key, n)
				}
			}
			if n := pipeline.CountsOf(nil, sink).Duplicates.Rows; inner.rows != lanes*records*rows || int(n) != inner.rows-len(inner.firsts) {
				t.Errorf("%d rows with %d keys, %d duplicates", inner.rows, len(inner.firsts), n)
			}
			if sink.claims.count() != 0 {
				t.Errorf("%d claims are left", sink.claims.count())
			}
			if err := sink.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

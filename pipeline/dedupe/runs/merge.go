package runs

import (
	"context"
	"io"
)

// Merge writes the keys of runs into out, as one run, in bounded memory. Where a key is in several of them with one value, it is written
// once. keep, if not nil, says of which values the keys are kept.
func Merge(ctx context.Context, out io.Writer, runs []*Run, keep func(value uint64) bool) (Info, error) {
	var sources []source
	for _, r := range runs {
		sources = append(sources, r.scan(ctx, 0))
	}
	w := NewWriter(out)
	err := merge(sources, func(e *entry) error {
		if keep != nil && !keep(e.value) {
			return nil
		}
		return w.add(e)
	})
	if err != nil {
		return Info{}, err
	}
	return w.Finish()
}

// merger is a tree of sources by which is the first: a node has the loser of the match of its two sides, and place 0 the winner.
type merger struct {
	sources []source
	left    [][]entry // of each source; empty at its end
	tree    []int32
}

// merge calls each for the entries of all sources in order.
func merge(sources []source, each func(*entry) error) error {
	m := merger{sources: sources, left: make([][]entry, len(sources)), tree: make([]int32, max(len(sources), 1))}
	for i := range sources {
		if err := m.fill(i); err != nil {
			return err
		}
	}
	if len(sources) == 0 {
		return nil
	}
	m.tree[0] = m.build(1)
	for {
		i := m.tree[0]
		if len(m.left[i]) == 0 {
			return nil
		}
		if err := each(&m.left[i][0]); err != nil {
			return err
		}
		if m.left[i] = m.left[i][1:]; len(m.left[i]) == 0 {
			if err := m.fill(int(i)); err != nil {
				return err
			}
		}
		for node := (int(i) + len(sources)) / 2; node > 0; node /= 2 {
			if m.before(m.tree[node], i) {
				i, m.tree[node] = m.tree[node], i
			}
		}
		m.tree[0] = i
	}
}

// fill gets the next entries of a source, which has none.
func (m *merger) fill(i int) (err error) {
	m.left[i], err = m.sources[i].next()
	return err
}

// build lets the sources below a node play, and returns the winner.
func (m *merger) build(node int) int32 {
	if node >= len(m.sources) {
		return int32(node - len(m.sources))
	}
	a, b := m.build(2*node), m.build(2*node+1)
	if m.before(b, a) {
		a, b = b, a
	}
	m.tree[node] = b
	return a
}

// before reports whether the first entry of a source is before that of another. One at its end is after all others.
func (m *merger) before(a, b int32) bool {
	x, y := m.left[a], m.left[b]
	if len(x) == 0 || len(y) == 0 {
		return len(y) == 0 && len(x) > 0
	}
	return x[0].less(&y[0])
}

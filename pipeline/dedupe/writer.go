package dedupe

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
)

type writer struct {
	marker
	sink    *Sink
	inner   pipeline.Writer
	id      pipeline.LaneID
	lane    uint64
	claimed []entry // since the last commit
	next    int64   // position after the last commit, or of the first row
	end     int64   // position after the last row
	of      string  // what positions are of
	doubt   *doubt  // the last commit may have been made or not

	seen  []bool // by the state
	asked []question
}

// Size asks for a commit when the keys that are not committed have used up their memory.
func (w *writer) Size() pipeline.Size {
	size := w.inner.Size()
	size.Full = size.Full || len(w.claimed) > 0 && w.sink.claims.count() >= w.sink.opts.maxClaims()
	return size
}

func (w *writer) Write(ctx context.Context, t pipeline.Table, r arrow.Record, span pipeline.Span) error {
	if t != pipeline.Rows {
		return w.inner.Write(ctx, t, r, span)
	}
	if w.end = span.Next; w.next == pipeline.Unknown {
		w.next = span.First
	}
	if span.Of != "" {
		w.of = span.Of
	}
	duplicates, err := w.find(ctx, r)
	if err != nil {
		return fmt.Errorf("dedupe: %w", err)
	}
	w.sink.duplicates.Add(int64(duplicates))
	out := w.output(r, duplicates)
	defer out.Release()
	return w.inner.Write(ctx, t, out, span)
}

// find fills w.marks, and claims the keys of rows that are no duplicates.
func (w *writer) find(ctx context.Context, r arrow.Record) (duplicates int, err error) {
	if err := w.read(r); err != nil {
		return 0, err
	}
	w.seen = resize(w.seen, len(w.entries))
	for done := false; !done; {
		if done, err = w.claim(ctx); err != nil {
			return 0, err
		}
	}
	for i := range w.marks {
		w.marks[i] = w.marks[i] || w.seen[i]
		if w.marks[i] {
			duplicates++
		}
	}
	return duplicates, nil
}

// claim asks the state, and then claims the keys that it does not have. A key that another lane has committed, and so no
// longer claims, in between is in neither: then there was a promotion, and the state is asked again about what was
// claimed. It returns false where that had been the case for a key of these rows, with no claim of them left: other rows may
// lean on it.
//
// The state comes first, so that no row leans on a claim of a row that turns out to be a duplicate: the row that this one
// is a duplicate of may be out of the window of the other.
func (w *writer) claim(ctx context.Context) (done bool, err error) {
	s := w.sink
	promotions := s.state.promotions.Load()
	w.asked = w.asked[:0]
	for i, e := range w.entries {
		w.seen[i] = w.keyless[i]
		if !w.keyless[i] {
			w.asked = append(w.asked, s.state.ask(e, i))
		}
	}
	if err := s.ask(ctx, w.asked); err != nil {
		return false, err
	}
	for _, q := range w.asked {
		w.seen[q.row] = w.seen[q.row] || q.seen
	}
	s.claims.take(w.lane, w.entries, w.seen, w.marks)
	claimed := len(w.claimed)
	w.asked = w.asked[:0]
	for i, e := range w.entries {
		if !w.seen[i] && !w.marks[i] {
			w.claimed = append(w.claimed, e)
			w.asked = append(w.asked, s.state.ask(e, i))
		}
		w.seen[i] = w.seen[i] && !w.keyless[i]
	}
	if s.state.promotions.Load() == promotions {
		return true, nil
	}
	if err := s.ask(ctx, w.asked); err != nil {
		return false, err
	}
	if !slices.ContainsFunc(w.asked, func(q question) bool { return q.seen }) {
		return true, nil
	}
	s.claims.release(w.lane, w.claimed[claimed:])
	w.claimed = w.claimed[:claimed]
	return false, nil
}

func (w *writer) Commit(ctx context.Context) (next int64, err error) {
	s := w.sink
	if len(w.claimed) == 0 && !s.opts.Positions {
		return w.inner.Commit(ctx)
	}
	s.settle(ctx)
	j, claimed := s.state.newJournal(w.id, pipeline.Mark{Next: w.end, Of: s.opts.identity(w.of)}), w.claimed
	w.doubt = &doubt{journal: j, lane: w.lane, claimed: claimed, begin: w.next}
	if err := s.state.do(ctx, func() error { return s.state.write(ctx, j, claimed) }); err != nil {
		return 0, fmt.Errorf("dedupe: journaling keys: %w", err)
	}
	if err := s.opts.Step("inner commit"); err != nil {
		return 0, err
	}
	if next, err = w.inner.Commit(ctx); err != nil {
		return 0, err
	}
	if err := s.state.do(ctx, func() error { return s.state.promote(j) }); err != nil {
		return 0, fmt.Errorf("dedupe: the rows before offset %d are durable, but noting their keys failed: %w", next, err)
	}
	w.doubt, w.next = nil, next
	s.claims.release(w.lane, w.claimed)
	w.claimed = w.claimed[:0]
	return next, nil
}

// Abandon implements [pipeline.Writer]. After a commit that failed the claims stay until the lane is opened again: the
// rows may be there.
func (w *writer) Abandon() error {
	if w.doubt != nil {
		w.sink.doubt(w.id, *w.doubt)
	} else {
		w.sink.claims.release(w.lane, w.claimed)
	}
	w.claimed = nil
	return w.inner.Abandon()
}

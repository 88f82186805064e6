package dedupe

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/internal/take"
	"github.com/urlmill/urlmill/pipeline"
)

type writer struct {
	sink    *Sink
	inner   pipeline.Writer
	id      pipeline.LaneID
	lane    uint64
	claimed []entry // since the last commit
	next    int64   // position after the last commit, or of the first row
	end     int64   // position after the last row
	of      string  // what positions are of
	doubt   *doubt  // the last commit may have been made or not

	entries        []entry // of the record being written
	keyless, marks []bool
	seen           []bool // by the state
	asked          []question
	kept           []int32 // rows that are no duplicates
	taker          take.Taker
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

// output returns r with the column of w.marks, or without the rows that are marked. The caller releases it.
func (w *writer) output(r arrow.Record, duplicates int) arrow.Record {
	columns := r.Columns()
	if k := w.sink.key; w.sink.opts.HideKey {
		columns = slices.Delete(slices.Clone(columns), k, k+1)
	}
	if w.sink.opts.Mode == Mark {
		b := array.NewBooleanBuilder(memory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(w.marks, nil)
		column := b.NewArray()
		defer column.Release()
		return array.NewRecord(w.sink.schema, append(slices.Clip(columns), column), r.NumRows())
	}
	all := array.NewRecord(w.sink.schema, columns, r.NumRows())
	if duplicates == 0 {
		return all
	}
	defer all.Release()
	w.kept = w.kept[:0]
	for row, marked := range w.marks {
		if !marked {
			w.kept = append(w.kept, int32(row))
		}
	}
	return w.taker.Take(all, w.kept)
}

// find fills w.marks, and claims the keys of rows that are no duplicates.
func (w *writer) find(ctx context.Context, r arrow.Record) (duplicates int, err error) {
	if err := w.read(r); err != nil {
		return 0, err
	}
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

// read fills w.entries and w.keyless.
func (w *writer) read(r arrow.Record) error {
	s := w.sink
	n := int(r.NumRows())
	keys, ok := r.Column(s.key).(*array.Binary)
	if !ok {
		return fmt.Errorf("column %q is %s, not binary", s.opts.KeyColumn, r.Column(s.key).DataType())
	}
	w.entries, w.keyless, w.marks, w.seen = resize(w.entries, n), resize(w.keyless, n), resize(w.marks, n), resize(w.seen, n)
	var times *array.Timestamp
	var unit int64
	if s.time >= 0 {
		times = r.Column(s.time).(*array.Timestamp)
		unit = int64(times.DataType().(*arrow.TimestampType).Unit.Multiplier())
	}
	now := time.Now().UnixNano()
	for i := range n {
		w.marks[i] = false
		if w.keyless[i] = keys.IsNull(i); w.keyless[i] {
			continue
		}
		key := keys.Value(i)
		if len(key) != len(Key{}) {
			return fmt.Errorf("column %q has a key of %d bytes, not of 16", s.opts.KeyColumn, len(key))
		}
		e := entry{key: Key(key)}
		if s.opts.Within != 0 {
			at := now
			if times != nil && times.IsValid(i) {
				if v := int64(times.Value(i)); v < now/unit {
					at = max(v, -now/unit) * unit
				}
			}
			e.bucket = floorDiv(at, s.opts.bucketWidth())
		}
		w.entries[i] = e
	}
	return nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
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

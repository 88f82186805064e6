package filesink

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/budget"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/internal/footprint"
)

// table is one of the two outputs of a lane. Its methods are called by the goroutine that has entered the writer; shrink and
// memory also by [writer.shrink], never at the same time.
type table interface {
	// write adds rows from the positions of span.
	write(ctx context.Context, r arrow.Record, span pipeline.Span) error
	// size returns the bytes written since the last commit, in files or estimated to be.
	size() int64
	// room returns the bytes that a write may need beside those of its rows. allow says, before the write, by how much memory
	// may grow in it; beyond that the table has to shrink.
	room() int64
	allow(n int64)
	// full reports whether it is time to commit, whatever the limits of the pipeline say.
	full() bool
	// memory returns the bytes of memory held for them.
	memory() int64
	// shrink gives back about half of that, or as much as can be given back.
	shrink() error
	// finish completes what was written up to the end of span and returns its files, which are not published yet and are the
	// caller's. With an error it returns those that are complete, and revert has to be called for the others.
	finish(span pipeline.Span) ([]commit.File, error)
	// revert drops what was written and is not complete, and returns the files that are, which are to be discarded.
	revert() ([]commit.File, error)
}

// committer commits the positions of a lane together with the files that hold their rows, and publishes the files,
// which are its own from then on.
type committer interface {
	Commit(ctx context.Context, span pipeline.Span, files []commit.File) error
	// Discard removes files that are not going to be committed.
	Discard(ctx context.Context, files []commit.File) error
}

// writer implements [pipeline.Writer]. While it holds memory, goroutines of other lanes may call its shrink when they need
// some, but not between enter and leave: every method of Writer is within the two.
type writer struct {
	lane   pipeline.LaneID
	tables [pipeline.NumTables]table // nil for a table that gets no rows
	commit committer
	sum    *written
	memory *budget.Ledger
	// record, if it is not nil, is called before every commit of files.
	record func(ctx context.Context) error
	// committed, if it is not nil, is told of every commit.
	committed func(next int64)
	// chain is the committer where that is a chain, and nil otherwise.
	chain *commit.Lane

	// holder is nil while nothing is held: then shrink is not called either. It is set and cleared by the lane's goroutine
	// alone.
	holder *budget.Holder

	// What follows, and the tables, belong to the lane's goroutine between enter and leave, and to shrink otherwise.
	span  pipeline.Span // of what is uncommitted, valid if dirty
	dirty bool
	rows  int64
	next  int64 // of the last commit
	err   error // a failed Write or Commit: whatever is uncommitted can only be abandoned
}

// enter makes the writer its caller's until leave, and lets it hold n bytes more than now. For that it may wait for other
// lanes, and may call shrink of theirs or its own. It waits for no memory if n is 0.
func (w *writer) enter(ctx context.Context, n int64) error {
	if w.holder == nil {
		w.holder = w.memory.Join(w.shrink)
	}
	return w.holder.Enter(ctx, n)
}

// leave has to follow an enter without an error. It says how much is really held, which may be less than enter was asked for.
func (w *writer) leave() {
	held := w.held()
	w.holder.Leave(held)
	if held == 0 { // a thousand idle lanes are then no entries to look through for the largest
		w.holder.Close()
		w.holder = nil
	}
}

// held returns the bytes of memory that the writer holds.
func (w *writer) held() (n int64) {
	for _, t := range w.tables {
		if t != nil {
			n += t.memory()
		}
	}
	return n
}

// shrink gives back about half of the memory that is held, and returns what is held then. It is called by goroutines of other
// lanes, so its error is not theirs: it is kept, and ends this lane at its next Write or Commit. What is uncommitted is
// dropped at once, since it would hold memory until then.
func (w *writer) shrink() int64 {
	for _, t := range w.tables {
		if t == nil {
			continue
		}
		if err := t.shrink(); err != nil && w.err == nil {
			w.err = fmt.Errorf("writing a part early because memory is short: %w", errors.Join(err, w.abandon()))
		}
	}
	return w.held()
}

// sizeOf returns about the bytes that rows take in memory.
func sizeOf(r arrow.Record) int64 {
	if r == nil {
		return 0
	}
	return footprint.Of(r.Columns(), (*memory.Buffer).Len)
}

// Write implements [pipeline.Writer]. r may be nil: the span then holds no rows.
func (w *writer) Write(ctx context.Context, t pipeline.Table, r arrow.Record, span pipeline.Span) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	n := sizeOf(r)
	if r != nil && w.tables[t] != nil {
		n += w.tables[t].room()
	}
	// An estimate of what the write will hold. leave corrects it to what is held.
	if err := w.enter(ctx, n); err != nil {
		return err
	}
	defer w.leave()
	if w.err != nil {
		return w.err
	}
	if !w.dirty {
		w.dirty, w.span = true, span
	}
	w.span.Extend(span)
	if r == nil || r.NumRows() == 0 {
		return nil // the position has moved, and a commit will say so
	}
	if w.tables[t] == nil {
		return w.fail(fmt.Errorf("rows for the table %s, which has no schema", t))
	}
	w.tables[t].allow(n)
	if err := w.tables[t].write(ctx, r, span); err != nil {
		return w.fail(err)
	}
	w.rows += r.NumRows()
	return nil
}

// fail keeps an error that later calls return: part of a batch may be in the files, so nothing more can be committed.
func (w *writer) fail(err error) error {
	w.err = err
	return err
}

// Size implements [pipeline.Writer].
func (w *writer) Size() pipeline.Size {
	if w.holder != nil { // without one, shrink is not called
		_ = w.enter(context.Background(), 0) // never waits for memory
		defer w.leave()
	}
	s := pipeline.Size{Rows: w.rows}
	for _, t := range w.tables {
		if t != nil {
			s.Bytes += t.size()
			s.Full = s.Full || t.full()
		}
	}
	return s
}

// commitOrder is dead letters, then rows: should the process die in between without exactly-once delivery, dead letters are
// written twice rather than not at all.
var commitOrder = [...]pipeline.Table{pipeline.DeadLetters, pipeline.Rows}

// Commit implements [pipeline.Writer]. It returns the position after the last span, also when that held no
// rows, and [pipeline.Unknown] when there never was a span.
func (w *writer) Commit(ctx context.Context) (int64, error) {
	_ = w.enter(ctx, 0) // never waits for memory
	defer w.leave()
	if w.err != nil {
		return 0, w.err
	}
	if !w.dirty {
		return w.next, nil
	}
	files, err := w.finish()
	if err == nil && len(files) > 0 && w.record != nil {
		err = w.record(ctx)
	}
	if err != nil {
		return 0, w.fail(errors.Join(err, w.commit.Discard(ctx, files), w.abandon()))
	}
	// The files are the committer's from here on, whatever it returns: after an error it may be open whether they are
	// committed, and only the committer knows which may be removed.
	if err := w.commit.Commit(ctx, w.span, files); err != nil {
		return 0, w.fail(err)
	}
	w.sum.add(files)
	w.next, w.dirty, w.rows = w.span.Next, false, 0
	if w.committed != nil {
		w.committed(w.next)
	}
	return w.next, nil
}

// finish completes the files of all tables. With an error it returns those that it has completed.
func (w *writer) finish() ([]commit.File, error) {
	var files []commit.File
	for _, t := range commitOrder {
		if w.tables[t] == nil {
			continue
		}
		done, err := w.tables[t].finish(w.span)
		files = append(files, done...)
		if err != nil {
			return files, err
		}
	}
	return files, nil
}

// Abandon implements [pipeline.Writer].
func (w *writer) Abandon() error {
	_ = w.enter(context.Background(), 0) // never waits for memory
	defer w.leave()
	return w.abandon()
}

// abandon drops what is open, and discards what is complete and not committed. It may be called more than once.
func (w *writer) abandon() error {
	var errs []error
	for _, t := range w.tables {
		if t == nil {
			continue
		}
		done, err := t.revert()
		errs = append(errs, err, w.commit.Discard(context.Background(), done))
	}
	return errors.Join(errs...)
}

// Kept implements [pipeline.Keeper].
func (w *writer) Kept() *pipeline.Kept {
	if w.chain == nil {
		return nil
	}
	return w.chain.Kept()
}

// Keep implements [pipeline.Keeper].
func (w *writer) Keep(k pipeline.Kept) { w.chain.Keep(k) }

// KeptFiles implements [pipeline.Keeper].
func (w *writer) KeptFiles() pipeline.KeptFiles {
	if w.chain == nil {
		return nil
	}
	return w.chain.KeptFiles()
}

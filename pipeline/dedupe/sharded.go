package dedupe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/dedupe/runs"
	"github.com/urlmill/urlmill/pipeline/dedupe/shard"
)

// Sharded is a [pipeline.Sink] like [Sink], but that each lane has a state of its own, in the output: a row is a duplicate if its key
// is that of an earlier row of its lane. The commit that makes rows visible makes their keys known, as its record names both, so that
// there is no journal and nothing in doubt. A lane that moves to another process takes its state with it.
type Sharded struct {
	layout
	inner  pipeline.Sink
	states *shard.States // nil before Start

	duplicates atomic.Int64
	pending    atomic.Int64 // keys that are not committed, of all lanes

	tune func(*shard.Options) // of tests; nil for none
}

// NewSharded returns a sink around inner, whose writers are [pipeline.Keeper]s. The error is that of [Options.Validate].
func NewSharded(inner pipeline.Sink, opts Options) (*Sharded, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	return &Sharded{layout: layout{opts: opts.withDefaults()}, inner: inner}, nil
}

// Start implements [pipeline.Sink].
func (s *Sharded) Start(ctx context.Context, schemas pipeline.Schemas) error {
	if err := s.arrange(&schemas); err != nil {
		return err
	}
	if err := s.inner.Start(ctx, schemas); err != nil {
		return err
	}
	cache := s.opts.Path
	if cache != "" {
		cache = filepath.Join(cache, "runs")
	}
	o := shard.Options{
		Cache: cache, Memory: s.opts.Memory - s.opts.claimsMemory() - s.opts.Memory/4, Identity: s.opts.Identity, Log: s.opts.Log, Step: s.opts.Step,
	}
	if s.tune != nil {
		s.tune(&o)
	}
	var err error
	if s.states, err = shard.Open(o); err != nil {
		return fmt.Errorf("dedupe: %w", err)
	}
	return nil
}

// Open implements [pipeline.Sink]. It restores the state of the lane.
func (s *Sharded) Open(ctx context.Context, id pipeline.LaneID) (pipeline.Writer, int64, error) {
	for try := 0; ; try++ {
		w, next, err := s.open(ctx, id)
		if err == nil {
			return w, next, nil
		}
		// The process that had the lane may have made a commit since its last one was read, and removed what that named.
		if try < 2 && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w; restore the folder _seen of the output from a backup, or deliver to another folder", err)
		}
		return nil, 0, err
	}
}

func (s *Sharded) open(ctx context.Context, id pipeline.LaneID) (pipeline.Writer, int64, error) {
	inner, next, err := s.inner.Open(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	k, ok := pipeline.As[pipeline.Keeper](inner)
	if !ok || k.KeptFiles() == nil {
		err = errors.New("the output has no place for the keys of its rows")
	}
	w := &shardWriter{marker: marker{layout: &s.layout}, sink: s, inner: inner, next: next, fresh: map[Key]struct{}{}}
	if err == nil {
		w.lane, err = s.states.Lane(ctx, fmt.Sprintf("%s@%s", id, id.Session), k, next)
	}
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("dedupe: %w", err), inner.Abandon())
	}
	return w, next, nil
}

// Count implements [pipeline.Counter].
func (s *Sharded) Count(c *pipeline.Counts) {
	d := &pipeline.DuplicateCounts{Rows: s.duplicates.Load(), Dropped: s.opts.Mode == Drop}
	if s.states != nil {
		n := s.states.Counts()
		d.Shards = &pipeline.ShardCounts{Lanes: n.Lanes, Keys: n.Keys, Runs: n.Runs, Fetched: n.Fetched, Restores: n.Restores, Restoring: n.Restoring}
	}
	c.Duplicates = d
}

// Unwrap returns the sink that it hands its rows to.
func (s *Sharded) Unwrap() pipeline.Sink { return s.inner }

// Close implements [pipeline.Sink].
func (s *Sharded) Close() error {
	var err error
	if s.states != nil {
		err = s.states.Close() // first: merges write into the output
	}
	return errors.Join(err, s.inner.Close())
}

// shardWriter is the writer of a lane with a state of its own.
type shardWriter struct {
	marker
	sink  *Sharded
	inner pipeline.Writer
	lane  *shard.Lane

	next  int64 // position after the last commit; of the first row, before there is one
	end   int64 // position after the last row
	dirty bool

	fresh   map[Key]struct{} // keys of rows that are not committed
	claimed []runs.Key       // the same

	rows  []keyed // of the record being written
	asked []runs.Key
	found []bool
}

// keyed is the key of a row.
type keyed struct {
	key Key
	row int32
}

// Size asks for a commit when the keys that are not committed have used up their memory.
func (w *shardWriter) Size() pipeline.Size {
	size := w.inner.Size()
	size.Full = size.Full || len(w.claimed) > 0 && w.sink.pending.Load() >= w.opts.maxClaims()
	return size
}

// Write implements [pipeline.Writer].
func (w *shardWriter) Write(ctx context.Context, t pipeline.Table, r arrow.Record, span pipeline.Span) error {
	if t != pipeline.Rows {
		return w.inner.Write(ctx, t, r, span)
	}
	if w.next == pipeline.Unknown {
		w.next = span.First
	}
	w.end, w.dirty = span.Next, true
	if r == nil {
		return w.inner.Write(ctx, t, r, span)
	}
	if err := w.read(r); err != nil {
		return fmt.Errorf("dedupe: %w", err)
	}
	duplicates, err := w.find()
	if err != nil {
		return fmt.Errorf("dedupe: %w", err)
	}
	w.sink.duplicates.Add(int64(duplicates))
	out := w.output(r, duplicates)
	defer out.Release()
	return w.inner.Write(ctx, t, out, span)
}

// find fills w.marks, and notes the keys of rows that are no duplicates.
func (w *shardWriter) find() (duplicates int, err error) {
	w.rows, w.asked = w.rows[:0], w.asked[:0]
	for i, e := range w.entries {
		if !w.keyless[i] {
			w.rows = append(w.rows, keyed{e.key, int32(i)})
		}
	}
	runs.Sort(w.rows, func(k *keyed) *Key { return &k.key })
	// firsts are the rows of w.asked.
	firsts := w.rows[:0]
	for at := 0; at < len(w.rows); {
		same := at + 1
		for same < len(w.rows) && w.rows[same].key == w.rows[at].key {
			same++
		}
		first := slices.MinFunc(w.rows[at:same], func(a, b keyed) int { return cmp.Compare(a.row, b.row) })
		for _, k := range w.rows[at:same] {
			w.marks[k.row] = k.row != first.row
		}
		at = same
		if _, w.marks[first.row] = w.fresh[first.key]; !w.marks[first.row] {
			firsts, w.asked = append(firsts, first), append(w.asked, first.key)
		}
	}
	w.found = resize(w.found, len(w.asked))
	clear(w.found)
	if err := w.lane.Find(w.asked, w.found); err != nil {
		return 0, err
	}
	for i, k := range firsts {
		if w.marks[k.row] = w.found[i]; !w.found[i] {
			w.fresh[k.key] = struct{}{}
			w.claimed = append(w.claimed, k.key)
			w.sink.pending.Add(1)
		}
	}
	for _, marked := range w.marks {
		if marked {
			duplicates++
		}
	}
	return duplicates, nil
}

// Commit implements [pipeline.Writer].
func (w *shardWriter) Commit(ctx context.Context) (next int64, err error) {
	if !w.dirty {
		return w.inner.Commit(ctx)
	}
	runs.Sort(w.claimed, func(k *runs.Key) *Key { return k })
	if err := w.lane.Stage(ctx, w.next, w.end, w.claimed); err != nil {
		return 0, fmt.Errorf("dedupe: writing keys: %w", err)
	}
	if err := w.opts.Step("inner commit"); err != nil {
		return 0, err
	}
	if next, err = w.inner.Commit(ctx); err != nil {
		return 0, err
	}
	w.lane.Committed(ctx)
	w.next, w.dirty = next, false
	w.forget()
	return next, nil
}

// forget drops the keys that are not committed, or are by now.
func (w *shardWriter) forget() {
	w.sink.pending.Add(-int64(len(w.claimed)))
	if len(w.claimed) > 1<<12 {
		w.fresh = map[Key]struct{}{} // a map keeps the room that it has had
	} else {
		clear(w.fresh)
	}
	w.claimed = w.claimed[:0]
}

// Abandon implements [pipeline.Writer].
func (w *shardWriter) Abandon() error {
	w.forget()
	return errors.Join(w.inner.Abandon(), w.lane.Release())
}

// Finish implements [pipeline.Finisher].
func (w *shardWriter) Finish() error { return w.lane.Release() }

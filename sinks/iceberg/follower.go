package iceberg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	iceberg "github.com/apache/iceberg-go"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
)

const (
	// maxAttempts is how often a commit is tried that others are in the way of.
	maxAttempts = 20
	// fewAttempts is how often the files of a table are looked for that another process may have removed since it was loaded.
	fewAttempts = 3
	// maxFiles bounds the files that a snapshot adds.
	maxFiles = 2000
	// lastTimeout bounds the last attempt when the sink is closed.
	lastTimeout = time.Minute
	// wait is the least and the greatest time between attempts.
	wait, maxWait = 50 * time.Millisecond, 5 * time.Second
)

// Follower adds what a chain commits to a table. Make one with [New].
type Follower struct {
	opts  Options
	log   *slog.Logger
	store store.Store
	table *tableOf
	rows  *arrow.Schema

	mu    sync.Mutex
	heads map[string]int64 // by lane: what is committed and published
	done  map[string]int64 // by lane: what is known to be in the table, or to need no file there
	uuid  string           // of the table that done is about

	once             sync.Mutex // held by the one that adds
	stop             context.CancelFunc
	ended            chan struct{}
	snapshots, files atomic.Int64
	failing          atomic.Bool
}

// New returns a follower. The options have been validated.
func New(o Options, log *slog.Logger) *Follower {
	return &Follower{opts: o.withDefaults(), log: log, heads: map[string]int64{}, done: map[string]int64{}}
}

// Start connects to the catalog, makes the table if it is missing, and adds what the chains in root have published and the
// table does not have. It goes no further than it is told that lanes have been published: the last record that there is may
// be one whose files a living process is about to publish. root stays open until the follower is closed.
func (r *Follower) Start(ctx context.Context, root store.Store, rows *arrow.Schema, published map[string]int64) error {
	if err := commit.Register(ctx, root); err != nil {
		return fmt.Errorf("iceberg: %w", err)
	}
	t, err := openTable(ctx, r.opts, root, rows)
	if err != nil {
		return fmt.Errorf("iceberg: %w", err)
	}
	r.store, r.table, r.rows = root, t, rows
	for lane, next := range published {
		r.Committed(lane, next)
	}
	if err := r.flush(ctx); err != nil {
		return errors.Join(fmt.Errorf("iceberg: table %s: %w", r.opts.Table, err), t.catalog.Close())
	}
	background, stop := context.WithCancel(context.Background())
	r.stop, r.ended = stop, make(chan struct{})
	go r.run(background)
	return nil
}

// Committed says that all before a position of a lane is committed and published. It does not wait.
func (r *Follower) Committed(lane string, next int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if next != pipeline.Unknown {
		r.heads[lane] = max(r.heads[lane], next)
	}
}

// run adds what there is from time to time.
func (r *Follower) run(ctx context.Context) {
	defer close(r.ended)
	tick := time.NewTicker(r.opts.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := r.flush(ctx); err != nil && ctx.Err() == nil {
			r.failing.Store(true)
			r.log.Error("the files of some commits are not in the Iceberg table yet; trying again", "table", r.opts.Table, "error", err, "every", r.opts.Every)
		} else {
			r.failing.Store(false)
		}
	}
}

// Close adds what there is left, and disconnects.
func (r *Follower) Close() error {
	if r.stop == nil {
		return nil
	}
	r.stop()
	<-r.ended
	r.stop = nil
	ctx, cancel := context.WithTimeout(context.Background(), lastTimeout)
	defer cancel()
	err := r.flush(ctx)
	if err != nil {
		err = fmt.Errorf("iceberg: table %s: some files are committed and not in the table; the next start adds them: %w", r.opts.Table, err)
	}
	return errors.Join(err, r.table.catalog.Close())
}

// Count implements [pipeline.Counter].
func (r *Follower) Count(c *pipeline.Counts) {
	c.Table = &pipeline.TableCounts{Snapshots: r.snapshots.Load(), Files: r.files.Load(), Failing: r.failing.Load()}
}

// flush adds all that there is.
func (r *Follower) flush(ctx context.Context) error {
	r.once.Lock()
	defer r.once.Unlock()
	conflicts := 0
	for {
		more, err := r.step(ctx)
		switch {
		case errors.Is(err, errConflict) && conflicts < maxAttempts, errors.Is(err, fs.ErrNotExist) && conflicts < fewAttempts:
			conflicts++
			pause := min(maxWait, wait<<min(conflicts, 10))
			if err := sleep(ctx, pause/2+rand.N(pause)); err != nil {
				return err
			}
		case err != nil || !more:
			return err
		default:
			conflicts = 0
		}
	}
}

// behind returns the lanes that have more than the table is known to have, in order.
func (r *Follower) behind() (lanes []string, heads map[string]int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	heads = map[string]int64{}
	for lane, next := range r.heads {
		if done, ok := r.done[lane]; !ok || done < next {
			heads[lane] = next
		}
	}
	return slices.Sorted(maps.Keys(heads)), heads
}

// batch is what one snapshot adds.
type batch struct {
	files []commit.File
	moved map[string]int64
}

// step adds what there is, or a part of it; more says that it was one.
func (r *Follower) step(ctx context.Context) (more bool, err error) {
	lanes, _ := r.behind()
	if len(lanes) == 0 {
		return false, nil
	}
	now, err := r.load(ctx)
	if err != nil {
		return false, err
	}
	lanes, heads := r.behind() // all of them, if it is another table
	held, err := r.table.positions(now.meta)
	if err != nil {
		return false, err
	}
	b := batch{moved: map[string]int64{}}
	for _, lane := range lanes {
		if len(b.files) >= maxFiles {
			more = true
			break
		}
		part, err := r.collect(ctx, &b, lane, held, heads[lane])
		if err != nil {
			return false, err
		}
		more = more || part
	}
	if len(b.files) > 0 {
		if err := r.add(ctx, now, held, b); err != nil {
			return false, err
		}
	}
	r.mu.Lock()
	maps.Copy(r.done, b.moved)
	r.mu.Unlock()
	return more, nil
}

// load loads the table. One that was dropped and made anew, by whomever, has none of what is known of the one before, and
// perhaps not its columns and its place.
func (r *Follower) load(ctx context.Context) (*state, error) {
	now, err := r.table.load(ctx)
	if errors.Is(err, errNoTable) {
		err = fmt.Errorf("%w any more: if it was not renamed, the next start makes it anew", err)
	}
	if err != nil || now.meta.UUID == r.uuid {
		return now, err
	}
	if r.uuid != "" {
		r.log.Warn("the Iceberg table was dropped and made anew; adding what it does not have", "table", r.opts.Table)
		if err := r.table.prepare(ctx, r.opts, r.rows); err != nil {
			return nil, err
		}
		if now, err = r.table.load(ctx); err != nil {
			return nil, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.done)
	r.uuid = now.meta.UUID
	return now, nil
}

var errEnough = errors.New("enough for one snapshot")

// collect adds to a batch what a lane has committed and the table does not have.
func (r *Follower) collect(ctx context.Context, b *batch, lane string, held map[string]int64, head int64) (more bool, err error) {
	from, ok := held[lane]
	if !ok {
		from = pipeline.Unknown
	}
	r.mu.Lock()
	if done, ok := r.done[lane]; ok {
		from = max(from, done)
	}
	r.mu.Unlock()
	if from >= head {
		b.moved[lane] = from
		return false, nil
	}
	next, err := commit.Since(ctx, r.store, lane, from, head, func(c *commit.Record) error {
		if len(b.files) >= maxFiles {
			return errEnough
		}
		for _, f := range c.Files {
			if f.Table == pipeline.Rows.String() && f.Place == "" {
				b.files = append(b.files, f)
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		more, err = true, nil
	}
	if err == nil && next != pipeline.Unknown {
		b.moved[lane] = next
	}
	return more, err
}

// add makes a snapshot of a batch, on condition that the table is still as it was.
func (r *Follower) add(ctx context.Context, now *state, held map[string]int64, b batch) error {
	schema, err := now.meta.schema()
	if err != nil {
		return err
	}
	layout, err := now.meta.layout(schema)
	if err != nil {
		return err
	}
	var added []iceberg.DataFile
	var gone []string
	for _, f := range b.files {
		d, err := dataFile(ctx, r.store, r.table.base, f, layout)
		if errors.Is(err, fs.ErrNotExist) {
			r.log.Warn("a committed file is not there any more and is left out of the Iceberg table; this is fine if it was moved away or deleted on purpose", "file", f.Name)
			gone = append(gone, f.Name)
			continue
		}
		if err != nil {
			return err
		}
		added = append(added, d)
	}
	all := maps.Clone(held)
	maps.Copy(all, b.moved)
	c := change{properties: map[string]string{positionsKey: string(encode(all)), outputKey: r.table.base}}
	a, err := r.table.appendFiles(ctx, now, added, map[string]string{positionsKey: string(encode(b.moved)), outputKey: r.table.base})
	if err == nil && len(gone) > 0 {
		err = r.table.noteLeftOut(ctx, a, gone)
	}
	if err == nil {
		c.snapshot = a.snapshot
		err = r.table.catalog.commit(ctx, r.table.id, now, c)
	}
	if err != nil {
		r.table.withdraw(ctx, a, c.snapshot != nil, err)
		return err
	}
	r.snapshots.Add(1)
	r.files.Add(int64(len(added)))
	return nil
}

package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"
)

// ErrDrainTimeout is the error of a pipeline whose lanes did not commit in time after a drain was asked for.
// What they had not committed is read again at the next start.
var ErrDrainTimeout = errors.New("the drain deadline passed before every lane had committed; " +
	"its uncommitted rows will be read again (pipeline.drain_timeout sets the deadline)")

// Options says how a pipeline runs. Zero values stand for the defaults.
type Options struct {
	// Schemas are the schemas of the records that the transforms make.
	Schemas Schemas
	// NewTransform makes a transform. It is called at most Batches times, and again for a batch that became too large to
	// keep.
	NewTransform func() Transform
	// BatchRows and BatchBytes bound a batch. Defaults: 8192 rows, 4 MiB.
	BatchRows, BatchBytes int
	// Workers is how many goroutines parse and write. Default GOMAXPROCS.
	Workers int
	// Buffers is the number of batches that one lane may have in flight between reading, parsing and writing.
	// Default Workers + 2: one being read, one being written, and the others being parsed.
	Buffers int
	// Batches is the number of batches that all lanes together have in flight. They take turns in the order in
	// which they ask. Default 8, and 4 for each worker.
	Batches int
	// BatchMemory is how large a batch with its columns may be to stay in memory after use. Default 16 times
	// BatchBytes.
	BatchMemory int64
	// Roll says when a lane commits.
	Roll Roll
	// DrainTimeout is how long the lanes may take to commit after a drain was asked for. Default 20 s.
	DrainTimeout time.Duration
	// Stats, if not nil, is kept up to date while the pipeline runs.
	Stats *Stats
}

// Roll says when a lane commits what it has written: as soon as one of the limits that are set is reached.
// Every file of a sink ends with a commit, so these are also the sizes of files.
type Roll struct {
	Rows  int64         // default 0: no limit
	Bytes int64         // default 512 MiB; -1: no limit
	Every time.Duration // since the first uncommitted row; default 1 min; -1: no limit
}

func (o Options) withDefaults() Options {
	if o.BatchRows == 0 {
		o.BatchRows = 8192
	}
	if o.BatchBytes == 0 {
		o.BatchBytes = 4 << 20
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Buffers == 0 {
		o.Buffers = o.Workers + 2
	}
	if o.Batches == 0 {
		o.Batches = 8 + 4*o.Workers
	}
	if o.BatchMemory == 0 {
		o.BatchMemory = 16 * int64(o.BatchBytes)
	}
	if o.Roll.Bytes == 0 {
		o.Roll.Bytes = 512 << 20
	}
	if o.Roll.Every == 0 {
		o.Roll.Every = time.Minute
	}
	if o.DrainTimeout == 0 {
		o.DrainTimeout = 20 * time.Second
	}
	if o.Stats == nil {
		o.Stats = new(Stats)
	}
	return o
}

// Run moves all records of src through the transforms into sink and returns when the source has ended, a
// fault has stopped it, or, after drain was closed or ctx cancelled, when every lane has ended.
//
// Closing drain stops reading, commits what was read, and returns nil. Cancelling ctx stops at once: what is
// not committed is abandoned. When the sink fails, or a row does under [Fail], the other lanes are drained
// and the fault is returned.
func Run(ctx context.Context, drain <-chan struct{}, src Source, sink Sink, opts Options) error {
	opts = opts.withDefaults()
	if err := sink.Start(ctx, opts.Schemas); err != nil {
		return fmt.Errorf("sink: %w", err)
	}
	if r, ok := As[Resumer](src); ok {
		if p, ok := As[Positions](sink); ok {
			r.Resume(p)
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &runner{
		sink: sink, opts: opts, soft: make(chan struct{}),
		slots: &slotPool{opts: &opts}, tasks: newTasks(), commits: make(chan struct{}, maxCommits), stages: newStages(),
	}
	var workers sync.WaitGroup
	for range opts.Workers {
		workers.Go(r.tasks.work)
	}
	watched := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(watched)
		r.watchDrain(ctx, drain, done, cancel)
	}()
	var err error
	pprof.Do(ctx, stageLabels[consuming], func(ctx context.Context) { err = src.Run(ctx, r.soft, r.runLane) })
	// Every lane has ended, and a lane ends only when its slots are back: the workers have nothing left to do.
	close(done)
	<-watched
	r.tasks.close()
	workers.Wait()
	if cause := context.Cause(ctx); cause != nil && (err == nil || errors.Is(err, ctx.Err())) {
		err = cause
	}
	return errors.Join(r.fault(), err, closeSink(sink))
}

func closeSink(sink Sink) error {
	if err := sink.Close(); err != nil {
		return fmt.Errorf("sink: %w", err)
	}
	return nil
}

// maxCommits is how many lanes commit at a time. Commits wait for the disk or the network most of the time.
const maxCommits = 16

// runner is the state that the lanes of one Run share.
type runner struct {
	sink    Sink
	opts    Options
	slots   *slotPool
	tasks   *tasks
	commits chan struct{} // one for each commit that is being made
	stages  *stages

	softOnce sync.Once
	soft     chan struct{} // closed when the lanes are to drain

	mu     sync.Mutex
	faults []error // faults that are not the source's
}

// watchDrain passes a drain on to the lanes and bounds the time that it takes, also that of a drain that a fault has begun. It
// returns when done is closed or ctx ends; at the deadline it cancels the lanes, and their rows are read again.
func (r *runner) watchDrain(ctx context.Context, drain, done <-chan struct{}, cancel context.CancelCauseFunc) {
	select {
	case <-drain:
		r.drain()
	case <-r.soft:
	case <-ctx.Done():
		return
	case <-done:
		return
	}
	deadline := time.NewTimer(r.opts.DrainTimeout)
	defer deadline.Stop()
	select {
	case <-deadline.C:
		cancel(ErrDrainTimeout)
	case <-ctx.Done():
	case <-done:
	}
}

func (r *runner) drain() { r.softOnce.Do(func() { close(r.soft) }) }

// fail records a fault that is not the source's and drains all lanes. It may be called by several lanes: all faults are kept.
func (r *runner) fail(err error) {
	r.mu.Lock()
	r.faults = append(r.faults, err)
	r.mu.Unlock()
	r.opts.Stats.failed(err)
	r.drain()
}

func (r *runner) fault() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.faults...)
}

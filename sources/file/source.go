package file

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources"
	"github.com/urlmill/urlmill/sources/codec"
)

// Source reads files and standard input. Make one with New.
type Source struct {
	o       Options
	codec   codec.Factory
	log     *slog.Logger
	inputs  []input
	total   atomic.Int64 // bytes of all files
	endless bool         // there is an input of unknown size
	read    atomic.Int64
	// positions are those of the sink, nil where there are none: then a file is not gone on with, and not recognised.
	positions pipeline.Positions
}

// Paths returns the files that will be read, in order, "-" among them for standard input. The slice is the
// caller's.
func (s *Source) Paths() []string {
	paths := make([]string, len(s.inputs))
	for i, in := range s.inputs {
		paths[i] = in.path
	}
	return paths
}

// Count implements [pipeline.Counter]. Progress is in bytes as they are stored. There is no total when standard input or a pipe
// is among the files.
func (s *Source) Count(c *pipeline.Counts) {
	c.Progress = &pipeline.Progress{Done: s.read.Load()}
	if !s.endless {
		c.Progress.Total = s.total.Load()
		c.Progress.Done = min(c.Progress.Done, c.Progress.Total) // a file may have grown
	}
}

// Run implements [pipeline.Source]. A file that cannot be read to its end does not stop the others; its error, a
// [*ReadError], [*ChangedError] or [*TooShortError], is returned at the end, joined with those of other such files.
//
// When a drain or the end of ctx finds a lane waiting for standard input or a pipe, Run does not wait for it: a
// goroutine is left behind that ends when the input has another byte, or ends.
func (s *Source) Run(ctx context.Context, drain <-chan struct{}, each func(context.Context, pipeline.Lane) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	inputs := s.inputs
	var mu sync.Mutex
	var errs []error // of single files
	var fatal error  // of each
	if s.positions != nil {
		var err error
		if inputs, errs, err = s.match(ctx); err != nil {
			return err
		}
	}
	var lanes sync.WaitGroup
	slots := make(chan struct{}, s.o.Parallel)
	for _, in := range inputs {
		if !acquire(ctx, drain, slots) {
			break
		}
		lanes.Go(func() {
			defer func() { <-slots }()
			err := sources.Taken(s.lane(ctx, drain, in, each), in.path, "reading this file")
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
			case isOwn(err):
				if len(s.inputs) > 1 { // the error itself may be long in coming
					s.log.Warn("file not read to its end; what is wrong is said at the end", "path", in.path)
				}
				errs = append(errs, err)
			default:
				if fatal == nil {
					fatal = err
				}
				cancel(err)
			}
		})
	}
	lanes.Wait()
	if fatal != nil {
		return fatal
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return errors.Join(errs...)
}

// acquire waits for a free slot and returns false when no more lanes are to be handed out.
func acquire(ctx context.Context, drain <-chan struct{}, slots chan<- struct{}) bool {
	select {
	case <-drain:
		return false
	case <-ctx.Done():
		return false
	default:
	}
	select {
	case slots <- struct{}{}:
		return true
	case <-drain:
	case <-ctx.Done():
	}
	return false
}

// lane hands out the lane of one file.
func (s *Source) lane(ctx context.Context, drain <-chan struct{}, in input, each func(context.Context, pipeline.Lane) error) error {
	if tables, ok := s.codec.(codec.Tables); ok {
		l := &tableLane{source: s, tables: tables, in: in, drain: drain}
		defer l.close()
		return each(ctx, l)
	}
	l := &lane{source: s, in: in, drain: drain}
	err := each(ctx, l)
	l.close()
	if in.done {
		s.read.Add(in.size)
	} else if isOwn(err) && !in.stream {
		s.read.Add(in.size - l.stream.taken) // nobody is going to read the rest
	}
	return err
}

package shard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/vfs"
)

// Options are those of the states of all lanes of a process.
type Options struct {
	// Cache is a folder on a local disk for copies of runs, which is made when its parent is there; "" reads runs in the output.
	Cache string
	// Memory is for the filters of all lanes, in bytes. What else a lane has is three quarters of a bit a key.
	Memory int64
	// Identity names what keys are made of. A state of another identity is refused.
	Identity string
	// Grace is how long files stay after a merge has replaced them, or since a dead process has left them. Default an hour.
	Grace time.Duration
	Log   *slog.Logger
	// Step, if not nil, is asked before every step that changes the output, and its error ends it there. It is for tests of crashes.
	Step func(string) error

	// Many is how many runs of a size are merged into one. Default 8: a key is rewritten once for each time that the state has become
	// so many times as large.
	Many int
	// Wait has commits wait for merges, so that tests can repeat what they do.
	Wait bool
}

const (
	grace = time.Hour
	many  = 8
	// unused is after what time a copy that no lane has opened is removed.
	unused = 7 * 24 * time.Hour
)

// States are those of the lanes that a process has. Its methods may be called from several goroutines.
type States struct {
	opts   Options
	copies copies
	pool   *pool
	lock   io.Closer
	merges chan struct{} // one at a time

	ctx  context.Context // of merges
	stop context.CancelFunc

	mu   sync.Mutex
	open map[*Lane]bool
	idle map[string]*Lane // lanes that were released in good order, by their names

	restores, nanos atomic.Int64
}

// Open returns the states of a process without any lane.
func Open(opts Options) (*States, error) {
	if opts.Grace == 0 {
		opts.Grace = grace
	}
	if opts.Many == 0 {
		opts.Many = many
	}
	if opts.Step == nil {
		opts.Step = func(string) error { return nil }
	}
	s := &States{
		opts: opts, copies: copies{dir: opts.Cache}, pool: &pool{free: opts.Memory}, merges: make(chan struct{}, 1),
		open: map[*Lane]bool{}, idle: map[string]*Lane{},
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	if opts.Cache == "" {
		return s, nil
	}
	err := os.MkdirAll(opts.Cache, 0o777)
	if err == nil {
		if s.lock, err = vfs.Default.Lock(filepath.Join(opts.Cache, "LOCK")); err != nil {
			err = fmt.Errorf("%w; one process at a time may use it", err)
		}
	}
	if err == nil {
		err = tidy(opts.Cache)
	}
	if err != nil {
		return nil, fmt.Errorf("the folder of copies %s cannot be used: %w", opts.Cache, err)
	}
	return s, nil
}

// tidy removes what a dead process was writing, and copies that no lane has needed for long.
func tidy(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		old := strings.HasSuffix(e.Name(), ".keys") && time.Since(info.ModTime()) > unused
		if !old && !strings.HasSuffix(e.Name(), ".new") {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Counts are those of the lanes that are open, and of what was done to open them.
type Counts struct {
	Lanes, Keys, Runs int64
	// Fetched is how many bytes were copied from the output, in Restores lanes that took Restoring in all.
	Fetched, Restores int64
	Restoring         time.Duration
}

// Counts returns them.
func (s *States) Counts() Counts {
	c := Counts{Fetched: s.copies.fetched.Load(), Restores: s.restores.Load(), Restoring: time.Duration(s.nanos.Load())}
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.open {
		c.Lanes, c.Keys, c.Runs = c.Lanes+1, c.Keys+l.keys.Load(), c.Runs+l.count.Load()
	}
	return c
}

// Close closes all lanes.
func (s *States) Close() error {
	s.stop()
	s.mu.Lock()
	var all []*Lane
	for l := range s.open {
		all = append(all, l)
	}
	for _, l := range s.idle {
		all = append(all, l)
	}
	s.open, s.idle = map[*Lane]bool{}, map[string]*Lane{}
	s.mu.Unlock()
	var errs []error
	for _, l := range all {
		errs = append(errs, l.close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}

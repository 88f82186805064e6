package bucket

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"sync"
	"time"

	"github.com/urlmill/urlmill/sinks/store"
)

const (
	tmpName   = "_tmp"
	claimName = "claim"
	// claimEvery is how often a run writes its claim again, and claimLasts after what time one without uploads is
	// taken for that of a run that is over. To take a living one for that costs no more than that its uploads are
	// left to the bucket's own rules, should it be killed later.
	claimEvery = 24 * time.Hour
	claimLasts = 7 * 24 * time.Hour
	// closeTimeout bounds what Close does.
	closeTimeout = 10 * time.Second
)

// Store is a place in a bucket. Make one with [New].
type Store struct {
	Place
	client  Client
	opts    Options
	service Service
	log     *slog.Logger
	shared  *Shared
	// Now is by the clock of this machine. Tests have others.
	Now func() time.Time

	mu       sync.Mutex
	run      string // "" before Prepare
	claimed  time.Time
	open     int               // files that are neither discarded nor finished
	finished map[string][]Part // by token: neither published nor discarded
	orphans  bool              // there may be uploads whose identifiers are not known here
}

// Shared is what all stores of an opener have together.
type Shared struct {
	slots   chan struct{} // has a place for every part that may be on its way
	buffers sync.Pool     // of *[]byte with the capacity of a part
}

// NewShared returns what stores with the options have together.
func NewShared(o Options) *Shared { return &Shared{slots: make(chan struct{}, o.Parallel)} }

var _ store.Store = (*Store)(nil)

// New returns the store of a place that a client does the requests for.
func New(c Client, p Place, v Service, o Options, log *slog.Logger, shared *Shared) *Store {
	return &Store{Place: p, client: c, opts: o, service: v, log: log, shared: shared, Now: time.Now, finished: map[string][]Part{}}
}

// check refuses keys that lead out of the prefix, or would mean something else than they say: they come from records
// that anybody may have written.
func check(keys ...string) error {
	for _, key := range keys {
		if !fs.ValidPath(key) {
			return fmt.Errorf("%q is not the name of a file in the directory", key)
		}
	}
	return nil
}

// Others implements [store.Store]. A claim says that a run has written here, and not that it lives.
func (s *Store) Others(context.Context) ([]string, error) { return nil, errors.ErrUnsupported }

// Run implements [store.Store].
func (s *Store) Run() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run
}

// Prepare implements [store.Store]. It finds out whether the server does with uploads what this package relies on.
func (s *Store) Prepare(ctx context.Context) error {
	if s.Run() != "" {
		return nil
	}
	if err := s.client.Check(ctx); err != nil {
		return err
	}
	run, err := s.claim(ctx)
	if err != nil {
		return err
	}
	if err := s.probe(ctx, run); err != nil {
		return errors.Join(err, s.Delete(context.WithoutCancel(ctx), claimKey(run)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run, s.claimed = run, s.Now()
	return nil
}

func claimKey(run string) string { return path.Join(tmpName, run, claimName) }

// claim makes up an identifier that no other run has.
func (s *Store) claim(ctx context.Context) (string, error) {
	for {
		var id [4]byte
		_, _ = rand.Read(id[:]) // never fails
		run := hex.EncodeToString(id[:])
		err := s.Create(ctx, claimKey(run), nil)
		switch {
		case errors.Is(err, fs.ErrExist):
			continue
		case errors.Is(err, errors.ErrUnsupported):
			// At-least-once delivery can do without; four random bytes have to be enough then.
			err = s.client.Put(ctx, claimKey(run), nil)
		}
		return run, err
	}
}

// refresh writes the claim again when it gets old. An error is no reason to stop.
func (s *Store) refresh(ctx context.Context) {
	s.mu.Lock()
	due := s.Now().Sub(s.claimed) > claimEvery
	if due {
		s.claimed = s.Now()
	}
	run := s.run
	s.mu.Unlock()
	if !due {
		return
	}
	if err := s.client.Put(ctx, claimKey(run), nil); err != nil {
		s.log.Warn("cannot renew the mark of this process; if it is killed, its unfinished uploads may have to be removed by the bucket's lifecycle rule",
			"key", s.URL(claimKey(run)), "error", err)
	}
}

// Close implements [store.Store].
func (s *Store) Close() error {
	s.mu.Lock()
	run, left := s.run, s.orphans || s.open+len(s.finished) > 0
	s.run = ""
	s.mu.Unlock()
	if run == "" || left {
		return nil // with uploads left, the claim stays for others to find them
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return s.Delete(ctx, claimKey(run))
}

package file

import (
	"bytes"
	"cmp"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources"
	"github.com/urlmill/urlmill/sources/codec"
)

// cloud is a bucket in memory.
type cloud struct {
	mu      sync.Mutex
	keys    []string // sorted
	content map[string][]byte
	etags   map[string]string

	lists, gets atomic.Int64
	// onList and onOpen are asked before each request, and cut how many bytes of an answer arrive, all with a negative number.
	onList func(prefix, after string) error
	onOpen func(o objstore.Object, off int64) error
	cut    func(o objstore.Object, off int64) int64
	queue  *post // with notifications, nil for none
}

func etagOf(data []byte) string {
	sum := md5.Sum(data)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

func (c *cloud) put(key, content string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.content == nil {
		c.content, c.etags = map[string][]byte{}, map[string]string{}
	}
	if at, there := slices.BinarySearch(c.keys, key); !there {
		c.keys = slices.Insert(c.keys, at, key)
	}
	c.content[key], c.etags[key] = []byte(content), etagOf([]byte(content))
}

func (c *cloud) remove(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, there := slices.BinarySearch(c.keys, key); there {
		c.keys = slices.Delete(c.keys, at, at+1)
		delete(c.content, key)
	}
}

// List implements [objstore.Store].
func (c *cloud) List(_ context.Context, prefix, after string, limit int) (page []objstore.Object, more bool, err error) {
	c.lists.Add(1)
	if c.onList != nil {
		if err := c.onList(prefix, after); err != nil {
			return nil, false, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at, there := slices.BinarySearch(c.keys, max(prefix, after))
	if there && after >= prefix {
		at++
	}
	for ; at < len(c.keys) && strings.HasPrefix(c.keys[at], prefix); at++ {
		if len(page) == min(limit, 1000) {
			return page, true, nil
		}
		key := c.keys[at]
		page = append(page, objstore.Object{Key: key, Size: int64(len(c.content[key])), ETag: c.etags[key]})
	}
	return page, false, nil
}

// Dirs implements [objstore.Store].
func (c *cloud) Dirs(ctx context.Context, prefix string, each func(dirs []string) bool) error {
	c.mu.Lock()
	var pages [][]string
	var page []string
	n := 0
	at, _ := slices.BinarySearch(c.keys, prefix)
	for at < len(c.keys) && strings.HasPrefix(c.keys[at], prefix) {
		key := c.keys[at]
		end := strings.IndexByte(key[len(prefix):], '/')
		if n++; end < 0 {
			at++
		} else {
			last := key[:len(prefix)+end+1]
			page = append(page, last)
			at, _ = slices.BinarySearch(c.keys, last[:len(last)-1]+"0") // behind all below it
		}
		if n%1000 == 0 {
			pages, page = append(pages, page), nil
		}
	}
	c.mu.Unlock()
	for _, page := range append(pages, page) {
		if c.lists.Add(1); !each(page) {
			break
		}
	}
	return ctx.Err()
}

// Stat implements [objstore.Store].
func (c *cloud) Stat(ctx context.Context, key string) (o objstore.Object, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	data, ok := c.content[key]
	if !ok {
		return o, fs.ErrNotExist
	}
	return objstore.Object{Key: key, Size: int64(len(data)), ETag: c.etags[key]}, ctx.Err()
}

// Open implements [objstore.Store].
func (c *cloud) Open(_ context.Context, o objstore.Object, off, n int64) (io.ReadCloser, error) {
	c.gets.Add(1)
	if c.onOpen != nil {
		if err := c.onOpen(o, off); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	data, ok := c.content[o.Key]
	etag := c.etags[o.Key]
	c.mu.Unlock()
	switch {
	case !ok:
		return nil, fs.ErrNotExist
	case etag != o.ETag:
		return nil, objstore.ErrChanged
	}
	data = data[off:]
	if n >= 0 {
		data = data[:n]
	}
	if c.cut != nil {
		if arrive := c.cut(o, off); arrive >= 0 && arrive < int64(len(data)) {
			return io.NopCloser(io.MultiReader(bytes.NewReader(data[:arrive]), broken{})), nil
		}
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// broken is a connection that has broken.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

// cloudOptions implements [objstore.Options].
type cloudOptions struct{ c objstore.Store }

func (o cloudOptions) CheckBucket(string) error { return nil }
func (o cloudOptions) Validate() error          { return nil }
func (o cloudOptions) Section() config.Section  { return config.Section{} }
func (o cloudOptions) Open(string, *slog.Logger) (objstore.Store, objstore.Trouble, error) {
	return o.c, nil, nil
}

// Queue implements [objstore.Notified].
func (o cloudOptions) Queue() (key, name string) {
	if c, ok := o.c.(*cloud); ok && c.queue != nil {
		return "queue", "q"
	}
	return "queue", ""
}

// OpenQueue implements [objstore.Notified].
func (o cloudOptions) OpenQueue(string, *slog.Logger) (objstore.Queue, error) {
	return o.c.(*cloud).queue.reader(), nil
}

// openCloud returns a source of the objects of c.
func openCloud(c objstore.Store, change func(*Options), paths ...string) (*ObjectSource, error) {
	kind := Kind(objstore.Kind{Scheme: "s3://", Depth: 1, Name: "s3", New: func() objstore.Options { return cloudOptions{c} }})
	o := kind.New().(*Options)
	o.Paths = paths
	if change != nil {
		change(o)
	}
	s, err := o.Open(sources.Env{}, codec.NewLines(codec.LinesOptions{}))
	if err != nil {
		return nil, err
	}
	s.(*ObjectSource).wait = func(ctx context.Context, _ int) error { return ctx.Err() }
	return s.(*ObjectSource), nil
}

// chains is a sink in memory that keeps what was committed, and refuses what is not the next.
type chains struct {
	mu    sync.Mutex
	lanes map[pipeline.LaneID][]pipeline.Mark
	rows  []string // "address record text"
	// commits is how many there were, and dies a number after which the process is killed.
	commits, dies int
	every         int // batches of a commit
	maxRows       int
	refused       int // commits
}

var errKilled = errors.New("killed")

func newChains() *chains {
	return &chains{lanes: map[pipeline.LaneID][]pipeline.Mark{}, every: 3, maxRows: 7}
}

// Position implements [pipeline.Positions].
func (k *chains) Position(_ context.Context, id pipeline.LaneID) (pipeline.Mark, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if marks := k.lanes[id]; len(marks) > 0 {
		return marks[len(marks)-1], nil
	}
	return pipeline.Mark{Next: pipeline.Unknown}, nil
}

// History implements [pipeline.Historian].
func (k *chains) History(_ context.Context, id pipeline.LaneID, each func(pipeline.Mark) error) error {
	k.mu.Lock()
	marks := slices.Clone(k.lanes[id])
	k.mu.Unlock()
	for _, m := range marks {
		if err := each(m); err != nil {
			return err
		}
	}
	return nil
}

// each is what a pipeline does with a lane.
func (k *chains) each(ctx context.Context, l pipeline.Lane) error {
	return k.deliver(ctx, l, func() error { return nil })
}

// deliver does so for a process that is asked before each step.
func (k *chains) deliver(ctx context.Context, l pipeline.Lane, lives func() error) error {
	at, _ := k.Position(ctx, l.ID())
	if err := l.Start(ctx, at.Next); err != nil {
		return err
	}
	next, open, rows, of := max(at.Next, 0), 0, []string(nil), ""
	commit := func() error {
		if open == 0 {
			return nil
		}
		if err := lives(); err != nil {
			return err
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		if there := k.lanes[l.ID()]; len(there) > 0 && there[len(there)-1].Next != max(at.Next, 0) || len(there) == 0 && at.Next > 0 {
			k.refused++
			return pipeline.ErrLaneLost
		}
		if k.commits++; k.dies > 0 && k.commits > k.dies {
			return errKilled
		}
		at = pipeline.Mark{Next: next, Of: of}
		k.lanes[l.ID()] = append(k.lanes[l.ID()], at)
		k.rows = append(k.rows, rows...)
		open, rows = 0, nil
		return nil
	}
	b := &pipeline.Batch{MaxRows: k.maxRows, MaxBytes: 1 << 20}
	waiter, _ := l.(pipeline.Waiter)
	for {
		waiter.Wait(ctx)
		err := lives()
		if err == nil {
			err = l.Next(ctx, b)
		}
		if err != nil {
			if failed := commit(); failed != nil {
				return failed
			}
			_ = l.Acknowledge(ctx, at.Next)
			if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}
		if b.First != next || b.Next <= b.First || b.Len() > 0 && b.Offsets[b.Len()-1] >= b.Next {
			return fmt.Errorf("batch of %d to %d after %d", b.First, b.Next, next)
		}
		for i := range b.Len() {
			text, _ := b.Raw(i)
			rows = append(rows, fmt.Sprintf("%s %d %s", b.Origin.Stream, b.Origins[i], text))
		}
		next, of = b.Next, b.Of
		if open++; open >= k.every {
			if err := commit(); err != nil {
				return err
			}
			_ = l.Acknowledge(ctx, at.Next)
		}
	}
}

// read runs a source to its end.
func (k *chains) read(t testing.TB, s *ObjectSource, err error) error {
	t.Helper()
	if err != nil {
		return err
	}
	s.Resume(k)
	return s.Run(t.Context(), make(chan struct{}), k.each)
}

// holds compares the rows with the lines of what is in a bucket.
func (k *chains) holds(t testing.TB, c *cloud) {
	t.Helper()
	var want []string
	for key, data := range c.content {
		for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
			if len(data) > 0 {
				want = append(want, fmt.Sprintf("s3://b/%s %d %s", key, i, line))
			}
		}
	}
	k.same(t, want)
}

func (k *chains) same(t testing.TB, want []string) {
	t.Helper()
	got := slices.Clone(k.rows)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		missing, extra := 0, 0
		first := ""
		count := map[string]int{}
		for _, r := range want {
			count[r]++
		}
		for _, r := range got {
			count[r]--
		}
		for r, n := range count {
			switch {
			case n > 0:
				missing += n
				first = cmp.Or(first, "missing "+r)
			case n < 0:
				extra -= n
				first = cmp.Or(first, "extra "+r)
			}
		}
		t.Fatalf("%d rows, want %d: %d missing, %d extra, such as %s", len(got), len(want), missing, extra, first)
	}
}

// lines returns the content of an object of n records.
func lines(name string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "https://%s.example/%d\n", name, i)
	}
	return b.String()
}

// within fails a test that hangs.
func within(t *testing.T, d time.Duration, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(d); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited too long for " + what)
		}
	}
}

package file

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/pipeline"
)

// many is a bucket of n objects of one record, which are made up when they are listed, and what was committed of all but the last
// of them.
type many struct {
	n, done int
	page    time.Duration // that a listing takes
	lists   atomic.Int64
	mu      sync.Mutex
	first   chan struct{} // closed once a record was read; if it is not nil, the lists behind the tenth wait for that
	next    [objectLanes]int64
	dir     string // of files with the commits
}

const manyKeys = "logs/%09d.log"

func (m *many) object(i int) objstore.Object {
	return objstore.Object{Key: fmt.Sprintf(manyKeys, i), Size: 2, ETag: `"d41d8cd98f00b204e9800998ecf8427e"`}
}

// List implements [objstore.Store].
func (m *many) List(ctx context.Context, _, after string, limit int) (page []objstore.Object, more bool, err error) {
	if err := m.wait(ctx); err != nil {
		return nil, false, err
	}
	time.Sleep(m.page)
	at := 0
	if after != "" {
		at, _ = strconv.Atoi(after[len("logs/") : len(after)-len(".log")])
		at++
	}
	for ; at < m.n && len(page) < limit; at++ {
		page = append(page, m.object(at))
	}
	return page, at < m.n, nil
}

// wait counts a request. Listing goes on beside the lanes that read, and on a busy machine any number of requests may be answered
// before a lane has its turn: so those that are not needed for the first record wait for it, for a minute.
func (m *many) wait(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.first != nil && m.lists.Load() >= 10 {
		select {
		case <-m.first:
		case <-time.After(time.Minute):
			m.first = nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	m.lists.Add(1)
	return nil
}

// Dirs implements [objstore.Store].
func (m *many) Dirs(context.Context, string, func([]string) bool) error { return nil }

// Stat implements [objstore.Store].
func (m *many) Stat(context.Context, string) (o objstore.Object, err error) { return o, fs.ErrNotExist }

// Open implements [objstore.Store].
func (m *many) Open(context.Context, objstore.Object, int64, int64) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader("x\n")), nil
}

// Position implements [pipeline.Positions].
func (m *many) Position(_ context.Context, id pipeline.LaneID) (pipeline.Mark, error) {
	return pipeline.Mark{Next: m.next[m.slot(id)]}, nil
}

func (m *many) slot(id pipeline.LaneID) (slot int) {
	_, _ = fmt.Sscanf(id.Session, "objects%dof", &slot)
	return slot - 1
}

// commit writes what was committed of the first objects into a file for each lane, a line for a thousand objects.
func (m *many) commit(t *testing.T) {
	t.Helper()
	var last [objectLanes]objectMark
	var files [objectLanes]*os.File
	m.dir = t.TempDir()
	write := func(slot int) {
		if _, err := fmt.Fprintf(files[slot], "%d %s\n", last[slot].End, last[slot].text()); err != nil {
			t.Fatal(err)
		}
		m.next[slot], last[slot].Done = last[slot].End, last[slot].Done[:0]
	}
	for i := range m.done {
		o := m.object(i)
		slot := int(xxh3.HashString(o.Key) % objectLanes)
		l := &last[slot]
		if files[slot] == nil {
			f, err := os.Create(filepath.Join(m.dir, strconv.Itoa(slot)))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			files[slot] = f
		} else {
			l.Done = binary.LittleEndian.AppendUint64(l.Done, fingerprint(l.object()))
		}
		l.Version, l.Key, l.Size, l.ETag, l.Base, l.End = objectMarkVersion, o.Key, o.Size, o.ETag, l.End, l.End+2
		if len(l.Done) == 8000 {
			write(slot)
		}
	}
	for slot := range files {
		write(slot)
	}
}

// History implements [pipeline.Historian].
func (m *many) History(_ context.Context, id pipeline.LaneID, each func(pipeline.Mark) error) error {
	f, err := os.Open(filepath.Join(m.dir, strconv.Itoa(m.slot(id))))
	if err != nil {
		return err
	}
	defer f.Close()
	marks := bufio.NewScanner(f)
	marks.Buffer(nil, 1<<20)
	for marks.Scan() {
		next, of, _ := strings.Cut(marks.Text(), " ")
		n, err := strconv.ParseInt(next, 10, 64)
		if err == nil {
			err = each(pipeline.Mark{Next: n, Of: of})
		}
		if err != nil {
			return err
		}
	}
	return marks.Err()
}

// A start after millions of objects reads what was committed of them, and reads the first new object after few requests; then it
// has looked at all the others, of which it reads none. URLMILL_OBJECTS is another number of them, and with it they are timed.
func TestObjectsMany(t *testing.T) {
	m := &many{n: 200_000, first: make(chan struct{})}
	seen := m.first
	if n, err := strconv.Atoi(os.Getenv("URLMILL_OBJECTS")); err == nil {
		m.n, m.page = n, 20*time.Millisecond
	}
	m.done = m.n - 10
	m.commit(t)
	s, err := openCloud(m, nil, "s3://b/logs/")
	if err != nil {
		t.Fatal(err)
	}
	s.Resume(m)
	start := time.Now()
	var first time.Duration
	var requests, read atomic.Int64
	err = s.Run(t.Context(), make(chan struct{}), func(ctx context.Context, l pipeline.Lane) error {
		if err := l.Start(ctx, m.next[m.slot(l.ID())]); err != nil {
			return err
		}
		b := &pipeline.Batch{MaxRows: 10, MaxBytes: 1 << 20}
		for {
			l.(pipeline.Waiter).Wait(ctx)
			if err := l.Next(ctx, b); err != nil {
				return nil
			}
			if n := int64(b.Len()); n > 0 && read.Add(n) == n {
				first = time.Since(start)
				requests.Store(m.lists.Load())
				close(seen)
			}
		}
	})
	if err != nil || read.Load() != 10 || requests.Load() > 10 {
		t.Errorf("%d of 10 new objects, the first after %d requests: %v", read.Load(), requests.Load(), err)
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	status, _ := os.ReadFile("/proc/self/status")
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	peak, _, _ = strings.Cut(peak, "\n")
	t.Logf("%d objects: the first new one after %v and %d requests, all listed after %v and %d; peak %s, heap %d MiB",
		m.n, first, requests.Load(), time.Since(start), m.lists.Load(), strings.TrimSpace(peak), memory.HeapSys>>20)
}

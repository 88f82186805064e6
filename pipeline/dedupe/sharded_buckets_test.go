package dedupe

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/azuretest"
	"github.com/urlmill/urlmill/internal/dev/gcstest"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/azure"
	"github.com/urlmill/urlmill/sinks/store/bucket"
	"github.com/urlmill/urlmill/sinks/store/gcs"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// mortal is the way of a process to a bucket, which ends after so many requests, if left is not negative.
type mortal struct {
	to   http.RoundTripper
	left atomic.Int64
}

// RoundTrip implements [http.RoundTripper].
func (m *mortal) RoundTrip(r *http.Request) (*http.Response, error) {
	if m.left.Load() == 0 {
		return nil, storetest.ErrDead
	}
	if m.left.Load() > 0 {
		m.left.Add(-1)
	}
	return m.to.RoundTrip(r)
}

// place is a bucket that processes of a test deliver to.
type place struct {
	root string
	to   http.RoundTripper
	open func(http.RoundTripper) store.Opener
}

// atOnce has nobody wait between attempts.
func atOnce(o *bucket.Options) {
	o.Attempts, o.Pause = 2, func(int) time.Duration { return 0 }
}

func onGCS(s *gcstest.Server, to http.RoundTripper) place {
	return place{gcs.Scheme + s.Bucket, to, func(to http.RoundTripper) store.Opener {
		o := gcs.Default()
		o.Endpoint, o.Transport = s.Endpoint, to
		atOnce(&o.Options)
		return gcs.Opener(o)
	}}
}

func onAzure(s *azuretest.Server, to http.RoundTripper) place {
	return place{s.Place, to, func(to http.RoundTripper) store.Opener {
		o := azure.Default()
		o.Endpoint, o.Transport = s.Endpoint, to
		atOnce(&o.Options)
		return azure.Opener(o)
	}}
}

// TestShardBuckets has the state of each lane in a bucket of Google's and of Azure's, in servers of their own and in memory: processes die
// after so many requests, within commits and merges too, and the next takes the lanes over with what the bucket has. One that only slept
// finds that its lane is lost. In the end each record is there once, and is a duplicate exactly if its page was in the lane before.
func TestShardBuckets(t *testing.T) {
	network := func(t *testing.T) http.RoundTripper {
		to := http.DefaultTransport.(*http.Transport).Clone()
		t.Cleanup(to.CloseIdleConnections)
		return to
	}
	for name, start := range map[string]func(t *testing.T) place{
		"GCS in memory":   func(*testing.T) place { return onGCS(gcstest.Direct()) },
		"fake-gcs-server": func(t *testing.T) place { return onGCS(gcstest.Start(t), network(t)) },
		"Azure in memory": func(*testing.T) place { return onAzure(azuretest.Direct()) },
		"Azurite":         func(t *testing.T) place { return onAzure(azuretest.Start(t), network(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			takeOver(t, start(t))
		})
	}
}

func takeOver(t *testing.T, p place) {
	g := topic{make([]int, 300), make([]int, 300)}
	for lane := range g {
		for at := range g[lane] {
			g[lane][at] = at * 7919 % 200
		}
	}
	processes := 0
	begin := func() (*member, *mortal) {
		way := &mortal{to: p.to}
		way.left.Store(-1)
		processes++
		copies := filepath.Join(t.TempDir(), fmt.Sprint(processes))
		m, err := (&member{lanes: map[int]*memberLane{}}).start(p.open(way), p.root+"/out", fewRuns, func(o *Options) { o.Bucket, o.Path = true, copies })
		for lane := 0; err == nil && lane < len(g); lane++ {
			err = m.open(lane)
		}
		if err != nil {
			t.Fatal(err)
		}
		return m, way
	}
	// read reads the lanes in turns, with a commit for every twenty records, up to a position.
	read := func(m *member, end int64) error {
		for m.lanes[0].next < end || m.lanes[1].next < end {
			for lane, l := range m.lanes {
				if err := m.write(g, lane, min(20, end-l.next)); err != nil {
					return err
				}
				if _, err := l.Commit(t.Context()); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for i, requests := range []int64{1, 4, 10, 25} {
		m, way := begin()
		if i > 0 && (m.lanes[0].next == 0 || m.counts().Keys == 0) {
			t.Fatalf("process %d begins at %d with %+v", processes, m.lanes[0].next, m.counts())
		}
		if err := read(m, m.lanes[0].next+40); err != nil {
			t.Fatal(err)
		}
		way.left.Store(requests)
		if err := read(m, int64(len(g[0]))); !errors.Is(err, storetest.ErrDead) {
			t.Fatalf("after %d requests: %v", requests, err)
		}
		_ = m.sink.Close() // of the process alone: it reaches the bucket no more
	}
	slept, _ := begin()
	if err := read(slept, slept.lanes[0].next+20); err != nil {
		t.Fatal(err)
	}
	last, _ := begin()
	if c := last.counts(); c.Restores != 2 || c.Fetched == 0 {
		t.Errorf("taken over: %+v", c)
	}
	if err := read(last, int64(len(g[0]))); err != nil {
		t.Fatal(err)
	}
	if err := read(slept, int64(len(g[0]))); !errors.Is(err, pipeline.ErrLaneLost) {
		t.Errorf("a process whose lanes were taken over: %v", err)
	}
	_ = slept.sink.Close()
	last.close(t)
	s, err := p.open(p.to)(p.root+"/out", quiet)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	if err := readAll(t, s, ".", files); err != nil {
		t.Fatal(err)
	}
	if err := g.wrongIn(files); err != nil {
		t.Error(err)
	}
}

// readAll reads the files below dir.
func readAll(t *testing.T, s store.Store, dir string, files map[string][]byte) error {
	entries, err := s.List(t.Context(), dir, "")
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		if e.Dir {
			err = readAll(t, s, name, files)
		} else {
			files["/out/"+name], err = s.Read(t.Context(), name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

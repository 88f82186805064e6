package file

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/pipeline"
)

// Every object is read once, by the names and numbers of its records, and a second run reads what has come since, also under a
// smaller key.
func TestObjects(t *testing.T) {
	c, k := new(cloud), newChains()
	for i := range 300 {
		c.put(fmt.Sprintf("logs/2026/%03d.log", i), lines(fmt.Sprint(i), i%23))
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write([]byte("https://zipped.example/\n"))
	_ = w.Close()
	c.put("logs/z.gz", zipped.String())
	c.put("other/x", "no\n")
	s, err := openCloud(c, nil, "s3://b/logs")
	if err := k.read(t, s, err); err != nil {
		t.Fatal(err)
	}
	c.remove("other/x")
	c.content["logs/z.gz"] = []byte("https://zipped.example/\n")
	k.holds(t, c)
	c.content["logs/z.gz"] = zipped.Bytes()

	gets, rows := c.gets.Load(), len(k.rows)
	s, err = openCloud(c, nil, "s3://b/logs/")
	if err := k.read(t, s, err); err != nil || len(k.rows) != rows || c.gets.Load() > gets+1 {
		t.Fatalf("read again: %d rows, %d requests: %v", len(k.rows)-rows, c.gets.Load()-gets, err)
	}
	c.put("logs/2025/late", lines("late", 5))
	c.put("logs/2026/007.log", lines("again", 2)) // another content is another object
	s, err = openCloud(c, nil, "s3://b/logs/**/*")
	if err := k.read(t, s, err); err != nil || len(k.rows) != rows+7 {
		t.Fatalf("%d new rows: %v", len(k.rows)-rows, err)
	}
}

// A process is killed after each number of commits, bodies break off everywhere, and keys appear late: everything is there once.
func TestObjectsKilled(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		c, k := new(cloud), newChains()
		k.every, k.maxRows = 1+r.IntN(6), 1+r.IntN(40)
		late := func() {
			n := r.IntN(1000)
			c.put(fmt.Sprintf("p/%03d", n), lines(fmt.Sprintf("o%d", n), n%31))
		}
		for range 120 {
			late()
		}
		c.put("p/large", lines(strings.Repeat("large", 10), 5000)) // streamed
		c.cut = func(o objstore.Object, off int64) int64 {
			if h := (off*7 + o.Size) % 3; h == 0 {
				return -1
			}
			return 1 + (o.Size-off)/2
		}
		for run := 0; ; run++ {
			k.commits, k.dies = 0, 1+r.IntN(100)
			if run > 15 {
				k.dies = 0
			}
			if run < 5 {
				late()
			}
			s, err := openCloud(c, func(o *Options) { o.Parallel = 1 + r.IntN(5) }, "s3://b/p/")
			if err == nil {
				s.turn = 1 + r.IntN(10)
			}
			if err = k.read(t, s, err); err == nil && run > 5 {
				break
			} else if err != nil && !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
		}
		k.holds(t, c)
	}
}

// Two processes at the same objects commit everything once, and the second to commit ends.
func TestObjectsTwoProcesses(t *testing.T) {
	c, k := new(cloud), newChains()
	for i := range 400 {
		c.put(fmt.Sprintf("p/%03d", i), lines(fmt.Sprint(i), 20))
	}
	results := make(chan error, 2)
	for range 2 {
		s, err := openCloud(c, nil, "s3://b/p/")
		go func() { results <- k.read(t, s, err) }()
	}
	var lost int
	for range 2 {
		if err := <-results; err != nil {
			lost++
			if !strings.Contains(err.Error(), "another process reads these objects") {
				t.Error(err)
			}
		}
	}
	if lost == 0 {
		t.Log("they did not meet")
	}
	s, err := openCloud(c, nil, "s3://b/p/")
	if err := k.read(t, s, err); err != nil {
		t.Fatal(err)
	}
	k.holds(t, c)
}

// Shares of several processes are disjoint and all of the objects, and their number may change.
func TestObjectsShards(t *testing.T) {
	c, k := new(cloud), newChains()
	for i := range 200 {
		c.put(fmt.Sprintf("p/%03d", i), lines(fmt.Sprint(i), 3))
	}
	for _, shards := range []int{3, 5} {
		for i := range shards {
			s, err := openCloud(c, func(o *Options) { o.Shard = fmt.Sprintf("%d/%d", i+1, shards) }, "s3://b/p/")
			if err := k.read(t, s, err); err != nil {
				t.Fatal(err)
			}
		}
		k.holds(t, c)
		c.put("p/more", lines("more", 3))
	}
}

// What is gone or another one, before or after some of it was delivered.
func TestObjectsReplaced(t *testing.T) {
	const n = 40_000 // more than is read at a time
	for _, tc := range []struct {
		name, policy, fresh string
		atStart             bool
		err                 bool
		old                 bool // records of the old content are there
		all                 bool // the new content is there
	}{
		{name: "before", policy: Stop, fresh: "new", atStart: true, all: true},
		{name: "gone before", policy: Stop, atStart: true},
		{name: "stop", policy: Stop, fresh: "new", err: true, old: true},
		{name: "gone stop", policy: Stop, err: true, old: true},
		{name: "whole", policy: Whole, fresh: "new", old: true, all: true},
		{name: "gone whole", policy: Whole, old: true},
		{name: "skip", policy: Skip, fresh: "new", old: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, k := new(cloud), newChains()
			k.maxRows = 1000
			c.put("p/a", lines("old", n))
			for i := range 20 {
				c.put(fmt.Sprintf("p/other%d", i), lines("other", 2))
			}
			others := 40
			var replaced atomic.Bool
			change := func() {
				if !replaced.Swap(true) {
					c.remove("p/a")
					if tc.fresh != "" {
						c.put("p/a", lines(tc.fresh, n+1))
					}
				}
			}
			var opened atomic.Int64
			c.onOpen = func(o objstore.Object, off int64) error {
				if o.Key == "p/a" && (off > 0 || tc.atStart && opened.Add(1) > 1) { // the first is the probe
					change()
				}
				return nil
			}
			c.cut = func(o objstore.Object, off int64) int64 {
				if o.Key == "p/a" && off == 0 && !tc.atStart {
					return o.Size * 3 / 4
				}
				return -1
			}
			s, err := openCloud(c, func(o *Options) { o.OnChanged = tc.policy }, "s3://b/p/")
			err = k.read(t, s, err)
			var changed *ChangedError
			if errors.As(err, &changed) != tc.err || err != nil && !tc.err {
				t.Errorf("error %v", err)
			}
			var old, fresh, other int
			for _, row := range k.rows {
				switch {
				case strings.Contains(row, "//old."):
					old++
				case strings.Contains(row, "//new."):
					fresh++
				default:
					other++
				}
			}
			if old > 0 != tc.old || old == n || fresh != map[bool]int{true: n + 1}[tc.all] || !tc.err && other != others {
				t.Errorf("%d old, %d new, %d other records", old, fresh, other)
			}
			s, err = openCloud(c, func(o *Options) { o.OnChanged = tc.policy }, "s3://b/p/")
			rows := len(k.rows)
			if err := k.read(t, s, err); (err != nil) != tc.err || !tc.err && len(k.rows) != rows {
				t.Errorf("again: %v, %d rows more", err, len(k.rows)-rows)
			}
			if tc.err { // with an answer it goes on
				s, err = openCloud(c, func(o *Options) { o.OnChanged = Skip }, "s3://b/p/")
				if err := k.read(t, s, err); err != nil {
					t.Error(err)
				}
				other = 0
				for _, row := range k.rows {
					if strings.Contains(row, "//other.") {
						other++
					}
				}
				if other != others {
					t.Errorf("%d other records", other)
				}
			}
		})
	}
}

// Objects that are damaged, archived or of another kind do not stop the others.
func TestObjectsBad(t *testing.T) {
	c, k := new(cloud), newChains()
	for i := range 50 {
		c.put(fmt.Sprintf("p/%03d", i), lines(fmt.Sprint(i), 3))
	}
	c.put("p/bad.gz", "\x1f\x8b\x08 and nothing")
	c.put("p/archived", lines("archived", 3))
	c.onOpen = func(o objstore.Object, _ int64) error {
		if o.Key == "p/archived" {
			return objstore.ErrUnreadable
		}
		return nil
	}
	s, err := openCloud(c, nil, "s3://b/p/")
	err = k.read(t, s, err)
	if err == nil || !strings.Contains(err.Error(), "s3://b/p/bad.gz") || !strings.Contains(err.Error(), "s3://b/p/archived") {
		t.Error(err)
	}
	var read *ReadError
	if !errors.As(err, &read) || len(k.rows) != 150 {
		t.Errorf("%d rows: %v", len(k.rows), err)
	}
	c.onOpen = nil // restored
	c.remove("p/bad.gz")
	s, err = openCloud(c, nil, "s3://b/p/")
	if err := k.read(t, s, err); err != nil {
		t.Error(err)
	}
	k.holds(t, c)
}

// A store that fails for good ends the run, and what it has is read by the next one.
func TestObjectsStoreFails(t *testing.T) {
	c, k := new(cloud), newChains()
	for i := range 2500 {
		c.put(fmt.Sprintf("p/%05d", i), lines(fmt.Sprint(i), 1))
	}
	c.onList = func(_, after string) error {
		if after > "p/015" {
			return errors.New("the credentials have expired")
		}
		return nil
	}
	s, err := openCloud(c, nil, "s3://b/p/")
	if err := k.read(t, s, err); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Error(err)
	}
	c.onList = nil
	c.cut = func(objstore.Object, int64) int64 { return 0 }
	s, err = openCloud(c, nil, "s3://b/p/")
	if err := k.read(t, s, err); err == nil || !strings.Contains(err.Error(), "broke off 8 times") {
		t.Error(err)
	}
	c.cut = nil
	s, err = openCloud(c, nil, "s3://b/p/")
	if err := k.read(t, s, err); err != nil {
		t.Error(err)
	}
	k.holds(t, c)
}

// New objects are found, behind the last key by a look at the end, and before it by a look at everything.
func TestObjectsPoll(t *testing.T) {
	c, k := new(cloud), newChains()
	k.every = 1
	for i := range 12_000 {
		c.put(fmt.Sprintf("p/%05d", i), "")
	}
	s, err := openCloud(c, func(o *Options) { o.Poll, o.Relist = 5*time.Millisecond, time.Hour }, "s3://b/p/")
	if err != nil {
		t.Fatal(err)
	}
	s.Resume(k)
	drain, done := make(chan struct{}), make(chan error)
	go func() { done <- s.Run(t.Context(), drain, k.each) }()
	rows := func() int {
		k.mu.Lock()
		defer k.mu.Unlock()
		return len(k.rows)
	}
	within(t, time.Minute, "the first listing", func() bool { return c.lists.Load() > 14 })
	c.put("p/9", lines("behind", 3))
	c.put("p/0", lines("before", 2))
	within(t, time.Minute, "the object behind", func() bool { return rows() == 3 })
	close(drain)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	s, err = openCloud(c, func(o *Options) { o.Poll, o.Relist = 5*time.Millisecond, 20*time.Millisecond }, "s3://b/p/")
	if err != nil {
		t.Fatal(err)
	}
	s.Resume(k)
	drain = make(chan struct{})
	go func() { done <- s.Run(t.Context(), drain, k.each) }()
	within(t, time.Minute, "the object before", func() bool { return rows() == 5 })
	c.put("p/00000x", lines("later", 4))
	within(t, time.Minute, "the late key", func() bool { return rows() == 9 })
	close(drain)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	k.holds(t, c)
}

// A process that died between the beginning of a lane and its first commit has read nothing.
func TestObjectsBegun(t *testing.T) {
	c, k := new(cloud), newChains()
	c.put("p/a", lines("a", 3))
	s, err := openCloud(c, nil, "s3://b/p/")
	if err != nil {
		t.Fatal(err)
	}
	l := newObjectLane(t.Context(), s, 0)
	s.Resume(k)
	if err := l.Start(t.Context(), 0); err != nil || l.next != nil {
		t.Error(err)
	}
	if err := newObjectLane(t.Context(), s, 0).Start(t.Context(), 5); !errors.Is(err, pipeline.ErrLaneLost) {
		t.Error(err)
	}
}

// A record that stops the run leaves a position within an object, from which reading goes on.
func TestObjectsStopWithin(t *testing.T) {
	c, k := new(cloud), newChains()
	c.put("p/a", lines("a", 10))
	s, err := openCloud(c, nil, "s3://b/p/")
	if err != nil {
		t.Fatal(err)
	}
	var cut pipeline.Mark
	var id pipeline.LaneID
	err = s.Run(t.Context(), make(chan struct{}), func(ctx context.Context, l pipeline.Lane) error {
		b := &pipeline.Batch{MaxRows: 100, MaxBytes: 1 << 20}
		if err := l.Start(ctx, pipeline.Unknown); err != nil {
			return err
		}
		l.(pipeline.Waiter).Wait(ctx)
		if err := l.Next(ctx, b); err == nil {
			cut, id = pipeline.Mark{Next: 4, Of: b.Of}, l.ID()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	k.lanes[id] = []pipeline.Mark{cut}
	s, err = openCloud(c, nil, "s3://b/p/")
	if err := k.read(t, s, err); err != nil {
		t.Fatal(err)
	}
	if len(k.rows) != 6 || k.rows[0] != "s3://b/p/a 4 https://a.example/4" {
		t.Errorf("%q", k.rows)
	}
}

func TestPlaces(t *testing.T) {
	for _, tc := range []struct {
		keys, prefix string
		yes, no      string
	}{
		{"", "", "a b/c", "_x/a .b a/_b a/"},
		{"logs/", "logs/", "logs/a logs/b/c", "logs/_a logs/.b/c logs/"},
		{"logs", "logs/", "logs/a", ""},
		{"logs/*.gz", "logs/", "logs/a.gz logs/a.gz/b", "logs/a logs/b/a.gz logs/_a.gz"},
		{"logs/2026-*", "logs/2026-", "logs/2026-11 logs/2026-11/a", "logs/2026-11/_a"},
		{"logs/**/*.gz", "logs/", "logs/a.gz logs/b/c/a.gz", "logs/a logs/_b/a.gz"},
		{"dt=2026-11-*/**", "dt=2026-11-", "dt=2026-11-01/a/b", "dt=2026-11-01/_a"},
		{"[ab]/x", "", "a/x", "c/x a/y"},
		{"_logs/*", "_logs/", "_logs/a", "_logs/_a"},
	} {
		found, err := places("", tc.keys)
		if err != nil {
			t.Fatal(err)
		}
		p := found[len(found)-1]
		if p.prefix != tc.prefix {
			t.Errorf("%s: prefix %q", tc.keys, p.prefix)
		}
		for want, keys := range map[bool]string{true: tc.yes, false: tc.no} {
			for _, key := range strings.Fields(keys) {
				if p.matches(key) != want {
					t.Errorf("%s matches %s: %t", tc.keys, key, !want)
				}
			}
		}
	}
	if _, err := places("", "a/[b"); err == nil {
		t.Error("a bracket that is open")
	}
	for _, tc := range []struct {
		read, output string
		want         bool
	}{
		{"s3://b/", "s3://b/out", true},
		{"s3://b/", "s3://b/_out", false},
		{"s3://b/logs/", "s3://b/out", false},
		{"s3://b/logs", "s3://b/logs-out", false},
		{"s3://b/logs", "s3://b/logs/out", true},
		{"s3://b/logs/out/old/", "s3://b/logs/out", true},
		{"s3://b/*", "s3://b/out", true},
		{"s3://b/logs/*", "s3://c/logs/out", false},
		{"logs", "s3://b/logs", false},
	} {
		if got := Holds(tc.read, tc.output); got != tc.want {
			t.Errorf("%s in %s: %t", tc.output, tc.read, got)
		}
	}
}

// Nothing that matches, and nothing that may be read, is said before anything starts.
func TestObjectsRefused(t *testing.T) {
	c := new(cloud)
	c.put("p/a", "x\n")
	if _, err := openCloud(c, nil, "s3://b/q/"); err == nil || !strings.Contains(err.Error(), "no object of the bucket has such a key") {
		t.Error(err)
	}
	if _, err := openCloud(c, func(o *Options) { o.Poll = time.Second }, "s3://b/q/"); err != nil {
		t.Error(err)
	}
	c.onOpen = func(objstore.Object, int64) error { return errors.Join(objstore.ErrUnreadable, fs.ErrPermission) }
	if _, err := openCloud(c, nil, "s3://b/p/"); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	c.onOpen = nil
	for _, tc := range []struct {
		change func(*Options)
		paths  []string
		want   string
	}{
		{nil, []string{"s3://b/a", "x"}, "is a file, and other paths are objects"},
		{nil, []string{"s3://b/a", "s3://c/a"}, "in another bucket"},
		{nil, []string{"s3://b/[a"}, "close the bracket"},
		{func(o *Options) { o.Shard = "0/4" }, []string{"s3://b/p/"}, "is no share"},
		{func(o *Options) { o.Shard = "1/17" }, []string{"s3://b/p/"}, "is no share"},
	} {
		if _, err := openCloud(c, tc.change, tc.paths...); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: %v", tc.paths, err)
		}
	}
	s, err := openCloud(c, nil, "s3://b/p/")
	if err != nil {
		t.Fatal(err)
	}
	auto, err := openCloud(c, func(o *Options) { o.Shard = Auto }, "s3://b/p/")
	if err != nil {
		t.Fatal(err)
	}
	if err := auto.Run(t.Context(), nil, nil); !errors.Is(err, errUnclaimed) {
		t.Error(err)
	}
	if auto.Resume(newChains()); !errors.Is(auto.Run(t.Context(), nil, nil), errUnclaimed) {
		t.Error("an output without claims")
	}
	s.Resume(onlyPositions{})
	if err := s.Run(t.Context(), nil, nil); err == nil || !strings.Contains(err.Error(), "deliver them into files") {
		t.Error(err)
	}
}

type onlyPositions struct{}

func (onlyPositions) Position(context.Context, pipeline.LaneID) (pipeline.Mark, error) {
	return pipeline.Mark{}, nil
}

// A store whose keys are in no order is refused, before an object of it could be left out.
func TestObjectsUnordered(t *testing.T) {
	c, k := new(cloud), newChains()
	c.put("p/a", "x\n")
	s, err := openCloud(unordered{c}, nil, "s3://b/p/")
	if err := k.read(t, s, err); !errors.Is(err, errUnordered) {
		t.Error(err)
	}
}

// A listing that does not end, as of a store that makes keys up, or gets them faster than they are listed, holds up neither reading nor
// the end.
func TestObjectsEndless(t *testing.T) {
	m, k := &many{n: math.MaxInt32}, newChains()
	s, err := openCloud(m, nil, "s3://b/logs/")
	if err != nil {
		t.Fatal(err)
	}
	s.Resume(k)
	drain := make(chan struct{})
	var once sync.Once
	err = s.Run(t.Context(), drain, func(ctx context.Context, l pipeline.Lane) error {
		return k.deliver(ctx, l, func() error {
			if k.mu.Lock(); len(k.rows) > 5000 {
				once.Do(func() { close(drain) })
			}
			k.mu.Unlock()
			return nil
		})
	})
	if err != nil || len(k.rows) <= 5000 {
		t.Errorf("%d rows: %v", len(k.rows), err)
	}
	// What is listed ahead is bounded by queues and pages.
	if most := int64(len(k.rows)+objectLanes*(queueObjects+aheadObjects))/pageObjects + pagesAhead + 50; m.lists.Load() > most {
		t.Errorf("%d pages for %d objects, want at most %d", m.lists.Load(), len(k.rows), most)
	}
}

type unordered struct{ *cloud }

func (u unordered) List(ctx context.Context, prefix, after string, limit int) ([]objstore.Object, bool, error) {
	page, _, err := u.cloud.List(ctx, prefix, "", limit)
	return slices.Repeat(page, 2), true, err
}

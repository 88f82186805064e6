package dedupe

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/dedupe/shard"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/commit/verify"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// shardedOutput is an output whose lanes have states of their own, and the topic that went into it.
func shardedOutput(t *testing.T) (*storetest.Disk, topic) {
	g := topic{make([]int, 600), make([]int, 600)}
	for lane := range g {
		for at := range g[lane] {
			g[lane][at] = at * 7919 % 400
		}
	}
	d := diskOf(t, map[string][]byte{"/out/.keep": nil})
	readOn(t, d, g, 300)
	return d, g
}

func fewRuns(o *shard.Options) { o.Many, o.Wait = 3, true }

// readOn has a process read the lanes up to a position, with a commit for every twenty records, and returns it.
func readOn(t *testing.T, d *storetest.Disk, g topic, end int64, change ...func(*Options)) *member {
	t.Helper()
	m, err := join(d, fewRuns, change...)
	if err != nil {
		t.Fatal(err)
	}
	for lane := range g {
		if err := m.open(lane); err != nil {
			t.Fatal(err)
		}
		for m.lanes[lane].next < end {
			if err := m.write(g, lane, min(20, end-m.lanes[lane].next)); err != nil {
				t.Fatal(err)
			}
			if _, err := m.lanes[lane].Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	return m
}

func (m *member) counts() pipeline.ShardCounts {
	var c pipeline.Counts
	m.sink.Count(&c)
	return *c.Duplicates.Shards
}

func (m *member) close(t *testing.T) {
	t.Helper()
	if err := m.sink.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestShardCopies has processes work with copies: one that begins without any fetches what counts, one that has them fetches nothing,
// and copies that are damaged or cut off are made anew.
func TestShardCopies(t *testing.T) {
	d, g := shardedOutput(t)
	dir := filepath.Join(t.TempDir(), "copies")
	in := func(dir string) func(*Options) { return func(o *Options) { o.Path = dir } }
	m := readOn(t, d, g, 320, in(dir))
	first := m.counts()
	if first.Fetched == 0 || first.Restores != 2 || first.Lanes != 2 || first.Keys == 0 || first.Runs == 0 {
		t.Fatalf("taken over without copies: %+v", first)
	}
	if _, err := join(d, fewRuns, in(dir)); err == nil || !strings.Contains(err.Error(), "one process at a time") {
		t.Errorf("a second process with the folder: %v", err)
	}
	m.close(t)
	m = readOn(t, d, g, 320, in(dir))
	if c := m.counts(); c.Fetched != 0 || c.Restores != 2 || c.Keys != first.Keys+0 {
		t.Errorf("with copies: %+v, before %+v", c, first)
	}
	m.close(t)
	copies, err := filepath.Glob(filepath.Join(dir, "runs", "*.keys"))
	if err != nil || len(copies) < 4 {
		t.Fatalf("%d copies, %v", len(copies), err)
	}
	for i, name := range copies {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			content = content[:len(content)/2]
		} else {
			content[bytes.IndexByte(content, '\n')+5] ^= 1
		}
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m = readOn(t, d, g, 600, in(dir))
	if c := m.counts(); c.Fetched == 0 {
		t.Error("damaged copies were not fetched again")
	}
	m.close(t)
	if err := g.wrong(d); err != nil {
		t.Error(err)
	}
}

// TestShardRefused has states that cannot be gone on with: of other keys, and with a file that is gone.
func TestShardRefused(t *testing.T) {
	d, g := shardedOutput(t)
	m, err := join(d, fewRuns, func(o *Options) { o.Identity = "other" })
	if err != nil {
		t.Fatal(err)
	}
	if err := m.open(0); err == nil || !strings.Contains(err.Error(), `were made with "test", and this is "other": give back the old settings`) {
		t.Errorf("another identity: %v", err)
	}
	files := tree(d)
	name := slices.Sorted(func(yield func(string) bool) {
		for name := range files {
			if strings.HasPrefix(name, "/out/_seen/crawl/0/") && !yield(name) {
				return
			}
		}
	})[0]
	if m, err = join(d, fewRuns); err != nil {
		t.Fatal(err)
	}
	for name := range files {
		if strings.HasPrefix(name, "/out/_seen/crawl/0/") {
			if err := d.Process().Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := m.open(0); err == nil || !strings.Contains(err.Error(), "restore the folder _seen of the output from a backup") {
		t.Errorf("without %s: %v", name, err)
	}
	if err := m.open(1); err != nil { // each lane for itself
		t.Error(err)
	}
	_ = g
}

// TestShardGap has rows committed without their keys: it is said, and what was known before still is.
func TestShardGap(t *testing.T) {
	d, g := shardedOutput(t)
	s := store.NewLocal("/out", d.Process(), quiet)
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	chain := commit.New(commit.Options{Root: s, Place: func(context.Context, string) (store.Store, error) { return s, nil }, Log: quiet})
	l, err := chain.Open(t.Context(), pipeline.LaneID{Stream: "crawl"})
	if err == nil {
		err = l.Commit(t.Context(), pipeline.Span{First: 300, Next: 310}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	m, err := join(d, fewRuns, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	if err == nil {
		err = m.open(0)
	}
	if err != nil {
		t.Fatal(err)
	}
	if text := log.String(); !strings.Contains(text, "were committed without their keys") || !strings.Contains(text, "from=300 to=310") {
		t.Errorf("it is not said: %s", text)
	}
	if c := m.counts(); c.Keys != int64(len(slices.Compact(slices.Sorted(slices.Values(g[0][:300]))))) {
		t.Errorf("%d keys", c.Keys)
	}
}

// TestShardVerify has verify look at the files of keys.
func TestShardVerify(t *testing.T) {
	d, _ := shardedOutput(t)
	kinds := func() (all []commit.Kind) {
		open := func(dir string, log *slog.Logger) (store.Store, error) {
			return store.NewLocal(dir, d.Process(), log), nil
		}
		root, _ := open("/out", quiet)
		r, err := verify.Run(t.Context(), verify.Options{Root: root, Open: open, Kept: shard.Files, Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			all = append(all, p.Kind)
		}
		return all
	}
	if got := kinds(); len(got) != 0 {
		t.Fatalf("of a whole output: %v", got)
	}
	files := tree(d)
	damaged, gone := 0, 0
	for name, content := range files {
		switch {
		case strings.HasPrefix(name, "/out/_seen/crawl/0/"):
			content[len(content)-1] ^= 1
			damaged++
		case strings.HasPrefix(name, "/out/_seen/crawl/1/"):
			delete(files, name)
			gone++
		}
	}
	d = diskOf(t, files)
	got := kinds()
	missing := 0
	for _, k := range got {
		switch k {
		case verify.MissingFile:
			missing++
		case verify.WrongChecksum:
		default:
			t.Errorf("a problem %s", k)
		}
	}
	// Of the lane whose list is gone no more than that is known.
	if missing != 1 || len(got) < 3 || len(got) > damaged+1 || gone == 0 {
		t.Errorf("%d files damaged and %d gone: %v", damaged, gone, got)
	}
}

package commit

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// The directory of checkpoints cannot be made durable, and the next sync seems to heal it: no record may be removed because a
// checkpoint has it that a power failure takes away.
func TestFailedSyncOfCheckpoints(t *testing.T) {
	d, failures := newDisk(t), 1
	p := d.Process().FailSync(func(dir string) error {
		if strings.HasSuffix(dir, checkpointsDir) && failures > 0 {
			failures--
			return syscall.EIO
		}
		return nil
	})
	c := newClient(p)
	if err := c.run(t.Context(), clicks, end); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v", err)
	}
	d.PowerFailure(func(storetest.Change) bool { return false })
	if err := deliverRest(d, end); err != nil {
		t.Fatal(err)
	}
}

// Another machine has begun a lane that this one has found to have no commits.
func TestOpenOverNFS(t *testing.T) {
	d := newDisk(t)
	here, there := newClient(storetest.Stale(d.Process())), newClient(d.Process())
	must(t, here.open(t.Context()), there.open(t.Context()))
	l, err := here.chain.Open(t.Context(), clicks)
	must(t, err)
	if l.Next() != pipeline.Unknown {
		t.Errorf("a new lane begins at %d", l.Next())
	}
	for _, to := range []int64{firstPosition + 9, end} {
		must(t, there.deliver(t.Context(), clicks, to))
		if l, err = here.chain.Open(t.Context(), clicks); err != nil || l.Next() != to {
			t.Errorf("then it goes on at %d instead of %d: %v", l.Next(), to, err)
		}
	}
	must(t, here.close(), there.close())
}

// The unfinished file of a topic that is named as if it were one of a compaction stays, however old it is.
func TestSweepOfATopicNamedLikeACompaction(t *testing.T) {
	root := t.TempDir()
	alive, rows := store.NewLocal(root, store.System, quiet), store.NewLocal(root, store.System, quiet)
	must(t, alive.Prepare(t.Context()))
	c := newChain(t, rows)
	must(t, rows.Create(t.Context(), compactionKey(1), encode(Compaction{Version: formatVersion, Number: 1})),
		rows.Create(t.Context(), CompactionsDir+"/"+key(1)+doneExt, nil))
	id := pipeline.LaneID{Stream: "x-compact1-y"}
	for _, name := range []string{FileName(id, 40, alive.Run(), 1, "txt"), "a-0-00000000000000000001-compact1-" + alive.Run() + "0002.txt"} {
		f, err := alive.Begin(t.Context(), name)
		must(t, err)
		_, err = f.Finish()
		must(t, err)
		past := time.Now().Add(-2 * time.Hour)
		must(t, os.Chtimes(filepath.Join(root, "_tmp", alive.Run(), name+".tmp"), past, past))
	}
	must(t, c.Sweep(t.Context(), rows))
	left, err := filepath.Glob(filepath.Join(root, "_tmp", alive.Run(), "*.tmp"))
	if err != nil || len(left) != 1 || !strings.Contains(left[0], id.Stream) {
		t.Errorf("left: %v, %v", left, err)
	}
	must(t, alive.Close(), rows.Close())
}

// What is said of the files that Sweep removes is true of those that were committed, too.
func TestSweepSaysWhatItRemoves(t *testing.T) {
	var log bytes.Buffer
	root := t.TempDir()
	dead, rows := store.NewLocal(root, store.System, quiet), store.NewLocal(root, store.System, quiet)
	other, c := newChain(t, dead), newChain(t, rows)
	c.log = slog.New(slog.NewTextHandler(&log, nil))
	l, err := other.Open(t.Context(), clicks)
	must(t, err)
	f := writeFile(t, other, 40)
	must(t, os.Link(filepath.Join(root, f.Token), filepath.Join(root, "copy")), l.Commit(t.Context(), pipeline.Span{First: 40, Next: 45}, []File{f}),
		l.Commit(t.Context(), pipeline.Span{First: 45, Next: 50}, nil), os.Rename(filepath.Join(root, "copy"), filepath.Join(root, f.Token)), dead.Close())
	must(t, c.Sweep(t.Context(), rows), rows.Close())
	if _, err := os.Stat(filepath.Join(root, f.Token)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the second name is left: %v", err)
	}
	if s := log.String(); !strings.Contains(s, "that no commit needs") || strings.Contains(s, "were not committed") {
		t.Errorf("logged %q", s)
	}
}

// A record that cannot be read, or is not this lane's, is refused with what to do; nothing is removed, and when it is in order
// again all goes on.
func TestRefusedRecords(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(t *testing.T, d *storetest.Disk, record string)
		want   []string
	}{
		"foreign":       {rewrite(func([]byte) []byte { return []byte(`{"hello":1}`) }), []string{"is damaged", "restore it from a backup"}},
		"empty":         {rewrite(func([]byte) []byte { return nil }), []string{"is damaged", "restore it from a backup"}},
		"newer":         {rewrite(func(b []byte) []byte { return bytes.Replace(b, []byte(`"version":1`), []byte(`"version":2`), 1) }), []string{"use a newer one"}},
		"outside":       {rewrite(func(b []byte) []byte { return bytes.Replace(b, []byte(`"name":"`), []byte(`"name":"../vic/`), 1) }), []string{"is not the name of a file", "is damaged"}},
		"another topic": {rewrite(func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("clicks/3"), []byte("views/3")) }), []string{"belongs to the lane views/3", "move it back to _commits/views/3", "another directory"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDisk(t)
			a := launch(d, end)
			a.dir = partition
			for !a.done && (a.next.Op != "rename" || !strings.Contains(a.next.Path, "kind=")) {
				a.step()
			}
			a.kill() // with a commit whose files are not all published
			record := rowsDir + "/" + recordKey(Dir+"/"+laneName(clicks), firstPosition)
			content, err := d.Process().ReadFile(record)
			must(t, err)
			tc.change(t, d, record)
			err = newClient(d.Process()).run(t.Context(), clicks, end)
			for _, want := range append(tc.want, filepath.Base(record)) {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v does not say %q", err, want)
				}
			}
			rewrite(func([]byte) []byte { return content })(t, d, record)
			if err := deliverRest(d, end); err != nil {
				t.Error(err)
			}
		})
	}
}

// rewrite changes the content of a file.
func rewrite(change func([]byte) []byte) func(t *testing.T, d *storetest.Disk, file string) {
	return func(t *testing.T, d *storetest.Disk, file string) {
		t.Helper()
		p := d.Process()
		content, err := p.ReadFile(file)
		must(t, err, p.Remove(file))
		h, err := p.Create(file)
		must(t, err)
		_, err = h.Write(change(content))
		must(t, err, h.Sync(), h.Close())
	}
}

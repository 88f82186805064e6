package commit

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// world is a disk and the processes on it.
type world struct {
	t       *rapid.T
	d       *storetest.Disk
	end     int64
	live    []*actor
	renames bool           // the file system moves files to names that are not taken
	parts   bool           // rows are in directories, and people do something to these
	removed map[int64]bool // positions that they have removed
	unmount func()         // what they have mounted over one of them, nil if they have not
}

func (w *world) launch() {
	a := launch(w.d, w.end)
	if !w.renames {
		a.process.WithoutRename()
	}
	if w.parts {
		a.dir = partition
	}
	a.every = rapid.IntRange(1, 3).Draw(w.t, "records per checkpoint")
	a.most = rapid.SampledFrom([]int{0, 1, 700}).Draw(w.t, "bytes per checkpoint")
	if rapid.Bool().Draw(w.t, "keep") {
		a.keep = time.Hour
	}
	most := rapid.Int64Range(1, 6).Draw(w.t, "positions per commit")
	a.delivers = func(next int64) int64 { return 1 + next%most }
	w.live = append(w.live, a)
}

// act does something to one of the processes: most often it makes some calls.
func (w *world) act() {
	i := rapid.IntRange(0, len(w.live)-1).Draw(w.t, "process")
	a := w.live[i]
	switch n := rapid.IntRange(1, 40).Draw(w.t, "calls"); n {
	case 40:
		a.kill()
	case 39:
		w.d.PowerFailure(func(storetest.Change) bool { return rapid.Bool().Draw(w.t, "survives") })
		for _, a := range w.live {
			a.kill()
		}
	case 37, 38:
		w.people(n == 38)
	default:
		for range n {
			a.step()
		}
	}
	if !a.done {
		return
	}
	w.ended(a)
	w.live = append(w.live[:i], w.live[i+1:]...)
}

// ended checks the end of a process.
func (w *world) ended(a *actor) {
	if a.err != nil && a.process.Alive() && !errors.Is(a.err, syscall.EXDEV) {
		w.t.Fatalf("a process failed: %v\n%s", a.err, w.d.Tree())
	}
}

// people remove the directories, or mount another file system over one of them and unmount it.
func (w *world) people(remove bool) {
	switch {
	case !w.parts:
	case w.unmount != nil:
		w.unmount()
		w.unmount = nil
	case remove:
		retention(w.d, w.removed)
	default:
		var err error
		if w.unmount, err = w.d.Mount(rowsDir + "/" + partition(firstPosition)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// Two or three processes at a time, in any order of their calls, with deaths and power failures, commit every position
// exactly once, and show no file that no record names: also when people remove the directories of the files, or mount other
// file systems over them, and when files cannot be moved exclusively.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{
			t: t, d: newDisk(t), end: firstPosition + rapid.Int64Range(1, 30).Draw(t, "positions"), removed: map[int64]bool{},
			renames: rapid.Bool().Draw(t, "renames"), parts: rapid.Bool().Draw(t, "partitions"),
		}
		defer func() {
			for _, a := range w.live {
				a.kill()
			}
		}()
		w.launch()
		for range rapid.IntRange(0, 120).Draw(t, "actions") {
			if len(w.live) < 2 || len(w.live) == 2 && rapid.IntRange(0, 9).Draw(t, "third") == 0 {
				w.launch()
			}
			w.act()
		}
		if w.unmount != nil {
			w.unmount()
		}
		for _, a := range w.live {
			a.finish()
			w.ended(a)
		}
		w.live = nil
		if err := deliverRestWithout(w.d, w.end, w.removed); err != nil {
			t.Fatal(err)
		}
	})
}

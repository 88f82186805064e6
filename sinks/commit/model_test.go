package commit

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// world is a disk and the processes on it.
type world struct {
	t    *rapid.T
	d    *storetest.Disk
	end  int64
	live []*actor
}

func (w *world) launch() {
	a := launch(w.d, w.end)
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
	default:
		for range n {
			a.step()
		}
	}
	if !a.done {
		return
	}
	if a.err != nil && a.process.Alive() {
		w.t.Fatalf("a process failed: %v\n%s", a.err, w.d.Tree())
	}
	w.live = append(w.live[:i], w.live[i+1:]...)
}

// Two or three processes at a time, in any order of their calls, with deaths and power failures, commit every position
// exactly once, and show no file that no record names.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{t: t, d: newDisk(t), end: firstPosition + rapid.Int64Range(1, 30).Draw(t, "positions")}
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
		for _, a := range w.live {
			a.finish()
			if a.err != nil && a.process.Alive() {
				t.Fatalf("a process failed: %v\n%s", a.err, w.d.Tree())
			}
		}
		w.live = nil
		if err := deliverRest(w.d, w.end); err != nil {
			t.Fatal(err)
		}
	})
}

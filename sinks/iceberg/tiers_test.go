package iceberg

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/urlmill/urlmill/sinks/compact"
)

// world is a table that grows by a clock of its own: every so often each lane commits a file, which is of the day that it is, or one
// of ten days before. A keeper looks at it every ten seconds, and merges so many bytes a second.
type world struct {
	every     time.Duration
	lanes     int
	bytes     int64 // of a file
	target    int64
	rate      float64 // bytes a second that are merged
	days      map[int][]*liveFile
	committed int64
	merged    int64
	sequence  int64
	most      int // live files of a day
	busy      time.Duration
	pace      pace

	// What the last pass has seen of a day: how many files, and whether it was growing.
	seen  map[int]int
	grows map[int]bool
}

func (w *world) add(day int, bytes int64, now time.Time) {
	w.sequence++
	w.days[day] = append(w.days[day], &liveFile{
		key: fmt.Sprintf("dt=%d/%d", day, w.sequence), location: fmt.Sprint(w.sequence), bytes: bytes, sequence: w.sequence, time: now.UnixMilli(),
	})
	w.most = max(w.most, len(w.days[day]))
}

// commit adds what the lanes commit at a time; one in fifty is late by up to ten days.
func (w *world) commit(n int, now time.Time) {
	for lane := range w.lanes {
		day := int(now.Sub(time.UnixMilli(0)) / (24 * time.Hour))
		if (n+lane)%50 == 0 {
			day -= n / 50 % 10
		}
		w.add(day, w.bytes, now)
		w.committed += w.bytes
	}
}

// pass does what a keeper does in one pass, and returns how long it has worked.
func (w *world) pass(now time.Time) (busy time.Duration) {
	o := compact.TableOptions{TargetBytes: w.target, MinAge: time.Hour, MinFiles: 2, Steady: true}
	type bin struct {
		day   int
		files []*liveFile
	}
	var bins []bin
	for day, files := range w.days {
		newest := files[len(files)-1].time
		if len(files) == w.seen[day] && (newest > now.Add(-time.Hour).UnixMilli()) == w.grows[day] { // nothing is new
			continue
		}
		var small []*liveFile
		for _, f := range files {
			if compact.Small(f.bytes, w.target) {
				small = append(small, f)
			}
		}
		w.seen[day], w.grows[day] = len(files), newest > now.Add(-time.Hour).UnixMilli()
		for _, b := range pick(o, small, newest, now) {
			bins = append(bins, bin{day, b})
		}
	}
	slices.SortFunc(bins, func(a, b bin) int {
		return cmp.Or(cmp.Compare(bytesOf(a.files), bytesOf(b.files)), cmp.Compare(a.day, b.day))
	})
	if len(bins) > 0 {
		w.pace.look(now, bytesOf(bins[len(bins)-1].files))
	}
	for _, b := range bins {
		size := bytesOf(b.files)
		if !w.pace.affords(size) {
			w.seen[b.day] = 0
			continue
		}
		w.days[b.day] = slices.DeleteFunc(w.days[b.day], func(f *liveFile) bool { return slices.Contains(b.files, f) })
		w.add(b.day, size, now)
		took := time.Duration(float64(size) / w.rate * float64(time.Second))
		w.pace.spend(size, took)
		busy += took
		w.merged += size
	}
	return busy
}

// run lets a time pass, from the start of the world on.
func (w *world) run(whole time.Duration) {
	w.days, w.seen, w.grows = map[int][]*liveFile{}, map[int]int{}, map[int]bool{}
	start := time.UnixMilli(0)
	next := time.Duration(0)
	for now := time.Duration(0); now < whole; now += w.every {
		for next <= now {
			busy := w.pass(start.Add(next))
			w.busy += busy
			next += busy + 10*time.Second
		}
		w.commit(int(now/w.every), start.Add(now))
	}
}

// TestWeekOfCommits has a week pass with a commit every five seconds. A day never has more than fifty live files, and the keeper works
// for less than a fifth of the time, on a machine that merges less than half of what was measured.
func TestWeekOfCommits(t *testing.T) {
	const week = 7 * 24 * time.Hour
	for _, w := range []*world{
		{lanes: 1, bytes: 20 << 10, target: 256 << 20},
		{lanes: 2, bytes: 100 << 10, target: 512 << 20},
		{lanes: 1, bytes: 1 << 20, target: 1 << 30},
	} {
		w.every, w.rate, w.pace.load = 5*time.Second, 16<<20, 0.2
		w.run(week)
		live := 0
		for _, files := range w.days {
			live += len(files)
		}
		share, times := float64(w.busy)/float64(week), float64(w.merged)/float64(w.committed)
		t.Logf("%d lanes, %d KiB a file: at most %d files a day, %d of %d days in the end; each byte is written %.1f times more, in %.1f %% of the time",
			w.lanes, w.bytes>>10, w.most, live, len(w.days), times, 100*share)
		if w.most > 50 || share > 0.2 || w.committed != sum(w.days) {
			t.Errorf("at most %d files a day, %.0f %% of the time, %d bytes of %d", w.most, 100*share, sum(w.days), w.committed)
		}
	}
}

func sum(days map[int][]*liveFile) (bytes int64) {
	for _, files := range days {
		bytes += bytesOf(files)
	}
	return bytes
}

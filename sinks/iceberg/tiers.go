package iceberg

import (
	"cmp"
	"slices"
	"time"

	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/compact"
)

const (
	// fewOfTier is how many files of about one size become one in a partition that grows. The sizes of a tier are between a power of
	// tierWidth and the next, from lowestTier on, below which all are in the first.
	fewOfTier  = 8
	tierWidth  = 8
	lowestTier = 128 << 10
)

// tier returns the tier of a size: each has files that are some eight times as large as those of the one before. So every row is
// written once in each tier at most, and each has less than eight files: that bounds how many there are, and how often they are
// written.
func tier(bytes int64) int {
	t := 0
	for ; bytes >= lowestTier; bytes /= tierWidth {
		t++
	}
	return t
}

func bytesOf(files []*liveFile) (sum int64) {
	for _, f := range files {
		sum += f.bytes
	}
	return sum
}

// pick returns which of the small files of a partition are to become one each, in the order of their rows. newest is when the
// partition got its last file.
func pick(o compact.TableOptions, small []*liveFile, newest int64, now time.Time) [][]*liveFile {
	before := now.Add(-o.MinAge).UnixMilli()
	if o.Steady && newest > before { // it grows
		counts := map[int]int{}
		top := -1
		for _, f := range small {
			t := tier(f.bytes)
			if counts[t]++; counts[t] >= fewOfTier {
				top = max(top, t)
			}
		}
		if top < 0 {
			return nil
		}
		small = slices.DeleteFunc(slices.Clone(small), func(f *liveFile) bool { return tier(f.bytes) > top })
		return pack(small, o.TargetBytes, 2)
	}
	small = slices.DeleteFunc(slices.Clone(small), func(f *liveFile) bool { return f.time > before })
	return pack(small, o.TargetBytes, o.MinFiles)
}

// pack is [compact.Pack] for files of a table.
func pack(files []*liveFile, target int64, few int) (bins [][]*liveFile) {
	slices.SortFunc(files, func(a, b *liveFile) int {
		return cmp.Or(cmp.Compare(a.sequence, b.sequence), cmp.Compare(a.location, b.location))
	})
	by := map[string]*liveFile{}
	all := make([]commit.Live, len(files))
	for i, f := range files {
		by[f.key], all[i] = f, f.live()
	}
	for _, b := range compact.Pack(all, target, few) {
		bin := make([]*liveFile, len(b))
		for i, f := range b {
			bin[i] = by[f.Name]
		}
		bins = append(bins, bin)
	}
	return bins
}

// live returns the file as the chain has its own.
func (f *liveFile) live() commit.Live {
	return commit.Live{File: commit.File{Name: f.key, Rows: f.rows, Bytes: f.bytes}}
}

// pace has a keeper work for a part of the time. What it does not use it saves for the merges that take long, so that small files,
// which come first, do not wait for it to have rested from one.
type pace struct {
	load  float64       // part of the time; 0: all of it
	saved time.Duration // time that may be used
	at    time.Time     // of the last look
	speed float64       // bytes a second that were merged, or are thought to be
}

const (
	firstSpeed = 16 << 20 // bytes a second, of which most machines merge more
	// maxSaved is what is saved without a merge that takes longer.
	maxSaved = time.Minute
)

// cost returns how long merging so many bytes is thought to take.
func (p *pace) cost(bytes int64) time.Duration {
	return time.Duration(float64(bytes) / max(p.speed, 1<<10) * float64(time.Second))
}

// look gives what has been saved by now, when the largest merge that waits has so many bytes.
func (p *pace) look(now time.Time, largest int64) {
	if p.at.IsZero() {
		p.at, p.saved = now, maxSaved
	}
	if p.speed == 0 {
		p.speed = firstSpeed
	}
	p.saved = min(p.saved+time.Duration(p.load*float64(now.Sub(p.at))), max(maxSaved, p.cost(largest)))
	p.at = now
}

// affords reports whether there is time for a merge.
func (p *pace) affords(bytes int64) bool { return p.load == 0 || p.saved >= p.cost(bytes) }

// spend takes the time for a merge.
func (p *pace) spend(bytes int64, busy time.Duration) {
	p.saved -= busy
	if bytes >= lowestTier && busy > 0 { // others are mostly opening and closing
		p.speed += (float64(bytes)/busy.Seconds() - p.speed) / 8
	}
}

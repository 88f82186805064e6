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

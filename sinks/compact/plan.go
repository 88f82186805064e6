package compact

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/urlmill/urlmill/sinks/commit"
)

// bin is files of one directory and table that are to become one file, in the order in which their rows come.
type bin struct {
	files []commit.Live
	bytes int64
}

// limits say what is to be merged.
type limits struct {
	ext    string
	target int64 // bytes that a file is to have
	few    int   // files that are not worth it
	before time.Time
	under  string // directory
}

// full is from which part of the target on a file is left as it is.
const full = 3.0 / 4

func (l limits) small(f commit.Live) bool {
	return strings.TrimPrefix(path.Ext(f.Name), ".") == l.ext && Small(f.Bytes, l.target) && f.Time.Before(l.before)
}

// plan divides the small files of an output into bins. Files of a lane in one bin follow each other in their directory,
// so that whoever reads a directory by the names of its files finds the rows of a lane in the order that they had.
func plan(files []commit.Live, l limits) []bin {
	type place struct{ table, dir string }
	var places []place
	in := map[place][]commit.Live{}
	for _, f := range files {
		at := place{f.Table, path.Dir(f.Path())}
		if l.under != "" && at.dir != l.under && !strings.HasPrefix(at.dir, l.under+"/") {
			continue
		}
		if in[at] == nil {
			places = append(places, at)
		}
		in[at] = append(in[at], f)
	}
	slices.SortFunc(places, func(a, b place) int {
		return strings.Compare(a.dir+"\x00"+a.table, b.dir+"\x00"+b.table)
	})
	var bins []bin
	for _, at := range places {
		bins = append(bins, l.pack(in[at])...)
	}
	return bins
}

// pack fills bins with the small ones among the files of one directory.
func (l limits) pack(files []commit.Live) []bin {
	var bins []bin
	var now bin
	end := func() {
		if l.worthIt(now) {
			bins = append(bins, now)
		}
		now = bin{}
	}
	for _, f := range files {
		if l.ext != "" && !l.small(f) {
			if slices.ContainsFunc(now.files, func(in commit.Live) bool { return sameLanes(in, f) }) {
				end()
			}
			continue
		}
		if now.bytes+f.Bytes > l.target+l.target/4 {
			end()
		}
		now.files, now.bytes = append(now.files, f), now.bytes+f.Bytes
		if now.bytes >= l.target {
			end()
		}
	}
	end()
	return bins
}

// Small reports whether a file is to be merged with others, when files are to have target bytes.
func Small(bytes, target int64) bool { return float64(bytes) < full*float64(target) }

// Pack divides files of one directory, in the order in which their rows come, into those that are to become one file each: of
// about target bytes, few at least. Files that are large enough are left out.
func Pack(files []commit.Live, target int64, few int) (all [][]commit.Live) {
	var small []commit.Live
	for _, f := range files {
		if Small(f.Bytes, target) {
			small = append(small, f)
		}
	}
	l := limits{target: target, few: few}
	for _, b := range l.pack(small) {
		all = append(all, b.files)
	}
	return all
}

// sameLanes reports whether two files have rows of the same lane.
func sameLanes(a, b commit.Live) bool {
	return slices.ContainsFunc(a.Positions, func(x commit.Stretch) bool {
		return slices.ContainsFunc(b.Positions, func(y commit.Stretch) bool { return x.Lane == y.Lane })
	})
}

// worthIt reports whether merging gains enough: one large file with a few rows more is not worth writing anew.
func (l limits) worthIt(b bin) bool {
	if len(b.files) < max(2, l.few) {
		return false
	}
	most := int64(0)
	for _, f := range b.files {
		most = max(most, f.Bytes)
	}
	return b.bytes-most >= most/4 || b.bytes >= int64(full*float64(l.target)) || len(b.files) > manyFiles
}

// manyFiles are too many for one directory, however small.
const manyFiles = 16

// Stretches returns the positions of merged files: those of a lane that follow each other are one stretch.
func Stretches(files []commit.Live) []commit.Stretch {
	var all []commit.Stretch
	for _, f := range files {
		for _, p := range f.Positions {
			i := slices.IndexFunc(all, func(s commit.Stretch) bool { return s.Lane == p.Lane })
			if i < 0 {
				all = append(all, p)
				continue
			}
			all[i].First, all[i].Next = min(all[i].First, p.First), max(all[i].Next, p.Next)
		}
	}
	return all
}

// Package turns measures jobs in turns, by the time of the CPU, so that a busy machine is busy for all of them.
package turns

import (
	"runtime"
	"slices"
	"time"

	"github.com/urlmill/urlmill/internal/dev/cputime"
)

// Result is what was measured of a job, per row.
type Result struct {
	Name      string  `json:"name"`
	MeanBytes float64 `json:"mean_bytes"`
	NsMin     float64 `json:"ns_min"`
	NsMedian  float64 `json:"ns_median"`
	MBPerS    float64 `json:"mb_per_s"` // by the median
	Allocs    float64 `json:"allocs"`
}

// Job is something that works through its rows once.
type Job struct {
	Result
	Rows int
	Work func()
	// Pass, if given, makes a pass in another process instead of Work, and returns the time that it took.
	Pass  func() time.Duration
	times []float64
}

// pass makes a pass, and returns the time that it took.
func (j *Job) pass() time.Duration {
	if j.Pass != nil {
		return j.Pass()
	}
	start := cputime.Used()
	j.Work()
	return cputime.Used() - start
}

// Measure lets the jobs take turns for repetitions rounds, behind a pass each to warm up and one to count allocations. In a round a job
// works slice long, and its fastest pass counts.
func Measure(jobs []*Job, repetitions int, slice time.Duration) {
	for _, j := range jobs {
		j.pass()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		j.pass()
		runtime.ReadMemStats(&after)
		j.Allocs = float64(after.Mallocs-before.Mallocs) / float64(j.Rows)
	}
	for range repetitions {
		for _, j := range jobs {
			best := time.Hour
			for spent := time.Duration(0); spent < slice; {
				took := j.pass()
				best, spent = min(best, took), spent+max(took, time.Microsecond)
			}
			j.times = append(j.times, float64(best.Nanoseconds())/float64(j.Rows))
		}
	}
	for _, j := range jobs {
		slices.Sort(j.times)
		j.NsMin, j.NsMedian = j.times[0], j.times[len(j.times)/2]
		j.MBPerS = j.MeanBytes / j.NsMedian * 1000
	}
}

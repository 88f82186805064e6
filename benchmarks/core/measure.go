package main

import (
	"runtime"
	"slices"
	"time"

	"github.com/urlmill/urlmill/internal/dev/cputime"
)

// peer is something that goes over a list once. pass returns the time that it took.
type peer struct {
	name string
	pass func() time.Duration
	// mallocs tells that heap allocations of a pass can be counted: those of native programs cannot.
	mallocs bool
}

// timed makes a pass of a function that works through the list. What counts is the time of the CPU, that of all
// threads of the process: so other programs on the machine do not count, and the garbage collector does.
func timed(work func()) func() time.Duration {
	return func() time.Duration {
		start := cputime.Used()
		work()
		return cputime.Used() - start
	}
}

// result is what was measured of a peer, per URL.
type result struct {
	Peer     string   `json:"peer"`
	NsMin    float64  `json:"ns_min"`
	NsMedian float64  `json:"ns_median"`
	Allocs   *float64 `json:"allocs"` // null where they cannot be counted
}

// measure lets the peers take turns: one pass each to warm up and to count allocations, then repetitions rounds. In
// a round a fast peer makes several passes, of which the fastest counts, so that all have like time on a noisy machine.
func measure(l *list, peers []peer, repetitions int) []result {
	const slice = 20 * time.Millisecond
	results := make([]result, len(peers))
	passes := make([]int, len(peers))
	n := float64(len(l.urls))
	for i, p := range peers {
		results[i].Peer = p.name
		took := p.pass()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		took = min(took, p.pass())
		runtime.ReadMemStats(&after)
		if p.mallocs {
			allocs := float64(after.Mallocs-before.Mallocs) / n
			results[i].Allocs = &allocs
		}
		passes[i] = max(1, int(slice/max(took, 1)))
	}
	times := make([][]float64, len(peers))
	for range repetitions {
		for i, p := range peers {
			best := p.pass()
			for range passes[i] - 1 {
				best = min(best, p.pass())
			}
			times[i] = append(times[i], float64(best.Nanoseconds())/n)
		}
	}
	for i := range results {
		slices.Sort(times[i])
		results[i].NsMin, results[i].NsMedian = times[i][0], times[i][len(times[i])/2]
	}
	return results
}

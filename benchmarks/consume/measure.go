package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/urlmill/urlmill/internal/dev/cputime"
	"github.com/urlmill/urlmill/pipeline"
)

// bench says how much is measured.
type bench struct {
	records     int64
	repetitions int
}

// urls returns a function that makes URLs of recordBytes bytes.
func urls() func() []byte {
	r := rand.New(rand.NewPCG(1, 2))
	return func() []byte {
		u := fmt.Appendf(nil, "https://www.example-%d.org/articles/%08x/page?utm_source=newsletter&id=", r.IntN(500), r.Uint32())
		for len(u) < recordBytes {
			u = append(u, byte('0'+r.IntN(10)))
		}
		return u[:recordBytes]
	}
}

// consumer reads the partition from its start, and hands every record to sink.add, or sink.batch, until sink is done.
type consumer struct {
	name    string
	version string // module to tell the version of
	read    func(addr string, sink *sink) error
}

// sink takes records. It measures from the warm-th on, so that joining groups and the first fetch do not count.
type sink struct {
	batch      pipeline.Batch
	seen       int64
	warm, want int64

	began    bool
	since    int64 // records when it began
	cpu      time.Duration
	mallocs  uint64
	finished bool
	used     time.Duration
	allocs   uint64
}

// batchRows is how many records columns hold before they are used again.
const batchRows = 8192

// add appends a record, and reports whether more are wanted.
func (s *sink) add(value []byte, offset int64) bool {
	if len(s.batch.Offsets) == batchRows {
		s.batch.Reset()
	}
	s.batch.URLs.Append(value)
	s.batch.Offsets = append(s.batch.Offsets, offset)
	return s.count(1)
}

// count counts records that are in columns, and reports whether more are wanted.
func (s *sink) count(n int64) bool {
	s.seen += n
	if !s.began && s.seen >= s.warm {
		s.began, s.since = true, s.seen
		s.cpu, s.mallocs = cputime.Used(), mallocs()
	}
	if !s.finished && s.seen >= s.want {
		s.finished = true
		s.used, s.allocs = cputime.Used()-s.cpu, mallocs()-s.mallocs
	}
	return !s.finished
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// result is what was measured of a consumer, per record. The figures are medians over the rounds.
type result struct {
	Broker   string  `json:"broker"`
	Consumer string  `json:"consumer"`
	Version  string  `json:"version"`
	Ns       float64 `json:"cpu_ns_per_record"`
	NsMin    float64 `json:"cpu_ns_per_record_min"`
	NsMax    float64 `json:"cpu_ns_per_record_max"`
	Allocs   float64 `json:"allocs_per_record"`
	Ratio    float64 `json:"times_urlmill"`
}

// measure lets the consumers take turns. The first round is not counted.
func (b bench) measure(addr string) ([]result, error) {
	all := consumers()
	ns, allocs := make([][]float64, len(all)), make([][]float64, len(all))
	for round := range b.repetitions + 1 {
		for i, c := range all {
			runtime.GC() // of what the one before has left
			s := &sink{warm: b.records / 20, want: b.records}
			if err := c.read(addr, s); err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			if !s.finished {
				return nil, fmt.Errorf("%s: ended after %d records of %d", c.name, s.seen, s.want)
			}
			if round == 0 {
				continue
			}
			n := float64(s.seen - s.since)
			ns[i] = append(ns[i], float64(s.used.Nanoseconds())/n)
			allocs[i] = append(allocs[i], float64(s.allocs)/n)
		}
	}
	results := make([]result, len(all))
	for i, c := range all {
		results[i] = result{
			Consumer: c.name, Version: versionOf(c.version), Ns: median(ns[i]), NsMin: slices.Min(ns[i]), NsMax: slices.Max(ns[i]),
			Allocs: median(allocs[i]), Ratio: median(ns[i]) / median(ns[0]),
		}
	}
	return results, nil
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

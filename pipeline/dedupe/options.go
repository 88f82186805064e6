package dedupe

import (
	"fmt"
	"log/slog"
	"math"
	"time"
	"unsafe"

	"github.com/cockroachdb/pebble/vfs"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
)

// Mode says what becomes of duplicates.
type Mode string

// The modes.
const (
	Mark Mode = "mark" // they are written, with true in the column Column
	Drop Mode = "drop" // they are not written
)

// Shard says how the state is divided.
type Shard string

// ByPartition gives each partition of a topic a state of its own, which moves with it.
const ByPartition Shard = "partition"

// Column is the name of the column that [Mark] adds.
const Column = "is_duplicate"

// parts is how many buckets a window has. A window is up to one bucket longer than asked for.
const parts = 8

const (
	defaultMode   = Mark
	defaultMemory = 128 << 20
	minMemory     = 8 << 20
)

// Options says how duplicates are found.
type Options struct {
	// Path is the folder of the state; it is made when its parent is there. With Shard it has copies of the state, and may be "".
	Path string
	// Shard, if not "", keeps a state for each lane, in the output.
	Shard Shard
	// Keeps says that the inner sink can keep such states, Bucket that it would read them from a bucket, and Topics that lanes are
	// partitions of topics.
	Keeps, Bucket, Topics bool
	Mode                  Mode // default Mark
	// KeyColumn is the name of the binary column with keys of 16 bytes.
	KeyColumn string
	// HideKey leaves that column out of what is written.
	HideKey bool
	// Identity names what keys are made of: form, steps and version of rules. State of another identity is refused.
	Identity string
	// Output, if not "", is the place of the rows. State of another output is refused.
	Output string
	// Positions says that the inner sink keeps the positions of lanes. They are held against those of the state then; without it,
	// the state has nothing to do with what an output has, as where one state serves several.
	Positions bool
	// Recorded says that a position is the number of what a lane has read, in an order that is not given, and that what each commit says
	// of itself ([pipeline.Mark]) differs where that does, as of the objects of a bucket. The state keeps a sum of that for each commit,
	// and compares it with the history of the inner sink, which is a [pipeline.Historian]. It has no effect without Positions.
	Recorded bool
	// Memory bounds the store and the keys of rows that are not committed, in bytes. Default 128 MiB. Filters come on
	// top.
	Memory int64
	// Approximate, if not nil, keeps filters instead of keys.
	Approximate *Approximate
	// Within, if not 0, is how long after a key its duplicates are found, by the time in the column TimeColumn or, where
	// that is null or TimeColumn is "", the time of processing. Times in the future count as now.
	Within     time.Duration
	TimeColumn string
	// Last, if not 0, is how many keys back duplicates are found.
	Last int64
	Log  *slog.Logger

	// Step, if not nil, is asked before every step of a commit, and its error ends the commit there. It is for tests of
	// crashes. The steps are "journal" (a part of a journal), "journaled", "inner commit", "promote" (a part), "promoted",
	// and of approximate states "snapshot" and "snapshotted".
	Step func(string) error

	fs    vfs.FS // default vfs.Default
	table int    // of how many keys in memory a run is made; 0 for what the memory allows
}

// Approximate describes filters, which take some rows for duplicates that are none.
type Approximate struct {
	Memory int64 // of all filters, in bytes
	Keys   int64 // how many different keys are expected in all, or within the window
}

// rate is the share of new keys that are taken for duplicates when the expected number of keys is there.
func (a Approximate) rate(buckets int64) float64 {
	bits, hashes := a.filter(buckets)
	n := math.Ceil(float64(a.Keys) / float64(max(buckets-1, 1)))
	one := math.Pow(1-math.Exp(-float64(hashes)*n/float64(bits)), float64(hashes))
	return 1 - math.Pow(1-one, float64(buckets))
}

// filter returns the size of one of so many filters, and how many bits of it a key sets.
func (a Approximate) filter(buckets int64) (bits, hashes uint) {
	bits = uint(max(a.Memory/buckets, 8)) &^ 7 * 8
	perKey := float64(bits) / math.Max(1, float64(a.Keys)/float64(max(buckets-1, 1)))
	return bits, uint(min(max(math.Round(perKey*math.Ln2), 1), 20))
}

// worstRate is the false-positive rate from which filters are refused.
const worstRate = 0.05

func (o Options) windows() bool { return o.Within != 0 || o.Last != 0 }

func (o Options) buckets() int64 {
	if o.windows() {
		return parts + 1
	}
	return 1
}

// FalsePositives is the share of new keys that [Options.Approximate] takes for duplicates in the worst case; 0 without.
func (o Options) FalsePositives() float64 {
	if o.Approximate == nil {
		return 0
	}
	return o.Approximate.rate(o.buckets())
}

// Validate returns every problem, joined, each a [*pipeline.FieldError].
func (o Options) Validate() error {
	var p pipeline.Problems
	if o.Shard != "" {
		p.Join(o.validateShard())
	} else if o.Path == "" {
		p.Add("path", "is empty").Advise("give the folder of the state")
	}
	if reason, advice := config.Misplaced(o.Path, false); o.Path != "" && reason != "" {
		p.Value("path", o.Path, "%s", reason).Advise("%s", advice)
	}
	if o.Mode != "" && o.Mode != Mark && o.Mode != Drop {
		p.Value("mode", o.Mode, "is not known").Advise("give %s or %s", Mark, Drop)
	}
	if o.Memory != 0 && o.Memory < minMemory {
		p.Value("memory", o.Memory, "bytes are too few").Advise("give 8 MiB at least")
	}
	if o.Within != 0 && o.Last != 0 {
		p.Add("window", "has a time and a number of keys").Advise("keep one of them")
	}
	if o.Within < 0 || o.Last < 0 {
		p.Add("window", "is negative")
	}
	if a := o.Approximate; a != nil {
		switch {
		case a.Memory < 1<<10 || a.Keys < 1:
			p.Add("approximate", "needs memory and the number of keys that are expected")
		case o.FalsePositives() > worstRate:
			p.Add("approximate", "%d bytes for %d keys take %.1f %% of new rows for duplicates", a.Memory, a.Keys, 100*o.FalsePositives()).
				Advise("give more memory, 10 bits a key is about 1 %%")
		}
	}
	return p.Err()
}

// validateShard returns what a state for each lane cannot do.
func (o Options) validateShard() error {
	var p pipeline.Problems
	const key = "shard"
	if o.Shard != ByPartition {
		p.Value(key, o.Shard, "is not known").Advise("give %s, or leave it out", ByPartition)
		return p.Err()
	}
	if !o.Topics {
		p.Value(key, o.Shard, "needs partitions, and the source has none").Advise("give source.kafka, or leave it out")
	}
	if !o.Keeps {
		p.Value(key, o.Shard, "keeps the keys in the output, whose commits name them, and the sink cannot do that").
			Advise("give a sink of files with delivery: exactly_once, or leave it out")
	}
	if o.windows() {
		p.Add("window", "cannot be given with shard: %s, whose keys are known for ever", o.Shard).
			Advise("take window out, or, for the state of one process, take shard out and give path")
	}
	if o.Approximate != nil {
		p.Add("approximate", "cannot be given with shard: %s, whose keys are exact", o.Shard).
			Advise("take approximate out, or, for the state of one process, take shard out and give path")
	}
	if o.Keeps && o.Bucket && o.Path == "" {
		p.Add("path", "missing: the output is in a bucket, and keys are looked up in copies").Advise("give a folder on a local disk, which may be empty at each start")
	}
	return p.Err()
}

func (o Options) withDefaults() Options {
	if o.Mode == "" {
		o.Mode = defaultMode
	}
	if o.Memory == 0 {
		o.Memory = defaultMemory
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.fs == nil {
		o.fs = vfs.Default
	}
	if o.Step == nil {
		o.Step = func(string) error { return nil }
	}
	return o
}

// claimBytes is what a claim takes: its place in the table, which is 4/9 full at least, and in the list of its lane.
const claimBytes = int64(unsafe.Sizeof(claim{}))*9/4 + 2*int64(unsafe.Sizeof(entry{}))

// claimsMemory is the share of the memory that claims have; the store has the rest.
func (o Options) claimsMemory() int64 { return o.Memory / 16 * 3 }

// inRuns reports whether keys are in sorted runs.
func (o Options) inRuns() bool { return o.Approximate == nil && !o.windows() }

// setMemory is the share of the memory for filters of keys, and for keys that are in no run yet, where keys are in runs: eleven bits
// for each of 75 million keys of 256 MiB are the filter that is asked first. The store has an eighth then.
func (o Options) setMemory() int64 {
	if !o.inRuns() {
		return 0
	}
	return o.Memory - o.claimsMemory() - o.Memory/8
}

// maxClaims is how many claims fit into their share of the memory.
func (o Options) maxClaims() int64 { return o.claimsMemory() / claimBytes }

// bucketWidth is the time that a bucket spans, in nanoseconds.
func (o Options) bucketWidth() int64 { return max(int64(o.Within)/parts, 1) }

// describe is the identity of a state.
func (o Options) describe() string {
	text := o.Identity + ", exact"
	if a := o.Approximate; a != nil {
		text = fmt.Sprintf("%s, approximate with %d bytes for %d keys", o.Identity, a.Memory, a.Keys)
	}
	switch {
	case o.Within != 0:
		return fmt.Sprintf("%s, window of %s", text, o.Within)
	case o.Last != 0:
		return fmt.Sprintf("%s, window of %d keys", text, o.Last)
	}
	return text + ", no window"
}

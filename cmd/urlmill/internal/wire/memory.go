package wire

import (
	"errors"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline/budget"
)

const (
	// Of the memory of a container, and of a machine that others use as well, in percent.
	shareOfContainer = 80
	shareOfMachine   = 50
	// unknownMemory stands for that of a machine that does not tell.
	unknownMemory = 4 << 30
	// perFile is what a file being read takes: buffers, and the window of its compression.
	perFile = 10 << 20
	// unknownCode stands for the code of an executable that cannot be looked at.
	unknownCode = 96 << 20
)

// memoryOf divides the memory that c may use.
func memoryOf(c *settings.Config) (budget.Shares, []config.Problem) {
	n := needs(c)
	limit := c.MemoryLimit
	if limit == 0 {
		limit = max(availableMemory(), budget.Least(n))
	}
	shares, err := budget.Divide(limit, n)
	var small *budget.TooSmallError
	if errors.As(err, &small) {
		return shares, []config.Problem{c.Problem("memory_limit",
			"memory_limit is %s, which is too little for this configuration; give at least %s, or lower %s",
			config.FormatSize(small.Limit), config.FormatSize(small.Least), remedies(c))}
	}
	return shares, nil
}

// needs is what the configuration needs memory for.
func needs(c *settings.Config) budget.Needs {
	n := budget.Needs{Workers: workers(c), Code: codeSize(), UsualBatch: c.Pipeline.BatchBytes}
	if c.Given("pipeline.batch_bytes") {
		n.BatchBytes = c.Pipeline.BatchBytes
	}
	switch s := c.Source; {
	case s.Kafka != nil:
		n.Fetches = true
		if c.Given("source.kafka.fetch_memory") {
			n.Fetch = int64(s.Kafka.FetchMemory)
		}
	case s.File != nil && s.File.Parallel > 0:
		n.Fixed = int64(s.File.Parallel) * perFile
	case s.File != nil:
		n.Fixed = int64(runtime.GOMAXPROCS(0)) * perFile
	}
	n.Fixed += partsOf(c) + dedupeMemory(c)
	return n
}

// partsOf returns the bytes of memory that parts of files take on their way to S3.
func partsOf(c *settings.Config) int64 {
	folder := ""
	switch s := c.Sink; {
	case s.Parquet != nil:
		folder = s.Parquet.Path
	case s.ArrowIPC != nil:
		folder = s.ArrowIPC.Path
	case s.NDJSON != nil:
		folder = s.NDJSON.Path
	}
	if !isS3(folder) {
		return 0
	}
	return int64(c.Sink.S3.Parallel) * c.Sink.S3.PartSize
}

// remedies names the keys that a user may lower when the limit is too small: those that are given come first, since they are
// the reason.
func remedies(c *settings.Config) string {
	switch {
	case c.Given("dedupe.memory"):
		return "dedupe.memory or pipeline.batch_bytes"
	case c.Given("source.kafka.fetch_memory"):
		return "source.kafka.fetch_memory or pipeline.batch_bytes"
	case c.Source.File != nil:
		return "source.file.parallel or pipeline.workers"
	case c.Given("pipeline.batch_bytes"):
		return "pipeline.batch_bytes"
	}
	return "pipeline.workers"
}

func workers(c *settings.Config) int {
	if c.Pipeline.Workers > 0 {
		return c.Pipeline.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// availableMemory returns the bytes that a configuration without memory_limit may use here: most of a container, which has
// nothing else in it, or half of a machine.
func availableMemory() int64 {
	machine, err := memlimit.FromSystem()
	if err != nil || machine == 0 {
		machine = unknownMemory
	}
	if container, err := memlimit.FromCgroup(); err == nil && container < machine {
		return int64(container / 100 * shareOfContainer)
	}
	return int64(machine / 100 * shareOfMachine)
}

// LimitMemory tells Go's runtime the limit, so that the garbage collector works harder near it, unless the environment
// has told it another.
func (j *Job) LimitMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(j.memory.Go)
	}
}

// MemoryLimit returns the limit that LimitMemory tells, in bytes.
func (j *Job) MemoryLimit() int64 { return j.memory.Go }

// OpenFiles returns the memory that the open files of sinks hold, and what they may, in bytes.
func (j *Job) OpenFiles() (used, limit int64) { return j.files.Used(), j.files.Limit() }

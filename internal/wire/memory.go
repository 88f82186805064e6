package wire

import (
	"errors"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/machine"
	"github.com/urlmill/urlmill/pipeline/budget"
)

// memoryOf divides the memory that c may use.
func memoryOf(c *Config, problems *problems) budget.Shares {
	n := needs(c)
	limit := c.MemoryLimit
	if limit == 0 {
		limit = max(machine.Available(), budget.Least(n))
	}
	shares, err := budget.Divide(limit, n)
	var small *budget.TooSmallError
	if errors.As(err, &small) && c.Sound("pipeline", "source", "dedupe", "enrich") {
		problems.add("memory_limit", "memory_limit is %s, which is too little for this configuration; give at least %s, or lower %s",
			config.FormatSize(small.Limit), config.FormatSize(small.Least), remedies(c))
	}
	return shares
}

// needs is what the configuration needs memory for.
func needs(c *Config) budget.Needs {
	asks, source := c.source()
	n := budget.Needs{Workers: c.Pipeline.Workers, Code: machine.CodeSize(), UsualBatch: c.Pipeline.BatchBytes, Fetches: asks.Fetches, Fixed: asks.Memory}
	if n.Workers == 0 {
		n.Workers = runtime.GOMAXPROCS(0)
	}
	if c.Given("pipeline.batch_bytes") {
		n.BatchBytes = c.Pipeline.BatchBytes
	}
	if asks.Fetches && c.Given(config.Join(source, asks.LowerKey)) {
		n.Fetch = asks.Fetch
	}
	for _, k := range stores {
		if b := c.Buckets[k.name]; b != nil && len(c.foldersAt(k)) > 0 {
			n.Fixed += b.Memory()
		}
	}
	if c.Enrich.Acquisition != nil {
		n.Fixed += c.Enrich.Acquisition.Memory(n.Workers)
	}
	n.Fixed += c.Enrich.ClientMemory(n.Workers)
	if c.Dedupe != nil {
		n.Fixed += c.Dedupe.Memory()
	}
	return n
}

// remedies names the keys that a user may lower when the limit is too small: those that are given come first, since they are
// the reason.
func remedies(c *Config) string {
	asks, source := c.source()
	lower := config.Join(source, asks.LowerKey)
	switch {
	case c.Given("dedupe.memory"):
		return "dedupe.memory or pipeline.batch_bytes"
	case asks.Fetches && c.Given(lower):
		return lower + " or pipeline.batch_bytes"
	case asks.LowerKey != "" && !asks.Fetches:
		return lower + " or pipeline.workers"
	case c.Given("pipeline.batch_bytes"):
		return "pipeline.batch_bytes"
	}
	return "pipeline.workers"
}

// limitMemory tells Go's runtime the limit, so that the garbage collector works harder near it, unless the environment
// has told it another.
func (j *Job) limitMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(j.memory.Go)
	}
}

// MemoryLimit returns the limit that Go's runtime is told, in bytes.
func (j *Job) MemoryLimit() int64 { return j.memory.Go }

// OpenFiles returns the memory that the open files of sinks hold, and what they may, in bytes.
func (j *Job) OpenFiles() (used, limit int64) { return j.files.Used(), j.files.Limit() }

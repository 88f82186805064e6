// Package pass measures a pass of a system over the table.
package pass

import (
	"io"
	"runtime"
	"time"

	"github.com/urlmill/urlmill/internal/dev/cputime"
)

// GroupRows is the rows of a row group, for all systems; BatchRows is those of a record.
const (
	GroupRows = 128 << 10
	BatchRows = 8192
)

// Result is a pass. The times are those of the CPU, of all threads of the process, and of the clock.
type Result struct {
	CPU, Wall time.Duration
	Bytes     int64 // of the file
	Mallocs   uint64
}

// counter counts what is written to it and drops it.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// Run makes a pass.
func Run(encode func(w io.Writer, codec string) error, codec string) (Result, error) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w := &counter{}
	cpu, wall := cputime.Used(), time.Now()
	err := encode(w, codec)
	r := Result{CPU: cputime.Used() - cpu, Wall: time.Since(wall), Bytes: w.n}
	runtime.ReadMemStats(&after)
	r.Mallocs = after.Mallocs - before.Mallocs
	return r, err
}

package admin

import (
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/urlmill/urlmill/pipeline"
)

// Build is what a binary is.
type Build struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	PSL      string `json:"psl"`
	Standard string `json:"standard"`
}

// Setting is a value of the configuration, without secrets.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Watch is what a monitor watches. Functions may be nil where there is nothing to ask.
type Watch struct {
	// Name is the pipeline's, as its page and "urlmill top" are headed; "" for one without a name.
	Name   string
	Stats  *pipeline.Stats
	Build  Build
	Config func() []Setting // as it counts now
	Counts func() pipeline.Counts
	// SinkTrouble returns since when requests of the sink have been failing, and how one failed last; zero and nil when none is.
	SinkTrouble func() (since time.Time, err error)
	SinkRetries func() int64               // not nil where SinkTrouble is not
	OpenFiles   func() (used, limit int64) // bytes of memory
	// Removed calls yield with every rule of the section privacy, and how much it has removed.
	Removed func(yield func(rule string, n int64) bool)
	// MemoryLimit is what the process may have, in bytes.
	MemoryLimit int64
	// StuckAfter is how old an uncommitted row may be, and MaxLag how far all partitions may be behind; 0: any.
	StuckAfter time.Duration
	MaxLag     int64
	// Columns are the names of the columns that are looked into, "" where there is none.
	Columns Columns
	// Log is told when problems begin and end; nil for nobody.
	Log *slog.Logger
}

// Columns are names of columns of the tables.
type Columns struct{ URL, Domain, Code, Field, Channel, Bot string }

// Monitor watches a pipeline. It implements [pipeline.Observer].
type Monitor struct {
	opts       Watch
	registry   *prometheus.Registry
	histograms histograms
	began      time.Time

	mu       sync.Mutex
	failure  string
	spoiled  int64 // rows since the last point with one that has no error
	messages ring[Message]
	bad      ring[BadRow]
	domains  topK
	channels names
	bots     names
	looked   time.Time // when domains were
	history  ring[Point]
	last     pipeline.Totals
	lastAt   time.Time
	lanes    map[pipeline.LaneID]*laneWatch
	refused  map[string]Problem   // by what was refused
	told     map[string]time.Time // problems that the log was told of, by their codes, and since when they are known
}

// NewMonitor returns a monitor that has nothing to watch yet.
func NewMonitor() *Monitor {
	m := &Monitor{
		began: time.Now(), lastAt: time.Now(),
		messages: newRing[Message](maxMessages), bad: newRing[BadRow](maxBad), history: newRing[Point](maxPoints),
		domains: newTopK(maxDomains), lanes: make(map[pipeline.LaneID]*laneWatch), told: make(map[string]time.Time), refused: make(map[string]Problem),
	}
	m.register()
	return m
}

// Attach has the monitor watch w, and makes it the observer of w.Stats. It is called once, before the pipeline runs and
// before a server starts.
func (m *Monitor) Attach(w Watch) {
	if w.Log == nil {
		w.Log = slog.New(slog.DiscardHandler)
	}
	m.opts = w
	w.Stats.Observer = m
}

// Wrote implements [pipeline.Observer].
func (m *Monitor) Wrote(id pipeline.LaneID, out *pipeline.Output, rows, _ int64, parse, write time.Duration) {
	m.histograms.parse.Observe(parse.Seconds())
	m.histograms.write.Observe(write.Seconds())
	m.histograms.batchRows.Observe(float64(rows))
	m.look(id, out)
}

// Committed implements [pipeline.Observer].
func (m *Monitor) Committed(_ pipeline.LaneID, size pipeline.Size, took time.Duration) {
	m.histograms.commit.Observe(took.Seconds())
	m.histograms.commitBytes.Observe(float64(size.Bytes))
	m.histograms.rows.Observe(float64(size.Rows))
}

// Failed implements [pipeline.Observer]. It may also be told the error that a pipeline has ended with.
func (m *Monitor) Failed(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failure == "" {
		m.failure = clip(err.Error(), maxText)
	}
}

// counts returns what source and sink have counted.
func (m *Monitor) counts() pipeline.Counts {
	if m.opts.Counts == nil {
		return pipeline.Counts{}
	}
	return m.opts.Counts()
}

// oldest returns the age of the oldest row that is not committed.
func (m *Monitor) oldest(now time.Time) time.Duration {
	age := time.Duration(0)
	for _, l := range m.opts.Stats.Lanes() {
		if !l.Oldest.IsZero() {
			age = max(age, now.Sub(l.Oldest))
		}
	}
	return age
}

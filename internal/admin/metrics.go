package admin

import (
	"cmp"
	"runtime/metrics"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/urlmill/urlmill/urlcore/psl"
)

// maxLaneSeries bounds the partitions that have series of their own: the others are in the totals.
const maxLaneSeries = 1000

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("urlmill_"+name, help, labels, nil)
}

var (
	rowsDesc        = desc("rows_total", "Records read.")
	bytesDesc       = desc("bytes_total", "Bytes of the records read.")
	errorsDesc      = desc("errors_total", "Rows that are invalid, by their error code.", "code")
	droppedDesc     = desc("dropped_total", "Rows left out by on_error: drop.")
	deadDesc        = desc("dead_letters_total", "Rows that went to the dead letters.")
	committedDesc   = desc("committed_total", "Rows that are durable.")
	commitsDesc     = desc("commits_total", "Commits.")
	lanesDesc       = desc("lanes", "Partitions, files or streams that are being read.")
	oldestDesc      = desc("oldest_uncommitted_seconds", "Age of the oldest row that is read and not committed, over all lanes.")
	lagDesc         = desc("lag_records", "Records of a partition that are not read yet; the partitions with the most.", "topic", "partition")
	lagTotalDesc    = desc("lag_total_records", "Records of all partitions that are not read yet.")
	filesDesc       = desc("files_total", "Finished files.")
	lateDesc        = desc("late_rows_total", "Rows that came too late for the directories of their time, and are durable in that of late rows.")
	loadsDesc       = desc("table_loads_total", "Loads into the tables of a database.")
	loadRetriesDesc = desc("table_load_retries_total", "How often a load was tried again because the database could not be reached.")
	unfitDesc       = desc("table_values_unfit_total", "Values that the database cannot hold, and that are null there.")
	snapshotsDesc   = desc("iceberg_snapshots_total", "Snapshots of the Iceberg table that this process has made.")
	tableFilesDesc  = desc("iceberg_files_total", "Files that this process has added to the Iceberg table.")
	tableFailDesc   = desc("iceberg_failing", "1 while files cannot be added to the Iceberg table; they are committed, and added later.")
	fileBytesDesc   = desc("file_bytes_total", "Bytes of the finished files.")
	retriesDesc     = desc("source_retries_total", "How often the source has tried again what failed.")
	unreadableDesc  = desc("source_unreadable_total", "Parts of the source that could not be read when they were first fetched, such as Kafka batches that are damaged or that have fewer records than they say.")
	troubleDesc     = desc("source_failing_seconds", "How long the source has been failing; 0 while it is not.")
	sinkRetriesDesc = desc("sink_retries_total", "How often the sink has tried again what failed.")
	sinkTroubleDesc = desc("sink_failing_seconds", "How long a request of the sink has been failing that is tried again; 0 while none is.")
	stuckDesc       = desc("stuck_lanes", "Lanes that have got nowhere for admin.stuck_after.")
	standingDesc    = desc("standing_seconds", "How long no row of a lane was read while there were some to read, of the lane that stands longest.")
	memoryDesc      = desc("memory_bytes", "Memory that the process has from the system, as Go counts it.")
	memoryLimitDesc = desc("memory_limit_bytes", "What it may have.")
	openDesc        = desc("open_files_memory_bytes", "Memory held by files that are being written.")
	openLimitDesc   = desc("open_files_memory_limit_bytes", "What they may hold.")
	readyDesc       = desc("ready", "1 while /readyz says that the process is ready.")
	problemDesc     = desc("problem", "1 while there is a problem of that kind: failed, stuck, source, sink or lag.", "code")
	infoDesc        = desc("build_info", "1, with the versions.", "version", "go", "psl", "standard")
)

// histograms are the metrics that are not counted elsewhere.
type histograms struct {
	parse, write, commit         prometheus.Observer
	batchRows, commitBytes, rows prometheus.Observer
	messages                     *prometheus.CounterVec
}

func (m *Monitor) register() {
	seconds := prometheus.ExponentialBuckets(0.0005, 2.5, 12) // to 12 s
	batch := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "urlmill_batch_seconds", Help: "Time that a batch takes, by stage.", Buckets: seconds,
	}, []string{"stage"})
	commit := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "urlmill_commit_seconds", Help: "Time that a commit takes.", Buckets: prometheus.ExponentialBuckets(0.002, 2.5, 12),
	})
	batchRows := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "urlmill_batch_rows", Help: "Records in a batch.", Buckets: prometheus.ExponentialBuckets(1, 8, 7),
	})
	commitBytes := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "urlmill_commit_bytes", Help: "Bytes of the files of a commit.", Buckets: prometheus.ExponentialBuckets(4096, 8, 8),
	})
	commitRows := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "urlmill_commit_rows", Help: "Rows of a commit.", Buckets: prometheus.ExponentialBuckets(1, 10, 9),
	})
	messages := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "urlmill_log_messages_total", Help: "Log messages, by level.",
	}, []string{"level"})
	m.histograms = histograms{
		batch.WithLabelValues("parse"), batch.WithLabelValues("write"), commit, batchRows, commitBytes, commitRows, messages,
	}
	messages.WithLabelValues("WARN")
	messages.WithLabelValues("ERROR")
	m.registry = prometheus.NewRegistry()
	m.registry.MustRegister(batch, commit, batchRows, commitBytes, commitRows, messages, collector{m},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
}

// build returns what the binary is, with the Public Suffix List that is in use now.
func (m *Monitor) build() Build {
	b := m.opts.Build
	b.PSL = psl.Version()
	return b
}

// collector reads what is counted elsewhere when it is asked for.
type collector struct{ m *Monitor }

// Describe sends nothing: which series there are depends on the pipeline.
func (c collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (c collector) Collect(out chan<- prometheus.Metric) {
	m := c.m
	count := func(d *prometheus.Desc, v int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	now, t := time.Now(), m.opts.Stats.Totals()
	count(rowsDesc, t.Rows)
	count(bytesDesc, t.Bytes)
	count(droppedDesc, t.Dropped)
	count(deadDesc, t.DeadLetters)
	count(committedDesc, t.Committed)
	count(commitsDesc, t.Commits)
	for code, n := range t.Errors {
		count(errorsDesc, n, code)
	}
	gauge(lanesDesc, float64(t.Lanes))
	gauge(oldestDesc, m.oldest(now).Seconds())
	gauge(stuckDesc, float64(len(m.stuck(now))))
	gauge(standingDesc, m.longestStanding(now).Seconds())
	if m.opts.Lags != nil {
		lags, total := m.lag()
		gauge(lagTotalDesc, float64(total))
		slices.SortFunc(lags, func(a, b Lag) int { return cmp.Compare(b.Behind, a.Behind) })
		for _, l := range lags[:min(len(lags), maxLaneSeries)] {
			gauge(lagDesc, float64(l.Behind), l.Lane.Stream, strconv.Itoa(int(l.Lane.Partition)))
		}
	}
	if m.opts.Trouble != nil {
		gauge(troubleDesc, failing(m.opts.Trouble, now))
		count(retriesDesc, m.opts.Retries())
		count(unreadableDesc, m.opts.Unreadable())
	}
	m.collectSink(now, count, gauge)
	m.collectMemory(gauge)
	m.collectProblems(now, gauge)
	b := m.build()
	gauge(infoDesc, 1, b.Version, b.Go, b.PSL, b.Standard)
}

func (m *Monitor) collectSink(now time.Time, count func(*prometheus.Desc, int64, ...string), gauge func(*prometheus.Desc, float64, ...string)) {
	if m.opts.SinkTrouble != nil {
		gauge(sinkTroubleDesc, failing(m.opts.SinkTrouble, now))
		count(sinkRetriesDesc, m.opts.SinkRetries())
	}
	if m.opts.Files != nil {
		files, bytes := m.opts.Files()
		count(filesDesc, files)
		count(fileBytesDesc, bytes)
	}
	if m.opts.LateRows != nil {
		if n, ok := m.opts.LateRows(); ok {
			count(lateDesc, n)
		}
	}
	if m.opts.Loads != nil {
		loads, retries, unfit := m.opts.Loads()
		count(loadsDesc, loads)
		count(loadRetriesDesc, retries)
		count(unfitDesc, unfit)
	}
	if m.opts.Registered != nil {
		if snapshots, files, failing, ok := m.opts.Registered(); ok {
			count(snapshotsDesc, snapshots)
			count(tableFilesDesc, files)
			gauge(tableFailDesc, map[bool]float64{true: 1}[failing])
		}
	}
}

// failing returns the seconds since trouble began, 0 while there is none.
func failing(trouble func() (time.Time, error), now time.Time) float64 {
	since, err := trouble()
	if err == nil {
		return 0
	}
	return now.Sub(since).Seconds()
}

func (m *Monitor) collectMemory(gauge func(*prometheus.Desc, float64, ...string)) {
	gauge(memoryDesc, float64(memoryUsed()))
	gauge(memoryLimitDesc, float64(m.opts.MemoryLimit))
	if m.opts.OpenFiles != nil {
		used, limit := m.opts.OpenFiles()
		gauge(openDesc, float64(used))
		gauge(openLimitDesc, float64(limit))
	}
}

func (m *Monitor) collectProblems(now time.Time, gauge func(*prometheus.Desc, float64, ...string)) {
	problems := m.Problems(now)
	for _, code := range problemCodes {
		v := 0.0
		if slices.ContainsFunc(problems, func(p Problem) bool { return p.Code == code }) {
			v = 1
		}
		gauge(problemDesc, v, code)
	}
	ready := 1.0
	if len(problems) > 0 {
		ready = 0
	}
	gauge(readyDesc, ready)
}

// memoryUsed returns what counts against Go's memory limit, in bytes.
func memoryUsed() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

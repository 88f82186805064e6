package admin

import (
	"cmp"
	"runtime/metrics"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// maxLaneSeries bounds the partitions that have series of their own: the others are in the totals.
const maxLaneSeries = 1000

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

// series takes what a collector has read.
type series chan<- prometheus.Metric

func (out series) send(kind prometheus.ValueType, name, help string, v float64, labels prometheus.Labels) {
	out <- prometheus.MustNewConstMetric(prometheus.NewDesc("urlmill_"+name, help, nil, labels), kind, v)
}

func (out series) count(name, help string, v int64) {
	out.send(prometheus.CounterValue, name, help, float64(v), nil)
}

func (out series) gauge(name, help string, v float64) {
	out.send(prometheus.GaugeValue, name, help, v, nil)
}

// collector reads what is counted elsewhere when it is asked for.
type collector struct{ m *Monitor }

// Describe sends nothing: which series there are depends on the pipeline.
func (c collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (c collector) Collect(to chan<- prometheus.Metric) {
	m, out := c.m, series(to)
	now, t := time.Now(), m.opts.Stats.Totals()
	out.count("rows_total", "Records read.", t.Rows)
	out.count("bytes_total", "Bytes of the records read.", t.Bytes)
	out.count("dropped_total", "Rows left out by on_error: drop.", t.Dropped)
	out.count("nulled_total", "Rows without an error in which a carried field is null because it was not of its type.", t.Nulled)
	out.count("dead_letters_total", "Rows that went to the dead letters.", t.DeadLetters)
	out.count("committed_total", "Rows that are durable.", t.Committed)
	out.count("commits_total", "Commits.", t.Commits)
	for code, n := range t.Errors {
		out.send(prometheus.CounterValue, "errors_total", "Rows with an error of the URL, the record or a carried field, by its code.", float64(n),
			prometheus.Labels{"code": code, "kind": string(pipeline.KindOf(code))})
	}
	out.gauge("lanes", "Partitions, files or streams that are being read.", float64(t.Lanes))
	out.gauge("oldest_uncommitted_seconds", "Age of the oldest row that is read and not committed, over all lanes.", m.oldest(now).Seconds())
	out.gauge("stuck_lanes", "Lanes that have got nowhere for admin.stuck_after.", float64(len(m.stuck(now))))
	out.gauge("standing_seconds", "How long no row of a lane was read while there were some to read, of the lane that stands longest.", m.longestStanding(now).Seconds())
	counts := m.counts()
	if in := counts.Input; in != nil {
		out.gauge("lag_total_records", "Records of all partitions that are not read yet.", float64(in.Behind()))
		slices.SortFunc(in.Lags, func(a, b pipeline.Lag) int { return cmp.Compare(b.Behind, a.Behind) })
		for _, l := range in.Lags[:min(len(in.Lags), maxLaneSeries)] {
			out.send(prometheus.GaugeValue, "lag_records", "Records of a partition that are not read yet; the partitions with the most.",
				float64(l.Behind), prometheus.Labels{"topic": l.Lane.Stream, "partition": strconv.Itoa(int(l.Lane.Partition))})
		}
		out.gauge("source_failing_seconds", "How long the source has been failing; 0 while it is not.", failing(in.Since, in.Err, now))
		out.count("source_retries_total", "How often the source has tried again what failed.", in.Retries)
		out.count("source_unreadable_total", "Parts of the source that could not be read when they were first fetched, such as Kafka batches that are damaged or that have fewer records than they say.", in.Unreadable)
		for what, n := range in.Notices {
			out.send(prometheus.CounterValue, "source_notices_total", "Messages about new objects: received, deleted, left in the queue because they are not for this source, and handed on to other processes.",
				float64(n), prometheus.Labels{"what": what})
		}
	}
	if m.opts.Removed != nil {
		for rule, n := range m.opts.Removed {
			out.send(prometheus.CounterValue, "removed_total", "Values that were removed by the section privacy, by rule.", float64(n), prometheus.Labels{"rule": rule})
		}
	}
	m.collectVisits(out)
	m.collectSink(counts, now, out)
	m.collectMemory(out)
	m.collectProblems(now, out)
	b := m.build()
	out.send(prometheus.GaugeValue, "build_info", "1, with the versions.", 1,
		prometheus.Labels{"version": b.Version, "go": b.Go, "psl": b.PSL, "standard": b.Standard})
}

func (m *Monitor) collectSink(c pipeline.Counts, now time.Time, out series) {
	if m.opts.SinkTrouble != nil {
		since, err := m.opts.SinkTrouble()
		out.gauge("sink_failing_seconds", "How long a request of the sink has been failing that is tried again; 0 while none is.", failing(since, err, now))
		out.count("sink_retries_total", "How often the sink has tried again what failed.", m.opts.SinkRetries())
	}
	if f := c.Files; f != nil {
		out.count("files_total", "Finished files.", f.Files)
		out.count("file_bytes_total", "Bytes of the finished files.", f.Bytes)
	}
	if c.Late != nil {
		out.count("late_rows_total", "Rows that came too late for the directories of their time, and are durable in that of late rows.", *c.Late)
	}
	if d := c.Duplicates; d != nil {
		out.count("duplicate_rows_total", "Rows whose page was there before, which are marked or left out.", d.Rows)
		if s := d.Shards; s != nil {
			out.gauge("dedupe_lanes", "Partitions whose state of duplicates is here.", float64(s.Lanes))
			out.gauge("dedupe_keys", "Pages that these states know.", float64(s.Keys))
			out.gauge("dedupe_runs", "Files that the keys of these pages are in.", float64(s.Runs))
			out.count("dedupe_restores_total", "How often a state was read from the output, by a process that has taken a partition over.", s.Restores)
			out.count("dedupe_fetched_bytes_total", "Bytes that were copied from the output for that.", s.Fetched)
			out.send(prometheus.CounterValue, "dedupe_restore_seconds_total", "How long that took, all taken together.", s.Restoring.Seconds(), nil)
		}
	}
	if l := c.Loads; l != nil {
		out.count("table_loads_total", "Loads into the tables of a database.", l.Loads)
		out.count("table_load_retries_total", "How often a load was tried again because the database could not be reached.", l.Retries)
		out.count("table_values_unfit_total", "Values that the database cannot hold, and that are null there.", l.Nulled)
	}
	if t := c.Table; t != nil {
		out.count("iceberg_snapshots_total", "Snapshots of the Iceberg table that this process has made.", t.Snapshots)
		out.count("iceberg_files_total", "Files that this process has added to the Iceberg table.", t.Files)
		out.gauge("iceberg_failing", "1 while files cannot be added to the Iceberg table; they are committed, and added later.", number(t.Failing))
	}
}

// failing returns the seconds since trouble began, 0 while there is none.
func failing(since time.Time, err error, now time.Time) float64 {
	if err == nil {
		return 0
	}
	return now.Sub(since).Seconds()
}

func (m *Monitor) collectMemory(out series) {
	out.gauge("memory_bytes", "Memory that the process has from the system, as Go counts it.", float64(memoryUsed()))
	out.gauge("memory_limit_bytes", "What it may have.", float64(m.opts.MemoryLimit))
	if m.opts.OpenFiles != nil {
		used, limit := m.opts.OpenFiles()
		out.gauge("open_files_memory_bytes", "Memory held by files that are being written.", float64(used))
		out.gauge("open_files_memory_limit_bytes", "What they may hold.", float64(limit))
	}
}

func (m *Monitor) collectProblems(now time.Time, out series) {
	problems := m.Problems(now)
	for _, code := range problemCodes {
		v := number(slices.ContainsFunc(problems, func(p Problem) bool { return p.Code == code }))
		out.send(prometheus.GaugeValue, "problem", "1 while there is a problem of that kind: failed, stuck, source, sink, lag or rows.", v, prometheus.Labels{"code": code})
	}
	out.gauge("ready", "1 while /readyz says that the process is ready.", number(len(problems) == 0))
}

// number returns 1 for true and 0 for false.
func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// memoryUsed returns what counts against Go's memory limit, in bytes.
func memoryUsed() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

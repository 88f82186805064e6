package main

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/wire"
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/admin"
	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/kafka"
)

// listener is the admin listener of a pipeline; without a monitor, one that the configuration does not ask for.
type listener struct {
	config  func() *settings.Config // as it counts now
	monitor *admin.Monitor
	log     *slog.Logger // that the pipeline is to use
}

func newListener(c *settings.Config, log *slog.Logger) *listener {
	if c.Admin == nil {
		return &listener{log: log}
	}
	m := admin.NewMonitor()
	return &listener{config: func() *settings.Config { return c }, monitor: m, log: m.Logger(log)}
}

// start listens. stop has to be called with what the pipeline has ended with: after a failure the listener stays for
// admin.linger, unless drain is closed or ctx ends before.
func (l *listener) start(job *wire.Job, source any, sink pipeline.Sink, stats *pipeline.Stats) (stop func(ctx context.Context, drain <-chan struct{}, err error), err error) {
	if l.monitor == nil {
		return func(context.Context, <-chan struct{}, error) {}, nil
	}
	c := l.config().Admin
	l.monitor.Attach(l.watch(job, source, sink, stats))
	server, err := admin.Start(admin.Options{
		Listen: c.Listen, Token: c.Token.Reveal(), CertFile: c.TLS.CertFile, KeyFile: c.TLS.KeyFile, PProf: c.PProf,
	}, l.monitor, l.log)
	if err != nil {
		return nil, err
	}
	l.log.Info("status page, metrics and probes", "url", server.URL())
	recording, stopRecording := context.WithCancel(context.Background())
	recorded := make(chan struct{})
	go func() {
		defer close(recorded)
		l.monitor.Record(recording)
	}()
	return func(ctx context.Context, drain <-chan struct{}, err error) {
		if err != nil && ctx.Err() == nil && c.Linger > 0 {
			l.monitor.Failed(err)
			l.log.Error("failed; the admin listener stays for a while", "linger", c.Linger, "error", err)
			select {
			case <-time.After(c.Linger):
			case <-drain:
			case <-ctx.Done():
			}
		}
		stopRecording()
		<-recorded
		const grace = time.Second
		closing, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		server.Close(closing)
	}, nil
}

// watch says what the monitor watches.
func (l *listener) watch(job *wire.Job, source any, sink pipeline.Sink, stats *pipeline.Stats) admin.Watch {
	b, c := readBuild(), l.config()
	w := admin.Watch{
		Stats:  stats,
		Build:  admin.Build{Version: b.Version, Go: b.Go, PSL: b.PSL, Standard: b.Standard},
		Config: func() []admin.Setting { return settingsOf(l.config()) }, OpenFiles: job.OpenFiles, MemoryLimit: job.MemoryLimit(),
		StuckAfter: c.Admin.StuckAfter, MaxLag: c.Admin.MaxLag,
		Columns: lookedAt(job, c.Columns.Rename), Log: l.log,
	}
	if t := job.SinkTrouble(); t != nil {
		w.SinkTrouble, w.SinkRetries = t.Get, t.Retries
	}
	if k, ok := source.(*kafka.Source); ok {
		w.Trouble, w.Retries, w.Unreadable, w.Lags = k.Trouble, k.Retries, k.Unreadable, func() []admin.Lag { return lagsOf(k) }
	}
	if files, ok := pipeline.As[interface {
		Written() (files, bytes int64)
	}](sink); ok {
		w.Files = files.Written
	}
	if late, ok := pipeline.As[interface{ LateRows() (n int64, ok bool) }](sink); ok {
		w.LateRows = late.LateRows
	}
	if database, ok := pipeline.As[interface {
		Loaded() (rows, bytes, loads, retries, nulled int64)
	}](sink); ok {
		w.Loads = func() (loads, retries, nulled int64) {
			_, _, loads, retries, nulled = database.Loaded()
			return loads, retries, nulled
		}
	}
	if table, ok := pipeline.As[interface {
		Registered() (snapshots, files int64, failing, ok bool)
	}](sink); ok {
		w.Registered = table.Registered
	}
	return w
}

func lagsOf(k *kafka.Source) []admin.Lag {
	lags := k.Lags()
	out := make([]admin.Lag, len(lags))
	for i, l := range lags {
		out[i] = admin.Lag{Lane: l.Lane, Behind: l.Behind()}
	}
	return out
}

// lookedAt returns the names that the columns have in which the monitor looks for domains and for what is wrong.
func lookedAt(job *wire.Job, renamed map[string]string) admin.Columns {
	schema := job.Plan.Schemas()[pipeline.Rows]
	find := func(names ...string) string {
		names = append([]string{renamed[names[0]]}, names...)
		i := slices.IndexFunc(names, func(name string) bool { return name != "" && schema.HasField(name) })
		if i < 0 {
			return ""
		}
		return names[i]
	}
	return admin.Columns{
		URL:    find("url", "url.original", "href"),
		Domain: find("registrable_domain", "url.registered_domain", "url_host_private_domain"),
		Code:   find("url_error"),
	}
}

// settingsOf lists what a configuration says, without secrets.
func settingsOf(c *settings.Config) []admin.Setting {
	var out []admin.Setting
	for _, s := range config.Settings(c.Section()) {
		out = append(out, admin.Setting{Key: s.Path, Value: s.Value})
	}
	return out
}

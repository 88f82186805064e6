package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/admin"
	"github.com/urlmill/urlmill/internal/wire"
	"github.com/urlmill/urlmill/pipeline"
)

// listener is the admin listener of a pipeline; without a monitor, one that the configuration does not ask for.
type listener struct {
	config   *wire.Config
	settings func() config.Section // as it counts now
	monitor  *admin.Monitor
	log      *slog.Logger // that the pipeline is to use
}

func newListener(c *wire.Config, log *slog.Logger) *listener {
	if c.Admin == nil {
		return &listener{log: log}
	}
	m := admin.NewMonitor()
	return &listener{config: c, settings: c.Section, monitor: m, log: m.Logger(log)}
}

// refused shows on the status page why a change was refused, until err is nil.
func (l *listener) refused(what string, err error) {
	if l.monitor != nil {
		l.monitor.Refused(what, err)
	}
}

// start listens. stop has to be called with what the pipeline has ended with: after a failure the listener stays for
// admin.linger, unless drain or ctx ends before.
func (l *listener) start(s *wire.Session) (stop func(ctx, drain context.Context, err error), err error) {
	if l.monitor == nil {
		return func(context.Context, context.Context, error) {}, nil
	}
	c := l.config.Admin
	l.monitor.Attach(l.watch(s))
	server, err := admin.Start(*c, l.monitor, l.log)
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
	return func(ctx, drain context.Context, err error) {
		if err != nil && ctx.Err() == nil && c.Linger > 0 {
			l.monitor.Failed(err)
			l.log.Error("failed; the admin listener stays for a while", "linger", c.Linger, "error", err)
			select {
			case <-time.After(c.Linger):
			case <-drain.Done():
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
func (l *listener) watch(s *wire.Session) admin.Watch {
	b, c, job, source, sink := readBuild(), l.config, s.Job, s.Source, s.Sink
	w := admin.Watch{
		Name:   nameOf(c.File(), settingsOf(l.settings())),
		Stats:  s.Stats,
		Counts: func() pipeline.Counts { return pipeline.CountsOf(source, sink) },
		Build:  admin.Build{Version: b.Version, Go: b.Go, PSL: b.PSL, Standard: b.Standard},
		Config: func() []admin.Setting { return settingsOf(l.settings()) }, OpenFiles: job.OpenFiles, MemoryLimit: job.MemoryLimit(),
		StuckAfter: c.Admin.StuckAfter, MaxLag: c.Admin.MaxLag,
		Columns: lookedAt(job, c.Columns.Rename), Log: l.log,
	}
	w.Removed = job.Removed()
	if t := job.SinkTrouble(); t != nil {
		w.SinkTrouble, w.SinkRetries = t.Get, t.Retries
	}
	return w
}

// nameOf returns what a pipeline is called: its file without the folder and the extension, with the consumer group if it has one.
func nameOf(file string, settings []admin.Setting) string {
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	for _, s := range settings {
		if s.Key == "source.kafka.group" {
			name += ", group " + s.Value
		}
	}
	return name
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
		URL:     find("url", "url.original", "href"),
		Domain:  find("registrable_domain", "url.registered_domain", "url_host_private_domain"),
		Code:    find("url_error"),
		Field:   find("field_error"),
		Channel: find("channel"), Bot: find("bot"),
	}
}

// settingsOf lists what a configuration says, without secrets.
func settingsOf(root config.Section) []admin.Setting {
	var out []admin.Setting
	for _, s := range config.Settings(root) {
		out = append(out, admin.Setting{Key: s.Path, Value: s.Value})
	}
	return out
}

package main

import (
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/wire"
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/settings"
)

// reload applies what of a changed configuration can change while a pipeline runs.
type reload struct {
	load       func() (*settings.Config, error)
	check      func(*settings.Config) error
	level      *slog.LevelVar
	fixedLevel bool // the command line gives the level
	log        *slog.Logger
	signals    chan os.Signal

	current atomic.Pointer[settings.Config] // that counts now
	job     *wire.Job
	source  any // that the job has opened
}

// begin has SIGHUP reload c instead of ending the process.
func (r *reload) begin(c *settings.Config) {
	r.current.Store(c)
	r.signals = make(chan os.Signal, 1)
	signal.Notify(r.signals, syscall.SIGHUP)
}

// watch reloads at every SIGHUP, one before its call included, until stop is called.
func (r *reload) watch(job *wire.Job, source any) (stop func()) {
	r.job, r.source = job, source
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-r.signals:
				r.apply()
			case <-over:
				return
			}
		}
	}()
	return func() {
		signal.Stop(r.signals)
		close(over)
		<-ended
	}
}

// apply reads the configuration again. One that is wrong changes nothing.
func (r *reload) apply() {
	c, err := r.load()
	if err == nil {
		err = r.check(c)
	}
	if err != nil {
		r.log.Error("SIGHUP: the configuration is wrong; nothing was changed", "error", err)
		return
	}
	r.log.Info("SIGHUP: the configuration was read")
	current := r.current.Load()
	for _, change := range config.Changes(current.Section(), c.Section()) {
		if change.Reason != "" {
			r.log.Warn("SIGHUP: a change is not taken over; restart for it", "key", change.Path, "reason", change.Reason)
		}
	}
	next := current.WithLive(c)
	r.applyLevel(next.Log.Level)
	r.applyLists(next)
	r.applyRates(current, next)
	r.current.Store(next)
}

func (r *reload) applyLevel(to slog.Level) {
	switch before := r.level.Level(); {
	case before == to:
	case r.fixedLevel:
		r.log.Warn("SIGHUP: a change is not taken over", "key", "log.level", "reason", "--log-level was given")
	default:
		r.log.Info("SIGHUP: taken over", "key", "log.level", "from", before, "to", to)
		r.level.Set(to)
	}
}

// applyLists reads the files of c, whose names may be the same and whose contents not.
func (r *reload) applyLists(c *settings.Config) {
	before := r.job.Lists()
	lists, problem := wire.ReadLists(c)
	if problem != nil { // it was right a moment ago
		r.log.Error("SIGHUP: a list is wrong; both stay", "error", problem.Message)
		return
	}
	if err := r.job.CheckRules(lists.Rules); err != nil {
		r.log.Warn("SIGHUP: a change is not taken over; restart for it", "key", "columns.tracking_rules", "reason", err)
		lists.Rules = before.Rules
	}
	for _, l := range []struct{ key, from, to string }{
		{"columns.tracking_rules", before.Rules.Version(), lists.Rules.Version()},
		{"columns.public_suffix_list", before.Suffixes.Version(), lists.Suffixes.Version()},
	} {
		if l.from != l.to {
			r.log.Info("SIGHUP: taken over", "key", l.key, "from", l.from, "to", l.to)
		}
	}
	r.job.Use(lists)
}

func (r *reload) applyRates(before, after *settings.Config) {
	note := func(key string, from, to float64) {
		if from != to {
			r.log.Info("SIGHUP: taken over", "key", key, "from", from, "to", to)
		}
	}
	note("pipeline.rate", before.Pipeline.Rate, after.Pipeline.Rate)
	if a, b := before.Source.Generate, after.Source.Generate; a != nil && b != nil {
		note("source.generate.rate", a.Rate, b.Rate)
	}
	r.job.SetRates(after, r.source)
}

package main

import (
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/wire"
	"github.com/urlmill/urlmill/pipeline/enrich"
)

// reload applies what of a changed configuration can change while a pipeline runs.
type reload struct {
	load       func() (*wire.Config, error)
	level      *slog.LevelVar
	fixedLevel bool // the command line gives the level
	log        *slog.Logger
	refused    func(what string, err error) // shows why a change was refused, until err is nil
	signals    chan os.Signal

	running *wire.Config                // that the pipeline was started with
	latest  atomic.Pointer[wire.Config] // that has the values which were taken over since
	session *wire.Session
}

// counts returns the keys with the values that count now.
func (r *reload) counts() config.Section {
	return config.Overlay(r.running.Section(), r.latest.Load().Section())
}

// begin has SIGHUP reload c instead of ending the process.
func (r *reload) begin(c *wire.Config) {
	r.running = c
	r.latest.Store(c)
	r.signals = make(chan os.Signal, 1)
	signal.Notify(r.signals, syscall.SIGHUP)
}

// lookEvery is how often files are looked at that others replace.
const lookEvery = 30 * time.Second

// watch reloads at every SIGHUP, one before its call included, until stop is called.
func (r *reload) watch(s *wire.Session) (stop func()) {
	r.session = s
	over, ended := make(chan struct{}), make(chan struct{})
	files := time.NewTicker(lookEvery)
	go func() {
		defer close(ended)
		defer files.Stop()
		for {
			select {
			case <-r.signals:
				r.apply()
			case <-files.C:
				r.applyChanged()
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
		err = wire.Check(c)
	}
	if err != nil {
		r.log.Error("SIGHUP: the configuration is wrong; nothing was changed", "error", err)
		r.refused(bySignal, err)
		return
	}
	r.log.Info("SIGHUP: the configuration was read")
	for _, change := range config.Changes(r.counts(), c.Section()) {
		switch {
		case change.Reason != "":
			r.log.Warn("SIGHUP: a change is not taken over; restart for it", "key", change.Path, "reason", change.Reason)
		case change.Path == "log.level" && r.fixedLevel:
			r.log.Warn("SIGHUP: a change is not taken over", "key", change.Path, "reason", "--log-level was given")
		case !strings.HasPrefix(change.Path, "columns.") && !strings.HasPrefix(change.Path, "enrich."): // see applyLists
			r.log.Info("SIGHUP: taken over", "key", change.Path, "from", change.From, "to", change.To)
		}
	}
	if !r.fixedLevel {
		r.level.Set(c.Log.Level)
	}
	r.refused(bySignal, r.applyLists(c))
	r.session.SetRates(c, r.session.Source)
	r.latest.Store(c)
}

// What changes may be refused by.
const (
	bySignal = "SIGHUP"
	byFiles  = "a file of enrich"
)

// applyLists reads the files of c, whose names may be the same and whose contents not.
func (r *reload) applyLists(c *wire.Config) error {
	before := r.session.Lists()
	lists, err := wire.ReadLists(c)
	if err != nil { // it was right a moment ago
		r.log.Error("SIGHUP: a list is wrong; all stay", "error", err)
		return err
	}
	if err := r.session.CheckRules(lists.Rules); err != nil {
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
	if from, to := before.Keys, lists.Keys; !from.Equal(to) {
		if from == nil || to == nil {
			lists.Keys = from // hashes have come or gone, which needs a restart
		} else {
			r.log.Info("SIGHUP: taken over", "key", "privacy.keys", "from", from.Version(), "to", to.Version())
		}
	}
	if from, to := before.Acquisition, lists.Acquisition; from == nil || to == nil {
		lists.Acquisition = from // the section has come or gone, which needs a restart
	} else if from.Version() == to.Version() {
		lists.Acquisition = from // and its templates
	} else {
		r.log.Info("SIGHUP: taken over", "key", "enrich.acquisition", "from", from.Version(), "to", to.Version())
	}
	lists.Clients = r.newClients("SIGHUP: taken over", before.Clients, lists.Clients)
	r.session.Use(lists)
	r.refused(byFiles, nil) // all were read
	return nil
}

// newClients returns the clients for the batches that begin from now on, and logs by message that they are others than before.
func (r *reload) newClients(message string, from, to *enrich.Clients) *enrich.Clients {
	if from == nil || to == nil || from.Version() == to.Version() {
		return from // the sections have come or gone, which needs a restart, or the files are the same
	}
	to.Keep(from)
	r.log.Info(message, "key", "enrich", "from", from.Version(), "to", to.Version())
	return to
}

// applyChanged reads the files of addresses and of bots' ranges that have been replaced. One that is wrong changes nothing, and is read
// again the next time.
func (r *reload) applyChanged() {
	lists := r.session.Lists()
	if !lists.Clients.Changed() {
		r.refused(byFiles, nil)
		return
	}
	clients, err := r.latest.Load().Enrich.ReadClients()
	if err != nil {
		r.log.Error("a file of enrich has changed and is wrong; the one before stays", "error", err)
		r.refused(byFiles, err)
		return
	}
	r.refused(byFiles, nil)
	lists.Clients = r.newClients("a file of enrich has changed and was taken over", lists.Clients, clients)
	r.session.Use(lists)
}

package main

import (
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/urlmill/urlmill/config"
)

// reload applies what of a changed configuration can change while a pipeline runs.
type reload struct {
	current    *config.Config
	load       func() (*config.Config, error)
	check      func(*config.Config) error
	level      *slog.LevelVar
	fixedLevel bool // the command line gives the level
	log        *slog.Logger
}

// watchReload reloads at every SIGHUP, until stop is called.
func watchReload(r *reload) (stop func()) {
	signals, over := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGHUP)
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-signals:
				r.apply()
			case <-over:
				return
			}
		}
	})
	return func() {
		signal.Stop(signals)
		close(over)
		watching.Wait()
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
	if changed := r.current.Changed(c); len(changed) > 0 {
		r.log.Warn("SIGHUP: what has changed here is not taken over, since positions, open files and columns rest on it; restart for that",
			"sections", strings.Join(changed, ", "))
	}
	switch before := r.level.Level(); {
	case before == c.Log.Level:
		r.log.Info("SIGHUP: the configuration was read; the level of the log stays", "level", before)
	case r.fixedLevel:
		r.log.Warn("SIGHUP: log.level is not taken over, since --log-level was given", "level", before)
	default:
		r.log.Info("SIGHUP: the configuration was read; the level of the log changes", "from", before, "to", c.Log.Level)
		r.level.Set(c.Log.Level)
	}
}

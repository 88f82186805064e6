package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// exitGrace is how long a command that was told twice to stop may take to remove its temporary files.
const exitGrace = 2 * time.Second

// watchSignals returns a context and a channel for a pipeline. The first SIGINT or SIGTERM closes the channel; the
// second cancels the context with the cause errInterrupted, and ends the process if it does not end by itself.
// release has to be called in the end.
func watchSignals(parent context.Context, log *slog.Logger) (ctx context.Context, drain <-chan struct{}, release func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	soft := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			log.Info("stopping: what was read is being written and committed; a second signal stops at once", "signal", s.String())
			close(soft)
		case <-ended:
			return
		}
		select {
		case <-signals:
			cancel(errInterrupted)
		case <-ended:
			return
		}
		select {
		case <-signals:
		case <-time.After(exitGrace):
		case <-ended:
			return
		}
		os.Exit(exitInterrupt)
	}()
	return ctx, soft, func() {
		signal.Stop(signals)
		close(ended)
		cancel(nil)
	}
}

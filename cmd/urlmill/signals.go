package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// echo is how soon after the first a signal is the same one once more: timeout(1) sends it to the process and to its group,
// and terminals and wrappers such as sudo send it both.
const echo = 250 * time.Millisecond

// exitGrace is how long a command that was told twice to stop may take to remove its temporary files.
const exitGrace = 2 * time.Second

// watchSignals returns two contexts for a pipeline. The first SIGINT or SIGTERM ends drain; the second, if it comes later
// than an [echo], ends ctx with the cause errInterrupted, and the process if it does not end by itself.
// release has to be called in the end.
func watchSignals(parent context.Context, log *slog.Logger) (ctx, drain context.Context, release func()) {
	return watchSignalsOr(parent, log, func() { os.Exit(exitInterrupt) })
}

// watchSignalsOr is watchSignals that ends the process by exit.
func watchSignalsOr(parent context.Context, log *slog.Logger, exit func()) (ctx, drain context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(parent)
	drain, soft := context.WithCancel(context.WithoutCancel(parent))
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ended := make(chan struct{})
	go func() {
		if followSignals(signals, ended, soft, cancel, log) {
			exit()
		}
	}()
	return ctx, drain, func() {
		signal.Stop(signals)
		close(ended)
		soft()
		cancel(nil)
	}
}

// followSignals calls soft at the first of the signals and cancels at the second. It returns when ended is closed, or,
// with true, when the process has to be ended.
func followSignals(signals <-chan os.Signal, ended <-chan struct{}, soft func(), cancel context.CancelCauseFunc, log *slog.Logger) bool {
	var first time.Time
	select {
	case s := <-signals:
		first = time.Now()
		log.Info("stopping: what was read is being written and committed; a second signal stops at once", "signal", s.String())
		soft()
	case <-ended:
		return false
	}
	for second := false; !second; {
		select {
		case <-signals:
			second = time.Since(first) > echo
		case <-ended:
			return false
		}
	}
	cancel(errInterrupted)
	select {
	case <-signals:
	case <-time.After(exitGrace):
	case <-ended:
		return false
	}
	return true
}

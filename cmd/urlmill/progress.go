package main

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/kafka"
)

const (
	lineEvery = 200 * time.Millisecond // on a terminal
	logEvery  = 10 * time.Second       // elsewhere
	barWidth  = 20
	maxLeft   = 1000 * time.Hour // more is no estimate
)

// finite is what sources have that know how much there is to read.
type finite interface {
	// Progress returns what was read so far and how much there is, 0 when nobody knows.
	Progress() (done, total int64)
}

// lagOf returns how many records of its partitions a Kafka source has not read yet.
func lagOf(source any) (lag int64, ok bool) {
	s, ok := source.(*kafka.Source)
	if !ok {
		return 0, false
	}
	for _, l := range s.Lags() {
		lag += l.Behind()
	}
	return lag, true
}

// progress tells how a pipeline is getting on: by a line that is drawn again and again on a terminal, by log lines
// elsewhere.
type progress struct {
	stats  *pipeline.Stats
	source any
	bar    *progressbar.ProgressBar // nil without a known end
	last   pipeline.Totals
	lastAt time.Time
	rows   rate
	bytes  rate
	done   rate  // of what the source counts its progress in
	before int64 // the same, at the last snapshot

	// stop ends the showing and takes the line away.
	stop func()
}

// rate is how much there is a second, smoothed.
type rate float64

// add takes over what came in some seconds.
func (r *rate) add(n int64, seconds float64) {
	const weight = 0.3
	now := float64(n) / seconds
	if *r == 0 {
		*r = rate(now)
	}
	*r += rate(weight * (now - float64(*r)))
}

// startProgress shows the progress of a pipeline until stop is called.
func (a *app) startProgress(stats *pipeline.Stats, source any, log *slog.Logger) *progress {
	p := &progress{stats: stats, source: source, lastAt: time.Now()}
	every := logEvery
	if a.console.terminal() {
		every = lineEvery
	}
	p.stop = a.everyTick(every, func() {
		if t := p.update(); a.console.terminal() {
			a.console.show(p.line(t))
		} else {
			p.log(log, t)
		}
	})
	return p
}

// everyTick calls f again and again, and takes the progress line away when the function that it returns is called.
func (a *app) everyTick(every time.Duration, f func()) (stop func()) {
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				f()
			}
		}
	})
	return func() {
		close(done)
		wait.Wait()
		a.console.show("")
	}
}

// update takes a new snapshot and brings the rate up to date.
func (p *progress) update() pipeline.Totals {
	t, now := p.stats.Totals(), time.Now()
	elapsed := now.Sub(p.lastAt).Seconds()
	if elapsed > 0 {
		p.rows.add(t.Rows-p.last.Rows, elapsed)
		p.bytes.add(t.Bytes-p.last.Bytes, elapsed)
		if done, _, ok := p.finite(); ok {
			p.done.add(done-p.before, elapsed)
			p.before = done
		}
	}
	p.last, p.lastAt = t, now
	return t
}

// line returns the progress line.
func (p *progress) line(t pipeline.Totals) string {
	parts := []string{plain.Plural(t.Rows, "row"), plain.Count(int64(p.rows)) + " rows/s", plain.Bytes(int64(p.bytes)) + "/s"}
	if t.Invalid > 0 {
		parts = append(parts, plain.Count(t.Invalid)+" invalid")
	}
	if lag, ok := lagOf(p.source); ok {
		parts = append(parts, "lag "+plain.Count(lag))
	}
	if bar := p.barText(); bar != "" {
		if left, ok := p.left(); ok {
			bar += "  " + left.String() + " left"
		}
		parts = append([]string{bar}, parts...)
	}
	return strings.Join(parts, "  ")
}

// finite returns how far a source is that has an end.
func (p *progress) finite() (done, total int64, ok bool) {
	f, ok := p.source.(finite)
	if !ok {
		return 0, 0, false
	}
	done, total = f.Progress()
	return min(done, total), total, total > 0
}

// left returns how long the rest will take at the present rate.
func (p *progress) left() (time.Duration, bool) {
	done, total, ok := p.finite()
	seconds := float64(total-done) / float64(p.done)
	if !ok || p.done <= 0 || seconds > maxLeft.Seconds() {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)).Round(time.Second), true
}

// barText returns the bar of a source that has an end.
func (p *progress) barText() string {
	done, total, ok := p.finite()
	if !ok {
		return ""
	}
	if p.bar == nil {
		p.bar = newBar(total)
	}
	return drawBar(p.bar, done)
}

// drawBar returns a bar as it is at done.
func drawBar(bar *progressbar.ProgressBar, done int64) string {
	_ = bar.Set64(done) // it only draws into memory, where nothing can fail
	return strings.TrimSpace(strings.ReplaceAll(bar.String(), "\r", ""))
}

// newBar returns a bar that draws into memory.
func newBar(total int64) *progressbar.ProgressBar {
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(io.Discard),
		progressbar.OptionSetWidth(barWidth),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionThrottle(0),
	)
}

// log writes the progress as a log line.
func (p *progress) log(log *slog.Logger, t pipeline.Totals) {
	attrs := []any{
		"rows", t.Rows, "rows_per_s", int64(p.rows), "bytes", t.Bytes, "bytes_per_s", int64(p.bytes), "invalid", t.Invalid,
		"committed", t.Committed, "lanes", t.Lanes,
	}
	if lag, ok := lagOf(p.source); ok {
		attrs = append(attrs, "lag", lag)
	}
	if done, total, ok := p.finite(); ok {
		attrs = append(attrs, "done", fmt.Sprintf("%.1f%%", 100*float64(done)/float64(total)))
	}
	if left, ok := p.left(); ok {
		attrs = append(attrs, "left", left)
	}
	log.Info("progress", attrs...)
}

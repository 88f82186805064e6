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
	rate   float64 // rows per second, smoothed

	// stop ends the showing and takes the line away.
	stop func()
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
		rate := float64(t.Rows-p.last.Rows) / elapsed
		const weight = 0.3
		if p.rate == 0 {
			p.rate = rate
		}
		p.rate += weight * (rate - p.rate)
	}
	p.last, p.lastAt = t, now
	return t
}

// line returns the progress line.
func (p *progress) line(t pipeline.Totals) string {
	parts := []string{plain.Plural(t.Rows, "row"), plain.Count(int64(p.rate)) + " rows/s", plain.Bytes(t.Bytes)}
	if t.Invalid > 0 {
		parts = append(parts, plain.Count(t.Invalid)+" invalid")
	}
	if lag, ok := lagOf(p.source); ok {
		parts = append(parts, "lag "+plain.Count(lag))
	}
	if bar := p.barText(); bar != "" {
		parts = append([]string{bar}, parts...)
	}
	return strings.Join(parts, "  ")
}

// barText returns the bar of a source that has an end.
func (p *progress) barText() string {
	f, ok := p.source.(finite)
	if !ok {
		return ""
	}
	done, total := f.Progress()
	if total <= 0 {
		return ""
	}
	if p.bar == nil {
		p.bar = newBar(total)
	}
	return drawBar(p.bar, min(done, total))
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
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionThrottle(0),
	)
}

// log writes the progress as a log line.
func (p *progress) log(log *slog.Logger, t pipeline.Totals) {
	attrs := []any{
		"rows", t.Rows, "rows_per_s", int64(p.rate), "bytes", t.Bytes, "invalid", t.Invalid,
		"committed", t.Committed, "lanes", t.Lanes,
	}
	if lag, ok := lagOf(p.source); ok {
		attrs = append(attrs, "lag", lag)
	}
	if f, ok := p.source.(finite); ok {
		if done, total := f.Progress(); total > 0 {
			attrs = append(attrs, "done", fmt.Sprintf("%.1f%%", 100*float64(done)/float64(total)))
		}
	}
	log.Info("progress", attrs...)
}

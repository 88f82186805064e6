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

	done chan struct{}
	wait sync.WaitGroup
	show func(string)
}

// startProgress shows the progress of a pipeline until stop is called.
func (a *app) startProgress(stats *pipeline.Stats, source any, log *slog.Logger) *progress {
	p := &progress{stats: stats, source: source, lastAt: time.Now(), done: make(chan struct{}), show: a.console.show}
	every := logEvery
	if a.console.terminal() {
		every = lineEvery
	}
	p.wait.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-p.done:
				return
			case <-tick.C:
			}
			if t := p.update(); a.console.terminal() {
				p.show(p.line(t))
			} else {
				p.log(log, t)
			}
		}
	})
	return p
}

// stop takes the progress line away.
func (p *progress) stop() {
	close(p.done)
	p.wait.Wait()
	p.show("")
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
		p.bar = newBar(total, 20)
	}
	// The bar only draws into memory, where nothing can fail.
	_ = p.bar.Set64(min(done, total))
	return strings.TrimSpace(strings.ReplaceAll(p.bar.String(), "\r", ""))
}

// newBar returns a bar that draws into memory.
func newBar(total int64, width int) *progressbar.ProgressBar {
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(io.Discard),
		progressbar.OptionSetWidth(width),
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

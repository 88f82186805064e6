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
)

const (
	lineEvery  = 200 * time.Millisecond // on a terminal
	logEvery   = 10 * time.Second       // elsewhere
	lineWeight = 0.3
	barWidth   = 20
	maxLeft    = 1000 * time.Hour // more is no estimate
)

// progress tells how a pipeline is getting on: by a line that is drawn again and again on a terminal, by log lines
// elsewhere.
type progress struct {
	stats  *pipeline.Stats
	source pipeline.Source
	bar    *progressbar.ProgressBar // nil without a known end
	last   pipeline.Totals
	lastAt time.Time
	weight float64 // of the last interval in the rates: less than 1 where intervals are so short that rates would flicker
	rows   rate
	bytes  rate
	done   rate  // of what the source counts its progress in
	before int64 // the same, at the last snapshot

	// stop ends the showing and takes the line away.
	stop func()
}

// rate is how much there is a second.
type rate float64

// add takes over what came in some seconds. A weight below 1 smooths the rate, by what it was before.
func (r *rate) add(n int64, seconds, weight float64) {
	now := float64(n) / seconds
	if *r == 0 {
		*r = rate(now)
	}
	*r += rate(weight * (now - float64(*r)))
}

// startProgress shows the progress of a pipeline until stop is called.
func (a *app) startProgress(stats *pipeline.Stats, source pipeline.Source, log *slog.Logger) *progress {
	p := &progress{stats: stats, source: source, lastAt: time.Now(), weight: 1}
	every := logEvery
	if a.console.terminal() {
		every, p.weight = lineEvery, lineWeight
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
		p.rows.add(t.Rows-p.last.Rows, elapsed, p.weight)
		p.bytes.add(t.Bytes-p.last.Bytes, elapsed, p.weight)
		if done, _, ok := p.finite(); ok {
			p.done.add(done-p.before, elapsed, p.weight)
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
	if in := pipeline.CountsOf(p.source, nil).Input; in != nil {
		parts = append(parts, "lag "+plain.Count(in.Behind()))
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
	read := pipeline.CountsOf(p.source, nil).Progress
	if read == nil {
		return 0, 0, false
	}
	return min(read.Done, read.Total), read.Total, read.Total > 0
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
	if in := pipeline.CountsOf(p.source, nil).Input; in != nil {
		attrs = append(attrs, "lag", in.Behind())
	}
	if done, total, ok := p.finite(); ok {
		attrs = append(attrs, "done", fmt.Sprintf("%.1f%%", 100*float64(done)/float64(total)))
	}
	if left, ok := p.left(); ok {
		attrs = append(attrs, "left", left)
	}
	log.Info("progress", attrs...)
}

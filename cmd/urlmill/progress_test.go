package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urlmill/urlmill/pipeline"
)

// halfDone is a source that has read half of its input.
type halfDone struct{ pipeline.Source }

func (halfDone) Count(c *pipeline.Counts) {
	c.Progress = &pipeline.Progress{Done: 50, Total: 100}
	c.Input = &pipeline.InputCounts{Lags: []pipeline.Lag{{Behind: 40}, {Behind: 2}}}
}

func TestTimeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &progress{stats: new(pipeline.Stats), source: halfDone{}, lastAt: time.Now(), weight: 1}
		time.Sleep(3 * time.Second)
		p.update()
		if left, ok := p.left(); !ok || left != 3*time.Second {
			t.Errorf("half of it took three seconds, and %v are left, %t", left, ok)
		}
	})
}

func TestProgressLine(t *testing.T) {
	p := &progress{stats: new(pipeline.Stats), source: halfDone{}}
	totals := pipeline.Totals{Rows: 1_234_567, Bytes: 98_000_000, Invalid: 12}
	p.rows, p.bytes, p.done = 345_678, 27_400_000, 0.5
	line := p.line(totals)
	for _, want := range []string{"50%", "1,234,567 rows", "345,678 rows/s", "27.4 MB/s", "12 invalid", "lag 42", "1m40s left"} {
		if !strings.Contains(line, want) {
			t.Errorf("%q does not have %q", line, want)
		}
	}
	if strings.ContainsAny(line, "\r\n\x1b") {
		t.Errorf("control characters in %q", line)
	}
	var b bytes.Buffer
	p.log(slog.New(slog.NewTextHandler(&b, nil)), totals)
	for _, want := range []string{"msg=progress", "rows=1234567", "bytes_per_s=27400000", "done=50.0%", "left=1m40s", "invalid=12", "lag=42"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q does not have %q", b.String(), want)
		}
	}
	endless := &progress{stats: new(pipeline.Stats), source: nil}
	if line := endless.line(pipeline.Totals{Rows: 1}); line != "1 row  0 rows/s  0 B/s" {
		t.Errorf("%q", line)
	}
}

// TestLoggedRate checks that the rate of the log is that of its last interval, and that of the line is smoothed.
func TestLoggedRate(t *testing.T) {
	for weight, want := range map[float64]rate{1: 10, lineWeight: 730} {
		var r rate
		r.add(1000, 1, weight)
		r.add(1000, 1, weight)
		r.add(100, 10, weight)
		if got := rate(math.Round(float64(r))); weight == 1 && got != want || weight != 1 && (got <= 10 || got >= 1000) {
			t.Errorf("weight %v: %v, want about %v", weight, got, want)
		}
	}
}

// TestRate checks that the rate follows the rows.
func TestRate(t *testing.T) {
	p := &progress{stats: new(pipeline.Stats), lastAt: time.Now().Add(-time.Hour)}
	if p.update(); p.rows != 0 {
		t.Errorf("rate %v without rows", p.rows)
	}
}

// TestConsole checks that log lines and the progress line do not get into each other.
func TestConsole(t *testing.T) {
	var b bytes.Buffer
	c := &console{w: &b, width: 20}
	c.show("progress 1")
	fmt.Fprint(c, "a log line\n")
	c.show("a progress line that is too long")
	c.show("")
	c.show("")
	fmt.Fprint(c, "the end\n")
	want := eraseLine + "progress 1" + eraseLine + "a log line\n" + "progress 1" + eraseLine + "a progress line tha" + eraseLine + "the end\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	b.Reset()
	none := newConsole(&b)
	none.show("progress")
	fmt.Fprint(none, "log\n")
	if b.String() != "log\n" {
		t.Errorf("%q where nobody looks", b.String())
	}
}

// TestDefaultFormat checks which format output has when none is asked for.
func TestDefaultFormat(t *testing.T) {
	a := &app{out: new(bytes.Buffer)}
	if got := a.defaultFormat(parseFlags{out: "-"}, []string{"x"}); got != toNDJSON {
		t.Errorf("into a pipe: %s", got)
	}
	if got := a.defaultFormat(parseFlags{out: "folder"}, []string{"x"}); got != toParquet {
		t.Errorf("into a folder: %s", got)
	}
}

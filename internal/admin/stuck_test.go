package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/pipelinetest"
)

// idleLanes has lanes that run and have nothing to read until the test is over.
func (w *watched) idleLanes(t *testing.T, n int) []pipeline.LaneID {
	t.Helper()
	w.source.Lanes = nil
	var ids []pipeline.LaneID
	for p := range int32(n) {
		id := pipeline.LaneID{Stream: "clicks", Partition: p}
		ids = append(ids, id)
		w.source.Lanes = append(w.source.Lanes, &pipelinetest.Lane{Name: id, Endless: true})
	}
	wait := w.run(t)
	t.Cleanup(func() { _ = wait() })
	until(t, "the lanes run", func() bool { return len(w.stats.Lanes()) == n })
	return ids
}

// lagging returns the counts of a source that does not fail.
func lagging(lags ...pipeline.Lag) pipeline.Counts {
	return pipeline.Counts{Input: &pipeline.InputCounts{Lags: lags}}
}

// TestStandingLane has a lane that reads nothing while there is something to read: it is stuck once that has taken long
// enough, which is told everywhere, and not any more when there is nothing left.
func TestStandingLane(t *testing.T) {
	var behind atomic.Int64
	var log strings.Builder
	w := newWatched(time.Minute, func(w *Watch) {
		w.Counts = func() pipeline.Counts {
			return lagging(pipeline.Lag{Lane: pipeline.LaneID{Stream: "clicks"}, Behind: behind.Load()})
		}
		w.Log = slog.New(slog.NewTextHandler(&log, nil))
		w.MaxLag = 1000
	})
	w.idleLanes(t, 2)
	m, now := w.monitor, time.Now()
	at := func(after time.Duration) time.Time {
		m.watchLanes(now.Add(after))
		m.tell(now.Add(after))
		return now.Add(after)
	}
	at(0)
	if p := m.Problems(at(time.Hour)); len(p) > 0 {
		t.Errorf("an idle lane is no problem: %+v", p)
	}
	behind.Store(5)
	at(2 * time.Hour)
	if p := m.Problems(at(2*time.Hour + 59*time.Second)); len(p) > 0 {
		t.Errorf("too early: %+v", p)
	}
	p := m.Problems(at(2*time.Hour + time.Minute))
	if len(p) != 1 || p[0].Code != "stuck" || p[0].Detail != "clicks/0: nothing was read behind the start for 1m0s, and 5 records are there" || p[0].Advice == "" {
		t.Errorf("problems: %+v", p)
	}
	status := m.Status(now.Add(2*time.Hour + time.Minute))
	if l := status.Lanes; len(l) != 2 || !l[0].Stuck || l[0].Standing != 60 || l[1].Stuck || l[1].Standing != 0 {
		t.Errorf("lanes: %+v", l)
	}
	behind.Store(5000)
	at(3 * time.Hour)
	behind.Store(0)
	if p := m.Problems(at(3*time.Hour + time.Second)); len(p) > 0 {
		t.Errorf("afterwards: %+v", p)
	}
	for _, want := range []string{
		`level=WARN msg="a lane is stuck" lane=clicks/0 age=1m0s committed=-1 written=-1 behind=5`, "look at the leader of the partition",
		`msg="a lane moves again" lane=clicks/0 after=1h0m1s`, `msg="not ready" problem=lag detail="5000 records behind, more than 1000"`, `msg="ready again" problem=lag`,
	} {
		if n := strings.Count(log.String(), want); n != 1 {
			t.Errorf("%q is %d times in the log:\n%s", want, n, &log)
		}
	}
}

// TestManyStuckLanes checks that the log is not flooded, and that the page shows those that are stuck.
func TestManyStuckLanes(t *testing.T) {
	var log strings.Builder
	const lanes = shownLanes + 50
	w := newWatched(time.Minute, func(w *Watch) {
		w.Counts = func() pipeline.Counts {
			var out []pipeline.Lag
			for p := range int32(lanes) {
				if p >= 40 {
					out = append(out, pipeline.Lag{Lane: pipeline.LaneID{Stream: "clicks", Partition: p}, Behind: 1})
				}
			}
			return lagging(out...)
		}
		w.Log = slog.New(slog.NewTextHandler(&log, nil))
	})
	w.idleLanes(t, lanes)
	now := time.Now()
	w.monitor.watchLanes(now)
	w.monitor.watchLanes(now)
	later := now.Add(time.Hour)
	w.monitor.tell(later)
	w.monitor.tell(later)
	if n := strings.Count(log.String(), "a lane is stuck"); n != maxTold || !strings.Contains(log.String(), fmt.Sprintf("lanes=%d", lanes-40-maxTold)) {
		t.Errorf("%d lines:\n%s", n, &log)
	}
	if p := w.monitor.Problems(later); len(p) != 1 || !strings.HasSuffix(p[0].Detail, fmt.Sprintf("; so are %d other lanes", lanes-41)) {
		t.Errorf("problems: %+v", p)
	}
	shown, count := w.monitor.shownLanes(later)
	if count != lanes || len(shown) != shownLanes || !shown[0].Stuck || !shown[shownLanes-1].Stuck {
		t.Errorf("%d lanes of %d, %+v", len(shown), count, shown[:1])
	}
}

// TestSinkTrouble shows what a sink keeps trying.
func TestSinkTrouble(t *testing.T) {
	var failing atomic.Bool
	failing.Store(true)
	since := time.Now().Add(-time.Hour)
	w := newWatched(time.Hour, func(w *Watch) {
		w.SinkTrouble = func() (time.Time, error) {
			if failing.Load() {
				return since, errors.New("ExpiredToken")
			}
			return time.Time{}, nil
		}
		w.SinkRetries = func() int64 { return 4 }
	})
	s := started(t, Options{}, w.monitor)
	code, body := get(t, "GET", s.URL()+"readyz", "", nil)
	contains(t, body, "sink: failing for 1h0m", "s: ExpiredToken")
	if code != http.StatusServiceUnavailable {
		t.Errorf("readyz: %d", code)
	}
	_, body = get(t, "GET", s.URL()+"metrics", "", nil)
	contains(t, body, `urlmill_problem{code="sink"} 1`, "urlmill_sink_failing_seconds 36", "urlmill_sink_retries_total 4\n", "urlmill_stuck_lanes 0\n", "urlmill_standing_seconds 0\n")
	failing.Store(false)
	if code, body := get(t, "GET", s.URL()+"readyz", "", nil); code != http.StatusOK {
		t.Errorf("afterwards: %d %s", code, body)
	}
}

// TestRecord has the monitor watch by itself.
func TestRecord(t *testing.T) {
	w := newWatched(time.Second, nil) // its first lane is always behind
	w.idleLanes(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.monitor.Record(ctx)
	}()
	until(t, "the lane is stuck", func() bool { return len(w.monitor.Problems(time.Now())) == 1 })
	until(t, "a point is taken", func() bool { return len(w.monitor.Status(time.Now()).History) > 0 })
	cancel()
	<-done
}

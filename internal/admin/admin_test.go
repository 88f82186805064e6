package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/urlmill/urlmill/internal/dev/leaktest"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/pipelinetest"
	"github.com/urlmill/urlmill/pipeline/urlcols"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// started returns a server of a monitor on a port of its own.
func started(t *testing.T, opts Options, m *Monitor) *Server {
	t.Helper()
	if opts.Listen == "" {
		opts.Listen = "127.0.0.1:0"
	}
	s, err := Start(opts, m, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		s.Close(context.Background())
	})
	return s
}

// get returns the answer to a request that change has changed.
func get(t *testing.T, method, url, body string, change func(*http.Request)) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(data)
}

// watched is a pipeline with a monitor, whose sink commits when gate is received from.
type watched struct {
	stats   pipeline.Stats
	monitor *Monitor
	source  pipelinetest.Source
	sink    pipelinetest.Sink
	trouble error
}

func newWatched(stuckAfter time.Duration, change func(*Watch)) *watched {
	w := &watched{monitor: NewMonitor()}
	since := time.Now().Add(-time.Hour)
	watch := Watch{
		Stats: &w.stats, StuckAfter: stuckAfter, MemoryLimit: 1 << 30,
		Config:  func() []Setting { return []Setting{{"source.kafka.sasl.password", "[redacted]"}} },
		Columns: Columns{URL: "url", Domain: "registrable_domain", Code: "url_error"},
		Counts: func() pipeline.Counts {
			return pipeline.Counts{Input: &pipeline.InputCounts{
				Lags:  []pipeline.Lag{{Lane: pipeline.LaneID{Stream: "clicks"}, Behind: 7}, {Lane: pipeline.LaneID{Stream: "clicks", Partition: 1}, Behind: 35}},
				Since: since, Err: w.trouble, Retries: 3, Unreadable: 5, Notices: map[string]int64{"left": 2},
			}}
		},
	}
	if change != nil {
		change(&watch)
	}
	w.monitor.Attach(watch)
	w.source.Lanes = []*pipelinetest.Lane{{
		Name:    pipeline.LaneID{Stream: "clicks"},
		Records: []string{"https://www.example.co.uk/a", "http://<script>alert(1)</script>", "https://example.co.uk/"},
	}}
	return w
}

// run runs the pipeline in the background. The function that it returns waits for its end.
func (w *watched) run(t *testing.T) (wait func() error) {
	t.Helper()
	return w.runWith(t, pipeline.Keep)
}

func (w *watched) runWith(t *testing.T, on pipeline.OnError) (wait func() error) {
	t.Helper()
	plan, err := urlcols.New(urlcols.Options{Include: []string{"url", "registrable_domain", "url_error"}, OnError: on})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- pipeline.Run(t.Context(), nil, &w.source, &w.sink, pipeline.Options{
			Schemas: plan.Schemas(), NewTransform: plan.NewTransform, Stats: &w.stats,
		})
	}()
	return func() error { return <-done }
}

// until waits until ok, however long that takes.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for start := time.Now(); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > 2*time.Minute {
			t.Fatalf("not within two minutes: %s", what)
		}
	}
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("no %q in:\n%s", p, text)
		}
	}
}

// TestStuckLane has a commit that does not end: the row that waits for it is seen, and readiness comes back after it.
func TestStuckLane(t *testing.T) {
	w := newWatched(50*time.Millisecond, nil)
	gate := make(chan struct{})
	w.sink.Gate = gate
	s := started(t, Options{}, w.monitor)
	if code, body := get(t, "GET", s.URL()+"readyz", "", nil); code != 200 {
		t.Errorf("before: %d %s", code, body)
	}
	wait := w.run(t)
	until(t, "the lane is stuck with all of its rows", func() bool {
		code, _ := get(t, "GET", s.URL()+"readyz", "", nil)
		return code == http.StatusServiceUnavailable && w.stats.Totals().Rows == 3
	})
	_, body := get(t, "GET", s.URL()+"readyz", "", nil)
	contains(t, body, "stuck: clicks/0: a row behind ")
	_, body = get(t, "GET", s.URL()+"metrics", "", nil)
	contains(t, body, "urlmill_ready 0\n", `urlmill_problem{code="stuck"} 1`, "urlmill_rows_total 3\n", "urlmill_lanes 1\n",
		`urlmill_lag_records{partition="1",topic="clicks"} 35`, "urlmill_lag_total_records 42\n", "urlmill_source_retries_total 3\n", "urlmill_source_unreadable_total 5\n", `urlmill_source_notices_total{what="left"} 2`,
		`urlmill_errors_total{code="domain-to-ASCII",kind="url"} 1`, "urlmill_batch_seconds_bucket", "go_goroutines", "urlmill_memory_limit_bytes 1.073741824e+09")
	status := w.monitor.Status(time.Now())
	if len(status.Lanes) != 1 || !status.Lanes[0].Stuck || *status.Lanes[0].Behind != 7 {
		t.Errorf("lanes %+v", status.Lanes)
	}
	if code, body := get(t, "GET", s.URL()+"livez", "", nil); code != 200 {
		t.Errorf("livez: %d %s", code, body)
	}
	close(gate)
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	if code, body := get(t, "GET", s.URL()+"readyz", "", nil); code != 200 {
		t.Errorf("after: %d %s", code, body)
	}
	_, body = get(t, "GET", s.URL()+"metrics", "", nil)
	contains(t, body, "urlmill_ready 1\n", "urlmill_commits_total 1\n", "urlmill_committed_total 3\n", "urlmill_commit_seconds_count 1\n")
	status = w.monitor.Status(time.Now())
	if len(status.Domains) != 1 || status.Domains[0] != (Share{"example.co.uk", 1}) {
		t.Errorf("domains %+v", status.Domains)
	}
	if len(status.Bad) != 1 || status.Bad[0].URL != "http://<script>alert(1)</script>" || status.Bad[0].Code != "domain-to-ASCII" {
		t.Errorf("bad rows %+v", status.Bad)
	}
}

// The table of the dead letters has no column of URLs; the page shows them all the same.
func TestDeadLetterURLs(t *testing.T) {
	w := newWatched(time.Hour, nil)
	if err := w.runWith(t, pipeline.ToDeadLetters)(); err != nil {
		t.Fatal(err)
	}
	bad := w.monitor.Status(time.Now()).Bad
	if len(bad) != 1 || bad[0].URL != "http://<script>alert(1)</script>" || bad[0].Code != "domain-to-ASCII" {
		t.Errorf("bad rows %+v", bad)
	}
}

// A process none of whose rows is sound is not ready. A few bad rows, or a sound one among them, are no problem.
func TestEveryRowFails(t *testing.T) {
	for _, test := range []struct {
		bad, good, code int
	}{{manyRows - 1, 0, 200}, {manyRows, 0, 503}, {manyRows, 1, 200}} {
		w := newWatched(time.Hour, nil)
		w.source.Lanes[0].Records = append(slices.Repeat([]string{"http://"}, test.bad), slices.Repeat([]string{"http://a/"}, test.good)...)
		if err := w.run(t)(); err != nil {
			t.Fatal(err)
		}
		w.monitor.takePoint(w.monitor.lastAt.Add(every))
		s := started(t, Options{}, w.monitor)
		code, body := get(t, "GET", s.URL()+"readyz", "", nil)
		if says := "rows: every one of the last 100 rows has an error, mostly host-missing"; code != test.code || strings.Contains(body, says) != (code == 503) {
			t.Errorf("%+v: %d %s", test, code, body)
		}
	}
}

// TestFaults shows what ends a pipeline, and what a source keeps trying.
func TestFaults(t *testing.T) {
	for _, fault := range []error{
		&fs.PathError{Op: "write", Path: "/out/x", Err: syscall.ENOSPC},
		errors.New("ExpiredToken: the provided token has expired"),
	} {
		w := newWatched(time.Hour, nil)
		w.sink.Fail = func(step pipelinetest.Step, _ int) error {
			if step == pipelinetest.StepCommit {
				return fault
			}
			return nil
		}
		s := started(t, Options{}, w.monitor)
		if err := w.run(t)(); !errors.Is(err, fault) {
			t.Fatal(err)
		}
		code, body := get(t, "GET", s.URL()+"readyz", "", nil)
		contains(t, body, "failed: clicks/0: committing: "+fault.Error())
		if code != http.StatusServiceUnavailable {
			t.Errorf("%v: %d", fault, code)
		}
		_, body = get(t, "GET", s.URL()+"metrics", "", nil)
		contains(t, body, `urlmill_problem{code="failed"} 1`)
		_, body = get(t, "GET", s.URL()+"api/status", "", nil)
		contains(t, body, `"code":"failed"`)
	}
	w := newWatched(time.Hour, func(w *Watch) { w.MaxLag = 41 })
	w.trouble = errors.New("dial tcp: connection refused")
	s := started(t, Options{}, w.monitor)
	_, body := get(t, "GET", s.URL()+"readyz", "", nil)
	contains(t, body, "source: failing for 1h0m", "s: dial tcp: connection refused", "lag: 42 records behind, more than 41")
}

// TestGuards checks who may see what.
func TestGuards(t *testing.T) {
	const token = "0123456789abcdef"
	w := newWatched(time.Hour, nil)
	w.monitor.Failed(errors.New("a reason"))
	s := started(t, Options{Token: token}, w.monitor)
	for _, page := range []string{"", "metrics", "api/status", "debug/pprof/", "status.js"} {
		if code, _ := get(t, "GET", s.URL()+page, "", nil); code != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d", page, code)
		}
	}
	if code, _ := get(t, "GET", s.URL()+"metrics", "", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }); code != 200 {
		t.Errorf("with a bearer token: %d", code)
	}
	if code, _ := get(t, "GET", s.URL()+"metrics", "", func(r *http.Request) { r.SetBasicAuth("me", token) }); code != 200 {
		t.Errorf("with a login: %d", code)
	}
	if code, _ := get(t, "GET", s.URL()+"metrics", "", func(r *http.Request) { r.SetBasicAuth("me", token+"0") }); code != 401 {
		t.Errorf("with a wrong login: %d", code)
	}
	if _, body := get(t, "GET", s.URL()+"readyz", "", nil); strings.Contains(body, "a reason") || !strings.Contains(body, "failed") {
		t.Errorf("readyz without a token: %s", body)
	}
	s = started(t, Options{}, w.monitor)
	if code, _ := get(t, "GET", s.URL(), "", func(r *http.Request) { r.Host = "evil.example:80" }); code != http.StatusMisdirectedRequest {
		t.Errorf("by another name: %d", code)
	}
	if code, _ := get(t, "GET", s.URL()+"debug/pprof/", "", nil); code != http.StatusNotFound {
		t.Errorf("pprof that nobody has asked for: %d", code)
	}
	s = started(t, Options{PProf: true}, w.monitor)
	if code, _ := get(t, "GET", s.URL()+"debug/pprof/goroutine?debug=1", "", nil); code != 200 {
		t.Errorf("pprof: %d", code)
	}
	if _, err := Start(Options{Listen: "0.0.0.0:0", Token: token}, w.monitor, slog.Default()); err == nil {
		t.Error("listens to everybody without TLS")
	}
	if _, err := Start(Options{Listen: strings.Trim(strings.TrimPrefix(s.URL(), "http:"), "/")}, w.monitor, slog.Default()); err == nil {
		t.Error("listens where somebody listens")
	}
}

func TestInspect(t *testing.T) {
	s := started(t, Options{}, newWatched(time.Hour, nil).monitor)
	asJSON := func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }
	code, body := get(t, "POST", s.URL()+"api/inspect", `{"urls": ["../b?q#h", "http://[::1"], "base": "https://u:p@www.Example.co.uk:8080/a/c"}`, asJSON)
	var got []Inspected
	if err := json.Unmarshal([]byte(body), &got); err != nil || code != 200 || len(got) != 2 {
		t.Fatalf("%d %v %s", code, err, body)
	}
	want := Inspected{
		Href: "https://u:p@www.example.co.uk:8080/b?q#h", Origin: "https://www.example.co.uk:8080", Protocol: "https:",
		Username: "u", Password: "p", Host: "www.example.co.uk:8080", Hostname: "www.example.co.uk", Port: "8080",
		Pathname: "/b", Search: "?q", Hash: "#h", Params: [][2]string{{"q", ""}}, RegistrableDomain: "example.co.uk",
		Key: "https://example.co.uk:8080/b?q",
	}
	if steps := got[0].Steps; len(steps) != 3 || steps[0].Rule != "fragment" || steps[1].Rule != "credentials" || steps[2].Rule != "www" || steps[2].URL != want.Key {
		t.Errorf("steps %+v", steps)
	}
	got[0].Steps = nil
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Error(diff)
	}
	if got[1].Error != "IPv6-unclosed" || got[1].Position == nil || got[1].Text == "" {
		t.Errorf("%+v", got[1])
	}
	for body, want := range map[string]int{
		`{"urls": [`: 400, `{"urls": ["` + strings.Repeat("x", maxBody) + `"]}`: 400,
		`{"urls": [` + strings.Repeat(`"",`, maxURLs) + `""]}`: 413, `{"urls": ["x"], "base": "y"}`: 200,
	} {
		if code, answer := get(t, "POST", s.URL()+"api/inspect", body, asJSON); code != want {
			t.Errorf("%.40s: %d %.100s, want %d", body, code, answer, want)
		}
	}
	if code, _ := get(t, "POST", s.URL()+"api/inspect", `{}`, nil); code != http.StatusUnsupportedMediaType {
		t.Errorf("without a type: %d", code)
	}
	crossing := func(r *http.Request) { asJSON(r); r.Header.Set("Sec-Fetch-Site", "cross-site") }
	if code, _ := get(t, "POST", s.URL()+"api/inspect", `{}`, crossing); code != http.StatusForbidden {
		t.Errorf("from another site: %d", code)
	}
}

func TestMessages(t *testing.T) {
	m := newWatched(time.Hour, nil).monitor
	var out strings.Builder
	log := m.Logger(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelError}))).With("source", "kafka")
	log.Info("unseen")
	log.Warn("fetching failed", "error", errors.New("refused"))
	for i := range 2 * maxMessages {
		log.WithGroup("g").Error("again", "n", i)
	}
	if s := out.String(); strings.Contains(s, "unseen") || strings.Contains(s, "refused") || strings.Count(s, "again") != 2*maxMessages {
		t.Errorf("log: %s", s)
	}
	got := m.Status(time.Now()).Messages
	if len(got) != maxMessages || got[maxMessages-1].Text != fmt.Sprintf("again source=kafka g.n=%d", 2*maxMessages-1) {
		t.Errorf("%d messages, last %+v", len(got), got[len(got)-1])
	}
}

func TestRing(t *testing.T) {
	r := newRing[int](3)
	for i := range 8 {
		var want []int
		for j := max(0, i-3); j < i; j++ {
			want = append(want, j)
		}
		if diff := cmp.Diff(want, r.list(), cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
		r.add(i)
	}
}

// TestTopK has two keys that are more frequent than one in ten among many that come once: they are found, and their
// counts are too high by no more than the method allows.
func TestTopK(t *testing.T) {
	k := newTopK(10)
	const n = 3000
	for i := range n {
		switch i % 6 {
		case 0, 1:
			k.add("a")
		case 2:
			k.add("b")
		default:
			k.add(fmt.Sprint(i))
		}
	}
	top := k.top(2)
	if len(k.counts) != 10 || top[0].Name != "a" || top[1].Name != "b" {
		t.Fatalf("%d keys, %+v", len(k.counts), top)
	}
	for i, exact := range []float64{1. / 3, 1. / 6} {
		if s := top[i].Share; s < exact-1e-9 || s > exact+0.1+1e-9 {
			t.Errorf("%+v, want %v to %v", top[i], exact, exact+0.1)
		}
	}
}

// TestTopKCopies checks that no key shares memory with its caller, even one that comes again.
func TestTopKCopies(t *testing.T) {
	k := newTopK(10)
	data := []byte("example.com")
	for range 3 {
		k.add(unsafe.String(&data[0], len(data)))
	}
	copy(data, "overwritten")
	if top := k.top(1); top[0].Name != "example.com" {
		t.Errorf("%+v", top)
	}
}

func TestHistory(t *testing.T) {
	w := newWatched(time.Hour, nil)
	if err := w.run(t)(); err != nil {
		t.Fatal(err)
	}
	start := w.monitor.lastAt
	for i := range maxPoints + 5 {
		w.monitor.takePoint(start.Add(time.Duration(i+1) * every))
	}
	h := w.monitor.Status(time.Now()).History
	s := started(t, Options{}, w.monitor)
	for since, want := range map[time.Time]int{h[len(h)-1].At: 0, h[len(h)-8].At: 7, start: maxPoints} {
		var answer Status
		_, body := get(t, "GET", s.URL()+"api/status?since="+url.QueryEscape(since.Format(time.RFC3339Nano)), "", nil)
		if err := json.Unmarshal([]byte(body), &answer); err != nil || len(answer.History) != want {
			t.Errorf("%v: %d points since %v, want %d", err, len(answer.History), since, want)
		}
	}
	if len(h) != maxPoints || !h[len(h)-1].At.Equal(start.Add(time.Duration(maxPoints+5)*every)) || h[0].Lag != 42 || h[0].Rows != 0 {
		t.Errorf("%d points from %+v to %+v", len(h), h[0], h[len(h)-1])
	}
}

// TestRefused shows why a reload was refused until one is taken over; the process is ready meanwhile.
func TestRefused(t *testing.T) {
	w := newWatched(time.Hour, nil)
	s := started(t, Options{}, w.monitor)
	w.monitor.Refused("SIGHUP", errors.New("c.yaml:2:1: unknown key"))
	if code, body := get(t, "GET", s.URL()+"readyz", "", nil); code != 200 {
		t.Errorf("readyz: %d %s", code, body)
	}
	_, body := get(t, "GET", s.URL()+"api/status", "", nil)
	contains(t, body, `"notices":[{"code":"reload refused","detail":"SIGHUP: c.yaml:2:1: unknown key","advice":"What was read before counts`)
	w.monitor.Refused("SIGHUP", nil)
	if _, body := get(t, "GET", s.URL()+"api/status", "", nil); strings.Contains(body, "notices") {
		t.Errorf("notices: %s", body)
	}
}

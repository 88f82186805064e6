package tracing

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/urlmill/urlmill/pipeline"
)

// fakeCollector takes spans by OTLP over HTTP.
type fakeCollector struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*spans.Span
	about map[string]string // the resource
	path  string
	auth  string
}

func newCollector(t *testing.T) *fakeCollector {
	c := &fakeCollector{about: map[string]string{}}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *fakeCollector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := gzip.NewReader(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	data, err := io.ReadAll(body)
	var request collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(data, &request)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.path, c.auth = r.URL.Path, r.Header.Get("Authorization")
	for _, rs := range request.ResourceSpans {
		for _, a := range rs.Resource.Attributes {
			c.about[a.Key] = a.Value.GetStringValue()
		}
		for _, ss := range rs.ScopeSpans {
			c.spans = append(c.spans, ss.Spans...)
		}
	}
}

// named returns the spans of a name.
func (c *fakeCollector) named(name string) (all []*spans.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if s.Name == name {
			all = append(all, s)
		}
	}
	return all
}

// run sends batches of a lane through a tracer: a batch for each list of traceparent headers, of a row each.
func run(t *testing.T, o Options, commit error, batches ...[]string) {
	t.Helper()
	tracer, err := Start(t.Context(), o, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	id := pipeline.LaneID{Stream: "clicks", Partition: 3}
	w, _, err := tracer.Sink(&fakeSink{commit: commit}).Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	transform := tracer.Transforms(func() pipeline.Transform { return fakeTransform{} })()
	for i, parents := range batches {
		b := &pipeline.Batch{Lane: id, First: int64(100 * i), Next: int64(100*i + len(parents))}
		for _, parent := range parents {
			b.Offsets = append(b.Offsets, b.First)
			if parent != "" {
				b.Headers.Keys.Append([]byte("traceparent"))
				b.Headers.Values.Append([]byte(parent))
			}
			b.Headers.Keys.Append([]byte("other"))
			b.Headers.Values.AppendNull()
			b.Headers.EndRow()
		}
		if _, err := transform.Apply(b); err != nil {
			t.Fatal(err)
		}
		for _, table := range []pipeline.Table{pipeline.DeadLetters, pipeline.Rows} {
			if err := w.Write(t.Context(), table, nil, pipeline.Span{First: b.First, Next: b.Next}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := w.Commit(t.Context()); !errors.Is(err, commit) {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := tracer.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

type fakeTransform struct{}

func (fakeTransform) Apply(*pipeline.Batch) (pipeline.Output, error) {
	return pipeline.Output{Invalid: 2}, nil
}

type fakeSink struct{ commit error }

func (*fakeSink) Start(context.Context, pipeline.Schemas) error { return nil }
func (*fakeSink) Close() error                                  { return nil }
func (s *fakeSink) Open(context.Context, pipeline.LaneID) (pipeline.Writer, int64, error) {
	return fakeWriter{s}, pipeline.Unknown, nil
}

type fakeWriter struct{ sink *fakeSink }

func (fakeWriter) Write(context.Context, pipeline.Table, arrow.Record, pipeline.Span) error {
	return nil
}

func (fakeWriter) Size() pipeline.Size                     { return pipeline.Size{Rows: 7, Bytes: 70} }
func (fakeWriter) Abandon() error                          { return nil }
func (w fakeWriter) Commit(context.Context) (int64, error) { return 102, w.sink.commit }

const (
	parentOne = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	parentTwo = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
)

// TestTrace looks at the trace of two batches and their commit, as a collector gets it.
func TestTrace(t *testing.T) {
	c := newCollector(t)
	run(t, Options{Endpoint: c.URL, Sample: 1, Token: "the token", Service: "mill", Version: "1.2.3"}, nil,
		[]string{parentOne, "", "00-garbage", parentTwo, parentOne}, []string{""})
	if c.path != "/v1/traces" || c.auth != "Bearer the token" || c.about["service.name"] != "mill" || c.about["service.version"] != "1.2.3" {
		t.Errorf("path %s, authorization %q, resource %v", c.path, c.auth, c.about)
	}
	batches, commits := c.named("batch"), c.named("commit")
	if len(batches) != 2 || len(commits) != 1 || len(c.named("parse")) != 2 || len(c.named("write")) != 2 {
		t.Fatalf("%d batches, %d commits", len(batches), len(commits))
	}
	first, second := batches[0], batches[1]
	if len(first.Links) != 2 || string(first.Links[0].TraceId[:2]) != "\x0a\xf7" || string(first.Links[1].SpanId[:2]) != "\x00\xf0" || len(second.Links) != 0 {
		t.Errorf("links %v and %v", first.Links, second.Links)
	}
	if first.Kind != spans.Span_SPAN_KIND_CONSUMER || len(first.ParentSpanId) != 0 || string(first.TraceId) == string(second.TraceId) {
		t.Errorf("%v", first)
	}
	for _, name := range []string{"parse", "write"} {
		if s := c.named(name)[0]; string(s.ParentSpanId) != string(first.SpanId) || s.StartTimeUnixNano < first.StartTimeUnixNano || s.EndTimeUnixNano > first.EndTimeUnixNano {
			t.Errorf("%v is not within %v", s, first)
		}
	}
	commit := commits[0]
	if string(commit.ParentSpanId) != string(first.SpanId) || len(commit.Links) != 1 || string(commit.Links[0].SpanId) != string(second.SpanId) {
		t.Errorf("%v", commit)
	}
	got := map[string]string{}
	for _, a := range append(first.Attributes, commit.Attributes...) {
		got[a.Key] = strings.TrimSpace(a.Value.String())
	}
	for key, want := range map[string]string{
		"urlmill.stream": "clicks", "urlmill.partition": "3", "messaging.batch.message_count": "5", "urlmill.rows": "7", "urlmill.next": "102",
	} {
		if !strings.Contains(got[key], want) {
			t.Errorf("%s is %q, want %s", key, got[key], want)
		}
	}
}

// TestFailedCommit checks that a commit that fails is an error in its trace.
func TestFailedCommit(t *testing.T) {
	c := newCollector(t)
	run(t, Options{Endpoint: c.URL, Sample: 1}, errors.New("the disk is full"), []string{""})
	if s := c.named("commit")[0]; s.Status.Code != spans.Status_STATUS_CODE_ERROR || s.Status.Message != "the disk is full" {
		t.Errorf("%v", s.Status)
	}
}

// TestUnsampled checks that nothing is sent of batches that are not sampled, whatever their producers sample.
func TestUnsampled(t *testing.T) {
	c := newCollector(t)
	run(t, Options{Endpoint: c.URL, Sample: 0}, nil, []string{parentOne})
	if c.path != "" {
		t.Errorf("spans %v", c.spans)
	}
}

// TestOff checks that a tracer that is nil changes nothing.
func TestOff(t *testing.T) {
	var tracer *Tracer
	s := &fakeSink{}
	if tracer.Sink(s) != pipeline.Sink(s) || tracer.Close(t.Context()) != nil {
		t.Error("not the same")
	}
	if _, ok := tracer.Transforms(func() pipeline.Transform { return fakeTransform{} })().(fakeTransform); !ok {
		t.Error("not the same")
	}
}

// TestPending checks that batches that nobody writes do not pile up.
func TestPending(t *testing.T) {
	c := newCollector(t)
	tracer, err := Start(t.Context(), Options{Endpoint: c.URL, Sample: 1}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	transform := tracer.Transforms(func() pipeline.Transform { return fakeTransform{} })()
	for i := range 3 * maxPending {
		if _, err := transform.Apply(&pipeline.Batch{First: int64(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(tracer.pending); n > maxPending {
		t.Errorf("%d batches", n)
	}
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestComplaints checks that a collector that is gone is in the log once, not for every export.
func TestComplaints(t *testing.T) {
	var log strings.Builder
	c := &complaints{log: slog.New(slog.NewTextHandler(&log, nil))}
	for range 10 {
		c.Handle(errors.New("connection refused"))
	}
	if n := strings.Count(log.String(), "connection refused"); n != 1 {
		t.Errorf("%d messages:\n%s", n, log.String())
	}
}

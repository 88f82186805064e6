//go:build unix

package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// TestTracing checks that the trace context of a Kafka record comes to a collector with the spans of its batch.
func TestTracing(t *testing.T) {
	var mu sync.Mutex
	var sent strings.Builder
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if body, err := gzip.NewReader(r.Body); err == nil {
			_, _ = io.Copy(&sent, body) // what is cut off is not found below
		}
	}))
	t.Cleanup(collector.Close)
	cluster := kafkatest.Fake(t, kfake.SeedTopics(1, "clicks"))
	client := kafkatest.Client(t, cluster.ListenAddrs())
	const traceID = "0af7651916cd43dd8448eb211c80319c"
	// Spans for which the collector takes too long are not sent again: others follow.
	records := startFeed(time.Second, math.MaxInt, func() (int, error) {
		return 0, client.ProduceSync(t.Context(), &kgo.Record{
			Topic: "clicks", Value: []byte("https://example.com/"),
			Headers: []kgo.RecordHeader{{Key: "traceparent", Value: []byte("00-" + traceID + "-b7ad6b7169203331-01")}},
		}).FirstErr()
	})
	dir := t.TempDir()
	writeFile(t, dir, "c.yaml", fmt.Sprintf(`source: {kafka: {brokers: [%q], topics: [clicks], group: g}}
columns: {include: [url]}
sink: {ndjson: {path: %q}, roll: {rows: 1}}
tracing: {endpoint: %q, sample: 1}
`, cluster.ListenAddrs()[0], filepath.Join(dir, "out"), collector.URL))
	cmd := process(t, "run", filepath.Join(dir, "c.yaml"))
	var log testproc.Log
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has nothing to lose
		_ = cmd.Wait()
	})
	eventually(t, &log, func() bool {
		mu.Lock()
		defer mu.Unlock()
		text := sent.String()
		return strings.Contains(text, "\x0a\xf7\x65\x19\x16\xcd\x43\xdd") && strings.Contains(text, "commit") &&
			strings.Contains(text, "parse") && !strings.Contains(text, "example.com")
	})
	if err := records.end(); err != nil {
		t.Error(err)
	}
}

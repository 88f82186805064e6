//go:build linux && !race

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/demo"
	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/machine"
)

// A process that catches up over a thousand partitions stays below its memory limit, and all rows arrive. (Not under the
// race detector, which takes several times the memory.)
func TestMemoryLimit(t *testing.T) {
	const partitions, records = 1000, 400_000
	broker, err := demo.StartBroker("clicks", partitions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Close)
	produce := process(t, "produce", "--brokers", broker.Addr, "--topic", "clicks", "--records", strconv.Itoa(records), "--partitions", strconv.Itoa(partitions))
	if said, err := produce.CombinedOutput(); err != nil {
		t.Fatalf("produce: %v\n%s", err, said)
	}
	client := kafkatest.Client(t, []string{broker.Addr})
	for name, limit := range map[string]string{"small": "memory_limit: 256MiB", "default": "", "partitioned": "memory_limit: 256MiB"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			out, by := filepath.Join(dir, "out"), ""
			if name == "partitioned" {
				by = ", partition_by: ['bucket(2, host)']"
			}
			config := filepath.Join(dir, "c.yaml")
			text := fmt.Sprintf(`
source:
  kafka: {brokers: ["%s"], topics: [clicks], group: %s, rebalance_timeout: 30m}
  codec: {ndjson: {url: /url, carry: [{name: session, pointer: /session}]}}
sink:
  parquet: {path: "%s"%s}
  roll: {every: 20s}
pipeline: {drain_timeout: 20m, workers: 2}
%s
`, broker.Addr, name, out, by, limit)
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			run := startRun(t, config)
			peak := int64(0)
			run.waitFor(t, "every record to be committed", func() bool {
				peak = max(peak, machine.PeakMemory(run.ID()))
				return committed(t, client, name, partitions) >= records
			})
			peak = max(peak, machine.PeakMemory(run.ID()))
			if err := run.end(syscall.SIGTERM); err != nil {
				t.Errorf("after SIGTERM: %v\n%s", err, run.log)
			}
			t.Logf("peak %d MiB", peak>>20)
			if peak == 0 || limit != "" && peak > 256<<20 {
				t.Errorf("the process took %d MiB", peak>>20)
			}
		})
	}
}

// "urlmill parse" of one large file stays below the limit that it is given.
func TestParseMemoryLimit(t *testing.T) {
	dir := t.TempDir()
	urls := filepath.Join(dir, "urls.txt")
	f, err := os.Create(urls)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for i := range 1_000_000 {
		fmt.Fprintf(w, "https://www%d.example.com/shop/%d?session=%x&page=%d\n", i%50_000, i, uint32(i)*2654435761, i%97)
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	const limit = 256 << 20
	run := startCommand(t, process(t, "parse", "-q", urls, "-o", filepath.Join(dir, "out"), "--memory-limit", "256MiB"))
	peak := int64(0)
	for ended := false; !ended; {
		select {
		case <-run.Done():
			ended = true
		case <-time.After(5 * time.Millisecond):
			peak = max(peak, machine.PeakMemory(run.ID()))
		}
	}
	if err := run.Err(); err != nil {
		t.Fatalf("%v\n%s", err, run.log)
	}
	t.Logf("peak %d MiB", peak>>20)
	if peak == 0 || peak > limit {
		t.Errorf("the process took %d MiB", peak>>20)
	}
}

// committed returns the sum of the offsets that a group has committed in the topic clicks.
func committed(t *testing.T, client *kgo.Client, group string, partitions int32) (sum int64) {
	t.Helper()
	topic := kmsg.NewOffsetFetchRequestTopic()
	topic.Topic = "clicks"
	for p := range partitions {
		topic.Partitions = append(topic.Partitions, p)
	}
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group, req.Topics = group, append(req.Topics, topic)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range resp.Topics {
		for _, p := range topic.Partitions {
			sum += max(p.Offset, 0)
		}
	}
	return sum
}

package producer

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/demo"
	"github.com/urlmill/urlmill/internal/dev/leaktest"
)

// numbers returns a function that makes the records 0, 1, 2, …
func numbers() func([]byte) []byte {
	n := -1
	return func(dst []byte) []byte {
		n++
		return fmt.Appendf(dst, "%d", n)
	}
}

// TestRun produces with every compression to a topic that is not there yet, and reads the records back: they go to the
// partitions in turn and are in order in each.
func TestRun(t *testing.T) {
	broker, err := demo.StartBroker("other", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	for _, compression := range Compressions {
		t.Run(compression, func(t *testing.T) {
			leaktest.Check(t,
				// The broker's ends of connections that were just closed.
				goleak.IgnoreAnyFunction("github.com/twmb/franz-go/pkg/kfake.(*clientConn).read"),
				goleak.IgnoreAnyFunction("github.com/twmb/franz-go/pkg/kfake.(*clientConn).write"))
			topic := "numbers-" + compression
			o := Options{
				Brokers: []string{broker.Addr}, Topic: topic, Partitions: 3, Records: 3000, Compression: compression,
				Next: numbers(), ConnectTimeout: time.Minute,
			}
			var stats Stats
			if err := Run(t.Context(), o, &stats); err != nil {
				t.Fatal(err)
			}
			if records, bytes := stats.Totals(); records != 3000 || bytes != 10+90*2+900*3+2000*4 {
				t.Errorf("%d records, %d bytes", records, bytes)
			}
			checkTopic(t, broker.Addr, topic, 3, 1000)
		})
	}
}

// checkTopic reads partitions of perPartition records each.
func checkTopic(t *testing.T, addr, topic string, partitions, perPartition int) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ConsumeTopics(topic))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	next := make([]int, partitions)
	for read := 0; read < partitions*perPartition; {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			p := int(r.Partition)
			if want := fmt.Sprint(next[p]*partitions + p); string(r.Value) != want {
				t.Errorf("partition %d: %q, want %s", p, r.Value, want)
			}
			next[p]++
			read++
		})
	}
}

// TestRate checks that a rate is kept, and that the end of the context ends a producer without an error.
func TestRate(t *testing.T) {
	broker, err := demo.StartBroker("numbers", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := Options{
		Brokers: []string{broker.Addr}, Topic: "numbers", Partitions: 1, Rate: 1000, Compression: "none",
		Next: numbers(), ConnectTimeout: time.Minute,
	}
	var stats Stats
	began := time.Now()
	done := make(chan error)
	go func() { done <- Run(ctx, o, &stats) }()
	for {
		if records, _ := stats.Totals(); records >= 200 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	elapsed := time.Since(began)
	cancel()
	if err := <-done; err != nil && !strings.Contains(err.Error(), "not all records were confirmed") {
		t.Error(err)
	}
	if elapsed < 190*time.Millisecond {
		t.Errorf("200 records of 1000 a second took %s", elapsed)
	}
}

func TestNoBroker(t *testing.T) {
	o := Options{Brokers: []string{"127.0.0.1:1"}, Topic: "x", Partitions: 1, Compression: "none", ConnectTimeout: 100 * time.Millisecond}
	if err := Run(t.Context(), o, new(Stats)); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Error(err)
	}
}

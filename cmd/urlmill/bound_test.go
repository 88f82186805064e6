//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// stable reports whether readers of committed records find the end of each partition at next or behind it.
func stable(t *testing.T, client *kgo.Client, topic string, partitions int, next int64) bool {
	t.Helper()
	ask := kmsg.NewPtrListOffsetsRequest()
	ask.IsolationLevel = 1
	of := kmsg.NewListOffsetsRequestTopic()
	of.Topic = topic
	for i := range partitions {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = int32(i), -1
		of.Partitions = append(of.Partitions, p)
	}
	ask.Topics = append(ask.Topics, of)
	answer, err := ask.RequestWith(t.Context(), client)
	if err != nil {
		t.Fatalf("the ends of the partitions cannot be read: %v", err)
	}
	found := 0
	for _, topic := range answer.Topics {
		for _, p := range topic.Partitions {
			if p.ErrorCode == 0 && p.Offset >= next {
				found++
			}
		}
	}
	return found == partitions
}

// TestKillBounded kills bounded runs at random moments, and has the last one come to its end: it says so, and every record is
// there once. The records are in transactions, so that every partition ends with a marker.
func TestKillBounded(t *testing.T) {
	cluster := kafkatest.Start(t, kafkatest.Options{})
	const partitions, kills, step = 3, 3, 30_000
	cluster.CreateTopic(t, "bounded", partitions)
	client := cluster.Client(t, kgo.TransactionalID("w"), kgo.TransactionTimeout(10*time.Minute))
	perPartition := 0
	produce := func() {
		if err := client.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		kafkatest.Produce(t, client, numbered("bounded", partitions, perPartition, perPartition+step))
		if err := client.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
			t.Fatal(err)
		}
		perPartition += step
		// The markers come after the answer. Until then the records are behind the end for those who read what is committed.
		for !stable(t, client, "bounded", partitions, int64(perPartition)) {
			time.Sleep(10 * time.Millisecond)
		}
	}
	dir := t.TempDir()
	out, config := filepath.Join(dir, "out"), filepath.Join(dir, "kill.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, boundedConfig, cluster.Addr(), out), 0o600); err != nil {
		t.Fatal(err)
	}
	for range kills {
		produce()
		files := len(parquetIn(t, out))
		run := startCommand(t, process(t, "run", config, "--until", "end"))
		run.waitFor(t, "a new file", func() bool { return len(parquetIn(t, out)) > files })
		run.killWithin(300*time.Millisecond, func() {})
	}
	produce()
	// One that is killed while it joins has a partition until its session ends, and the others end without that.
	for members := 1; members > 0; time.Sleep(100 * time.Millisecond) {
		ask := kmsg.NewPtrDescribeGroupsRequest()
		ask.Groups = []string{"bounded"}
		answer, err := ask.RequestWith(t.Context(), client)
		if err != nil || len(answer.Groups) != 1 {
			t.Fatalf("the group cannot be described: %v", err)
		}
		members = len(answer.Groups[0].Members)
	}
	cmd := process(t, "run", config, "--until", "end", "--summary", "json")
	var log testproc.Log
	cmd.Stderr = &log
	said, err := cmd.Output()
	var summary struct {
		Ended     string
		Rows      int64
		Committed int64
		Positions []struct{ Next int64 }
	}
	if err != nil || json.Unmarshal(said, &summary) != nil || summary.Ended != "end" || summary.Rows != summary.Committed || len(summary.Positions) != partitions {
		t.Fatalf("%v: %s\n%s", err, said, &log)
	}
	for _, p := range summary.Positions { // a marker follows each transaction
		if want := int64(perPartition + perPartition/step); p.Next != want {
			t.Errorf("a partition is committed up to %d, want %d", p.Next, want)
		}
	}
	if lost, twice := checkOnce(t, out, partitions, perPartition); lost+twice != 0 {
		t.Errorf("%d rows are lost, and %d are there twice", lost, twice)
	}
}

const boundedConfig = `
source:
  kafka: {brokers: [%s], topics: [bounded], group: bounded, session_timeout: 6s, heartbeat_interval: 1s}
  codec: {lines: {}}
columns: {include: [href, topic, partition]}
sink:
  parquet: {path: %s}
  roll: {rows: 5000}
`

// checkOnce counts what is not there exactly once. Offsets are not the numbers of records where markers are between them.
func checkOnce(t *testing.T, dir string, partitions, perPartition int) (lost, twice int) {
	t.Helper()
	seen := map[string]int{}
	for _, name := range parquetIn(t, dir) {
		eachRecord(t, name, func(r arrow.Record) {
			for i, href := 0, r.Column(0).(*array.String); i < int(r.NumRows()); i++ {
				seen[href.Value(i)]++
			}
		})
	}
	for p := range partitions {
		for i := range perPartition {
			switch n := seen[fmt.Sprintf("https://example.com/%d/%d", p, i)]; {
			case n == 0:
				lost++
			case n > 1:
				twice++
			}
		}
	}
	return lost, twice
}

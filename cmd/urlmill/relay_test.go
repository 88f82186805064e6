//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sr/srfake"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/avro"
	"github.com/urlmill/urlmill/sources/codec/schema"
	"github.com/urlmill/urlmill/sources/codec/schema/schematest"
)

// relayConfig is for a topic with good and bad URLs.
const relayConfig = `
source:
  kafka:
    brokers: [%s]
    topics: [%s]
    group: %[2]s
    session_timeout: 3s
    heartbeat_interval: 1s
  codec: {lines: {}}
columns: {include: [href, topic, partition, offset]}
on_error: dead_letter
sink:
  %s
  roll: {rows: 20000, every: 300ms}
`

// TestKillWithTopics kills a process that writes to Kafka at random moments. Rows in a topic and dead letters are there
// at least once; rows in files beside dead letters in a topic are there once.
func TestKillWithTopics(t *testing.T) {
	cluster := kafkatest.Start(t, kafkatest.Options{})
	for _, f := range rowFormats(t) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel() // most of the time a group waits for members that are dead
			r := newRelay(t, cluster.Addrs(), "relay-"+f.name, f.sink("relay-"+f.name))
			r.run(t)
			r.check(t, "rows", r.follow(t, r.topic+".rows", f.read), true)
			r.check(t, "dead letters", r.follow(t, r.topic+".dead", f.read), false)
		})
	}
	t.Run("files", func(t *testing.T) {
		t.Parallel()
		out := filepath.Join(t.TempDir(), "out")
		r := newRelay(t, cluster.Addrs(), "letters", fmt.Sprintf(`parquet: {path: %s, dead_letters: {kafka: {topic: letters.dead}}}`, out))
		r.run(t)
		r.check(t, "dead letters", r.follow(t, "letters.dead", readJSON), false)
		seen := r.counts()
		for _, name := range parquetIn(t, out) {
			countRows(t, name, seen)
		}
		if twice := r.check(t, "rows", seen, true); twice > 0 {
			t.Errorf("%d rows are there twice", twice)
		}
	})
}

// relayRow is what a row in a topic says.
type relayRow struct {
	Href              string
	Partition, Offset int
}

// rowFormat is a format of rows in a topic.
type rowFormat struct {
	name    string
	options string // of the sink
	read    func(value []byte) (relayRow, error)
}

// sink returns the sink of a relay.
func (f *rowFormat) sink(topic string) string {
	return fmt.Sprintf(`kafka: {topic: %s.rows, key: href, %s dead_letters: {kafka: {topic: %[1]s.dead}}}`, topic, f.options)
}

// rowFormats returns JSON, and Avro with an imitated registry that lives as long as the test.
func rowFormats(t *testing.T) []rowFormat {
	t.Helper()
	reg := srfake.New()
	t.Cleanup(reg.Close)
	factory, err := avro.New(schema.Options{
		Registry: &schemaregistry.Options{URLs: []string{reg.URL()}}, URL: "/href",
		Carry: []codec.CarriedField{{Name: "partition", Pointer: "/partition", Type: pipeline.Int64}, {Name: "offset", Pointer: "/offset", Type: pipeline.Int64}},
	})
	if err != nil {
		t.Fatal(err)
	}
	readAvro := func(value []byte) (relayRow, error) {
		if err := factory.New().(codec.Resolver).Resolve(t.Context(), value); err != nil {
			return relayRow{}, err
		}
		got := schematest.Row(t, factory, value)
		url, _ := got["url"].(string)
		partition, ok := got["partition"].(int64)
		offset, also := got["offset"].(int64)
		if !ok || !also || got["fault"] != nil {
			return relayRow{}, fmt.Errorf("%v", got)
		}
		return relayRow{Href: url, Partition: int(partition), Offset: int(offset)}, nil
	}
	return []rowFormat{
		{name: "json", read: readJSON},
		{name: "avro", options: fmt.Sprintf(`format: avro, avro: {registry: {urls: [%q]}},`, reg.URL()), read: readAvro},
	}
}

func readJSON(value []byte) (row relayRow, err error) { return row, json.Unmarshal(value, &row) }

// relay is a topic that is filled while a process that reads it is killed.
type relay struct {
	addrs         []string
	topic, config string
	client        *kgo.Client
	perPartition  int // records so far
}

const relayPartitions = 3

func newRelay(t *testing.T, addrs []string, topic, sink string) *relay {
	t.Helper()
	r := &relay{addrs: addrs, topic: topic, client: kafkatest.Client(t, addrs), config: filepath.Join(t.TempDir(), "relay.yaml")}
	kafkatest.CreateTopic(t, r.client, topic, relayPartitions)
	kafkatest.CreateTopic(t, r.client, topic+".rows", 2)
	kafkatest.CreateTopic(t, r.client, topic+".dead", 1)
	if err := os.WriteFile(r.config, fmt.Appendf(nil, relayConfig, addrs[0], topic, sink), 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

// isBad tells which records are no URL.
func isBad(i int) bool { return i%10 == 3 }

// produce adds records to every partition.
func (r *relay) produce(ctx context.Context, n int) error {
	var records []*kgo.Record
	for p := range relayPartitions {
		for i := r.perPartition; i < r.perPartition+n; i++ {
			value := fmt.Appendf(nil, "https://example.com/%d/%d", p, i)
			if isBad(i) {
				value = fmt.Appendf(nil, "https://[/%d/%d", p, i)
			}
			records = append(records, &kgo.Record{Topic: r.topic, Partition: int32(p), Key: []byte("k"), Value: value})
		}
	}
	if err := r.client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return err
	}
	r.perPartition += n
	return nil
}

// run kills processes while records arrive, and lets the last one finish.
func (r *relay) run(t *testing.T) {
	const kills, ahead = 3, 10_000
	records := startFeed(50*time.Millisecond, ahead, func() (int, error) {
		err := r.produce(t.Context(), 300)
		return r.perPartition, err
	})
	committed := func() int64 {
		n := r.committed(t)
		records.read(int(n) / relayPartitions)
		return n
	}
	for i := range kills {
		before := committed()
		p := startRun(t, r.config)
		p.waitFor(t, "a commit", func() bool { return committed() > before })
		p.killWithin(700*time.Millisecond, func() { committed() })
		t.Logf("kill %d: %d records are committed", i+1, r.committed(t))
	}
	if err := records.end(); err != nil {
		t.Fatal(err)
	}
	r.finish(t)
}

// finish lets a process do what is left, which is something.
func (r *relay) finish(t *testing.T) {
	t.Helper()
	if err := r.produce(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	p := startRun(t, r.config)
	p.finish(t, "every offset to be committed", func() bool { return r.committed(t) == int64(r.perPartition*relayPartitions) })
}

// committed returns the sum of the committed offsets.
func (r *relay) committed(t *testing.T) (sum int64) {
	t.Helper()
	for p := range int32(relayPartitions) {
		sum += max(0, kafkatest.Committed(t, r.client, r.topic, r.topic, p))
	}
	return sum
}

// counts has a zero for every record.
func (r *relay) counts() [][]int {
	seen := make([][]int, relayPartitions)
	for p := range seen {
		seen[p] = make([]int, r.perPartition)
	}
	return seen
}

// follow counts what is in a topic, and checks that it says where it comes from.
func (r *relay) follow(t *testing.T, topic string, read func(value []byte) (relayRow, error)) [][]int {
	t.Helper()
	seen := r.counts()
	ends := kafkatest.Records(t, r.client, topic)
	client := kafkatest.Client(t, r.addrs, kgo.ConsumeTopics(topic))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var once sync.Once
	for left := ends; left > 0; {
		fetches := client.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			t.Fatalf("%s: %d of %d records: %v", topic, ends-left, ends, err)
		}
		fetches.EachRecord(func(record *kgo.Record) {
			left--
			p, i, err := origin(record, read)
			if err != nil || p >= relayPartitions || i >= r.perPartition {
				once.Do(func() { t.Errorf("%s: %s %v: %v", topic, record.Value, record.Headers, err) })
				return
			}
			seen[p][i]++
		})
	}
	return seen
}

// origin returns the place of the record that a row, or a dead letter, comes from.
func origin(record *kgo.Record, read func(value []byte) (relayRow, error)) (partition, offset int, err error) {
	headers := map[string]string{}
	for _, h := range record.Headers {
		headers[h.Key] = string(h.Value)
	}
	if headers["urlmill.error"] == "" {
		row, err := read(record.Value)
		if want := fmt.Sprintf("https://example.com/%d/%d", row.Partition, row.Offset); err == nil && (row.Href != want || string(record.Key) != want) {
			err = fmt.Errorf("want %s", want)
		}
		return row.Partition, row.Offset, err
	}
	if _, err := fmt.Sscanf(string(record.Value), "https://[/%d/%d", &partition, &offset); err != nil {
		return 0, 0, err
	}
	if headers["urlmill.partition"] != fmt.Sprint(partition) || headers["urlmill.offset"] != fmt.Sprint(offset) || headers["urlmill.reason"] != "url" || string(record.Key) != "k" {
		return 0, 0, fmt.Errorf("headers %v", headers)
	}
	return partition, offset, nil
}

// check checks that every good record, or every bad one, is there, and none of the others. It returns how many are there
// more than once.
func (r *relay) check(t *testing.T, what string, seen [][]int, good bool) (twice int) {
	t.Helper()
	lost, wrong, total := 0, 0, 0
	for p := range seen {
		for i, n := range seen[p] {
			switch {
			case isBad(i) == good && n > 0:
				wrong++
			case isBad(i) == good:
			case n == 0:
				lost++
			default:
				total++
				twice += n - 1
			}
		}
	}
	t.Logf("%s: %d of %d records: %d lost, %d twice", what, total, relayPartitions*r.perPartition, lost, twice)
	if lost > 0 || wrong > 0 || total == 0 {
		t.Errorf("%s: %d lost, %d that do not belong there, %d in all", what, lost, wrong, total)
	}
	return twice
}

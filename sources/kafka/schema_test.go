package kafka

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/sources/codec/avro"
	"github.com/urlmill/urlmill/sources/codec/schema"
)

// avroRecord returns a record of a schema with one text.
func avroRecord(id uint32, url string) []byte {
	record := binary.BigEndian.AppendUint32([]byte{0}, id)
	return append(append(record, byte(2*len(url))), url...)
}

// startAvro runs a source of the topic t, whose records have schemas of a registry.
func startAvro(t *testing.T, k *kfake.Cluster, fake *srfake.Registry) (*Source, *collector, *running) {
	t.Helper()
	factory, err := avro.New(schema.Options{Registry: &schemaregistry.Options{URLs: []string{fake.URL()}}, URL: "/url"})
	if err != nil {
		t.Fatal(err)
	}
	source, err := New(quick(k.ListenAddrs(), "t"), factory, testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	c := newCollector(t)
	return source, c, startSource(t, source, c)
}

// TestRegistryDown: while a registry cannot be reached, or cannot answer, a lane waits and says so, and what it has read
// before comes out. Then all records are there, once and in order, those with schemas that nobody knows among them.
func TestRegistryDown(t *testing.T) {
	noLeaks(t)
	fake := srfake.New()
	t.Cleanup(fake.Close)
	const text = `{"type":"record","name":"R%d","fields":[{"name":"url","type":"string"}]}`
	fake.SeedSchema("a", 1, 1, sr.Schema{Schema: fmt.Sprintf(text, 1)})
	fake.SeedSchema("b", 1, 2, sr.Schema{Schema: fmt.Sprintf(text, 2)})
	var down atomic.Bool
	var asked [4]atomic.Int64
	fake.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		var id int
		if _, err := fmt.Sscanf(r.URL.Path, "/schemas/ids/%d", &id); err == nil {
			if id == 2 && down.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
				return true
			}
			asked[id].Add(1)
		}
		return false
	})
	down.Store(true)
	k := kafkatest.Fake(t, kfake.SeedTopics(2, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	var sent []*kgo.Record
	for i := range 400 {
		id := uint32(1)
		if i >= 200 {
			id = uint32(1 + i%3) // 3 is none
		}
		sent = append(sent, &kgo.Record{Topic: "t", Partition: int32(i % 2), Value: avroRecord(id, fmt.Sprintf("http://a/%d", i))})
	}
	sent = append(sent, &kgo.Record{Topic: "t"}, &kgo.Record{Topic: "t", Value: []byte("x")})
	kafkatest.Produce(t, client, sent)
	source, c, run := startAvro(t, k, fake)
	c.await("trouble", func() bool { _, err := source.failing(); return err != nil && source.retries.Load() > 2 })
	c.await("what came before", func() bool { return len(c.rows) >= 200 })
	for _, r := range c.sorted() {
		if binary.BigEndian.Uint32([]byte(r.value)[1:]) == 2 {
			t.Fatalf("a record whose schema nobody has said: %+v", r)
		}
	}
	down.Store(false)
	c.awaitRows(len(sent))
	c.await("no trouble", func() bool { _, err := source.failing(); return err == nil })
	run.stop()
	faults := faultsInOrder(t, c.sorted(), len(sent))
	unknown := 0
	for i := 200; i < 400; i++ {
		if 1+i%3 == 3 {
			unknown++
		}
	}
	if faults["record-schema"] != unknown || faults["record-null"] != 1 || faults["record-malformed"] != 1 || faults[""] != 400-unknown {
		t.Errorf("faults %v, want %d unknown schemas", faults, unknown)
	}
	if asked[1].Load() != 1 || asked[2].Load() != 1 {
		t.Errorf("asked %d and %d times for a schema", asked[1].Load(), asked[2].Load())
	}
}

// faultsInOrder counts the faults of rows, which have to be those of so many records, once and in order.
func faultsInOrder(t *testing.T, rows []row, records int) map[string]int {
	t.Helper()
	if len(rows) != records {
		t.Fatalf("%d rows of %d records", len(rows), records)
	}
	faults := map[string]int{}
	offsets := map[int32]int64{}
	for _, r := range rows {
		if r.offset != offsets[r.lane.Partition] {
			t.Fatalf("%s: offset %d, want %d", r.lane, r.offset, offsets[r.lane.Partition])
		}
		offsets[r.lane.Partition]++
		faults[r.fault]++
	}
	return faults
}

// TestDrainWithoutRegistry: a lane that waits for a schema ends when it is told to, and its record is read again.
func TestDrainWithoutRegistry(t *testing.T) {
	noLeaks(t)
	hang := make(chan struct{})
	fake := srfake.New()
	fake.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
		return true
	})
	t.Cleanup(func() { close(hang); fake.Close() })
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, []*kgo.Record{{Topic: "t"}, {Topic: "t", Value: avroRecord(1, "x")}})
	_, c, run := startAvro(t, k, fake)
	c.awaitRows(1)
	run.stop()
	if got := kafkatest.Committed(t, client, "g", "t", 0); got != 1 || len(c.rows) != 1 {
		t.Errorf("committed %d after %d rows", got, len(c.rows))
	}
}

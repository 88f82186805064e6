package kafka

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/leaktest"
	"github.com/urlmill/urlmill/pipeline"
)

var rowSchema = arrow.NewSchema([]arrow.Field{
	{Name: "host", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "n", Type: arrow.PrimitiveTypes.Int64},
	{Name: "list", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
}, nil)

// rows returns a record of rowSchema from JSON objects.
func rows(t *testing.T, objects ...string) arrow.Record {
	t.Helper()
	return record(t, rowSchema, objects...)
}

func record(t *testing.T, schema *arrow.Schema, objects ...string) arrow.Record {
	t.Helper()
	r, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader("["+strings.Join(objects, ",")+"]"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func numbered(from, to int) []string {
	var out []string
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprintf(`{"host":"h%d","n":%d,"list":["a"]}`, i%7, i))
	}
	return out
}

// target is the topic t of k.
func target(k *kfake.Cluster) Target { return Target{Brokers: k.ListenAddrs(), Topic: "t"} }

// begin returns a sink that has started, closed when the test is over.
func begin(t *testing.T, o Options, schemas pipeline.Schemas) pipeline.Sink {
	t.Helper()
	s := create(t, o)
	if err := s.Start(t.Context(), schemas); err != nil {
		t.Fatal(err)
	}
	return s
}

func create(t *testing.T, o Options) pipeline.Sink {
	t.Helper()
	s, err := New(o, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func open(t *testing.T, s pipeline.Sink, partition int32) pipeline.Writer {
	t.Helper()
	w, next, err := s.Open(t.Context(), pipeline.LaneID{Stream: "in", Partition: partition})
	if err != nil || next != pipeline.Unknown {
		t.Fatal(next, err)
	}
	return w
}

// write writes rows and commits them.
func write(t *testing.T, w pipeline.Writer, table pipeline.Table, r arrow.Record, next int64) {
	t.Helper()
	if err := w.Write(t.Context(), table, r, pipeline.Span{First: next - 1, Next: next}); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Commit(t.Context()); got != next || err != nil {
		t.Fatal(got, err)
	}
}

// read returns the first n records of the topic t, by partition and offset.
func read(t *testing.T, k *kfake.Cluster, n int) []*kgo.Record {
	t.Helper()
	client := kafkatest.Client(t, k.ListenAddrs(), kgo.ConsumeTopics("t"))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var all []*kgo.Record
	for len(all) < n {
		fetches := client.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			t.Fatalf("%d records of %d: %v", len(all), n, err)
		}
		all = append(all, fetches.Records()...)
	}
	slices.SortFunc(all, func(a, b *kgo.Record) int {
		return int(a.Partition-b.Partition)*1_000_000 + int(a.Offset-b.Offset)
	})
	return all
}

// TestRows checks that a row is an object, and that its key goes where other clients' would.
func TestRows(t *testing.T) {
	leaktest.Check(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(5, "t"))
	for _, compression := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		o := Options{Target: target(k), Key: "host"}
		o.Compression = compression
		w := open(t, begin(t, o, pipeline.Schemas{rowSchema}), 0)
		write(t, w, pipeline.Rows, rows(t, numbered(0, 100)...), 5)
		write(t, w, pipeline.Rows, rows(t, `{"host":null,"n":100,"list":null}`), 6)
	}
	byKey := map[string][]int{}
	partitioner := kgo.StickyKeyPartitioner(nil).ForTopic("t")
	for _, r := range read(t, k, 505) {
		var want string
		if r.Key == nil {
			want = `{"host":null,"n":100,"list":null}`
		} else {
			if p := partitioner.Partition(&kgo.Record{Key: r.Key}, 5); p != int(r.Partition) {
				t.Errorf("key %s in partition %d, want %d", r.Key, r.Partition, p)
			}
			n := 0
			if _, err := fmt.Sscanf(string(r.Value), fmt.Sprintf(`{"host":"%s","n":%%d`, r.Key), &n); err != nil {
				t.Fatalf("%s: %v", r.Value, err)
			}
			byKey[string(r.Key)] = append(byKey[string(r.Key)], n)
			want = numbered(n, n+1)[0]
		}
		if string(r.Value) != want {
			t.Errorf("value %s, want %s", r.Value, want)
		}
	}
	for key, got := range byKey {
		for i, n := range got {
			if i > 0 && n <= got[i-1] && i%len(numbersOf(key)) != 0 {
				t.Errorf("key %s: %d after %d", key, n, got[i-1])
			}
		}
	}
}

// numbersOf returns the numbers below 100 that numbered gives a key.
func numbersOf(key string) (out []int) {
	for n := range 100 {
		if key == fmt.Sprint("h", n%7) {
			out = append(out, n)
		}
	}
	return out
}

func TestRowsWithoutKeys(t *testing.T) {
	leaktest.Check(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(3, "t"))
	w := open(t, begin(t, Options{Target: target(k)}, pipeline.Schemas{rowSchema}), 0)
	for i := range 6 {
		write(t, w, pipeline.Rows, rows(t, numbered(10*i, 10*i+10)...), int64(i+1))
	}
	counts := map[int32]int{}
	for _, r := range read(t, k, 60) {
		if r.Key != nil {
			t.Errorf("key %q", r.Key)
		}
		counts[r.Partition]++
	}
	if diff := cmp.Diff(map[int32]int{0: 20, 1: 20, 2: 20}, counts); diff != "" {
		t.Error(diff)
	}
}

func TestKeys(t *testing.T) {
	for key, want := range map[string]string{"host": "", "n": "", "list": "cannot be a key", "none": `no column "none"; the columns are host, list, n`} {
		err := Options{Key: key}.CheckRows(rowSchema)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "key: ")) {
			t.Errorf("%s: %v", key, err)
		}
	}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "b", Type: arrow.BinaryTypes.Binary, Nullable: true},
		{Name: "f", Type: &arrow.FixedSizeBinaryType{ByteWidth: 2}},
		{Name: "i", Type: arrow.PrimitiveTypes.Int32},
		{Name: "l", Type: arrow.PrimitiveTypes.Int64},
	}, nil)
	r := record(t, schema, `{"b":"AP8=","f":"YWI=","i":-7,"l":9}`)
	for i, want := range []string{"\x00\xff", "ab", "-7", "9"} {
		if got := appendKey(nil, r.Column(i), 0); string(got) != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestArrow checks that records hold streams that anybody can read, and no more than fits.
func TestArrow(t *testing.T) {
	leaktest.Check(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	o := Options{Target: target(k), Format: Arrow}
	o.MaxMessageBytes = 16 << 10
	w := open(t, begin(t, o, pipeline.Schemas{rowSchema}), 0)
	write(t, w, pipeline.Rows, rows(t, numbered(0, 5)...), 5)
	write(t, w, pipeline.Rows, rows(t, numbered(5, 2000)...), 2000)
	next := 0
	records := read(t, k, 2)
	for next < 2000 {
		if len(records) == 0 {
			t.Fatalf("%d rows", next)
		}
		for _, m := range records {
			if len(m.Value) > 16<<10 || string(m.Headers[0].Value) != "application/vnd.apache.arrow.stream" {
				t.Errorf("%d bytes, headers %v", len(m.Value), m.Headers)
			}
			next = checkStream(t, m.Value, next)
		}
		if next < 2000 {
			records = read(t, k, len(records)+1)
			next = 0
		}
	}
}

// checkStream checks that the rows of a stream follow those before next, and returns what follows it.
func checkStream(t *testing.T, stream []byte, next int) int {
	t.Helper()
	r, err := ipc.NewReader(bytes.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	for r.Next() {
		rec := r.Record()
		if !rec.Schema().Equal(rowSchema) {
			t.Fatalf("schema %s", rec.Schema())
		}
		for i := range int(rec.NumRows()) {
			if got := rec.Column(1).(*array.Int64).Value(i); got != int64(next) {
				t.Fatalf("row %d, want %d", got, next)
			}
			next++
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return next
}

// deadSchema is that of dead letters from Kafka.
var deadSchema = arrow.NewSchema([]arrow.Field{
	{Name: "topic", Type: arrow.BinaryTypes.String},
	{Name: "partition", Type: arrow.PrimitiveTypes.Int32},
	{Name: "offset", Type: arrow.PrimitiveTypes.Int64},
	{Name: "timestamp", Type: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, Nullable: true},
	{Name: "key", Type: arrow.BinaryTypes.Binary, Nullable: true},
	{Name: "headers", Type: arrow.ListOfNonNullable(arrow.StructOf(
		arrow.Field{Name: "key", Type: arrow.BinaryTypes.String},
		arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary, Nullable: true},
	)), Nullable: true},
	{Name: "url_error", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "url_error_pos", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: "raw", Type: arrow.BinaryTypes.Binary, Nullable: true},
}, nil)

func TestDeadLetters(t *testing.T) {
	leaktest.Check(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t", "rows"))
	dead := target(k)
	o := Options{Target: target(k), DeadLetters: &dead}
	o.Topic = "rows"
	w := open(t, begin(t, o, pipeline.Schemas{rowSchema, deadSchema}), 0)
	write(t, w, pipeline.DeadLetters, record(
		t, deadSchema,
		`{"topic":"in","partition":3,"offset":42,"timestamp":"2026-11-21T05:06:07.123456","key":"a2V5","headers":[{"key":"h","value":"dg=="},{"key":"urlmill.topic","value":null}],"url_error":"host-missing","url_error_pos":8,"raw":"aHR0cDovLwA="}`,
		`{"topic":"in","partition":3,"offset":43,"timestamp":null,"key":null,"headers":null,"url_error":"record-null","url_error_pos":null,"raw":null}`,
		`{"topic":"in","partition":3,"offset":44,"timestamp":null,"key":"","headers":null,"url_error":"base-host-missing","url_error_pos":1,"raw":""}`,
	), 45)
	got := read(t, k, 3)
	header := func(pairs ...string) (out []kgo.RecordHeader) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, kgo.RecordHeader{Key: pairs[i], Value: []byte(pairs[i+1])})
		}
		return out
	}
	first := append([]kgo.RecordHeader{}, header("urlmill.topic", "in", "urlmill.partition", "3", "urlmill.offset", "42", "urlmill.timestamp", "2026-11-21T05:06:07.123456Z")...)
	first = append(first, kgo.RecordHeader{Key: "h", Value: []byte("v")}, kgo.RecordHeader{Key: "urlmill.topic"})
	first = append(first, header("urlmill.reason", "url", "urlmill.error", "host-missing", "urlmill.position", "8")...)
	for i, want := range []struct {
		key, value []byte
		headers    []kgo.RecordHeader
	}{
		{[]byte("key"), []byte("http://\x00"), first},
		{nil, nil, header("urlmill.topic", "in", "urlmill.partition", "3", "urlmill.offset", "43", "urlmill.reason", "record", "urlmill.error", "record-null")},
		{[]byte{}, []byte{}, header("urlmill.topic", "in", "urlmill.partition", "3", "urlmill.offset", "44", "urlmill.reason", "base-url", "urlmill.error", "base-host-missing", "urlmill.position", "1")},
	} {
		r := got[i]
		if !bytes.Equal(r.Key, want.key) || (r.Key == nil) != (want.key == nil) || !bytes.Equal(r.Value, want.value) || (r.Value == nil) != (want.value == nil) {
			t.Errorf("record %d: key %q, value %q", i, r.Key, r.Value)
		}
		if diff := cmp.Diff(want.headers, r.Headers); diff != "" {
			t.Errorf("record %d: %s", i, diff)
		}
	}
}

func TestValidate(t *testing.T) {
	good := Options{Target: Target{Brokers: []string{"a:1"}, Topic: "t"}}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Options){
		"brokers: empty":              func(o *Options) { o.Brokers = nil },
		`brokers[0]: "a" is not`:      func(o *Options) { o.Brokers = []string{"a"} },
		`topic: "a b" is no topic`:    func(o *Options) { o.Topic = "a b" },
		"tls.server_name: has no":     func(o *Options) { o.TLS.ServerName = "x" },
		"sasl.username: empty":        func(o *Options) { o.SASL.Mechanism = "plain" },
		`compression: "lzma"`:         func(o *Options) { o.Compression = "lzma" },
		"max_message_bytes: 1 is out": func(o *Options) { o.MaxMessageBytes = 1 },
		`format: "xml" is not known`:  func(o *Options) { o.Format = "xml" },
		"key: a record holds many":    func(o *Options) { o.Format, o.Key = Arrow, "host" },
		"dial_timeout: -1ns":          func(o *Options) { o.DialTimeout = -1 },
		"start_timeout: -1ns":         func(o *Options) { o.StartTimeout = -1 },
	} {
		o := good
		change(&o)
		err := o.Validate()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if _, created := New(o, slog.New(slog.DiscardHandler)); created == nil {
			t.Errorf("New took what is not valid: %s", want)
		}
	}
}

func TestAbandonedIsWritten(t *testing.T) {
	leaktest.Check(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	w := open(t, begin(t, Options{Target: target(k)}, pipeline.Schemas{rowSchema}), 0)
	if err := w.Write(t.Context(), pipeline.Rows, rows(t, numbered(0, 3)...), pipeline.Span{First: 0, Next: 3}); err != nil {
		t.Fatal(err)
	}
	if err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
	read(t, k, 3) // at least once: it is there, and will be again
}

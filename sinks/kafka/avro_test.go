package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"github.com/twmb/avro"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/leaktest"
	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/sinktest"
)

// fakeRegistry returns an imitation of a schema registry, closed when the test is over.
func fakeRegistry(t *testing.T, opts ...srfake.Option) *srfake.Registry {
	t.Helper()
	r := srfake.New(opts...)
	t.Cleanup(r.Close)
	return r
}

// avroOptions are those of the topic t of k, whose registry is at url.
func avroOptions(k *kfake.Cluster, url string) Options {
	return Options{Target: target(k), Format: Avro, Avro: &AvroOptions{Registry: schemaregistry.Options{URLs: []string{url}}, Register: true}}
}

// TestAvro: a row is a record behind the id of its schema, keyed as with json.
func TestAvro(t *testing.T) {
	leaktest.Check(t)
	k, reg := kafkatest.Fake(t, kfake.SeedTopics(3, "t")), fakeRegistry(t)
	o := avroOptions(k, reg.URL())
	o.Key = "n"
	for part := range 2 { // a process and its successor
		s := begin(t, o, pipeline.Schemas{rowSchema})
		var lanes sync.WaitGroup
		for lane := range 3 {
			w, first := open(t, s, int32(lane)), 100*part+33*lane
			records := []arrow.Record{rows(t, numbered(first, first+20)...), rows(t, numbered(first+20, first+33)...)}
			lanes.Go(func() {
				for i, r := range records {
					if err := w.Write(t.Context(), pipeline.Rows, r, pipeline.Span{First: int64(i), Next: int64(i + 1)}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		lanes.Wait()
		write(t, open(t, s, 3), pipeline.Rows, rows(t, fmt.Sprintf(`{"host":null,"n":%d,"list":null}`, 100*part+99)), 6)
	}
	s, ok := reg.GetSchema("t-value", 1)
	if _, more := reg.GetSchema("t-value", 2); !ok || more {
		t.Fatalf("one version %t, a second one %t", ok, more)
	}
	const want = `{"type":"record","name":"Row","namespace":"urlmill","fields":[` +
		`{"name":"host","type":["null","string"],"default":null},{"name":"n","type":"long"},` +
		`{"name":"list","type":["null",{"type":"array","items":["null","string"]}],"default":null}]}`
	if s.Schema.Schema != want || s.Type != sr.TypeAvro {
		t.Errorf("schema %s", s.Schema.Schema)
	}
	parsed, seen := avro.MustParse(s.Schema.Schema), map[int64]int{}
	for _, r := range read(t, k, 200) {
		header := binary.BigEndian.AppendUint32([]byte{0}, uint32(s.ID))
		if !bytes.HasPrefix(r.Value, header) {
			t.Fatalf("header of %x, want %x", r.Value, header)
		}
		var row struct {
			Host *string   `avro:"host"`
			N    int64     `avro:"n"`
			List *[]string `avro:"list"`
		}
		if rest, err := parsed.Decode(r.Value[5:], &row); err != nil || len(rest) > 0 {
			t.Fatalf("%v, left %x", err, rest)
		}
		seen[row.N]++
		null := row.N%100 == 99
		if string(r.Key) != fmt.Sprint(row.N) || null != (row.Host == nil) || null != (row.List == nil) || !null && *row.Host != fmt.Sprint("h", row.N%7) {
			t.Errorf("key %s, row %+v", r.Key, row)
		}
	}
	for n := range int64(200) {
		if seen[n] != 1 {
			t.Errorf("row %d is there %d times", n, seen[n])
		}
	}
}

// TestSubjects: the subject is called as the strategy says.
func TestSubjects(t *testing.T) {
	leaktest.Check(t)
	k, reg := kafkatest.Fake(t, kfake.SeedTopics(1, "t")), fakeRegistry(t)
	for strategy, subject := range map[string]string{"": "t-value", TopicName: "t-value", RecordName: "org.example.Click", TopicRecordName: "t-org.example.Click"} {
		o := avroOptions(k, reg.URL())
		o.Avro.Subject, o.Avro.Record = strategy, "org.example.Click"
		begin(t, o, pipeline.Schemas{rowSchema})
		if !reg.SubjectExists(subject) {
			t.Errorf("%s: there is no subject %s", strategy, subject)
		}
		if _, got, err := o.AvroSchema(rowSchema); got != subject || err != nil {
			t.Errorf("%s: %s, %v", strategy, got, err)
		}
		reg.Reset()
	}
}

// TestLookUp: what is not registered is not; what is means the same counts.
func TestLookUp(t *testing.T) {
	leaktest.Check(t)
	k, reg := kafkatest.Fake(t, kfake.SeedTopics(1, "t")), fakeRegistry(t)
	o := avroOptions(k, reg.URL())
	o.Avro.Register = false
	err := create(t, o).Start(t.Context(), pipeline.Schemas{rowSchema})
	if err == nil || !strings.Contains(err.Error(), "urlmill config avro-schema") || reg.SubjectExists("t-value") {
		t.Errorf("there is %t, %v", reg.SubjectExists("t-value"), err)
	}
	text, _, err := o.AvroSchema(rowSchema)
	if err != nil {
		t.Fatal(err)
	}
	reg.SeedSchema("t-value", 1, 7, sr.Schema{Schema: strings.Replace(text, `"namespace"`, `"doc":"rows of URLs","namespace"`, 1)})
	w := open(t, begin(t, o, pipeline.Schemas{rowSchema}), 0)
	write(t, w, pipeline.Rows, rows(t, numbered(0, 1)...), 1)
	if got := read(t, k, 1)[0].Value; !bytes.HasPrefix(got, []byte{0, 0, 0, 0, 7}) {
		t.Errorf("%x", got)
	}
	reg.Reset()
	reg.SeedSchema("t-value", 1, 7, sr.Schema{Schema: strings.Replace(text, `"long"`, `"int"`, 1)})
	if err = create(t, o).Start(t.Context(), pipeline.Schemas{rowSchema}); err == nil || !strings.Contains(err.Error(), "no schema for these columns") {
		t.Errorf("of another type: %v", err)
	}
}

// refusing answers like a registry that does not like what it is asked.
func refusing(status, code int, message string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error_code":%d,"message":%q}`, code, message)
	})
}

// TestRegistryRefuses: the start fails at once, with the registry's words and what to do, and without the password.
func TestRegistryRefuses(t *testing.T) {
	leaktest.Check(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	for want, handler := range map[string]http.Handler{
		"answers 401: Unauthorized: check username":                            refusing(401, 401, "Unauthorized"),
		"answers 403: may not: check username and password, or token":          refusing(403, 40301, "may not"),
		"answers 409: reader field 'n' is missing: the columns have changed":   refusing(409, 409, "reader field 'n' is missing"),
		"answers 422: Subject is in READONLY mode: the registry does not take": refusing(422, 42205, "Subject is in READONLY mode"),
	} {
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		o := avroOptions(k, server.URL)
		o.StartTimeout = time.Hour
		o.Avro.Registry.Username, o.Avro.Registry.Password = "mill", "planted-secret"
		err := create(t, o).Start(t.Context(), pipeline.Schemas{rowSchema})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `topic "t": subject t-value: `) || strings.Contains(err.Error(), "planted") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestIncompatible asks a registry that has a schema of the subject, with words of its own.
func TestIncompatible(t *testing.T) {
	leaktest.Check(t)
	k, reg := kafkatest.Fake(t, kfake.SeedTopics(1, "t")), fakeRegistry(t)
	begin(t, avroOptions(k, reg.URL()), pipeline.Schemas{rowSchema})
	reg.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost {
			return false
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || !bytes.Contains(body, []byte(`\"name\":\"m\"`)) {
			t.Errorf("%s, %v", body, err)
		}
		refusing(409, 409, "the new schema has field m without a default").ServeHTTP(w, r)
		return true
	})
	other := arrow.NewSchema(append(rowSchema.Fields(), arrow.Field{Name: "m", Type: arrow.PrimitiveTypes.Int64}), nil)
	err := create(t, avroOptions(k, reg.URL())).Start(t.Context(), pipeline.Schemas{other})
	if err == nil || !strings.Contains(err.Error(), "without a default: the columns have changed") {
		t.Error(err)
	}
}

// TestRegistryIsDown: a registry that does not answer at the start is waited for, and its instances are asked in turn.
func TestRegistryIsDown(t *testing.T) {
	leaktest.Check(t)
	k, reg := kafkatest.Fake(t, kfake.SeedTopics(1, "t")), fakeRegistry(t)
	var asked atomic.Int32
	reg.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if asked.Add(1) > 3 {
			return false
		}
		refusing(503, 50003, "no leader").ServeHTTP(w, r)
		return true
	})
	o := avroOptions(k, "http://127.0.0.1:1")
	o.Avro.Registry.URLs = append(o.Avro.Registry.URLs, reg.URL())
	o.StartTimeout = time.Hour
	write(t, open(t, begin(t, o, pipeline.Schemas{rowSchema}), 0), pipeline.Rows, rows(t, numbered(0, 1)...), 1)
	if asked.Load() < 4 {
		t.Errorf("asked %d times", asked.Load())
	}

	o = avroOptions(k, "http://127.0.0.1:1")
	o.StartTimeout = time.Millisecond
	if err := create(t, o).Start(t.Context(), pipeline.Schemas{rowSchema}); err == nil || !strings.Contains(err.Error(), "no word from the schema registry http://127.0.0.1:1 after 1ms") {
		t.Error(err)
	}
	o.StartTimeout = time.Hour
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	time.AfterFunc(50*time.Millisecond, func() { cancel(stop) })
	if err := create(t, o).Start(ctx, pipeline.Schemas{rowSchema}); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// TestNothingIsRegistered for a topic that is not there, nor for columns that have no form.
func TestNothingIsRegistered(t *testing.T) {
	leaktest.Check(t)
	k, reg := kafkatest.Fake(t), fakeRegistry(t)
	o := avroOptions(k, reg.URL())
	o.StartTimeout = time.Millisecond
	bad := arrow.NewSchema([]arrow.Field{{Name: "a-b", Type: arrow.BinaryTypes.String}}, nil)
	for want, s := range map[string]*arrow.Schema{"it does not exist": rowSchema, "a name in Avro has": bad} {
		if err := create(t, o).Start(t.Context(), pipeline.Schemas{s}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if reg.SubjectExists("t-value") {
		t.Error("there is a subject")
	}
}

// TestAvroTooLarge: a record that is too large stops the run, as with json.
func TestAvroTooLarge(t *testing.T) {
	leaktest.Check(t)
	k, reg := kafkatest.Fake(t, kfake.SeedTopics(1, "t")), fakeRegistry(t)
	huge := fmt.Sprintf(`{"host":%q,"n":1,"list":null}`, strings.Repeat("x", 1_100_000))
	w := open(t, begin(t, avroOptions(k, reg.URL()), pipeline.Schemas{rowSchema}), 0)
	err := w.Write(t.Context(), pipeline.Rows, rows(t, huge), pipeline.Span{First: 0, Next: 1})
	if err == nil || !strings.Contains(err.Error(), "larger than max_message_bytes, 1000000") {
		t.Error(err)
	}
}

func TestAvroProblems(t *testing.T) {
	good := Options{Target: Target{Brokers: []string{"a:1"}, Topic: "t"}, Format: Avro, Avro: &AvroOptions{Registry: schemaregistry.Options{URLs: []string{"http://a"}}}}
	if err := errors.Join(good.Validate(), good.CheckRows(rowSchema)); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Options){
		"format: avro needs the schema registry":  func(o *Options) { o.Avro = nil },
		"avro.registry.urls: empty":               func(o *Options) { o.Avro.Registry.URLs = nil },
		"avro.registry.urls[0]: it holds a pass":  func(o *Options) { o.Avro.Registry.URLs = []string{"http://u:p@a"} },
		`avro.record: "a-b" is no name`:           func(o *Options) { o.Avro.Record = "a-b" },
		`avro.subject: "x" is not known`:          func(o *Options) { o.Avro.Subject, o.Avro.Record = "x", "a" },
		"avro.record: with record_name the subje": func(o *Options) { o.Avro.Subject = RecordName },
	} {
		o := good
		if o.Avro != nil {
			avro := *good.Avro
			o.Avro = &avro
		}
		change(&o)
		if err := o.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if _, created := New(o, slog.New(slog.DiscardHandler)); created == nil {
			t.Errorf("New took what is not valid: %s", want)
		}
	}
	bad := arrow.NewSchema([]arrow.Field{{Name: "a-b", Type: arrow.BinaryTypes.String}, {Name: "2", Type: arrow.BinaryTypes.String}}, nil)
	err := good.CheckRows(bad)
	if err == nil || strings.Count(err.Error(), "format: column ") != 2 {
		t.Error(err)
	}
	if _, _, err := (Options{Format: JSON}).AvroSchema(rowSchema); err == nil {
		t.Error("json has an Avro schema")
	}
}

// filler returns what fills a buffer with the values of rows of a schema, in a format.
func filler(tb testing.TB, format string, s *arrow.Schema) *rowBuffer {
	tb.Helper()
	var form rowForm = &jsonForm{}
	if format == Avro {
		form = &avroForm{options: AvroOptions{}.withDefaults(), header: []byte("12345")}
	}
	if err := form.prepare(s); err != nil {
		tb.Fatal(err)
	}
	return &rowBuffer{append: form.newAppender()}
}

// TestAvroAllocations: rows cost no memory once there is a buffer.
func TestAvroAllocations(t *testing.T) {
	s := sinktest.Clicks()
	r := sinktest.Random(memory.DefaultAllocator, s, 1000, 0, 1, sinktest.Shape{Nulls: 0.1})
	b, key := filler(t, Avro, s), s.FieldIndices("host")[0]
	fill := func() {
		if err := b.fill(r, key); err != nil {
			t.Fatal(err)
		}
	}
	fill()
	if got := testing.AllocsPerRun(20, fill); got != 0 {
		t.Errorf("%v allocations for 1000 rows", got)
	}
	if diff := cmp.Diff(1000, len(b.messages)); diff != "" {
		t.Error(diff)
	}
}

// BenchmarkRows makes the values of rows like those of a clickstream with all columns.
func BenchmarkRows(b *testing.B) {
	s := sinktest.Clicks()
	const n = 8192
	r := sinktest.RandomClicks(memory.DefaultAllocator, n, 0, 1)
	for _, format := range []string{JSON, Avro} {
		b.Run(format, func(b *testing.B) {
			buffer := filler(b, format, s)
			b.ReportAllocs()
			for b.Loop() {
				if err := buffer.fill(r, -1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
			b.ReportMetric(float64(len(buffer.data))/n, "bytes/row")
		})
	}
}

package config

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/urlmill/urlmill/pipeline"
)

// theSecret must not be in any message.
const theSecret = "hunter2"

// testEnv knows a few variables, and the real files.
func testEnv() Env {
	variables := map[string]string{
		"PASSWORD": theSecret,
		"BROKERS":  "kafka-1:9092, kafka-2:9092",
		"TOPIC":    "clicks",
		"TLS":      "true",
		"SIZE":     "4MiB",
		"BUFFERS":  "5",
		"EMPTY":    "",
	}
	return Env{
		Lookup:   func(name string) (string, bool) { v, ok := variables[name]; return v, ok },
		ReadFile: os.ReadFile,
	}
}

// TestBad checks that every file of testdata/bad is refused with exactly the problems that its lines "# want" name.
func TestBad(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for line := range strings.Lines(string(data)) {
				if w, ok := strings.CutPrefix(line, "# want "); ok {
					want = append(want, strings.TrimSuffix(w, "\n"))
				}
			}
			_, err = Load(file, testEnv())
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v, want *Error", err)
			}
			var got []string
			for _, p := range e.Problems {
				got = append(got, fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Message))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if strings.Contains(err.Error(), theSecret) || strings.Contains(err.Error(), "12345678") {
				t.Errorf("the secret is in the message: %v", err)
			}
			if !strings.HasPrefix(err.Error(), file+":") {
				t.Errorf("message without the file: %v", err)
			}
		})
	}
}

// TestEndless checks that files without an end are refused, and neither read for ever nor kept.
func TestEndless(t *testing.T) {
	const endless = "/dev/zero"
	if _, err := os.Stat(endless); err != nil {
		t.Skip("this system has no " + endless)
	}
	if _, err := Load(endless, OSEnv()); err == nil || !strings.Contains(err.Error(), "larger than 1MiB") {
		t.Errorf("as a configuration: %v", err)
	}
	if _, err := Parse("c.yaml", []byte("on_error: ${file:"+endless+"}"), OSEnv()); err == nil || !strings.Contains(err.Error(), "it has to hold a single value") {
		t.Errorf("as a value: %v", err)
	}
}

// minimal is what testdata/good/minimal.yaml is, and what the other expectations start from.
func minimal() Config {
	c := Default()
	f := DefaultFile()
	f.Paths = []string{"urls.txt"}
	c.Source.File = &f
	p := DefaultParquet()
	p.Path = "out"
	c.Sink.Parquet = &p
	return c
}

func wantFull() Config {
	return Config{
		Source: Source{
			Kafka: &Kafka{
				Brokers: []string{"kafka-1:9092", "[::1]:9093"}, Topics: []string{"clicks", "views"}, Group: "urlmill", ClientID: "mill-1",
				Start:          Start{Policy: StartTime, Time: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)},
				TLS:            TLS{Enabled: true, CAFile: "ca.pem", CertFile: "c.pem", KeyFile: "c.key", ServerName: "kafka"},
				SASL:           &SASL{Mechanism: "scram-sha-512", Username: "mill", Password: "s3cret"},
				SessionTimeout: 45 * time.Second, HeartbeatInterval: 5 * time.Second, RebalanceTimeout: 2 * time.Minute,
				DialTimeout: 5 * time.Second, MaxWait: 250 * time.Millisecond,
				MinBytes: 1 << 10, MaxBytes: 3 << 19, FetchMemory: 64 << 20, MaxRecordBytes: 1e6,
				Isolation: "read_uncommitted", OnAhead: "rewind", OnTruncated: "skip", OnCorrupt: "dead_letter",
				ConnectTimeout: time.Minute,
			},
			Codec: Codec{NDJSON: &NDJSON{URL: "/url", Base: "/page", Carry: []Carry{
				{Name: "user_id", Pointer: "/user/id", Type: pipeline.Int64, Time: "rfc3339"},
				{Name: "at", Pointer: "/ts", Type: pipeline.Timestamp, Time: "ms"},
				{Name: "note", Pointer: "/a~1b/~0", Type: pipeline.String, Time: "rfc3339"},
				{Name: "all", Pointer: "", Type: pipeline.JSON, Time: "rfc3339"},
			}}},
		},
		Columns: Columns{Include: []string{"url", "href", "host"}, Exclude: []string{"host"}, Rename: map[string]string{"href": "url_clean"}},
		OnError: pipeline.ToDeadLetters,
		Sink: Sink{
			Parquet: &Parquet{
				Path: "out/rows", DeadLetters: "out/dead", Compression: "gzip", CompressionLevel: 6,
				RowGroupRows: 1000, RowGroupBytes: 64 << 20,
				Encoder: "urlmill", PageVersion: 2, Encodings: "plain", BloomFilters: []string{"host", "params.list.element.key"},
				Delivery:    AtLeastOnce,
				PartitionBy: []string{"date(timestamp)", "site=host"},
				Late:        &Late{Path: "late", After: 6 * time.Hour},
				SortBy:      []string{"registrable_domain", "path"},
			},
			Roll: Roll{Rows: 1e6, Bytes: 1 << 30, Every: time.Hour},
			S3:   DefaultS3(),
		},
		Pipeline:    Pipeline{BatchRows: 100, BatchBytes: 64 << 10, Workers: 3, Buffers: 2, DrainTimeout: 90 * time.Second},
		MemoryLimit: 3 << 29,
		Log:         Log{Level: slog.LevelDebug, Format: "json"},
		Tracing:     &Tracing{Endpoint: "https://otel.example.com:4318", Sample: 0.5, Token: "t", Service: "mill"},
		Admin: &Admin{
			Listen: "0.0.0.0:9000", Token: "0123456789abcdef-x", TLS: AdminTLS{CertFile: "a.pem", KeyFile: "a.key"},
			PProf: true, StuckAfter: 2 * time.Hour, MaxLag: 1000, Linger: 5 * time.Second,
		},
	}
}

func TestGood(t *testing.T) {
	kafka := func(set func(*Kafka)) *Kafka {
		k := DefaultKafka()
		set(&k)
		return &k
	}
	generate := DefaultGenerate()
	want := map[string]func() Config{
		"minimal": minimal,
		"full":    wantFull,
		"flow": func() Config {
			c := minimal()
			c.Source = Source{Kafka: kafka(func(k *Kafka) {
				k.Brokers, k.Topics, k.Group = []string{"localhost:9092", "b:1"}, []string{"c"}, "g"
			})}
			return c
		},
		"json": func() Config {
			c := Default()
			c.Source.Generate = &Generate{Records: 1000, Seed: 7, Lanes: 2, Rate: 1500, Format: "lines", Profile: "crawl", Repeats: 0.3, RepeatsWithin: 5000}
			c.Sink = Sink{NDJSON: &NDJSONOut{Output{Stdout: true}}, S3: c.Sink.S3}
			return c
		},
		"anchors": func() Config {
			c := Default()
			c.Source.Kafka = kafka(func(k *Kafka) {
				k.Brokers, k.Topics, k.Group = []string{"kafka-1:9092"}, []string{"clicks"}, "own"
			})
			c.Sink.ArrowIPC = &ArrowIPC{Output: Output{Path: "out"}, Compression: "lz4"}
			c.Columns.Exclude = []string{"clicks"}
			return c
		},
		"variables": func() Config {
			c := minimal()
			c.Source = Source{Kafka: kafka(func(k *Kafka) {
				k.Brokers, k.Topics = []string{"kafka-1:9092", "kafka-2:9092"}, []string{"clicks"}
				k.Group, k.TLS.Enabled, k.MaxBytes = "literal ${TOPIC} and $HOME", true, 4<<20
			})}
			c.Sink.Parquet.Path = "fallback"
			c.Pipeline.Buffers = 5
			return c
		},
		"clickhouse": func() Config {
			c := minimal()
			h := DefaultClickHouse()
			h.URL, h.Table, h.RetryFor = "https://mill:"+theSecret+"@ch:8443/web", "clicks", 30*time.Second
			c.Sink.Parquet, c.Sink.ClickHouse = nil, &h
			return c
		},
		"duckdb": func() Config {
			c := minimal()
			b := DefaultDuckDB()
			b.Path, b.Table = "web.duckdb", "clicks"
			c.Sink.Parquet, c.Sink.DuckDB = nil, &b
			return c
		},
		"postgres": func() Config {
			c := minimal()
			p := DefaultPostgres()
			p.URL, p.DialTimeout = "postgres://mill:"+theSecret+"@db/web", 3*time.Second
			p.Loading = Loading{Table: "web.clicks", DeadLetters: "web.clicks_dead", BatchBytes: 8 << 20, RetryFor: time.Hour}
			c.OnError = pipeline.ToDeadLetters
			c.Sink.Parquet, c.Sink.Postgres = nil, &p
			return c
		},
		"iceberg": func() Config {
			c := minimal()
			i := DefaultIceberg()
			i.Table, i.Every = "web.raw.clicks", 5*time.Minute
			i.REST = &IcebergREST{
				URI: "https://catalog.example.com", Warehouse: "lake", Credential: "id:" + theSecret,
				AuthURI: "https://login.example.com/tokens", Scope: "PRINCIPAL_ROLE:ALL",
			}
			c.Sink.Parquet.Path, c.Sink.Parquet.Iceberg = "s3://lake/clicks", &i
			return c
		},
		"kafka-out": func() Config {
			c := Default()
			c.Source.Kafka = kafka(func(k *Kafka) {
				k.Brokers, k.Topics, k.Group = []string{"kafka-1:9092"}, []string{"clicks"}, "g"
			})
			dead := DefaultKafkaTopic()
			dead.Topic = "clicks.dead"
			c.OnError = pipeline.ToDeadLetters
			c.Sink.Kafka = &KafkaOut{
				KafkaTopic: KafkaTopic{
					Brokers: []string{"out-1:9092", "out-2:9092"}, Topic: "clicks.parsed", ClientID: "mill",
					TLS: TLS{Enabled: true, CAFile: "ca.pem"}, SASL: &SASL{Mechanism: "plain", Username: "mill", Password: theSecret},
					Compression: "lz4", MaxMessageBytes: 2 << 20, DialTimeout: 5 * time.Second, StartTimeout: time.Minute,
				},
				Format: "json", Key: "host", DeadLetterTopic: &dead, Delivery: AtLeastOnce,
			}
			return c
		},
		"kafka-avro": func() Config {
			c := Default()
			c.Source.Kafka = kafka(func(k *Kafka) {
				k.Brokers, k.Topics, k.Group = []string{"kafka-1:9092"}, []string{"clicks"}, "g"
			})
			out := DefaultKafkaOut()
			out.Topic, out.Format, out.Key = "clicks.parsed", "avro", "host"
			out.Avro = &AvroOut{
				Registry: Registry{
					URLs: []string{"https://registry-1:8081", "https://registry-2:8081"}, Username: "mill", Password: theSecret,
					TLS: TLS{Enabled: true, CAFile: "ca.pem"}, Timeout: 3 * time.Second,
				},
				Record: "org.example.Click", Subject: "topic_record_name",
			}
			c.Sink.Kafka = &out
			return c
		},
		"generate": func() Config {
			c := Default()
			c.Source.Generate = &generate
			c.Sink.NDJSON = &NDJSONOut{Output{Path: "out"}}
			return c
		},
		"s3": func() Config {
			c := minimal()
			c.OnError = pipeline.ToDeadLetters
			c.Sink.Parquet.Path, c.Sink.Parquet.DeadLetters = "s3://bucket/clicks", "s3://other-bucket"
			c.Sink.S3 = S3{
				Endpoint: "https://minio.example.com:9000", Region: "eu-central-1", Addressing: "host", Profile: "mill",
				Encryption: "kms", KMSKey: "alias/mill", StorageClass: "STANDARD_IA", Checksum: "none",
				PartSize: 16 << 20, Parallel: 2, Attempts: 3, Timeout: time.Minute,
			}
			return c
		},
		"dedupe": func() Config {
			c := minimal()
			c.Columns.Canonical = &Canonical{Form: "surt-cc"}
			c.Columns.Tracking = "keep"
			c.Dedupe = &Dedupe{
				Path: "seen", Mode: "drop", Memory: 64 << 20, Approximate: &Approximate{Memory: 16 << 20, Keys: 1e6},
				Window: DedupeWindow{Time: 36 * time.Hour, By: "fetched_at"},
			}
			return c
		},
		"windows": func() Config {
			c := minimal()
			c.Source.File.Paths = []string{"-"}
			c.Sink = Sink{NDJSON: &NDJSONOut{Output{Stdout: true}}, Roll: c.Sink.Roll, S3: c.Sink.S3}
			return c
		},
	}
	files, err := filepath.Glob("testdata/good/*.yaml")
	if err != nil || len(files) != len(want) {
		t.Fatalf("%d files, %d expectations, %v", len(files), len(want), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			got, err := Load(file, testEnv())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want[name](), *got, cmpopts.IgnoreUnexported(Config{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.File() != file {
				t.Errorf("File() = %q", got.File())
			}
		})
	}
}

func TestProblemPositions(t *testing.T) {
	c, err := Parse("x.yaml", []byte("source:\n  file:\n    paths:\n      - a\n      - b\nsink: {parquet: {path: out}}\n"), testEnv())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"source.file.paths[1]":    "x.yaml:5:9: no",
		"source.file.paths[7]":    "x.yaml:4:7: no",
		"source.file.parallel":    "x.yaml:2:3: no",
		"sink.parquet.path":       "x.yaml:6:24: no",
		"sink.roll.bytes":         "x.yaml:6:1: no",
		"pipeline.batch_rows":     "x.yaml: no",
		"source.kafka.brokers[0]": "x.yaml:1:1: no",
	} {
		if got := c.Errors([]Problem{c.Problem(path, "%s", "no")}).Error(); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	v, err := Parse("x.yaml", []byte("source: {file: {paths: ['${PASSWORD}/a']}}\nsink: {parquet: {path: '${TOPIC}'}}\n"), testEnv())
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Problem("source.file.paths[0]", "%s is no clicks", v.Source.File.Paths[0]).Message; got != "${PASSWORD}/a is no clicks" {
		t.Errorf("message %q", got)
	}
	if c.Errors(nil) != nil {
		t.Error("an error without problems")
	}
	if got := c.Hash(); got == v.Hash() || len(got) != len("sha256:")+64 {
		t.Errorf("Hash() = %q", got)
	}
	if !c.Given("source.file.paths") || c.Given("source.kafka") {
		t.Error("Given is wrong")
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(filepath.Join(dir, "none.yaml"), testEnv()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := Load(dir, testEnv()); err == nil {
		t.Error("a folder was read")
	}
	big := filepath.Join(dir, "big.yaml")
	if err := os.WriteFile(big, bytes.Repeat([]byte("#\n"), maxFileSize), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(big, testEnv()); err == nil || !strings.Contains(err.Error(), "larger than 1MiB") {
		t.Errorf("large file: %v", err)
	}
	_, err := Parse("x", []byte("source: é\nsink: é\xff\n"), testEnv())
	if err == nil || err.Error() != "x:2:8: not UTF-8 here; save the file as UTF-8" {
		t.Errorf("invalid UTF-8: %v", err)
	}
	_, err = Parse("x", []byte("a:\n"+strings.Repeat("[", maxFileSize-10)), testEnv())
	if err == nil || err.Error() != "x:2:501: more than 500 brackets are open here; close some" {
		t.Errorf("deep nesting: %v", err)
	}
	_, err = Parse("x", bytes.Repeat([]byte("#\n"), maxFileSize), testEnv())
	if err == nil || !strings.Contains(err.Error(), "larger than 1MiB") {
		t.Errorf("large text: %v", err)
	}
}

func TestLargeSubstitutedFile(t *testing.T) {
	env := testEnv()
	env.ReadFile = func(string) ([]byte, error) { return make([]byte, maxFileSize+1), nil }
	_, err := Parse("x", []byte("source: {file: {paths: [\"${file:a}\"]}}\nsink: {parquet: {path: out}}\n"), env)
	if err == nil || !strings.Contains(err.Error(), "has to hold a single value") {
		t.Error(err)
	}
}

func TestSecret(t *testing.T) {
	s := Secret(theSecret)
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "a", s, "b", SASL{Password: s}, "c", &SASL{Password: s})
	texts := []string{log.String(), s.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		texts = append(texts, fmt.Sprintf(verb, s), fmt.Sprintf(verb, SASL{Password: s}))
	}
	for _, text := range texts {
		if strings.Contains(text, theSecret) || strings.Contains(text, fmt.Sprintf("%x", theSecret)) {
			t.Errorf("the secret shows: %s", text)
		}
	}
	if s.Reveal() != theSecret || Secret("").String() != "" {
		t.Error("Reveal or the empty secret is wrong")
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "1B": 1, "64KiB": 64 << 10, "512MiB": 512 << 20, "1.5 GB": 1.5e9, "2TiB": 2 << 40, "3kB": 3000, "3KB": 3000, "0.5MiB": 512 << 10,
		"": -1, "5": -1, "5mb": -1, "-5MiB": -1, "1e3B": -1, "MiB": -1, "1..2B": -1, "99999999TiB": -1, "5 MiB x": -1,
	} {
		got, err := parseSize(in)
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("parseSize(%q) = %d, %v", in, got, err)
		}
	}
	for in, want := range map[int64]string{0: "0B", 1000: "1000B", 1 << 10: "1KiB", 3 << 19: "1536KiB", 1 << 40: "1TiB"} {
		if got := FormatSize(in); got != want {
			t.Errorf("FormatSize(%d) = %q", in, got)
		}
	}
}

func TestSuggest(t *testing.T) {
	candidates := []string{"href", "host", "registrable_domain", "params"}
	for in, want := range map[string]string{
		"hrfe":                            ` (did you mean "href"?)`,
		"registrableDomain":               ` (did you mean "registrable_domain"?)`,
		"registrable":                     ` (did you mean "registrable_domain"?)`,
		"parms":                           ` (did you mean "params"?)`,
		"x":                               "",
		"":                                "",
		strings.Repeat("href", 100) + "x": ` (did you mean "href"?)`,
		"zzzzzzzz":                        "",
	} {
		if got := Suggest(in, candidates); got != want {
			t.Errorf("Suggest(%q) = %q", in, got)
		}
	}
}

// FuzzParse checks that no input makes Parse panic, that its errors have positions within the file, and that
// what a variable held is in none of them.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/good/*.yaml", "testdata/bad/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	env := testEnv()
	env.ReadFile = func(string) ([]byte, error) { return nil, os.ErrNotExist }
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("f.yaml", data, env)
		if err == nil {
			if c.Sink.Parquet == nil && c.Sink.ArrowIPC == nil && c.Sink.NDJSON == nil && c.Sink.Kafka == nil && c.Sink.load() == nil {
				t.Error("accepted without a sink")
			}
			return
		}
		var e *Error
		if !errors.As(err, &e) || len(e.Problems) == 0 {
			t.Fatalf("error %T %v", err, err)
		}
		for _, p := range e.Problems {
			if p.Line < 1 || p.Column < 1 || p.Line > bytes.Count(data, []byte("\n"))+bytes.Count(data, []byte("\r"))+1 {
				t.Errorf("position %d:%d of %q", p.Line, p.Column, p.Message)
			}
		}
		if strings.Contains(err.Error(), theSecret) && !bytes.Contains(data, []byte(theSecret)) {
			t.Errorf("the secret is in the message: %v", err)
		}
	})
}

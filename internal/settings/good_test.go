package settings

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/urlmill/urlmill/pipeline"
)

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
				Isolation: "read_uncommitted", OnAhead: "rewind", OnTruncated: "skip", OnRecreated: "restart", OnCorrupt: "dead_letter",
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
				PageVersion: 2, Encodings: "plain", BloomFilters: []string{"host", "params.list.element.key"},
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

func kafkaWith(set func(*Kafka)) *Kafka {
	k := DefaultKafka()
	set(&k)
	return &k
}

// good is what the files of testdata/good say, by their names.
var good = map[string]func() Config{
	"minimal": minimal,
	"full":    wantFull,
	"flow": func() Config {
		c := minimal()
		c.Source = Source{Kafka: kafkaWith(func(k *Kafka) {
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
		c.Source.Kafka = kafkaWith(func(k *Kafka) {
			k.Brokers, k.Topics, k.Group = []string{"kafka-1:9092"}, []string{"clicks"}, "own"
		})
		c.Sink.ArrowIPC = &ArrowIPC{Output: Output{Path: "out"}, Compression: "lz4"}
		c.Columns.Exclude = []string{"clicks"}
		return c
	},
	"variables": func() Config {
		c := minimal()
		c.Source = Source{Kafka: kafkaWith(func(k *Kafka) {
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
		c.Source.Kafka = kafkaWith(func(k *Kafka) {
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
		c.Source.Kafka = kafkaWith(func(k *Kafka) {
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
		c, generate := Default(), DefaultGenerate()
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

func TestGood(t *testing.T) {
	files, err := filepath.Glob("testdata/good/*.yaml")
	if err != nil || len(files) != len(good) {
		t.Fatalf("%d files, %d expectations, %v", len(files), len(good), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			got, err := Load(file, testEnv())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(good[name](), *got, cmpopts.IgnoreFields(Config{}, "Document")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.File() != file {
				t.Errorf("File() = %q", got.File())
			}
		})
	}
}

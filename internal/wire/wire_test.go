package wire

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/config"
)

// parse reads a configuration in which ${DIR} is an empty folder and ${SECRET} a secret.
func parse(t *testing.T, text string) *Config {
	t.Helper()
	dir := t.TempDir()
	env := config.Env{
		Lookup: func(name string) (string, bool) {
			v, ok := map[string]string{"DIR": dir, "SECRET": "hunter2"}[name]
			return v, ok
		},
		ReadFile: os.ReadFile,
	}
	c, err := Standard().Parse("x.yaml", []byte(text), env)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// refused are configurations, and what components and columns say of them.
var refused = []struct{ name, text, want string }{
	{"dictionaries", "source: {generate: {}}\nsink: {arrowipc: {stdout: true, dictionaries: [host, scheme]}}\n", ""},
	{
		"dictionaries in files", "source: {generate: {}}\nsink: {arrowipc: {path: out, dictionaries: [host]}}\n",
		`x.yaml:2:44: dictionaries: files have none, since theirs cannot grow`,
	},
	{
		"dictionary of numbers", "source: {generate: {}}\nsink: {arrowipc: {stdout: true, dictionaries: [port]}}\n",
		`x.yaml:2:47: dictionaries: column "port" is int32, and only texts become dictionaries`,
	},
	{"partitions", "source: {generate: {}}\nsink: {parquet: {path: out, partition_by: ['date(ts)', country, 'bucket(4, host)']}}\n", ""},
	{
		"partition expression", "source: {generate: {}}\nsink: {parquet: {path: out, partition_by: ['day(timestamp)']}}\n",
		`x.yaml:2:43: partition_by: "day(timestamp)" is not understood; give a column, month(column), date(column)`,
	},
	{
		"bloom filter", "source: {generate: {}}\nsink: {parquet: {path: out, bloom_filters: [host, nothing]}}\n",
		`x.yaml:2:44: bloom_filters: there is no column "nothing"; give the path of a column, such as host or params.list.element.key`,
	},
	{"no bloom filter", "source: {generate: {}}\nsink: {parquet: {path: out, bloom_filters: [none]}}\n", ""},
	{
		"partition column", "source: {generate: {}}\nsink: {parquet: {path: out, partition_by: [nothing]}}\n",
		`x.yaml:2:43: partition_by: there is no column "nothing" to partition by; the columns are`,
	},
	{
		"memory", "source: {generate: {}}\nsink: {parquet: {path: out}}\npipeline: {batch_bytes: 64MiB, workers: 2}\nmemory_limit: 1GiB\n",
		`x.yaml:4:15: memory_limit is 1GiB, which is too little for this configuration; give at least `,
	},
	{"file", "source: {file: {paths: [urls.txt]}}\nsink: {parquet: {path: out}}\n", ""},
	{
		"kafka", `
source:
  kafka:
    brokers: [localhost:9092]
    topics: [clicks, "a b"]
    group: g
    start: 2026-07-01T00:00:00Z
    topic_timeout: 0s
    sasl: {mechanism: plain, username: u, password: "${SECRET}"}
sink: {parquet: {path: out}}
`, `x.yaml:5:13: topics: "a b" is no topic name`,
	},
	{
		"dead letters in a topic", `
source: {kafka: {brokers: [localhost:9092], topics: [clicks], group: g, tls: {enabled: true, ca_file: "${DIR}/none.pem"}}}
on_error: dead_letter
sink: {ndjson: {path: out, dead_letters: {kafka: {topic: "a b"}}}}
`, `x.yaml:4:58: dead_letters.kafka.topic: "a b" is no topic name`,
	},
	{
		"key", `
source: {kafka: {brokers: [localhost:9092], topics: [clicks], group: g}}
sink: {kafka: {topic: out, key: params}}
`, `x.yaml:3:33: key: the column "params", a list`,
	},
	{
		"columns", `
source: {file: {paths: [urls.txt]}}
columns:
  include: [href, hots, topic]
  exclude: [param]
  rename: {href: url, nothing: x}
sink: {parquet: {path: out}}
`, `x.yaml:4:19: include: column "hots": there is no such column`,
	},
	{
		"columns of the codec", `
source:
  file: {paths: [urls.txt]}
  codec: {ndjson: {url: /url, base: /page, carry: [{name: user, pointer: /u}]}}
columns: {include: [href, base_url, user], rename: {href: user}}
sink: {parquet: {path: out}}
`, `x.yaml:5:59: columns: column "user": is there twice; rename one of them`,
	},
	{
		"carried fields", `
source:
  file: {paths: [urls.txt]}
  codec: {ndjson: {url: /url, carry: [{name: href, pointer: /u}]}}
sink: {parquet: {path: out}}
`, `x.yaml:4:39: columns: column "href": is there twice; rename one of them`,
	},
	{
		"promoted", "source: {generate: {}}\ncolumns: {promote: [{param: q}, {param: path}]}\nsink: {parquet: {path: out}}\n",
		`x.yaml:2:33: columns: column "path": is there twice; give the parameter's column another name, such as name: param_path`,
	},
	{
		"the column that dedupe adds", "source: {generate: {}}\ncolumns: {canonical: {form: dedupe}, include: [url, is_duplicate]}\n" +
			"dedupe: {path: seen}\nsink: {parquet: {path: out}}\n",
		`x.yaml:2:53: include: column "is_duplicate": dedupe adds it, under this name and behind all others; take it out here`,
	},
	{
		"times for a window", "source: {generate: {}}\ncolumns: {canonical: {form: dedupe}}\n" +
			"dedupe: {path: seen, window: {time: 1h, by: host}}\nsink: {parquet: {path: out}}\n",
		`x.yaml:3:45: window.by: there is no column "host" with timestamps`,
	},
	{
		"host without origin", "source: {file: {paths: [a]}, codec: {access_log: {format: combined}}}\nsink: {parquet: {path: out}}\n",
		`x.yaml:1:38: base: the format does not say the host; give the origin that was asked, such as https://www.example.com`,
	},
	{
		"table", "source: {generate: {}}\nsink: {parquet: {path: out, iceberg: {table: clicks}}}\n",
		`x.yaml:2:46: iceberg.table: "clicks" has no namespace; give one before the name, such as web.clicks`,
	},
	{
		"database", "source: {generate: {}}\nsink: {postgres: {url: 'postgres://%', table: clicks}}\n",
		`x.yaml:2:24: url: it is not a connection string; give one such as postgres://user@host:5432/database`,
	},
	{
		"keys left out", "source: {generate: {}}\ncolumns: {canonical: {form: dedupe}, include: [url, canonical_url]}\ndedupe: {path: seen}\nsink: {parquet: {path: out}}\n",
		`x.yaml:3:1: dedupe goes by the column url_key, which is not among those of the output; add it to columns.include`,
	},
}

// certificates are configurations that name a file that is not there, and what is said of it.
var certificates = []struct{ name, text, want string }{
	{
		"source", `
source:
  kafka:
    brokers: [localhost:9092]
    topics: [clicks]
    group: g
    tls: {enabled: true, ca_file: "${DIR}/${SECRET}.pem"}
sink: {parquet: {path: out}}
`, `x.yaml:7:35: tls.ca_file: "${DIR}/${SECRET}.pem" cannot be read: no such file or directory`,
	},
	{
		"sink", `
source: {generate: {}}
sink: {kafka: {brokers: ["localhost:9092"], topic: out, tls: {enabled: true, cert_file: none.pem, key_file: none.key}}}
`, `x.yaml:3:89: tls.cert_file: "none.pem" cannot be read: no such file or directory
x.yaml:3:109: tls.key_file: "none.key" cannot be read: no such file or directory`,
	},
	{
		"dead letters of a sink of files", `
source: {kafka: {brokers: ["localhost:9092"], topics: [clicks], group: g}}
on_error: dead_letter
sink: {ndjson: {path: out, dead_letters: {kafka: {brokers: ["localhost:9092"], topic: dead, tls: {enabled: true, ca_file: none.pem}}}}}
`, `x.yaml:4:123: dead_letters.kafka.tls.ca_file: "none.pem" cannot be read: no such file or directory`,
	},
	{
		"dead letters of a topic", `
source: {kafka: {brokers: ["localhost:9092"], topics: [clicks], group: g}}
on_error: dead_letter
sink: {kafka: {topic: out, dead_letters: {kafka: {brokers: ["localhost:9092"], topic: dead, tls: {enabled: true, ca_file: none.pem}}}}}
`, `x.yaml:4:123: dead_letters.kafka.tls.ca_file: "none.pem" cannot be read: no such file or directory`,
	},
	{
		"registry of a sink", `
source: {generate: {}}
sink: {kafka: {brokers: ["localhost:9092"], topic: out, format: avro, avro: {registry: {urls: ["https://a"], tls: {ca_file: none.pem}}}}}
`, `x.yaml:3:125: avro.registry.tls.ca_file: "none.pem" cannot be read: no such file or directory`,
	},
	{
		"registry of a codec", `
source:
  kafka: {brokers: ["localhost:9092"], topics: [clicks], group: g}
  codec: {avro: {url: /url, registry: {urls: ["https://a"], tls: {ca_file: none.pem}}}}
sink: {parquet: {path: out}}
`, `x.yaml:4:76: registry.tls.ca_file: "none.pem" cannot be read: no such file or directory`,
	},
	{
		"registry of JSON", `
source:
  kafka: {brokers: ["localhost:9092"], topics: [clicks], group: g}
  codec: {jsonschema: {url: /url, registry: {urls: ["https://a"], tls: {ca_file: none.pem}}}}
sink: {parquet: {path: out}}
`, `x.yaml:4:82: registry.tls.ca_file: "none.pem" cannot be read: no such file or directory`,
	},
}

// TestCertificates checks that certificates are looked at when a job is opened, and not when its configuration is checked, which
// may be on another machine.
func TestCertificates(t *testing.T) {
	for _, test := range certificates {
		t.Run(test.name, func(t *testing.T) {
			c := parse(t, test.text)
			if err := Check(c); err != nil {
				t.Errorf("Check has looked: %v", err)
			}
			job, err := Prepare(c, Setting{Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatalf("Prepare has looked: %v", err)
			}
			_, _, err = job.Open()
			var bad *config.Error
			if !errors.As(err, &bad) || err.Error() != test.want {
				t.Errorf("error\n%v\nwant\n%s", err, test.want)
			}
		})
	}
}

// TestCheck checks that what components and columns refuse has a place in the configuration.
func TestCheck(t *testing.T) {
	for _, test := range refused {
		t.Run(test.name, func(t *testing.T) {
			c := parse(t, test.text)
			err := Check(c)
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var bad *config.Error
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want %s", err, test.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the secret is in %v", err)
			}
		})
	}
}

func TestCheckReportsEverything(t *testing.T) {
	c := parse(t, `
source: {file: {paths: [urls.txt]}}
columns: {include: [hots], exclude: [param, nothing]}
sink: {parquet: {path: out}}
`)
	err := Check(c)
	var bad *config.Error
	if !errors.As(err, &bad) || len(bad.Problems) != 3 {
		t.Fatalf("%v", err)
	}
	for i, want := range []string{`(did you mean "host"?)`, `(did you mean "params"?)`, `"nothing"`} {
		if !strings.Contains(bad.Problems[i].Message, want) {
			t.Errorf("problem %d: %s", i, bad.Problems[i].Message)
		}
	}
}

// TestOpen checks that a missing input is a problem with a place.
func TestOpen(t *testing.T) {
	c := parse(t, "source: {file: {paths: ['${DIR}/missing']}}\nsink: {parquet: {path: '${DIR}/out'}}\n")
	job, err := Prepare(c, Setting{})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = job.Open()
	if err == nil || !strings.HasPrefix(err.Error(), "x.yaml:1:25: paths[0]: ${DIR}/missing") {
		t.Error(err)
	}
}

// TestRun runs a whole pipeline.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	input := filepath.Join(dir, "urls.txt")
	if err := os.WriteFile(input, []byte("https://example.com/\nnope\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Standard().Parse("x.yaml", []byte("source: {file: {paths: ['"+input+"']}}\nsink: {parquet: {path: '"+filepath.Join(dir, "out")+"'}}\n"), config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	session, err := Open(c, Setting{})
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	stats := session.Stats
	if totals := stats.Totals(); totals.Committed != 2 || totals.Invalid != 1 {
		t.Errorf("%+v", totals)
	}
}

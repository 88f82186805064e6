//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/registrytest"
)

// The pipelines of TestAvroTopics: from JSON into a topic of Avro records, from there into files, and from JSON into files
// at once.
const (
	avroClicks = `
source:
  kafka: {brokers: [%s], topics: [clicks], group: %s, session_timeout: 3s, heartbeat_interval: 1s}
  codec:
    ndjson:
      url: /url
      carry:
        - {name: at, pointer: /at, type: timestamp}
        - {name: user_id, pointer: /user, type: int64}
        - {name: score, pointer: /score, type: float64}
        - {name: bot, pointer: /bot, type: bool}
        - {name: note, pointer: /note}
columns:
  canonical: {form: dedupe}
  include: [href, host, port, has_username, params, url_error, url_error_pos, at, user_id, score, bot, note, topic, partition, offset, timestamp, canonical_url, url_key]
on_error: keep
sink:
  %s
  roll: {every: 300ms}
`
	avroSink = `kafka: {topic: clicks.parsed, key: host, format: avro, avro: {record: org.example.Click, registry: {urls: [%q], username: mill, password: planted-secret}}}`
	avroBack = `
source:
  kafka: {brokers: [%s], topics: [clicks.parsed], group: back, session_timeout: 3s, heartbeat_interval: 1s}
  codec:
    avro:
      registry: {urls: [%q], username: mill, password: planted-secret}
      url: /href
      carry:
        - {name: c_href, pointer: /href}
        - {name: c_host, pointer: /host}
        - {name: c_port, pointer: /port, type: int64}
        - {name: c_has_username, pointer: /has_username, type: bool}
        - {name: c_params, pointer: /params, type: json}
        - {name: c_url_error, pointer: /url_error}
        - {name: c_url_error_pos, pointer: /url_error_pos, type: int64}
        - {name: c_at, pointer: /at, type: timestamp}
        - {name: c_user_id, pointer: /user_id, type: int64}
        - {name: c_score, pointer: /score, type: float64}
        - {name: c_bot, pointer: /bot, type: bool}
        - {name: c_note, pointer: /note}
        - {name: c_topic, pointer: /topic}
        - {name: c_partition, pointer: /partition, type: int64}
        - {name: c_offset, pointer: /offset, type: int64}
        - {name: c_timestamp, pointer: /timestamp, type: timestamp}
        - {name: c_canonical_url, pointer: /canonical_url}
        - {name: c_url_key, pointer: /url_key, type: json}
columns: {exclude: [url, href, scheme, has_username, host, port, origin, registrable_domain, public_suffix, path, query, params, fragment, url_error, url_error_pos, field_error, raw, topic, partition, offset, timestamp, key, headers]}
on_error: keep
sink:
  ndjson: {path: %s}
  roll: {every: 300ms}
`
)

// TestAvroTopics writes a topic in Avro by a registry, reads it with the codec avro, and compares the rows with those that
// went into files at once.
func TestAvroTopics(t *testing.T) {
	t.Run("imitated broker", func(t *testing.T) {
		k := kafkatest.Fake(t, kfake.SeedTopics(2, "clicks", "clicks.parsed"))
		reg := srfake.New(srfake.WithAuth("Basic bWlsbDpwbGFudGVkLXNlY3JldA=="))
		t.Cleanup(reg.Close)
		avroSecrets(t, avroTopics(t, k.ListenAddrs()[0], kafkatest.Client(t, k.ListenAddrs()), reg.URL()))
	})
	t.Run("Apache Kafka and Apicurio Registry", func(t *testing.T) {
		reg := registrytest.Start(t) // it lets in whoever comes, also with a name and a password
		cluster := kafkatest.Start(t, kafkatest.Options{})
		cluster.CreateTopic(t, "clicks", 2)
		cluster.CreateTopic(t, "clicks.parsed", 2)
		avroTopics(t, cluster.Addr(), cluster.Client(t), reg)
	})
}

// avroTopics returns the folder of the pipelines' configurations.
func avroTopics(t *testing.T, broker string, client *kgo.Client, url string) (dir string) {
	t.Helper()
	const records = 2000
	var in []*kgo.Record
	for i := range records {
		in = append(in, &kgo.Record{Topic: "clicks", Partition: int32(i % 2), Value: []byte(clickOf(i))})
	}
	kafkatest.Produce(t, client, in)
	dir = t.TempDir()
	out, direct := filepath.Join(dir, "back"), filepath.Join(dir, "direct")
	runUntilRead(t, client, dir, "relay", "clicks", fmt.Sprintf(avroClicks, broker, "relay", fmt.Sprintf(avroSink, url)))
	runUntilRead(t, client, dir, "back", "clicks.parsed", fmt.Sprintf(avroBack, broker, url, out))
	runUntilRead(t, client, dir, "direct", "clicks", fmt.Sprintf(avroClicks, broker, "direct", fmt.Sprintf("ndjson: {path: %s}", direct)))

	registered := registeredSchema(t, url, "clicks.parsed-value")
	printed, err := process(t, "config", "avro-schema", filepath.Join(dir, "relay.yaml")).Output()
	if err != nil || registered+"\n" != string(printed) || !strings.Contains(registered, `"doc":"Kafka partition"`) {
		t.Errorf("registered %s, printed %s, %v", registered, printed, err)
	}
	want, got := rowsByOrigin(t, direct, ""), rowsByOrigin(t, out, "c_")
	if len(want) != records {
		t.Fatalf("%d rows of %d", len(want), records)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows differ: %.5000s", diff)
	}
	return dir
}

// registeredSchema returns the only version of a subject.
func registeredSchema(t *testing.T, url, subject string) string {
	t.Helper()
	client, err := sr.NewClient(sr.URLs(url), sr.BasicAuth("mill", "planted-secret"))
	if err != nil {
		t.Fatal(err)
	}
	versions, err := client.Schemas(t.Context(), subject)
	if err != nil || len(versions) != 1 {
		t.Fatal(subject, versions, err)
	}
	return versions[0].Schema.Schema
}

// avroSecrets looks for the registry's password in what is said of a pipeline that is right and of one whose password is not.
func avroSecrets(t *testing.T, dir string) {
	t.Helper()
	relay, err := os.ReadFile(filepath.Join(dir, "relay.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, dir, "refused.yaml", strings.Replace(string(relay), "planted-secret", "planted-mistake", 1))
	for _, args := range [][]string{{"lint", "relay.yaml"}, {"dry-run", "relay.yaml"}, {"run", "refused.yaml"}} {
		out, err := process(t, args[0], filepath.Join(dir, args[1]), "--log-level", "debug").CombinedOutput()
		if refused := args[0] == "run"; (err != nil) != refused || refused && !strings.Contains(string(out), "check username and password") || strings.Contains(string(out), "planted") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}

// clickOf returns a record: some without a URL, some whose URL is none, some without fields.
func clickOf(i int) string {
	switch i % 50 {
	case 7:
		return `{"url":null,"note":"none"}`
	case 8:
		return fmt.Sprintf(`{"url":"https://[/%d","note":"bad"}`, i)
	case 9:
		return "not JSON"
	}
	return fmt.Sprintf(`{"url":"https://u:p@www.bücher-%d.example:%d/a/%d?q=%d&q=ü&empty=&x=%%00","at":"2026-11-22T05:06:%02d.%06dZ","user":%d,"score":%v,"bot":%t,"note":%q}`,
		i%40, 8000+i%3, i, i, i%60, i, int64(i)*int64(i)*1_000_003-5, float64(i)/7, i%3 == 0, strings.Repeat("n", i%5))
}

// runUntilRead runs a pipeline until its group, which is called by its name, has committed all of a topic.
func runUntilRead(t *testing.T, client *kgo.Client, dir, group, topic, config string) {
	t.Helper()
	file := filepath.Join(dir, group+".yaml")
	writeFile(t, dir, group+".yaml", config)
	total := kafkatest.Records(t, client, topic)
	p := startRun(t, file)
	p.finish(t, "all of "+topic, func() bool {
		return max(0, kafkatest.Committed(t, client, group, topic, 0))+max(0, kafkatest.Committed(t, client, group, topic, 1)) == total
	})
	if strings.Contains(p.log.String(), "planted") {
		t.Errorf("%s: the log has the password:\n%s", group, p.log)
	}
}

// rowsByOrigin returns the rows of files by the record that they come from, with the names of columns that begin with
// prefix, without it. Repetitions count once, if they are equal.
func rowsByOrigin(t *testing.T, dir, prefix string) map[string]map[string]any {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.ndjson"))
	if err != nil || len(files) == 0 {
		t.Fatal(dir, err)
	}
	all := map[string]map[string]any{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			row := map[string]any{}
			for name, v := range object(t, line) {
				name = strings.TrimPrefix(name, prefix)
				if text, ok := v.(string); ok && prefix != "" && (name == "params" || name == "url_key") { // carried as JSON
					d := json.NewDecoder(strings.NewReader(text))
					if err := d.Decode(&v); err != nil {
						t.Fatalf("%s: %v", text, err)
					}
				}
				row[name] = v
			}
			at := fmt.Sprint(row["partition"], "/", row["offset"])
			if before := all[at]; before != nil && !cmp.Equal(before, row) {
				t.Errorf("two rows of %s: %s", at, cmp.Diff(before, row))
			}
			all[at] = row
		}
	}
	return all
}

func object(t *testing.T, line []byte) (o map[string]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		t.Fatalf("%v\n%s", err, line)
	}
	return o
}

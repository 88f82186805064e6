//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/demo"
	"github.com/urlmill/urlmill/internal/dev/kafkatest"
)

const shardConfig = `
source:
  kafka: {brokers: [%q], topics: [crawl], group: crawl, start: earliest, session_timeout: 6s, heartbeat_interval: 500ms}
  codec: {lines: {}}
columns:
  canonical: {form: dedupe}
  include: [url, partition, offset, url_key]
dedupe: {shard: partition, path: %q, mode: %s, memory: 16MiB}
sink:
  parquet: {path: %q}
  roll: {rows: 1000, every: 200ms}
pipeline: {batch_rows: 500}
`

// TestShardKill has two processes of one group find duplicates, each partition with a state of its own, and kills one of them at every
// step of a commit: partitions move to it when it joins, and back when it is dead. In the end exactly one row of each page is no
// duplicate.
func TestShardKill(t *testing.T) {
	const partitions, perRound = 3, 3000
	broker, err := demo.StartBroker("crawl", partitions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Close)
	client := kafkatest.Client(t, []string{broker.Addr})
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	p := &planted{topic: "crawl", rng: rand.New(rand.NewPCG(seed, 0)), pages: make([][]int, partitions), own: true}
	begin := func(name, fault string) *running {
		config := filepath.Join(dir, name+".yaml")
		text := fmt.Sprintf(shardConfig, broker.Addr, filepath.Join(dir, name), "mark", out)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return startCommand(t, dying(t, config, fault))
	}
	everything := func() bool { return p.committed(t, client, "crawl") }
	stays := begin("stays", "")
	for _, fault := range []string{"staged,1", "record,2", "recorded,1", "merged,1"} {
		victim := begin("dies", fault)
		for !victim.Ended() {
			kafkatest.Produce(t, client, p.more(perRound/10))
			stays.waitOrEnd(t, "the rows to be committed, or the other process to die at "+fault, func() bool { return victim.Ended() || everything() })
		}
		wantKilled(t, fault, victim.end(syscall.SIGTERM), victim.log)
	}
	stays.finish(t, "every offset to be committed", everything)
	if report, err := process(t, "verify", out).CombinedOutput(); err != nil {
		t.Errorf("verify: %v\n%s", err, report)
	}
	p.check(t, out, "mark")
}

// TestShardRecipe has one pipeline write a topic by page, into which it may write twice, and another find the duplicates in it, with the
// configurations of docs/dedupe.md.
func TestShardRecipe(t *testing.T) {
	const partitions, records = 3, 2000
	broker, err := demo.StartBroker("crawl", partitions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Close)
	client := kafkatest.Client(t, []string{broker.Addr})
	kafkatest.CreateTopic(t, client, "crawl.by-page", partitions)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	p := &planted{topic: "crawl", rng: rand.New(rand.NewPCG(seed, 0)), pages: make([][]int, partitions)}
	kafkatest.Produce(t, client, p.more(records))
	dir := t.TempDir()
	out := filepath.Join(dir, "pages")
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "dedupe.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "## Several processes")
	blocks := strings.Split(text, "```yaml\n")
	run := func(i int, group string) {
		block, _, _ := strings.Cut(blocks[i], "```")
		block = strings.NewReplacer("kafka-1:9092", broker.Addr, "s3://crawl/pages", out, "/var/cache/urlmill", filepath.Join(dir, "copies"),
			"group: by-page}", "group: "+group+", start: earliest}", "group: pages}", "group: pages, start: earliest}").Replace(block)
		config := filepath.Join(dir, "c.yaml")
		if err := os.WriteFile(config, []byte(block), 0o600); err != nil {
			t.Fatal(err)
		}
		if said, err := process(t, "run", config, "--until", "end").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s\n%s", err, block, said)
		}
	}
	run(2, "by-page")
	run(2, "again") // as after a crash: everything is there twice
	run(1, "")
	firsts, rows := map[string]int{}, 0
	for _, name := range parquetIn(t, out) {
		eachRecord(t, name, func(r arrow.Record) {
			keys := r.Column(r.Schema().FieldIndices("url_key")[0]).(*array.Binary)
			marks := r.Column(r.Schema().FieldIndices("is_duplicate")[0]).(*array.Boolean)
			for i := range int(r.NumRows()) {
				rows++
				if !keys.IsNull(i) && !marks.Value(i) {
					firsts[string(keys.Value(i))]++
				}
			}
		})
	}
	if rows != 2*partitions*records || len(firsts) != p.count {
		t.Errorf("%d rows of %d pages, want %d of %d", rows, len(firsts), 2*partitions*records, p.count)
	}
	for key, n := range firsts {
		if n != 1 {
			t.Fatalf("page %x has %d rows that are no duplicates", key, n)
		}
	}
}

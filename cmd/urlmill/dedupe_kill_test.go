//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/demo"
	"github.com/urlmill/urlmill/internal/dev/kafkatest"
)

const dedupeKillConfig = `
source:
  kafka: {brokers: [%q], topics: [crawl], group: %q, start: earliest}
  codec: {lines: {}}
columns:
  canonical: {form: dedupe}
  include: [url, partition, offset, url_key]
dedupe: {path: %q, mode: %s, memory: 16MiB%s}
sink:
  parquet: {path: %q, delivery: exactly_once}
  roll: {rows: 2000, every: 300ms}
pipeline: {batch_rows: 2000}
`

// planted are records of several partitions with pages that come again, in the same partition and in others.
type planted struct {
	topic string
	rng   *rand.Rand
	// pages has the page of every record by partition and offset; -1 is a record that is no URL.
	pages [][]int
	count int // of different pages
	// own keeps pages in their partitions: that of a page is its number modulo how many there are.
	own bool
}

// more returns n further records of every partition.
func (p *planted) more(n int) (records []*kgo.Record) {
	for range n {
		for i := range p.pages {
			page, text := p.count, "no URL"
			n := len(p.pages)
			switch x := p.rng.IntN(100); {
			case x < 2:
				page = -1
			case x < 40 && p.count >= n && p.own:
				page = p.rng.IntN(p.count/n)*n + i
			case x < 40 && p.count > 0 && !p.own:
				page = p.rng.IntN(p.count)
			case p.own:
				page = p.count/n*n + i // as often as not it is of this round already
				p.count += p.rng.IntN(2)
			default:
				p.count++
			}
			if page >= 0 {
				text = fmt.Sprintf(p.spelling(), page)
			}
			p.pages[i] = append(p.pages[i], page)
			records = append(records, &kgo.Record{Topic: p.topic, Partition: int32(i), Value: []byte(text)})
		}
	}
	return records
}

func (p *planted) spelling() string {
	all := []string{
		"https://www.example.com/page/%d", "https://example.com/page/%d/?utm_source=mail", "https://EXAMPLE.com:443/x/../page/%d#top",
		"https://example.com/page/%d/index.html?",
	}
	return all[p.rng.IntN(len(all))]
}

func (p *planted) ends() (ends []int64) {
	for _, pages := range p.pages {
		ends = append(ends, int64(len(pages)))
	}
	return ends
}

// committed reports whether a group has committed every record of the topic.
func (p *planted) committed(t *testing.T, client *kgo.Client, group string) bool {
	t.Helper()
	for i, end := range p.ends() {
		if kafkatest.Committed(t, client, group, p.topic, int32(i)) < end {
			return false
		}
	}
	return true
}

// TestDedupeKill kills processes at every step of finding duplicates, and compares what came out in the end with the
// truth: of every page one row is no duplicate, with the mode drop it is the only one, and no row is missing or there
// twice.
func TestDedupeKill(t *testing.T) {
	const approximate = ", approximate: {memory: 4MiB, keys: 1000000}"
	exactly := []string{
		"journal,1", "journal,2", "journaled,1", "inner commit,2", "record,1", "recorded,1", "recorded,2", "promote,1", "promote,2", "promoted,1",
		"promoted,3",
	}
	for _, tc := range []struct {
		name, mode, extra string
		faults            []string
	}{
		{"exact, mark", "mark", "", exactly},
		{"exact, drop", "drop", "", exactly},
		{"approximate, mark", "mark", approximate, []string{"journaled,1", "recorded,1", "promote,2", "snapshot,1", "promoted,1", "snapshotted,1"}},
		{"approximate, drop", "drop", approximate, []string{"record,1", "recorded,2", "promote,2", "snapshotted,1", "promoted,1", "snapshot,1"}},
	} {
		t.Run(tc.name, func(t *testing.T) { dedupeKill(t, tc.mode, tc.extra, tc.faults) })
	}
}

func dedupeKill(t *testing.T, mode, extra string, faults []string) {
	// By dedupeKillConfig, each partition has several commits a round, however fast it goes, and their keys are journaled and
	// promoted in several parts.
	const partitions, perRound = 2, 9000
	broker, err := demo.StartBroker("crawl", partitions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Close)
	client := kafkatest.Client(t, []string{broker.Addr})
	dir := t.TempDir()
	out, config := filepath.Join(dir, "out"), filepath.Join(dir, "c.yaml")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	p := &planted{topic: "crawl", rng: rand.New(rand.NewPCG(seed, 0)), pages: make([][]int, partitions)}
	begin := func(group, fault string) *running {
		kafkatest.Produce(t, client, p.more(perRound))
		// A new group has no member whose death it would have to wait for. The positions are in the output.
		text := fmt.Sprintf(dedupeKillConfig, broker.Addr, group, filepath.Join(dir, "seen"), mode, extra, out)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return startCommand(t, dying(t, config, fault))
	}
	everything := func(group string) bool { return p.committed(t, client, group) }
	for i, fault := range faults {
		group := fmt.Sprint("round-", i)
		run := begin(group, fault)
		run.waitOrEnd(t, "the process to die or to have committed everything", func() bool { return everything(group) })
		wantKilled(t, fault, run.end(syscall.SIGTERM), run.log) // some steps are taken at the end
	}
	run := begin("last", "")
	run.finish(t, "every offset to be committed", func() bool { return everything("last") })
	if report, err := process(t, "verify", out).CombinedOutput(); err != nil {
		t.Errorf("verify: %v\n%s", err, report)
	}
	p.check(t, out, mode)
}

// check compares the output with the truth.
func (p *planted) check(t *testing.T, out, mode string) {
	t.Helper()
	rows := make([][]int, len(p.pages)) // by partition and offset
	for i, pages := range p.pages {
		rows[i] = make([]int, len(pages))
	}
	firsts, there := make([]int, p.count+len(p.pages)), make([]bool, p.count+len(p.pages))
	total := 0
	for _, name := range parquetIn(t, out) {
		eachRecord(t, name, func(r arrow.Record) {
			partition, offset, key := r.Column(1).(*array.Int32), r.Column(2).(*array.Int64), r.Column(3).(*array.Binary)
			for i := range int(r.NumRows()) {
				at, n := partition.Value(i), offset.Value(i)
				rows[at][n]++
				total++
				page := p.pages[at][n]
				if page < 0 != key.IsNull(i) {
					t.Fatalf("record %d of partition %d has page %d, and its key is null: %t", n, at, page, key.IsNull(i))
				}
				duplicate := mode == "mark" && r.Column(4).(*array.Boolean).Value(i)
				switch {
				case page >= 0 && !duplicate:
					firsts[page]++
				case page < 0 && duplicate:
					t.Errorf("record %d of partition %d is no URL and a duplicate", n, at)
				}
			}
		})
	}
	for _, pages := range p.pages {
		for _, page := range pages {
			if page >= 0 {
				there[page] = true
			}
		}
	}
	wrong := 0
	note := func(format string, args ...any) {
		if wrong++; wrong < 10 {
			t.Errorf(format, args...)
		}
	}
	for page, n := range firsts {
		if n != 1 && there[page] {
			note("page %d has %d rows that are no duplicates", page, n)
		}
	}
	records := 0
	for i := range rows {
		records += len(rows[i])
		for n, times := range rows[i] {
			if times > 1 || times == 0 && (mode == "mark" || p.pages[i][n] < 0) {
				note("record %d of partition %d is there %d times", n, i, times)
			}
		}
	}
	t.Logf("%d records of %d pages, %d rows, %d wrong", records, p.count, total, wrong)
}

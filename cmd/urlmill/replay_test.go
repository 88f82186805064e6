//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/wire"
)

// mill runs a command in this process, and returns what it printed.
func mill(t *testing.T, args ...string) string {
	t.Helper()
	var out, said bytes.Buffer
	if code := execute(args, &app{in: strings.NewReader(""), out: &out, err: &said, components: wire.Standard()}); code != exitOK {
		t.Fatalf("%v: exit code %d\n%s", args, code, &said)
	}
	return out.String()
}

// rowsIn returns the rows of a folder as JSON, in an order of their own.
func rowsIn(t *testing.T, dir string) []string {
	t.Helper()
	rows := strings.Split(strings.TrimSpace(mill(t, "parquet", "head", "-n", "100000", "--json", filepath.Join(dir, "*.parquet"))), "\n")
	slices.Sort(rows)
	return rows
}

func writeText(t *testing.T, name, text string, args ...any) string {
	t.Helper()
	if err := os.WriteFile(name, fmt.Appendf(nil, text, args...), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestReplayOfTopic checks that a replay of dead letters gives what the mended configuration would have given of the topic: the same
// rows with where they came from, and the same dead letters.
func TestReplayOfTopic(t *testing.T) {
	const config = `
source:
  kafka: {brokers: ["%s"], topics: [clicks], group: %s, max_record_bytes: 1KiB}
columns: {include: [href, topic, partition, offset, timestamp, key, headers]%s}
on_error: dead_letter
sink: {parquet: {path: "%s/rows", dead_letters: "%[4]s/dead"}}
`
	k := kafkatest.Fake(t, kfake.SeedTopics(3, "clicks"))
	var records []*kgo.Record
	for i := range 60 {
		values := [][]byte{
			fmt.Appendf(nil, "https://example.com/%d", i), fmt.Appendf(nil, "bare.example/%d", i), []byte("http://[/"), nil,
			[]byte("bare.example/" + strings.Repeat("x", 2000)),
			{},
		}
		r := &kgo.Record{
			Topic: "clicks", Partition: int32(i % 3), Value: values[i/3%len(values)], Timestamp: time.UnixMilli(1_780_000_000_000 + int64(i)),
			Headers: []kgo.RecordHeader{{Key: "a", Value: []byte{byte(i)}}, {Key: "b"}}[:i%2*2],
		}
		if i%4 > 0 {
			r.Key = fmt.Append(nil, i)
		}
		records = append(records, r)
	}
	kafkatest.Produce(t, kafkatest.Client(t, k.ListenAddrs()), records)
	dir := t.TempDir()
	configure := func(name, extra, folder string) string {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
		return writeText(t, filepath.Join(dir, name), config, k.ListenAddrs()[0], name, extra, filepath.Join(dir, folder))
	}
	mended := configure("mended.yaml", ", default_scheme: https", "out")
	mill(t, "run", configure("first.yaml", "", "out"), "--until", "end")
	mill(t, "run", configure("all.yaml", ", default_scheme: https", "all"), "--until", "end")
	first := parquetIn(t, filepath.Join(dir, "out", "dead"))
	for range 2 {
		mill(t, "run", mended, "--replay", filepath.Join(dir, "out", "dead"))
		if diff := cmp.Diff(rowsIn(t, filepath.Join(dir, "all", "rows")), rowsIn(t, filepath.Join(dir, "out", "rows"))); diff != "" {
			t.Errorf("rows (-mended +replayed):\n%s", diff)
		}
	}
	for _, name := range first {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(rowsIn(t, filepath.Join(dir, "all", "dead")), rowsIn(t, filepath.Join(dir, "out", "dead"))); diff != "" {
		t.Errorf("dead letters (-mended +replayed):\n%s", diff)
	}
}

const replayConfig = `
source: {file: {paths: ["%s/urls-*.txt"]}}
columns: {include: [href]%s}
on_error: dead_letter
sink:
  parquet: {path: "%[1]s/rows", dead_letters: "%[1]s/dead"}
  roll: {rows: 1000}
pipeline: {batch_rows: 250, rate: %[3]d}
`

// TestKillReplay kills replays at random moments. The last one ends: every row is there once, and so is every dead letter that is left.
func TestKillReplay(t *testing.T) {
	const files, perFile, kills = 4, 5000, 5
	dir := t.TempDir()
	for f := range files {
		var text strings.Builder
		for i := range perFile {
			prefix := []string{"https://", "", "http://["}[min(i%10, 2)]
			if i%10 > 2 {
				prefix = ""
			}
			fmt.Fprintf(&text, "%sexample.com/%d/%d\n", prefix, f, i)
		}
		writeText(t, filepath.Join(dir, fmt.Sprintf("urls-%d.txt", f)), "%s", text.String())
	}
	dead, rows := filepath.Join(dir, "dead"), filepath.Join(dir, "rows")
	mill(t, "run", writeText(t, filepath.Join(dir, "first.yaml"), replayConfig, dir, "", 0))
	letters := len(rowsIn(t, dead))
	if letters != files*perFile*9/10 {
		t.Fatalf("%d dead letters", letters)
	}
	mended := writeText(t, filepath.Join(dir, "mended.yaml"), replayConfig, dir, ", default_scheme: https", 10_000)
	for i := range kills {
		had := len(parquetIn(t, rows))
		run := startCommand(t, process(t, "run", mended, "--replay", dead))
		if !run.waitOrEnd(t, "a new file", func() bool { return len(parquetIn(t, rows)) > had }) {
			t.Logf("run %d was through before it was killed", i)
			continue
		}
		run.killWithin(300*time.Millisecond, func() {})
	}
	for range 2 {
		mill(t, "run", mended, "--replay", dead)
		mill(t, "verify", rows)
		got := rowsIn(t, rows)
		if n := len(slices.Compact(slices.Clone(got))); n != len(got) || n != files*perFile*9/10 {
			t.Errorf("%d rows, %d of them different", len(got), n)
		}
		if n := len(rowsIn(t, dead)); n != letters+files*perFile/10 {
			t.Errorf("%d dead letters, and %d before", n, letters)
		}
	}
}

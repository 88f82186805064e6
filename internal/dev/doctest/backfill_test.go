package doctest

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// TestBackfill runs the blocks of docs/backfill.md that need a broker, one after the other, on the records of three weeks.
func TestBackfill(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	const name, partitions, days = "backfill.md", 3, 21
	k := kafkatest.Fake(t, kfake.SeedTopics(partitions, "clicks"), kfake.SeedTopics(1, "clicks.dead"))
	var records []*kgo.Record
	for day := range days {
		at := time.Date(2026, 6, 22+day, 12, 0, 0, 0, time.UTC)
		for p := range partitions {
			for _, url := range []string{"https://www.example.com/%d/%d", "bare.example/%d/%d"} {
				value := fmt.Appendf(nil, `{"url":"`+url+`"}`, day, p)
				records = append(records, &kgo.Record{Topic: "clicks", Partition: int32(p), Timestamp: at, Value: value})
			}
		}
	}
	kafkatest.Produce(t, kafkatest.Client(t, k.ListenAddrs()), records)
	text, err := os.ReadFile(filepath.Join(root, "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	python := duckdb(t)
	dir, bin := t.TempDir(), filepath.Dir(testproc.Urlmill(t))
	path := "PATH=" + python + string(os.PathListSeparator) + bin + string(os.PathListSeparator) + os.Getenv("PATH")
	shell := func(script string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), path, "KAFKA_BROKERS="+strings.Join(k.ListenAddrs(), ","))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, script, out)
		}
		return string(out)
	}
	// count returns how many rows of a folder have a text.
	count := func(folder, text string) string {
		t.Helper()
		return strings.TrimSpace(shell("urlmill parquet head -n 1000 --json '" + folder + "/*.parquet' | grep -c '" + text + "' || true"))
	}
	expect := func(what, got string, want int) {
		t.Helper()
		if got != fmt.Sprint(want) {
			t.Errorf("%s: %s rows, want %d", what, got, want)
		}
	}
	said, ran := "", 0
	steps := []func(){
		func() {
			expect("clicks", count("clicks", `"href":"https://www`), partitions*days)
			expect("errors among them", count("clicks", `bare`), 0)
		},
		func() {
			expect("the week", count("clicks-week-27", `"registrable_domain":"example.com"`), partitions*7)
			expect("its errors", count("clicks-week-27", `"href":null`), partitions*7)
			expect("its first day", count("clicks-week-27", "2026-06-29T12:00:00"), partitions*2)
			expect("its last day", count("clicks-week-27", "2026-07-05T12:00:00"), partitions*2)
		},
		func() {
			expect("the days", count("daily/*", `"href"`), 2*partitions*days)
		},
		func() {
			if n := strings.Count(said, `"replaced partitions" partitions=7 files=`); n != 2 {
				t.Errorf("%d runs have replaced the week, want 2\n%s", n, said)
			}
			expect("the days, replaced", count("daily/*", `"href"`), 2*partitions*days)
			expect("the week", count("daily/*", `"registrable_domain":"example.com"`), partitions*7)
			expect("its last day", count("daily/dt=2026-07-05", `"registrable_domain":"example.com"`), partitions)
		},
		func() {
			for _, line := range []string{"2026-06-28,6,0", "2026-06-29,6,3", "2026-07-05,6,3", "2026-07-06,6,0"} {
				if !strings.Contains(said, line+"\n") {
					t.Errorf("no line %s in\n%s", line, said)
				}
			}
		},
		func() {
			expect("the dead letters", count("clicks", `"href":"https://bare.example/`), partitions*days)
			expect("the other clicks", count("clicks", `"href":"https://www`), partitions*days)
		},
	}
	for _, b := range blocks(name, string(text)) {
		if !strings.HasPrefix(b.reason, "it needs a broker") {
			continue
		}
		if ran == len(steps) {
			t.Fatalf("%s:%d has no expectation", b.file, b.line)
		}
		if python != "" || !strings.Contains(b.reason, "DuckDB") {
			said = shell(b.text)
			steps[ran]()
		}
		ran++
	}
	if ran != len(steps) {
		t.Errorf("%d blocks, want %d", ran, len(steps))
	}
}

// duckdb returns a folder with a command "duckdb" that is the DuckDB of a Python, "" if there is none.
func duckdb(t *testing.T) string {
	t.Helper()
	python, dir := cmp.Or(os.Getenv("URLMILL_PYTHON"), "python3"), t.TempDir()
	const script = "#!/bin/sh\nexec %s -c 'import duckdb, sys\nfor row in duckdb.sql(sys.argv[3]).fetchall(): print(*row, sep=\",\")' \"$@\"\n"
	if exec.CommandContext(t.Context(), python, "-c", "import duckdb").Run() != nil {
		return ""
	}
	if err := os.WriteFile(filepath.Join(dir, "duckdb"), fmt.Appendf(nil, script, python), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

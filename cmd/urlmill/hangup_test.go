//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// reloadRow is a row of TestHangUp.
type reloadRow struct {
	Domain   string `json:"registrable_domain"`
	Tracking []any  `json:"tracking_params"`
}

// hangUpConfig is the configuration of TestHangUp.
func hangUpConfig(dir, rate, more string) string {
	return fmt.Sprintf(`source: {generate: {rate: 1000000}}
columns: {include: [registrable_domain, tracking_params], tracking: separate, tracking_rules: %[1]s/rules, public_suffix_list: %[1]s/list}
enrich: {acquisition: {parameters: %[1]s/parameters}}
sink: {ndjson: {path: %[1]s/out}, roll: {every: 200ms}}
pipeline: {rate: %[2]s}
%[3]s`, dir, rate, more)
}

// reloadRows reads all rows that are delivered.
func reloadRows(t *testing.T, dir string, visit func(reloadRow)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "out", "*.ndjson*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var row reloadRow
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			visit(row)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHangUp checks in the rows that a running pipeline takes over another Public Suffix List, other tracking rules and
// another rate at SIGHUP, and in its log the level, and what it does not take over.
func TestHangUp(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "list", listOne)
	writeFile(t, dir, "rules", rulesOne)
	writeFile(t, dir, "parameters", "source one\n")
	writeFile(t, dir, "c.yaml", hangUpConfig(dir, "300", ""))
	cmd := process(t, "run", filepath.Join(dir, "c.yaml"))
	var log testproc.Log
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	rows := 0
	eventually(t, &log, func() bool {
		rows = 0
		reloadRows(t, dir, func(row reloadRow) {
			rows++
			if len(row.Tracking) > 0 || strings.Count(row.Domain, ".") > 1 && strings.HasSuffix(row.Domain, ".com") {
				t.Fatalf("a row by the lists to come: %+v", row)
			}
		})
		return rows > 100
	})
	writeFile(t, dir, "list", listTwo)
	writeFile(t, dir, "rules", rulesTwo)
	writeFile(t, dir, "parameters", "source two\n")
	acquired := lastRecord(t, dir).Acquisition
	writeFile(t, dir, "c.yaml", hangUpConfig(dir, "100000", "on_error: drop\nlog: {level: debug}\n"))
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	var tracked, long bool
	eventually(t, &log, func() bool {
		// At the old rate, it would take longer than eventually waits.
		rows, tracked, long = 0, false, false
		reloadRows(t, dir, func(row reloadRow) {
			rows++
			tracked = tracked || len(row.Tracking) > 0
			long = long || strings.Count(row.Domain, ".") > 1 && strings.HasSuffix(row.Domain, ".com")
		})
		return rows > 150_000 && tracked && long
	})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := wait(t, cmd); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{
		"key=on_error reason=", "key=log.level from=info to=debug", "key=pipeline.rate from=300 to=100000",
		"key=columns.public_suffix_list from=one to=two", "key=columns.tracking_rules from=2026-01-01 to=2026-01-02",
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %s", want)
		}
	}
	if t.Failed() {
		t.Log(log.String())
	}
	record := lastRecord(t, dir)
	if record.PSL != "two" {
		t.Errorf("the last commit record does not tell the list: %+v", record)
	}
	if acquired == "" || record.Acquisition == acquired || !strings.Contains(log.String(), "key=enrich.acquisition from="+acquired+" to="+record.Acquisition) {
		t.Errorf("commit records say %q, then %q of the lists for acquisition, and the log does not", acquired, record.Acquisition)
	}
}

// commitRecord is what TestHangUp reads of a commit record.
type commitRecord struct {
	Next int64  `json:"next"`
	PSL  string `json:"psl"`

	Acquisition string `json:"acquisition"`
}

// lastRecord returns the last commit record of the lane that has come furthest: the others may have had no turn since the lists changed.
func lastRecord(t *testing.T, dir string) (last commitRecord) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "out", "_commits"), func(path string, _ os.DirEntry, err error) error {
		if err != nil || len(filepath.Base(path)) != len("00000000000000000000.json") {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var r commitRecord
		if err := json.Unmarshal(content, &r); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if r.Next > last.Next {
			last = r
		}
		return nil
	})
	if err != nil || last.Next == 0 {
		t.Fatalf("no commit record: %v", err)
	}
	return last
}

//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/testproc"
	"github.com/urlmill/urlmill/sinks/commit/verify"
)

// TestVerifyAgainst holds an output against its broker: what was not read yet is told, and what retention took before it was
// read, what the end of the chain has lost, and another topic are problems.
func TestVerifyAgainst(t *testing.T) {
	k := kafkatest.Fake(t, kfake.SeedTopics(2, "clicks"))
	client := kafkatest.Client(t, k.ListenAddrs())
	produced := int64(0)
	more := func(n int64) {
		var records []*kgo.Record
		for range n {
			for p := range int32(2) {
				records = append(records, &kgo.Record{Topic: "clicks", Partition: p, Value: fmt.Appendf(nil, `{"url":"https://a.example/%d"}`, len(records))})
			}
		}
		kafkatest.Produce(t, client, records)
		produced += n
	}
	config, out := kafkaConfig(t, k.ListenAddrs()[0], "")
	deliver := func() {
		run := process(t, "run", config)
		var log testproc.Log
		run.Stderr = &log
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, &log, func() bool {
			return kafkatest.Committed(t, client, "g", "clicks", 0) == produced && kafkatest.Committed(t, client, "g", "clicks", 1) == produced
		})
		_ = run.Process.Signal(syscall.SIGTERM)
		if code := wait(t, run); code != exitOK {
			t.Fatalf("exit code %d\n%s", code, &log)
		}
	}
	hold := func(name string, code int, want ...string) {
		t.Helper()
		cmd := process(t, "verify", out, "--json", "--against", config)
		text, _ := cmd.Output()
		var r verify.Report
		if err := json.Unmarshal(text, &r); err != nil || cmd.ProcessState.ExitCode() != code {
			t.Fatalf("%s: exit code %d, want %d; %v\n%s", name, cmd.ProcessState.ExitCode(), code, err, text)
		}
		var got []string
		for _, l := range r.Against.Lanes {
			for _, f := range l.Findings {
				got = append(got, fmt.Sprintf("%d: %s %d-%d", l.Partition, f.Kind, f.First, f.Next))
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || r.OK != (code == exitOK) {
			t.Errorf("%s: %v, want %v; ok=%v", name, got, want, r.OK)
		}
		said, _ := process(t, "verify", out, "--against", config).CombinedOutput()
		for _, f := range want {
			if at := f[strings.LastIndex(f, " ")+1:]; at != "-1--1" && !strings.Contains(string(said), strings.Replace(at, "-", " to ", 1)) {
				t.Errorf("%s: %s is not said:\n%s", name, f, said)
			}
		}
	}
	more(10)
	deliver()
	hold("all read", exitOK)
	more(5)
	hold("not read yet", exitOK, "0: unread 10-15", "1: unread 10-15")
	kafkatest.DeleteBefore(t, client, "clicks", 1, 12)
	hold("retention", exitDamaged, "0: unread 10-15", "1: never_read 10-12", "1: unread 12-15")

	config2, out2 := kafkaConfig(t, k.ListenAddrs()[0], "")
	config, out = config2, out2 // of which nothing is there: the first one has taken the group on
	kafkatest.Commit(t, client, "g", "clicks", 0, 0)
	kafkatest.Commit(t, client, "g", "clicks", 1, 12)
	deliver()
	hold("all read again", exitOK)
	more(5)
	deliver()
	records, err := filepath.Glob(filepath.Join(out, "_commits/clicks/0/0*.json"))
	if err != nil || len(records) < 2 {
		t.Fatalf("%v, %v", records, err)
	}
	last := records[len(records)-1]
	var r struct{ Files []struct{ Name string } }
	text, err := os.ReadFile(last)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil || len(r.Files) != 1 || os.Remove(filepath.Join(out, r.Files[0].Name)) != nil || os.Remove(last) != nil {
		t.Fatalf("removing the end of the chain: %v", err)
	}
	if said, err := process(t, "verify", out).CombinedOutput(); err != nil {
		t.Fatalf("without the source, a removed end cannot be seen: %v\n%s", err, said)
	}
	hold("end of the chain gone", exitDamaged, "0: tail_gone 15-20")
}

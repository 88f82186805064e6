//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/testproc"
	"github.com/urlmill/urlmill/sinks/commit/verify"
)

// clicks has a topic filled with records from one number to another.
func clicks(t *testing.T, k *kfake.Cluster, from, to int) {
	t.Helper()
	var records []*kgo.Record
	for i := from; i < to; i++ {
		records = append(records, &kgo.Record{Topic: "clicks", Value: fmt.Appendf(nil, `{"url": "https://c.example/%d"}`, i)})
	}
	kafkatest.Produce(t, kafkatest.Client(t, k.ListenAddrs()), records)
}

// until runs a configuration, with something happening meanwhile, until the output has so many rows.
func until(t *testing.T, file, out string, rows int, meanwhile ...func(*testproc.Log)) *verify.Report {
	t.Helper()
	run := process(t, "run", file)
	var log testproc.Log
	run.Stderr = &log
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range meanwhile {
		f(&log)
	}
	eventually(t, &log, func() bool { return countRowsIn(t, out) >= rows })
	if err := run.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := wait(t, run); code != exitOK {
		t.Errorf("exit code %d\n%s", code, &log)
	}
	said, err := process(t, "verify", out, "--json").Output()
	var r verify.Report
	if err = errors.Join(err, json.Unmarshal(said, &r)); err != nil || r.Rows != int64(rows) {
		t.Fatalf("%v, want %d rows: %s", err, rows, said)
	}
	return &r
}

// TestVerifyTellsOfGapWhileRunning has retention delete what a running process was to read next.
func TestVerifyTellsOfGapWhileRunning(t *testing.T) {
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "clicks"))
	client := kafkatest.Client(t, k.ListenAddrs())
	clicks(t, k, 0, 10)
	var back atomic.Bool
	k.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		away := !back.Load() && req.(*kmsg.FetchRequest).Topics[0].Partitions[0].FetchOffset >= 10
		return nil, errors.New("hang up"), away
	})
	file, out := kafkaConfig(t, k.ListenAddrs()[0], ", on_truncated: skip")
	lanes := until(t, file, out, 20, func(log *testproc.Log) {
		eventually(t, log, func() bool { return countRowsIn(t, out) == 10 })
		clicks(t, k, 10, 30)
		kafkatest.DeleteBefore(t, client, "clicks", 0, 20)
		back.Store(true)
	}).Lanes
	if len(lanes) != 1 || lanes[0].Next != 30 || fmt.Sprint(lanes[0].LeftOut) != "[{10 20}]" {
		t.Errorf("%+v", lanes)
	}
}

// TestTopicMadeAnew reads a topic of one cluster, and one of its name of another.
func TestTopicMadeAnew(t *testing.T) {
	old := kafkatest.Fake(t, kfake.SeedTopics(1, "clicks"))
	clicks(t, old, 0, 100)
	file, out := kafkaConfig(t, old.ListenAddrs()[0], "")
	until(t, file, out, 100)
	now := kafkatest.Fake(t, kfake.SeedTopics(1, "clicks"))
	clicks(t, now, 100, 250)
	edit := func(old, with string) {
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, bytes.Replace(text, []byte(old), []byte(with), 1), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	against := func(code int, want string) {
		t.Helper()
		cmd := process(t, "verify", out, "--against", file)
		if said, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != code || !strings.Contains(string(said), want) {
			t.Errorf("verify: exit code %d, want %d and %q:\n%s", cmd.ProcessState.ExitCode(), code, want, said)
		}
	}
	against(exitOK, "complete")
	edit(old.ListenAddrs()[0], now.ListenAddrs()[0])
	against(exitDamaged, "other_source")
	run := process(t, "run", file)
	var log testproc.Log
	run.Stderr = &log
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	if code := wait(t, run); code != exitFailure || !strings.Contains(log.String(), "on_recreated: restart") {
		t.Errorf("exit code %d\n%s", code, &log)
	}
	edit("group: g", "group: g, on_recreated: restart")
	if lanes := until(t, file, out, 250).Lanes; len(lanes) != 2 || lanes[0].Next+lanes[1].Next != 250 {
		t.Errorf("%+v", lanes)
	}
	against(exitOK, "of that name that there was before")
	clicks(t, now, 250, 260)
	against(exitOK, "150 to 160: was not read yet")
	until(t, file, out, 260)
}

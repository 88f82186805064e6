//go:build linux

package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

const killConfig = `
source:
  kafka:
    brokers: [%s]
    topics: [%s]
    group: %s
    start: earliest
    session_timeout: 6s
    heartbeat_interval: 1s
  codec: {lines: {}}
columns: {include: [href, topic, partition, offset]}
sink:
  parquet: {path: %s, delivery: %s}
  roll: {rows: 20000, every: 300ms}
`

// A process that is killed at any moment loses no row, and every file that has its final name is whole. At least
// once, what it had not acknowledged is read again by the next one and may be there twice; exactly once, it is not.
func TestKill(t *testing.T) {
	cluster := kafkatest.Start(t, kafkatest.Options{})
	for _, delivery := range []string{"at_least_once", "exactly_once"} {
		t.Run(delivery, func(t *testing.T) {
			t.Parallel() // most of the time a group waits for members that are dead
			lost, twice := killAndCount(t, cluster, delivery)
			if lost > 0 {
				t.Errorf("%d rows are lost", lost)
			}
			if twice > 0 && delivery == "exactly_once" {
				t.Errorf("%d rows are there twice", twice)
			}
		})
	}
}

// killAndCount kills a process time and again while records arrive, lets the last one finish, and counts the rows that
// are not in its output and those that are there more than once. Topic and group have the name of the delivery.
func killAndCount(t *testing.T, cluster *kafkatest.Cluster, delivery string) (lost, twice int) {
	const partitions = 4
	kills := 6
	if testing.Short() {
		kills = 2
	}
	topic := delivery
	cluster.CreateTopic(t, topic, partitions)
	client := cluster.Client(t)
	const ahead = 150_000
	var perPartition int
	produce := func() (int, error) {
		batch := numbered(topic, partitions, perPartition, perPartition+2000)
		perPartition += 2000
		return perPartition, client.ProduceSync(t.Context(), batch...).FirstErr()
	}
	records := startFeed(10*time.Millisecond, ahead, produce)
	committed := func() int {
		least := int64(math.MaxInt64)
		for p := range int32(partitions) {
			least = min(least, max(0, kafkatest.Committed(t, client, topic, topic, p)))
		}
		records.read(int(least))
		return int(least)
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	config := filepath.Join(dir, "kill.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, killConfig, cluster.Addr(), topic, topic, out, delivery), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range kills {
		files := len(parquetIn(t, out))
		run := startRun(t, config)
		run.waitFor(t, "a new file", func() bool { committed(); return len(parquetIn(t, out)) > files })
		run.killWithin(time.Second, func() { committed() })
		t.Logf("kill %d: %d files", i+1, len(parquetIn(t, out)))
	}
	if err := records.end(); err != nil {
		t.Fatal(err)
	}
	if _, err := produce(); err != nil { // something is left for the last one
		t.Fatal(err)
	}
	run := startRun(t, config)
	run.finish(t, "every offset to be committed", func() bool { return committed() == perPartition })
	return checkDelivered(t, out, partitions, perPartition)
}

// numbered makes the records start to end of every partition.
func numbered(topic string, partitions, start, end int) []*kgo.Record {
	var records []*kgo.Record
	for p := range partitions {
		for i := start; i < end; i++ {
			records = append(records, &kgo.Record{
				Topic: topic, Partition: int32(p), Value: fmt.Appendf(nil, "https://example.com/%d/%d", p, i),
			})
		}
	}
	return records
}

// running is a urlmill that a test may kill.
type running struct {
	*testproc.Process
	log *testproc.Log
}

func startRun(t *testing.T, config string) *running {
	t.Helper()
	return startCommand(t, process(t, "run", config))
}

func startCommand(t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	p := &running{log: new(testproc.Log)}
	cmd.Stdout, cmd.Stderr = p.log, p.log
	var err error
	if p.Process, err = testproc.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// dying is urlmill running with a configuration until it kills itself at a step, which is what [faultEnv] says behind "at,"; with none it
// is [process].
func dying(t *testing.T, config, step string) *exec.Cmd {
	t.Helper()
	if step == "" {
		return process(t, "run", config)
	}
	cmd := exec.CommandContext(t.Context(), "urlmill-faulty", "run", config)
	cmd.Env = append(os.Environ(), faultEnv+"=at,"+step)
	return cmd
}

// wantKilled fails the test unless err, that of a process which was to die at a step, is of kill -9. said is what it has printed.
func wantKilled(t *testing.T, step string, err error, said any) {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("at %s: the process ended with %v, and was to be killed:\n%s", step, err, said)
	}
}

// end sends sig and returns the error of the process after its end.
func (p *running) end(sig os.Signal) error {
	p.Signal(sig)
	return p.Err()
}

// killWithin kills the process at a random moment. Until then records keep coming, for which look says what has been read.
func (p *running) killWithin(longest time.Duration, look func()) {
	for until := time.Now().Add(rand.N(longest)); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		look()
	}
	_ = p.end(syscall.SIGKILL)
}

// finish waits until reached, and ends the process in good order.
func (p *running) finish(t *testing.T, what string, reached func() bool) {
	t.Helper()
	p.waitFor(t, what, reached)
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, p.log)
	}
}

// waitFor polls until reached, for as long as the slowest machine needs.
func (p *running) waitFor(t *testing.T, what string, reached func() bool) {
	t.Helper()
	if !p.waitOrEnd(t, what, reached) {
		t.Fatalf("the process ended (%v) before %s:\n%s", p.Err(), what, p.log)
	}
}

// waitOrEnd is waitFor, and returns false when the process has ended before.
func (p *running) waitOrEnd(t *testing.T, what string, reached func() bool) bool {
	t.Helper()
	err := p.Await(5*time.Minute, func() error {
		if reached() {
			return nil
		}
		return errors.New("it has not come to it")
	})
	if err != nil && !errors.Is(err, testproc.ErrEnded) {
		p.Kill()
		t.Fatalf("%s: %v; the process said:\n%s", what, err, p.log)
	}
	return err == nil
}

// checkDelivered reads every file back and compares its rows with what was produced.
func checkDelivered(t *testing.T, dir string, partitions, perPartition int) (lost, twice int) {
	t.Helper()
	seen := make([][]int, partitions)
	for p := range seen {
		seen[p] = make([]int, perPartition)
	}
	rows := 0
	for _, name := range parquetIn(t, dir) {
		rows += countRows(t, name, seen)
	}
	for p := range seen {
		for i, n := range seen[p] {
			if n == 0 {
				lost++
				if lost < 10 {
					t.Errorf("partition %d: record %d is lost", p, i)
				}
			}
		}
	}
	twice = rows - partitions*perPartition + lost
	t.Logf("%d rows in %d files of %d records: %d lost, %d twice",
		rows, len(parquetIn(t, dir)), partitions*perPartition, lost, twice)
	return lost, twice
}

func countRows(t *testing.T, name string, seen [][]int) int {
	t.Helper()
	return eachRecord(t, name, func(r arrow.Record) {
		href, partition, offset := r.Column(0).(*array.String), r.Column(2).(*array.Int32), r.Column(3).(*array.Int64)
		for i := range int(r.NumRows()) {
			parts := strings.Split(href.Value(i), "/")
			p, err1 := strconv.Atoi(parts[3])
			n, err2 := strconv.Atoi(parts[4])
			if err1 != nil || err2 != nil || int32(p) != partition.Value(i) || int64(n) != offset.Value(i) {
				t.Fatalf("%s: %q has partition %d and offset %d", name, href.Value(i), partition.Value(i), offset.Value(i))
			}
			seen[p][n]++
		}
	})
}

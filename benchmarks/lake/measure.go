package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/benchmarks/internal/output"
	"github.com/urlmill/urlmill/benchmarks/internal/standin"
)

const config = `
source:
  kafka: {brokers: ["%s"], topics: ["%s"], group: "%s"}
  codec: {ndjson: {url: /url, base: /referer, carry: [{name: ts, pointer: /ts, type: timestamp}, {name: user_id, pointer: /user_id, type: int64}]}}
columns: {%s}
on_error: keep
sink:
  %s
  roll: {%s}
`

// started is a run of urlmill.
type started struct {
	cmd       *exec.Cmd
	out       string
	stdout    bytes.Buffer
	stderr    bytes.Buffer
	counter   *counter
	beginning time.Time
}

// start starts urlmill on a topic, behind a counter.
func (b *bench) start(f form, p *place, from, roll string, args ...string) (*started, error) {
	b.runs++
	name := fmt.Sprint("run", b.runs)
	s := &started{out: filepath.Join(b.dir, name), counter: new(counter), beginning: time.Now()}
	address := ""
	if p.server != "" {
		var err error
		if address, err = s.counter.listen(p.server); err != nil {
			return nil, err
		}
	}
	columns := ""
	if f.columns != "" {
		columns = "profile: " + f.columns
	}
	text := fmt.Sprintf(config, b.brokers, from, name, columns, p.sink(address, s.out), roll)
	file := filepath.Join(b.dir, name+".yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	s.cmd = exec.Command(b.binary, append([]string{"run", file, "--summary", "json", "--log-level", "warn"}, args...)...)
	s.cmd.Stdout, s.cmd.Stderr = &s.stdout, &s.stderr
	return s, s.cmd.Start()
}

// summary is what urlmill says at its end.
type summary struct {
	Committed, Commits, Files int64
	Seconds                   float64
}

// wait waits for the end, and returns the summary and the time of the CPU of the process.
func (s *started) wait() (sum summary, cpu float64, err error) {
	err = s.cmd.Wait()
	s.counter.close()
	if err != nil {
		return sum, 0, fmt.Errorf("%w: %s", err, s.stderr.Bytes())
	}
	used := s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
	return sum, used.Seconds(), json.Unmarshal(s.stdout.Bytes(), &sum)
}

// measure measures a form.
func (b *bench) measure(tb *standin.TB, f form) (x result, err error) {
	ctx := context.Background()
	p, err := f.open(tb)
	if err != nil {
		return x, err
	}
	x = result{Form: f.name}
	var cpus, rates, requests, sent []float64
	for round := range b.rounds + 1 { // the first one warms up
		if p.empty != nil {
			if err := p.empty(ctx); err != nil {
				return x, err
			}
		}
		s, err := b.start(f, p, topic, "every: 1m", "--until", "end")
		if err != nil {
			return x, err
		}
		sum, cpu, err := s.wait()
		if err == nil && sum.Committed != b.rows {
			err = fmt.Errorf("%d rows of %d", sum.Committed, b.rows)
		}
		if err != nil {
			return x, err
		}
		written := output.Bytes(s.out)
		if err := os.RemoveAll(s.out); err != nil {
			return x, err
		}
		fmt.Printf("%d %-20s %6.2f s, %6.2f s of the CPU, %6.1f MB/s a core\n", round, f.name, sum.Seconds, cpu, float64(b.bytes)/1e6/cpu)
		if round == 0 {
			continue
		}
		gb := float64(b.bytes) / 1e9
		cpus, rates = append(cpus, cpu), append(rates, float64(b.bytes)/1e6/sum.Seconds)
		requests, sent = append(requests, float64(s.counter.requests.Load())/gb), append(sent, float64(written+s.counter.bytes.Load())/gb/1e6)
		x.Commits, x.Files = float64(sum.Commits)/gb, float64(sum.Files)/gb
	}
	cpu := median(cpus)
	x.RowsPerCore, x.MBPerCore, x.CPUPerMillion = float64(b.rows)/cpu, float64(b.bytes)/1e6/cpu, cpu/float64(b.rows)*1e6
	x.MBPassed, x.RequestsPerGB, x.OutMBPerGB = median(rates), median(requests), median(sent)
	x.DollarsPerTB = 1e6 / x.MBPerCore / 3600 * dollars
	x.Fresh, err = b.fresh(ctx, f, p)
	return x, err
}

// seen is when a reader first saw the positions before next of a partition.
type seen struct {
	next int64
	at   time.Time
}

// fresh produces into a topic of its own while urlmill runs, and measures how long records take until they can be seen.
func (b *bench) fresh(ctx context.Context, f form, p *place) (x *fresh, err error) {
	if p.empty != nil {
		if err := p.empty(ctx); err != nil {
			return nil, err
		}
	}
	from := fmt.Sprint(topic, "-live-", b.runs)
	records := int64(float64(b.rate) * b.seconds)
	produce := func(records int64) *exec.Cmd {
		cmd := exec.Command(b.binary, "produce", "--brokers", b.brokers, "--topic", from, "--rate", fmt.Sprint(b.rate), "--records", fmt.Sprint(records), "--log-level", "warn")
		cmd.Stderr = os.Stderr
		return cmd
	}
	// A few records make the topic and the table, and are not counted.
	before := int64(b.rate)
	if err := produce(before).Run(); err != nil {
		return nil, err
	}
	s, err := b.start(f, p, from, "every: 2s")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(s.out) }()
	total := func(at map[int32]int64) (n int64) {
		for _, next := range at {
			n += next
		}
		return n
	}
	var log [partitions][]seen
	look := func() int64 {
		at, err := p.next(ctx, s.out)
		if err != nil {
			return 0 // the table is not there yet
		}
		now := time.Now()
		for partition, next := range at {
			if l := log[partition]; len(l) == 0 || l[len(l)-1].next < next {
				log[partition] = append(l, seen{next, now})
			}
		}
		return total(at)
	}
	until := func(n int64) error {
		for limit := time.Now().Add(5 * time.Minute); look() < n; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(limit) {
				return fmt.Errorf("%d records of %d can be seen: %s", look(), n, s.stderr.Bytes())
			}
		}
		return nil
	}
	err = until(before)
	var producer *exec.Cmd
	if err == nil {
		producer = produce(records)
		err = producer.Start()
	}
	if err == nil {
		err = errors.Join(until(before+records), producer.Wait())
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_, cpu, ended := s.wait()
	if err := errors.Join(err, ended); err != nil {
		return nil, err
	}
	latencies, err := b.latencies(ctx, from, before+records, log)
	if err != nil {
		return nil, err
	}
	slices.Sort(latencies)
	at := func(q float64) float64 { return latencies[int(math.Ceil(q*float64(len(latencies))))-1] }
	x = &fresh{P50: at(0.5), P99: at(0.99), Most: at(1), CPUShare: cpu / time.Since(s.beginning).Seconds()}
	fmt.Printf("  %-20s seen after %.2f s (median), %.2f s (p99), %.2f s at most, %.0f %% of a core\n", f.name, x.P50, x.P99, x.Most, 100*x.CPUShare)
	return x, nil
}

// latencies reads the topic again, and returns for each record that was produced while urlmill ran the seconds from its timestamp to its first sight.
func (b *bench) latencies(ctx context.Context, from string, records int64, log [partitions][]seen) (list []float64, err error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(b.brokers), kgo.ConsumeTopics(from))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	for n := int64(0); n < records; {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return nil, err
		}
		fetches.EachRecord(func(r *kgo.Record) {
			n++
			i, _ := slices.BinarySearchFunc(log[r.Partition], r.Offset+1, func(s seen, next int64) int { return int(s.next - next) })
			if i > 0 && i < len(log[r.Partition]) { // not one of those before
				list = append(list, log[r.Partition][i].at.Sub(r.Timestamp).Seconds())
			}
		})
	}
	if len(list) == 0 {
		err = errors.New("no record was seen")
	}
	return list, err
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[n/2] + values[(n-1)/2]) / 2
}

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/urlmill/urlmill/benchmarks/internal/output"
	"github.com/urlmill/urlmill/internal/dev/machine"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

const configText = `
source:
  file: {paths: ["%[1]s/crawl/*"]}
columns:
  canonical: {form: dedupe}
  include: [url, canonical_url, url_key]
dedupe: {path: "%[1]s/seen", memory: %[2]s}
sink:
  parquet: {path: "%[1]s/pages"}
  roll: {rows: %[5]d, every: 0s}
memory_limit: %[3]s
admin: {listen: "%[4]s", pprof: true}
log: {format: json}
`

// mill is the process being measured.
type mill struct {
	process *testproc.Process
	seen    string
	pages   string
	out     pages  // counted so far
	metrics string // its address
	log     testproc.Log
	began   time.Time
	release func() // its port
}

// start runs urlmill over the files.
func start(dir string, o options) (*mill, error) {
	ports, release, err := testproc.ReservePorts(1)
	if err != nil {
		return nil, err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[0]))
	config := filepath.Join(dir, "dedupe.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, configText, dir, o.memory, o.limit, address, o.perFile), 0o600); err != nil {
		return nil, err
	}
	m := &mill{seen: filepath.Join(dir, "seen"), pages: filepath.Join(dir, "pages"), metrics: "http://" + address + "/metrics", release: release}
	cmd := exec.Command(o.binary, "run", config)
	cmd.Stdout, cmd.Stderr = &m.log, &m.log
	cmd.Env = append(os.Environ(), fmt.Sprint("GOMAXPROCS=", o.cores))
	m.began = time.Now()
	if m.process, err = testproc.Start(cmd); err != nil {
		release()
		return nil, err
	}
	return m, nil
}

// watch notes rate, memory and state until the process has ended.
func (m *mill) watch(r *result, o options) error {
	defer m.release()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	last, lastCPU, lastAt, next := int64(0), 0.0, m.began, o.step
	for n := 0; ; n++ {
		select {
		case <-m.process.Done():
			if err := m.process.Err(); err != nil {
				return fmt.Errorf("urlmill run: %w\n%s", err, &m.log)
			}
			r.State = output.Bytes(m.seen)
			r.PeakState = max(r.PeakState, r.State)
			r.Seconds = time.Since(m.began).Seconds()
			return nil
		case <-tick.C:
		}
		r.PeakMemory = max(r.PeakMemory, machine.PeakMemory(m.process.ID()))
		if n%10 == 0 {
			r.PeakState = max(r.PeakState, output.Bytes(m.seen))
			if o.stream {
				if err := m.out.count(m.pages); err != nil {
					return err
				}
			}
		}
		rows, cpu := m.progress()
		if rows < next {
			continue
		}
		now := time.Now()
		s := step{
			Rows: next, Seconds: now.Sub(m.began).Seconds(), RowsPerSec: int64(float64(rows-last) / now.Sub(lastAt).Seconds()),
			CPU: int64((cpu - lastCPU) / float64(rows-last) * 1e9), Memory: r.PeakMemory, State: output.Bytes(m.seen),
		}
		r.Steps = append(r.Steps, s)
		fmt.Printf("%12s rows  %9s rows/s  %5s ns of CPU a row  memory %s  state %s\n", count(s.Rows), count(s.RowsPerSec), count(s.CPU), size(r.PeakMemory), size(s.State))
		last, lastCPU, lastAt, next = rows, cpu, now, (rows/o.step+1)*o.step
	}
}

// progress returns how many rows were read and the CPU time in seconds, 0 while the process does not answer.
func (m *mill) progress() (rows int64, cpu float64) {
	client := http.Client{Timeout: 5 * time.Second}
	resp, err := client.Get(m.metrics)
	if err != nil {
		return 0, 0
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(io.LimitReader(resp.Body, 1<<20))
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		v, _ := strconv.ParseFloat(value, 64)
		switch name {
		case "urlmill_rows_total":
			rows = int64(v)
		case "process_cpu_seconds_total":
			cpu = v
		}
	}
	return rows, cpu
}

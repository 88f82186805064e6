package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/urlmill/urlmill/internal/dev/machine"
)

// columnNames are the columns that all systems make.
var columnNames = []string{
	"time", "remote_addr", "method", "status", "bytes", "user_agent", "url", "scheme", "host", "registrable_domain", "path", "query", "params",
}

// task is a system with a format.
type task struct {
	system   string
	script   string // of Python, "" for urlmill
	columns  []string
	in       *input
	outcomes []outcome
	shares   map[string]float64 // of the time of the CPU
	left     string             // why it was left out
}

// outcome is what a run took.
type outcome struct {
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu"` // seconds
	RSS     float64 `json:"rss"` // MB
	Version string  `json:"version"`
	bytes   int64   // of the Parquet files
}

func (b *bench) tasks(inputs []input) (tasks []*task) {
	for i := range inputs {
		for _, t := range []task{
			{system: "urlmill", columns: columnNames},
			{system: "urlmill, all columns"},
			{system: "clickhouse", script: "with_clickhouse.py"},
			{system: "duckdb", script: "with_duckdb.py"},
		} {
			if name, _, _ := strings.Cut(t.system, ","); b.wants(name) {
				t.in = &inputs[i]
				tasks = append(tasks, &t)
			}
		}
	}
	return tasks
}

// measure lets the tasks take turns. A round more, the first, is for the page cache, and to find out what is not there.
func (b *bench) measure(tasks []*task) error {
	for round := range b.repetitions + 1 {
		for _, t := range tasks {
			if t.left != "" {
				continue
			}
			o, err := b.once(t, round == 0)
			switch {
			case round == 0 && err != nil && t.script != "":
				t.left = err.Error()
				fmt.Printf("%s, %s, is left out: %v\n", t.system, t.in.Format, err)
			case err != nil:
				return fmt.Errorf("%s, %s: %w", t.system, t.in.Format, err)
			case round > 0:
				t.outcomes = append(t.outcomes, o)
				fmt.Printf("%d %-10s %-21s %6.2f s, %6.2f s of the CPU, %6.1f MB/s of log\n", round, t.in.Format, t.system, o.Seconds, o.CPU, float64(t.in.Raw)/1e6/o.CPU)
			}
		}
	}
	return nil
}

// once runs a task, into a prefix of its own that is then removed. Twice runs urlmill once more into the same: it has nothing to do then.
func (b *bench) once(t *task, twice bool) (o outcome, err error) {
	b.runs++
	out := fmt.Sprint("out-", b.runs)
	defer func() { err = errors.Join(err, os.RemoveAll(b.local(out))) }()
	if t.script != "" {
		o, err = b.python(t, out)
	} else {
		o, err = b.urlmill(t, out, "", t.in.Rows)
		if twice && err == nil {
			_, err = b.urlmill(t, out, "", 0)
		}
	}
	if err != nil {
		return o, err
	}
	o.bytes = size(b.local(out), ".parquet")
	rows, err := rowsIn(b.local(out))
	if err == nil && rows != t.in.Rows {
		err = fmt.Errorf("%d rows of %d", rows, t.in.Rows)
	}
	return o, err
}

// local returns where the server keeps what is below a prefix of the bucket.
func (b *bench) local(parts ...string) string {
	return filepath.Join(append([]string{b.gateway.Dir()}, parts...)...)
}

// urlmillConfig is what urlmill is told. Whatever is not in it is as urlmill has it by default: exactly once, zstd level 1.
const urlmillConfig = `
source:
  file:
    paths: ["s3://%[1]s/%[2]s/%[3]s/**/*.gz"]
    s3: {endpoint: "%[4]s", region: "%[5]s"}
  codec: {access_log: {format: %[3]s}}
sink:
  parquet: {path: "s3://%[1]s/%[6]s"}
  s3: {endpoint: "%[4]s", region: "%[5]s"}
`

// urlmill runs "urlmill run" on one core, which has to commit so many rows. Its time is that of the process, from its start to its end.
func (b *bench) urlmill(t *task, out, listen string, rows int64) (o outcome, err error) {
	s := &b.gateway.Server
	text := fmt.Sprintf(urlmillConfig, s.Bucket, inputPrefix, t.in.Format, s.Endpoint, s.Region, out)
	if t.columns != nil {
		text += fmt.Sprintf("columns: {include: [%s]}\n", strings.Join(t.columns, ", "))
	}
	if listen != "" {
		text += fmt.Sprintf("admin: {listen: %q, pprof: true}\n", listen)
	}
	config := filepath.Join(b.dir, out+".yaml")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return o, err
	}
	cmd := pinned(b.binary, "run", config, "--summary", "json")
	cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
	said, o, err := b.exec(cmd)
	if err != nil {
		return o, err
	}
	var summary struct {
		Committed int64 `json:"committed"`
		Invalid   int64 `json:"invalid"`
	}
	if err := json.Unmarshal(said, &summary); err != nil {
		return o, fmt.Errorf("%w: %s", err, said)
	}
	if summary.Committed != rows || summary.Invalid != 0 {
		return o, fmt.Errorf("%d rows were committed of %d, %d of them invalid", summary.Committed, rows, summary.Invalid)
	}
	o.Version = "devel"
	return o, nil
}

// python runs a script, which measures its query alone, without the start of the process.
func (b *bench) python(t *task, out string) (o outcome, err error) {
	python := os.Getenv("BENCH_STORE_PYTHON")
	if python == "" {
		return o, errors.New("BENCH_STORE_PYTHON is not set; make bench-store makes one")
	}
	s := &b.gateway.Server
	cmd := pinned(python, filepath.Join("store", "python", t.script), t.in.Format, s.Endpoint, s.Bucket, inputPrefix+"/"+t.in.Format, out, filepath.Dir(b.local()))
	cmd.Env = append(cmd.Env, "PYTHONPATH="+filepath.Join("e2e", "python"), "PYTHONDONTWRITEBYTECODE=1")
	said, whole, err := b.exec(cmd)
	if err != nil {
		return o, err
	}
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &o); err != nil {
		return o, fmt.Errorf("%w: %s", err, said)
	}
	o.RSS = max(o.RSS, whole.RSS)
	return o, nil
}

// pinned returns a command that runs on the first core, so that the servers have the others, where the system can do so.
func pinned(program string, args ...string) *exec.Cmd {
	if taskset, err := exec.LookPath("taskset"); err == nil && runtime.NumCPU() > 1 {
		program, args = taskset, append([]string{"-c", "0", program}, args...)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = os.Environ()
	return cmd
}

// exec runs a command with the credentials of the server.
func (b *bench) exec(cmd *exec.Cmd) (said []byte, o outcome, err error) {
	cmd.Env = append(cmd.Env, b.gateway.Environ()...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, o, err
	}
	done := make(chan struct{})
	peak := make(chan int64)
	go func() {
		var most int64
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				most = max(most, machine.PeakMemory(cmd.Process.Pid))
			case <-done:
				peak <- most
				return
			}
		}
	}()
	err = cmd.Wait()
	o.Seconds = time.Since(began).Seconds()
	close(done)
	o.RSS = float64(<-peak) / 1e6
	if err != nil {
		text := strings.TrimSpace(stderr.String())
		return nil, o, fmt.Errorf("%w: %s", err, text[max(0, len(text)-2000):])
	}
	o.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return stdout.Bytes(), o, nil
}

// files calls f with every file below a folder whose name ends so.
func files(folder, ext string, f func(path string, d fs.DirEntry) error) error {
	return filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ext) {
			return err
		}
		return f(path, d)
	})
}

// size sums the sizes of files.
func size(folder, ext string) (sum int64) {
	_ = files(folder, ext, func(_ string, d fs.DirEntry) error {
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum
}

// rowsIn counts the rows of Parquet files.
func rowsIn(folder string) (rows int64, err error) {
	return rows, files(folder, ".parquet", func(path string, d fs.DirEntry) error {
		info, err := d.Info()
		if err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		p, err := parquet.OpenFile(f, info.Size(), parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
		if err != nil {
			return err
		}
		rows += p.NumRows()
		return nil
	})
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/urlmill/urlmill/benchmarks/internal/broker"
	"github.com/urlmill/urlmill/benchmarks/internal/servers"
)

// bench is a run of the benchmark.
type bench struct {
	rows        int64
	repetitions int
	quick       bool
	only        string
	profiles    string
	dir         string // for input and output
	runs        int
}

func newBench(quick bool) *bench {
	b := &bench{rows: 1_000_000, repetitions: 5, quick: quick}
	if quick {
		b.rows, b.repetitions = 300_000, 3
	}
	return b
}

// task is a system with a job.
type task struct {
	system   string
	job      job
	python   string // script, empty for the children of this program
	outcomes []outcome
	bytes    []int64
	stages   map[string]float64 // ns of the CPU per row
	left     string             // why it was left out
}

// tasks returns what there is to measure, with brokers running, and what ends them.
func (b *bench) tasks(input string) (tasks []*task, stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, f := range stops {
			f()
		}
	}
	add := func(system, python string, j job) {
		if b.only == "" || strings.Contains(","+b.only+",", ","+system+",") {
			tasks = append(tasks, &task{system: system, python: python, job: j})
		}
	}
	file := job{Kind: fileJob, In: input, Rows: b.rows, Codec: "zstd"}
	snappy := file
	snappy.Codec = "snappy"
	add("urlmill", "", file)
	add(compact, "", file)
	add("naive_go", "", file)
	add("duckdb", "with_duckdb.py", file)
	add("clickhouse", "with_clickhouse.py", file)
	if !b.quick {
		add("spark", "with_spark.py", file)
		add("urlmill", "", snappy)
		add("duckdb", "with_duckdb.py", snappy)
		add("clickhouse", "with_clickhouse.py", snappy)
	}
	brokers := []struct{ kind, name string }{{broker.Fake, "kafka"}}
	if os.Getenv("REAL_KAFKA") == "1" {
		brokers = append(brokers, struct{ kind, name string }{broker.Real, "kafka_real"})
	}
	if addr := os.Getenv("KAFKA_BROKERS"); addr != "" {
		brokers = append(brokers, struct{ kind, name string }{addr, "kafka_" + addr})
	}
	for _, k := range brokers {
		topic := fmt.Sprintf("urlmill-bench-%d", os.Getpid())
		addr, end, err := broker.Start(k.kind, topic, input)
		if err != nil {
			return nil, stop, fmt.Errorf("broker %s: %w", k.kind, err)
		}
		stops = append(stops, end)
		kafka := job{Kind: k.name, Brokers: addr, Topic: topic, Rows: b.rows, Codec: "zstd"}
		add("urlmill", "", kafka)
		add(compact, "", kafka)
		add("naive_go", "", kafka)
	}
	return tasks, stop, nil
}

// self returns a child of this program.
func (b *bench) self(args ...string) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	cmd := exec.Command(exe, args...)
	cmd.Stderr = os.Stderr
	return cmd
}

// measure lets the tasks take turns. The first round is for the page cache, and to find out what is not there.
func (b *bench) measure(tasks []*task) error {
	for round := range b.repetitions + 1 {
		for _, t := range tasks {
			if t.left != "" || round == 0 && t.python == "" {
				continue
			}
			o, size, err := b.once(t, "")
			if round == 0 && err != nil {
				t.left = err.Error()
				fmt.Printf("%s is left out: %v\n", t.system, err)
				continue
			}
			if err != nil {
				return fmt.Errorf("%s, %s: %w", t.system, t.job.Kind, err)
			}
			if t.python == "" && (o.Rows < b.rows || o.Rows > b.rows && t.system != "naive_go") { // which has rows twice where its group changes
				return fmt.Errorf("%s, %s: %d rows of %d", t.system, t.job.Kind, o.Rows, b.rows)
			}
			if round == 0 {
				continue
			}
			t.outcomes, t.bytes = append(t.outcomes, o), append(t.bytes, size)
			fmt.Printf("%d %-11s %-10s %-6s %6.2f s, %5.2f s of the CPU\n", round, t.system, t.job.Kind, t.job.Codec, o.Seconds, o.CPU)
		}
	}
	return nil
}

// once runs a task once and returns its outcome and the size of its files.
func (b *bench) once(t *task, profile string) (o outcome, size int64, err error) {
	b.runs++
	j := t.job
	j.Out = filepath.Join(b.dir, fmt.Sprint("out-", b.runs))
	j.Group = fmt.Sprintf("%s-%d-%d", t.system, os.Getpid(), b.runs)
	j.Profile = profile
	defer func() { _ = errors.Join(os.RemoveAll(j.Out), os.RemoveAll(j.Out+".warm")) }()
	cmd := b.self(append([]string{t.system}, j.args()...)...)
	if t.python != "" {
		cmd = exec.Command(python(), filepath.Join("e2e", "python", t.python), j.In, j.Out, j.Codec, fmt.Sprint(runtime.NumCPU()))
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	before := servers.CPU()
	out, err := cmd.Output()
	if err != nil {
		return o, 0, fmt.Errorf("%w: %s", err, lastLine(stderr.String()))
	}
	o.broker = (servers.CPU() - before).Seconds()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &o); err != nil {
		return o, 0, fmt.Errorf("%w: %s", err, out)
	}
	return o, parquetBytes(j.Out), nil
}

func python() string {
	if p := os.Getenv("URLMILL_PYTHON"); p != "" {
		return p
	}
	return "python3"
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// parquetBytes sums the sizes of the Parquet files below a folder.
func parquetBytes(folder string) (sum int64) {
	_ = filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".parquet") {
			if info, err := d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	return sum
}

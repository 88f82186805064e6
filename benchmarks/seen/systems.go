package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/urlmill/urlmill/benchmarks/internal/output"
	"github.com/urlmill/urlmill/internal/dev/machine"
)

// systems returns what is measured, in its order.
func (o options) systems(dir string, l *list) (all []*entry, err error) {
	add := func(name, version string, s system) {
		all = append(all, &entry{Name: name, Version: version, system: s})
	}
	add("urlmill", "this", &mill{o: o, dir: dir})
	// Sizes of a configuration begin at 1 MiB.
	memory := max(len(l.pages)*bitsPerKey/8, 1<<20)
	add("urlmill, approximate", "this", &mill{o: o, dir: dir, filter: fmt.Sprintf(", approximate: {memory: %dB, keys: %d}", memory, len(l.pages))})
	if version, err := exec.Command(redisServer, "--version").Output(); err == nil {
		fields := strings.Fields(string(version)) // Redis server v=7.0.15 sha=...
		name := "Redis " + strings.TrimPrefix(fields[2], "v=")
		bits := memory * 8
		add("Redis, Bloom filter", name, &redis{dir: dir, how: fmt.Sprint(bits)})
		add("Redis, set", name, &redis{dir: dir, how: "set"})
	} else {
		fmt.Println("there is no redis-server, and Redis is left out: apt-get install redis-server")
	}
	if o.python == "" {
		fmt.Println("without BENCH_SEEN_PYTHON Spark is left out")
		return all, nil
	}
	s, version, err := startSpark(o.python)
	if err != nil {
		return all, err
	}
	add("Spark, dropDuplicates", "Spark "+version, s)
	return all, s.warm(l, filepath.Join(dir, "warm"))
}

// mill is urlmill run, from its start to its end.
type mill struct {
	o      options
	dir    string
	filter string // a part of the section dedupe
}

const configText = `
source:
  file: {paths: ["%[1]s"]}
columns:
  canonical: {form: dedupe}
  include: [url, url_key]
dedupe: {path: "%[2]s", mode: drop, memory: 128MiB%[3]s}
sink:
  parquet: {path: "%[4]s"}
  roll: {bytes: 512MiB, every: 0s}
memory_limit: 512MiB
`

func (m *mill) find(l *list, folder string) (took, error) {
	config, seen := filepath.Join(m.dir, "seen.yaml"), filepath.Join(m.dir, "state")
	if err := os.WriteFile(config, fmt.Appendf(nil, configText, l.path, seen, m.filter, folder), 0o600); err != nil {
		return took{}, err
	}
	t, err := measure(exec.Command(m.o.binary, "run", config))
	if err != nil {
		return took{}, err
	}
	t.state = output.Bytes(seen)
	return t, os.RemoveAll(seen)
}

func (m *mill) pages(folder string, each func([]byte) error) error { return parquetPages(folder, each) }
func (m *mill) close() error                                       { return nil }

// measure runs a program.
func measure(cmd *exec.Cmd) (took, error) {
	began := time.Now()
	p, err := start(cmd)
	if err != nil {
		return took{}, err
	}
	t, err := p.wait()
	t.seconds = since(began)
	return t, err
}

// program is a process whose peak memory is looked at until it has ended. What the system says of it then has the memory of the process
// in it that started it.
type program struct {
	cmd  *exec.Cmd
	log  strings.Builder
	done chan struct{}
	err  error // once done is closed
	took took
}

func start(cmd *exec.Cmd) (*program, error) {
	p := &program{cmd: cmd, done: make(chan struct{})}
	if cmd.Stderr == nil {
		cmd.Stderr = &p.log
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	go func() {
		defer close(p.done)
		for {
			select {
			case p.err = <-ended:
				return
			case <-time.After(10 * time.Millisecond):
				p.took.memory = max(p.took.memory, machine.PeakMemory(cmd.Process.Pid))
			}
		}
	}()
	return p, nil
}

// wait returns what a program took, but for the seconds, when it has ended.
func (p *program) wait() (took, error) {
	if <-p.done; p.err != nil {
		return took{}, fmt.Errorf("%s: %w\n%s", filepath.Base(p.cmd.Path), p.err, &p.log)
	}
	p.took.cpu = (p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()).Seconds()
	return p.took, nil
}

// spark is a session of Spark, in a process of its own, that stays for all rounds.
type spark struct {
	program *program
	in      io.WriteCloser
	out     *bufio.Reader
}

func startSpark(python string) (s *spark, version string, err error) {
	cmd := exec.Command(python, "seen/spark.py")
	cmd.Env = append(os.Environ(), "SPARK_LOCAL_IP=127.0.0.1")
	s = new(spark)
	if s.in, err = cmd.StdinPipe(); err != nil {
		return nil, "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	s.out = bufio.NewReader(out)
	if s.program, err = start(cmd); err != nil {
		return nil, "", err
	}
	version, err = s.said()
	return s, version, err
}

// said returns the next line that it says.
func (s *spark) said() (string, error) {
	line, err := s.out.ReadString('\n')
	if err != nil {
		return "", errors.Join(fmt.Errorf("spark.py: %w", err), s.close())
	}
	return strings.TrimSpace(line), nil
}

// warm lets Spark work once, whose Java machine compiles what it does often.
func (s *spark) warm(l *list, folder string) error {
	_, err := s.find(l, folder)
	return errors.Join(err, os.RemoveAll(folder))
}

func (s *spark) find(l *list, folder string) (took, error) {
	if _, err := fmt.Fprintf(s.in, "%s\t%s\n", l.path, folder); err != nil {
		return took{}, err
	}
	line, err := s.said()
	if err != nil {
		return took{}, err
	}
	var said struct {
		Seconds float64 `json:"seconds"`
		CPU     float64 `json:"cpu"`
		Memory  int64   `json:"memory"`
	}
	err = json.Unmarshal([]byte(line), &said)
	return took{seconds: said.Seconds, cpu: said.CPU, memory: said.Memory}, err
}

func (s *spark) pages(folder string, each func([]byte) error) error {
	return parquetPages(folder, each)
}

func (s *spark) close() error {
	_ = s.in.Close() // it may be closed
	_, err := s.program.wait()
	return err
}

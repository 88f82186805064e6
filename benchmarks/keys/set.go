package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/urlmill/urlmill/benchmarks/internal/output"
	"github.com/urlmill/urlmill/internal/dev/cputime"
	"github.com/urlmill/urlmill/pipeline/dedupe/runs"
)

// A process with dedupe.memory: 256MiB gives its set so much, and its lanes make a commit at so many new keys.
const (
	setMemory  = 176 << 20
	commitKeys = 300_000
)

// setReport is what a set takes: bits of memory a key, and bytes.
type setReport struct {
	Keys    uint64  `json:"keys"`
	Memory  int64   `json:"memory_bytes"` // that it may take
	Filter  float64 `json:"filter_bits"`  // of all keys
	Filters float64 `json:"run_filters_bits"`
	Hot     float64 `json:"hot_bits"`
	Indexes float64 `json:"index_bits"`
	Tables  float64 `json:"tables_bits_mean"` // keys that are in no run, before and behind commits
	Most    float64 `json:"tables_bits_most"`
	Sum     float64 `json:"sum_bits"`  // in the end
	Heap    float64 `json:"heap_bits"` // in the end, as the runtime counts it
	Disk    float64 `json:"disk_bytes"`
	Written float64 `json:"written_bytes"`
	Add     float64 `json:"cpu_ns_to_add"` // writing and merging included
}

// files are those of a set in a folder.
type files struct {
	dir     string
	names   atomic.Int64
	written atomic.Int64
}

type file struct {
	*os.File
	size  int64
	files *files
}

func (f file) Size() int64   { return f.size }
func (f file) Finish() error { return f.Close() }

func (f file) Write(p []byte) (int, error) {
	f.files.written.Add(int64(len(p)))
	return f.File.Write(p)
}

func (f *files) Create(name string) (runs.Output, error) {
	out, err := os.Create(filepath.Join(f.dir, name))
	return file{out, 0, f}, err
}

func (f *files) Open(name string) (runs.Input, error) {
	in, err := os.Open(filepath.Join(f.dir, name))
	if err != nil {
		return nil, err
	}
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	return file{in, info.Size(), f}, nil
}

func (f *files) Remove(name string) error { return os.Remove(filepath.Join(f.dir, name)) }

// heap returns the bytes that are in use.
func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// idle returns when this process has used next to no CPU for a while.
func idle() {
	for used := cputime.Used(); ; {
		time.Sleep(time.Second)
		now := cputime.Used()
		if now-used < 20*time.Millisecond {
			return
		}
		used = now
	}
}

// set fills a set, and asks it.
func (o options) set(tb interface{ TempDir() string }, r *report, keys uint64) error {
	f := &files{dir: tb.TempDir()}
	var making []float64 // a key, when nothing else goes on
	for range 5 {
		began := cputime.Used()
		keysOf(0, min(commitKeys, keys))
		making = append(making, float64(cputime.Used()-began)/float64(min(commitKeys, keys)))
	}
	before := heap()
	s, err := runs.Open(runs.Options{
		Files: f, Memory: setMemory, Commit: func(runs.Change) error { return nil },
		Name: func() string { return strconv.FormatInt(f.names.Add(1), 10) },
	}, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	bits := func(bytes int64) float64 { return 8 * float64(bytes) / float64(keys) }
	m := &setReport{Keys: keys, Memory: setMemory}
	began, commits := cputime.Used(), 0.0
	for at := uint64(0); at < keys; at += commitKeys {
		more := keysOf(at, min(at+commitKeys, keys))
		then := bits(s.Memory().Tables)
		if err := s.Add(more, at/commitKeys, at); err != nil {
			return err
		}
		after := bits(s.Memory().Tables)
		m.Tables, m.Most, commits = m.Tables+(then+after)/2, max(m.Most, after), commits+1
	}
	idle()
	m.Add = float64(cputime.Used()-began)/float64(keys) - median(making)
	now := s.Memory()
	m.Filter, m.Filters, m.Hot, m.Indexes = bits(now.Filter), bits(now.RunFilters), bits(now.Hot), bits(now.Indexes)
	m.Tables /= commits
	m.Sum, m.Heap = bits(now.Sum()), bits(heap()-before)
	if err := s.Flush(); err != nil {
		return err
	}
	idle()
	m.Disk, m.Written = float64(output.Bytes(f.dir))/float64(keys), float64(f.written.Load())/float64(keys)
	r.Sets = append(r.Sets, m)
	fmt.Printf("%d keys: %+v\n", keys, *m)
	return o.lookups(r, "runs.Set", keys, s.Find)
}

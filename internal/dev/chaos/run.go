package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

// run is a scenario being run. It is the [testing.TB] that the packages for tests ask for, without a test around it: its
// methods behave as those of a test do, as far as they are needed here.
type run struct {
	testing.TB // nil; nothing else may implement the interface

	env  *env
	name string
	dir  string
	out  outcome

	mu       sync.Mutex
	errors   []string
	cleanups []func()
	temps    int
	mills    []*mill
	groups   map[string]string // by the name of the configuration

	// rand is what the scenario's goroutine chooses by.
	rand    *rand.Rand
	outputs []output
}

// outcome is what came of a scenario.
type outcome struct {
	Name       string
	Faults     map[string]int // by what was done
	Rows       int64          // that were produced and had to be there
	Skipped    int64          // that the configuration said to leave out, and the commit records tell of
	Lost       int64
	Duplicated int64
	Wrong      int64
	Starts     int // of urlmill
	Took       time.Duration
	Checking   time.Duration // of that, for reading outputs back
	Errors     []string
}

func (o *outcome) faults() int {
	n := 0
	for _, v := range o.Faults {
		n += v
	}
	return n
}

// execute runs a scenario to its end.
func execute(e *env, name string, scenario func(*run)) outcome {
	r := &run{env: e, name: name, dir: filepath.Join(e.dir, name), groups: map[string]string{}, rand: e.random(name)}
	r.out = outcome{Name: name, Faults: map[string]int{}}
	began := time.Now()
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		r.Errorf("%v", err)
		return r.out
	}
	done := make(chan struct{})
	go func() { // which FailNow ends
		defer close(done)
		scenario(r)
	}()
	<-done
	r.endMills()
	r.readElsewhere()
	for len(r.cleanups) > 0 { // one may add others
		last := len(r.cleanups) - 1
		f := r.cleanups[last]
		r.cleanups = r.cleanups[:last]
		r.guarded(f)
	}
	r.out.Took, r.out.Errors = time.Since(began), r.errors
	if len(r.errors) > 0 {
		e.logf("%s: again with URLMILL_SEED=%d", name, e.seed)
	} else if !e.kept {
		_ = os.RemoveAll(r.dir) // makes room; what is left is removed in the end
	}
	return r.out
}

// readElsewhere has DuckDB read the outputs of a scenario that has come so far.
func (r *run) readElsewhere() {
	if r.Failed() || len(r.outputs) == 0 {
		return
	}
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, o := range r.outputs {
		if err := enc.Encode(o); err != nil {
			r.Error(err)
		}
	}
	cmd := exec.Command(r.env.duckcount)
	cmd.Stdin = &in
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.Errorf("DuckDB: %v\n%s", err, out)
		return
	}
	r.Logf("DuckDB: %s", bytes.TrimSpace(out))
}

// noteOutput notes a directory of files that DuckDB is to read.
func (r *run) noteOutput(dir string, rows int64) { r.outputs = append(r.outputs, output{dir, rows}) }

// randomly returns a random time up to most.
func (r *run) randomly(most time.Duration) time.Duration {
	return time.Duration(r.rand.Int64N(int64(most)))
}

// guarded calls a function that may call FailNow.
func (r *run) guarded(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// fault counts what was done to urlmill or what it depends on.
func (r *run) fault(what string) { r.faults(what, 1) }

func (r *run) faults(what string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.Faults[what] += n
}

func (r *run) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// patience is as long as the slowest machine needs for anything.
const patience = 5 * time.Minute

// await waits for something.
func (r *run) await(what string, reached func() bool) {
	for deadline := time.Now().Add(patience); !reached(); time.Sleep(50 * time.Millisecond) {
		if r.env.ctx.Err() != nil {
			r.Fatalf("interrupted while waiting for %s", what)
		}
		if time.Now().After(deadline) {
			r.Fatalf("waited %v in vain for %s", patience, what)
		}
	}
}

// Helper implements [testing.TB].
func (r *run) Helper() {}

// Name implements [testing.TB].
func (r *run) Name() string { return r.name }

// Cleanup implements [testing.TB].
func (r *run) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

// TempDir implements [testing.TB].
func (r *run) TempDir() string {
	r.mu.Lock()
	r.temps++
	dir := filepath.Join(r.dir, fmt.Sprint("temp-", r.temps))
	r.mu.Unlock()
	r.must(os.MkdirAll(dir, 0o755))
	return dir
}

// Setenv implements [testing.TB].
func (r *run) Setenv(key, value string) { r.must(os.Setenv(key, value)) }

// Failed implements [testing.TB].
func (r *run) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.errors) > 0
}

// Log implements [testing.TB].
func (r *run) Log(args ...any) { r.env.logf("%s: %s", r.name, fmt.Sprint(args...)) }

// Logf implements [testing.TB].
func (r *run) Logf(format string, args ...any) { r.Log(fmt.Sprintf(format, args...)) }

// Error implements [testing.TB].
func (r *run) Error(args ...any) {
	text := fmt.Sprint(args...)
	r.Log("FAILED: ", text)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors = append(r.errors, text)
}

// Errorf implements [testing.TB].
func (r *run) Errorf(format string, args ...any) { r.Error(fmt.Sprintf(format, args...)) }

// FailNow implements [testing.TB]. It is called by the scenario's goroutine alone.
func (r *run) FailNow() { runtime.Goexit() }

// Fatal implements [testing.TB].
func (r *run) Fatal(args ...any) {
	r.Error(args...)
	r.FailNow()
}

// Fatalf implements [testing.TB].
func (r *run) Fatalf(format string, args ...any) { r.Fatal(fmt.Sprintf(format, args...)) }

// Skip implements [testing.TB]: what is not there is an error here.
func (r *run) Skip(args ...any) { r.Fatal(args...) }

// Skipf implements [testing.TB].
func (r *run) Skipf(format string, args ...any) { r.Fatalf(format, args...) }

// path returns a path in the directory of the scenario.
func (r *run) path(name string) string { return filepath.Join(r.dir, name) }

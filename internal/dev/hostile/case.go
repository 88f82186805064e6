package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// testCase is an input, and what is done with it.
type testCase struct {
	name, format string
	first        int // those with more come earlier
	// files writes the input into the folder of the case, which is the working directory of its processes.
	files func(w *workplace) error
	steps []step
	close func() // ends what files has started, if there is anything
}

// step is a process.
type step struct {
	args  []string
	input func(w io.Writer) error // standard input; none otherwise
	codes []int                   // exit codes that are documented for it
	// strict holds the whole process against memory_limit, as docs/memory.md promises it, and not against Go's memory.
	strict bool
	// before is done before the process starts.
	before func(w *workplace) error
	// watch returns what is to be said of a process that runs; it ends when ctx is done.
	watch func(ctx context.Context, w *workplace, p *os.Process) error
	// good returns what a good input lacks.
	good func(w *workplace) error
}

// workplace is where a case is run.
type workplace struct {
	*lab
	dir    string
	random *rand.Rand
	stdout string // file with what the process has printed
}

func (w *workplace) path(name string) string { return filepath.Join(w.dir, name) }

// write writes a file, whose folder is made.
func (w *workplace) write(name string, data []byte) error {
	at := w.path(name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	return os.WriteFile(at, data, 0o644)
}

// stream writes a file that is too large to be held.
func (w *workplace) stream(name string, f func(io.Writer) error) error {
	if err := w.write(name, nil); err != nil {
		return err
	}
	file, err := os.Create(w.path(name))
	if err != nil {
		return err
	}
	err = f(file)
	if e := file.Close(); err == nil {
		err = e
	}
	return err
}

// base returns a good file.
func (w *workplace) base(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(w.good, name))
}

// copyBase puts a good file into the case.
func (w *workplace) copyBase(from, to string) error {
	data, err := w.base(from)
	if err != nil {
		return err
	}
	return w.write(to, data)
}

// fault is something that went wrong.
type fault struct{ kind, what, command string }

// verdict is what became of a case.
type verdict struct {
	faults    []fault
	processes int
	most      int64
	longest   time.Duration
	cpu       time.Duration
}

// runCase runs the processes of a case, and removes its files when all is well.
func (l *lab) runCase(ctx context.Context, c *testCase) verdict {
	var v verdict
	w := &workplace{lab: l, dir: filepath.Join(l.dir, "cases", strings.ReplaceAll(c.name, "/", "_")), random: l.random(c.name)}
	own := func(err error) verdict { // of this program
		v.faults = append(v.faults, fault{"poisoned", "the case itself: " + err.Error(), ""})
		return v
	}
	if err := os.RemoveAll(w.dir); err != nil { // of the first attempt
		return own(err)
	}
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return own(err)
	}
	if c.close != nil {
		defer c.close()
	}
	if err := c.files(w); err != nil {
		return own(err)
	}
	for i, s := range c.steps {
		if s.before != nil {
			if err := s.before(w); err != nil {
				return own(err)
			}
		}
		o, err := w.run(ctx, s, i)
		if err != nil {
			return own(err)
		}
		v.processes++
		v.most, v.longest = max(v.most, o.peak), max(v.longest, o.took)
		v.cpu += o.state.UserTime() + o.state.SystemTime()
		v.faults = append(v.faults, w.judge(s, o)...)
	}
	if len(v.faults) == 0 {
		if err := os.RemoveAll(w.dir); err != nil {
			return own(err)
		}
	}
	return v
}

// text returns the beginning of a text, on one line.
func text(b []byte) string {
	return fmt.Sprintf("%.300q", bytes.TrimSpace(b))
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// kind is how files of a format are read.
type kind struct {
	format, ext string
	codec       string   // of a configuration
	flags       []string // of parse
	good        string   // file of base.go, of the host "good"
}

var (
	parquetKind = kind{"parquet", ".parquet", "parquet: {url: url}", []string{"--codec", "parquet", "--url-field", "url"}, "good-zstd.parquet"}
	ndjsonKind  = kind{"ndjson", ".ndjson", "ndjson: {url: /url, carry: [{name: tags, pointer: /tags, type: json}]}", []string{"--url-field", "/url"}, "good.ndjson"}
	csvKind     = kind{"csv", ".csv", "delimited: {url: url}", []string{"--codec", "csv", "--url-field", "url"}, "good.csv"}
	logKind     = kind{"log", ".log", `access_log: {format: combined, base: "https://www.example.com"}`, []string{"--codec", "combined", "--base-url", "https://www.example.com"}, "good.log"}
	linesKind   = kind{"lines", ".txt", "lines: {}", nil, ""}
)

// configuration is one of a run over the files of the folder "in".
func configuration(codec string) string {
	return `source:
  file: {paths: [in]}
  codec: {` + codec + `}
columns: {include: [url, host, path, url_error]}
sink: {ndjson: {path: out}}
memory_limit: ` + limitText + "\n"
}

// runCase has urlmill run over a bad file beside a good one, and once more with another good one: the bad one is done with, and
// stops neither of the runs.
func runOver(k kind, name string, bad func(w *workplace, to string) error) *testCase {
	return &testCase{
		name: k.format + "/" + name + "/run", format: k.format,
		files: func(w *workplace) error {
			if err := w.write("run.yaml", []byte(configuration(k.codec))); err != nil {
				return err
			}
			if err := w.addGood(k, "in/good"+k.ext); err != nil {
				return err
			}
			return bad(w, "in/bad"+k.ext)
		},
		steps: []step{
			{args: []string{"run", "run.yaml"}, codes: []int{0, 4}, strict: true, good: rowsOf("out", 1)},
			{
				args: []string{"run", "run.yaml"}, codes: []int{0, 4}, strict: true, good: rowsOf("out", 2),
				before: func(w *workplace) error { return w.addGood(k, "in/later"+k.ext) },
			},
		},
	}
}

// addGood writes a good file of a kind.
func (w *workplace) addGood(k kind, to string) error {
	if k.good != "" {
		return w.copyBase(k.good, to)
	}
	var b bytes.Buffer
	for i := range goodRows {
		fmt.Fprintf(&b, "https://good.example/%d\n", i)
	}
	return w.write(to, b.Bytes())
}

var goodURL = regexp.MustCompile(`https://good\.example/\d+`)

// rowsOf looks for the rows of so many good files in the output of a run.
func rowsOf(dir string, times int) func(w *workplace) error {
	return func(w *workplace) error {
		names, err := filepath.Glob(filepath.Join(w.path(dir), "*.ndjson"))
		if err != nil {
			return err
		}
		seen := map[string]int{}
		for _, name := range names {
			if err := count(name, seen); err != nil {
				return err
			}
		}
		return complete(seen, times)
	}
}

// rowsPrinted looks for the rows of a good file in standard output.
func rowsPrinted(w *workplace) error {
	seen := map[string]int{}
	if err := count(w.stdout, seen); err != nil {
		return err
	}
	return complete(seen, 1)
}

// count counts the rows of each good URL: lines, as a row may have it in several columns.
func count(name string, seen map[string]int) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	for {
		line, err := in.ReadSlice('\n')
		if u := goodURL.Find(line); u != nil {
			seen[string(u)]++
		}
		if err == io.EOF {
			return nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

func complete(seen map[string]int, times int) error {
	for i := range goodRows {
		if u := fmt.Sprintf("https://good.example/%d", i); seen[u] != times {
			return fmt.Errorf("%s is there %d times, want %d", u, seen[u], times)
		}
	}
	return nil
}

// parseOver has urlmill parse read a bad file before a good one.
func parseOver(k kind, name string, bad func(w *workplace, to string) error) *testCase {
	return &testCase{
		name: k.format + "/" + name + "/parse", format: k.format,
		files: func(w *workplace) error {
			if err := w.addGood(k, "good"+k.ext); err != nil {
				return err
			}
			return bad(w, "bad"+k.ext)
		},
		steps: []step{{
			args:  append([]string{"parse", "--quiet", "--to", "ndjson", "--columns", "url,host,url_error", "bad" + k.ext, "good" + k.ext}, k.flags...),
			codes: []int{0, 4}, good: rowsPrinted,
		}},
	}
}

// commandOver gives a bad file to a command that reads one; BAD among the arguments is its name.
func commandOver(format, name, ext string, codes []int, bad func(w *workplace, to string) error, args ...string) *testCase {
	c := &testCase{
		name: format + "/" + name + "/" + strings.Join(args[:min(2, len(args))], "_"), format: format,
		files: func(w *workplace) error { return bad(w, "bad"+ext) },
	}
	c.name = strings.TrimSuffix(c.name, "_BAD")
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "BAD", "bad"+ext)
	}
	c.steps = []step{{args: args, codes: codes}}
	return c
}

// beside makes a bad file of bytes.
func beside(data func(w *workplace) ([]byte, error)) func(w *workplace, to string) error {
	return func(w *workplace, to string) error {
		b, err := data(w)
		if err != nil {
			return err
		}
		return w.write(to, b)
	}
}

// mutated makes a bad file from a good one.
func mutated(base string) func(w *workplace, to string) error {
	return beside(func(w *workplace) ([]byte, error) {
		data, err := w.base(base)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(base, ".ndjson") || strings.HasSuffix(base, ".csv") || strings.HasSuffix(base, ".log") {
			return mutateText(w.random, data), nil
		}
		return mutate(w.random, data), nil
	})
}

// leakError is file descriptors that stay open.
type leakError struct{ what string }

func (e *leakError) Error() string { return e.what }

// many has one process read many bad files, and looks at its file descriptors.
func many(k kind, bases []string, args []string) *testCase {
	c := &testCase{
		name: k.format + "/many/" + args[0], format: k.format, first: 1,
		files: func(w *workplace) error {
			for i := range 150 {
				if err := mutated(bases[i%len(bases)])(w, fmt.Sprintf("in/bad%03d%s", i, filepath.Ext(bases[i%len(bases)]))); err != nil {
					return err
				}
			}
			config := strings.Replace(configuration(k.codec), "paths: [in]", "paths: [in], parallel: 1", 1)
			if err := w.write("run.yaml", []byte(config)); err != nil {
				return err
			}
			return w.addGood(k, "in/good"+k.ext)
		},
	}
	s := step{args: args, codes: []int{0, 4}, watch: watchFiles, good: rowsPrinted}
	if args[0] == "run" {
		s.strict, s.good = true, rowsOf("out", 1)
	}
	c.steps = []step{s}
	return c
}

// watchFiles looks every few milliseconds at how many inputs a process has open, which reads one at a time.
func watchFiles(ctx context.Context, w *workplace, p *os.Process) error {
	const most = 8 // some are looked at before their turn
	dir := fmt.Sprintf("/proc/%d/fd", p.Pid)
	for ; ctx.Err() == nil; time.Sleep(3 * time.Millisecond) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil // it has ended
		}
		n := 0
		for _, e := range entries {
			if to, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && strings.HasPrefix(to, w.path("in")+"/") {
				n++
			}
		}
		if n > most {
			return &leakError{fmt.Sprintf("%d input files are open at a time", n)}
		}
	}
	return nil
}

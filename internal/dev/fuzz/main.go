// Command fuzz runs every fuzz target of all modules in turn, each for some seconds, and tells how many inputs each was given.
// An input that fails stays where the fuzzer has put it, and the others go on.
//
// Each target runs twice. First coverage guides the fuzzer, which collects inputs that reach something new. Then it goes on from
// these in a binary without counters of coverage, which takes some fifteen times as many inputs a second.
//
//	go run ./internal/dev/fuzz -seconds 30 -only FuzzParse
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

func main() {
	var f fuzzer
	flag.IntVar(&f.guided, "seconds", 10, "how long each target runs with coverage")
	flag.IntVar(&f.blind, "blind", 10, "how long it then runs without")
	flag.IntVar(&f.workers, "workers", runtime.NumCPU(), "processes at once")
	only := flag.String("only", "", "regular expression of the targets to run, as ./package FuzzName")
	flag.Parse()
	if err := f.run(os.Stdout, *only); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// target is a fuzz function of the tests in a folder.
type target struct{ dir, name string }

func (t target) String() string { return t.dir + " " + t.name }

// fuzzer has how long a target runs, in seconds, and in how many processes.
type fuzzer struct{ guided, blind, workers int }

func (f fuzzer) run(out io.Writer, only string) error {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	dirs, err := folders(".", chosen)
	if err != nil {
		return err
	}
	var n int
	var all int64
	var failed []string
	for _, dir := range dirs {
		targets, err := list(dir, chosen)
		if err != nil {
			return err
		}
		plain, err := build(dir)
		if err != nil {
			return err
		}
		for _, t := range targets {
			execs, err := f.target(t, plain)
			n, all = n+1, all+execs
			fmt.Fprintf(out, "%-60s %12d\n", t, execs)
			if err != nil {
				failed = append(failed, t.String())
				fmt.Fprintf(out, "FAIL %s: %v\n", t, err)
			}
		}
		plain.remove()
	}
	fmt.Fprintf(out, "targets=%d executions=%d failed=%d\n", n, all, len(failed))
	switch {
	case n == 0:
		return errors.New("there are no such targets")
	case len(failed) > 0:
		return fmt.Errorf("failed: %s", strings.Join(failed, ", "))
	}
	return nil
}

var declaration = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// folders returns those below root, of whatever module, whose tests look as if they had a chosen target.
func folders(root string, chosen *regexp.Regexp) (dirs []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && path != root && (name == "testdata" || name == "node_modules" || name == "bin" || name[0] == '.' || name[0] == '_') {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		dir := "./" + filepath.ToSlash(filepath.Dir(path))
		for _, m := range declaration.FindAllSubmatch(text, -1) {
			if chosen.MatchString(target{dir, string(m[1])}.String()) && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
		return err
	})
	return dirs, err
}

// list asks the tests of a folder which of the chosen targets they have.
func list(dir string, chosen *regexp.Regexp) (targets []target, err error) {
	cmd := exec.Command("go", "test", "-list", "^Fuzz", ".")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the targets of %s: %w\n%s", dir, err, text)
	}
	for line := range strings.Lines(string(text)) {
		t := target{dir, strings.TrimSpace(line)}
		if strings.HasPrefix(t.name, "Fuzz") && chosen.MatchString(t.String()) {
			targets = append(targets, t)
		}
	}
	return targets, nil
}

// plain is a binary of a package's tests that does not count coverage, and where the fuzzer keeps the inputs of that package.
type plain struct{ dir, path, inputs string }

func build(dir string) (p plain, err error) {
	cmd := exec.Command("go", "list", "-f", "{{.ImportPath}}", ".")
	cmd.Dir = dir
	name, err := cmd.Output()
	if err != nil {
		return p, fmt.Errorf("the name of %s: %w", dir, err)
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return p, err
	}
	if p.dir, err = os.MkdirTemp("", "fuzz"); err != nil {
		return p, err
	}
	p.path = filepath.Join(p.dir, "plain.test")
	p.inputs = filepath.Join(strings.TrimSpace(string(cache)), "fuzz", filepath.FromSlash(strings.TrimSpace(string(name))))
	cmd = exec.Command("go", "test", "-c", "-vet=off", "-o", p.path, ".")
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		p.remove()
		return p, fmt.Errorf("building the tests of %s: %w\n%s", dir, err, text)
	}
	return p, nil
}

func (p plain) remove() { _ = os.RemoveAll(p.dir) }

// target fuzzes with coverage and then without, and returns how many inputs there were.
func (f fuzzer) target(t target, p plain) (execs int64, err error) {
	chosen, workers := "^"+t.name+"$", strconv.Itoa(f.workers)
	// Making inputs of a few kilobytes shorter takes up to a minute each, which is not worth it in a run of seconds.
	execs, err = t.run(exec.Command("go", "test", "-p", strconv.Itoa(runtime.NumCPU()), "-run", "^$", "-fuzz", chosen, "-parallel", workers, "-fuzzminimizetime", "1x",
		"-fuzztime", seconds(f.guided), "."))
	if err != nil {
		return execs, err
	}
	more, err := t.run(exec.Command(p.path, "-test.run", "^$", "-test.fuzz", chosen, "-test.parallel", workers, "-test.fuzzminimizetime", "1x",
		"-test.fuzztime", seconds(f.blind), "-test.fuzzcachedir", p.inputs))
	if execs += more; execs == 0 && err == nil {
		err = errors.New("it was not given anything in that time")
	}
	return execs, err
}

func seconds(n int) string { return strconv.Itoa(n) + "s" }

// run runs a fuzzer in the target's folder, and returns how many inputs there were. The error has what the fuzzer printed.
func (t target) run(cmd *exec.Cmd) (execs int64, err error) {
	// A goroutine is started for every input: with one processor a process does not wake threads for them, which doubles the rate.
	cmd.Dir, cmd.Env = t.dir, append(os.Environ(), "GOMAXPROCS=1")
	text, err := cmd.CombinedOutput()
	execs = executions(text)
	if err != nil {
		return execs, fmt.Errorf("%w\n%s", err, inFolder(text, t.dir))
	}
	return execs, nil
}

var progress = regexp.MustCompile(`(?m)^fuzz: elapsed: \S+, execs: (\d+)`)

// executions returns the last count in what the fuzzer printed.
func executions(text []byte) (n int64) {
	if all := progress.FindAllSubmatch(text, -1); len(all) > 0 {
		n, _ = strconv.ParseInt(string(all[len(all)-1][1]), 10, 64)
	}
	return n
}

// inFolder puts the folder before the path of a failing input, which is relative to it.
func inFolder(text []byte, dir string) []byte {
	const before = "Failing input written to "
	return bytes.ReplaceAll(text, []byte(before), []byte(before+dir+"/"))
}

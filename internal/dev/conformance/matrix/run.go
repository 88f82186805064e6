package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// results are the outcomes of a test run.
type results struct {
	goVersion string            // such as go1.27.3
	outcome   map[string]string // "pass", "fail" or "skip" by package, a space and the test's name
	partly    map[string]bool   // tests of which a part was skipped
	tallies   []tally
	notes     []string // what the comparisons with Node.js say
	failed    []string // tests that failed
}

// tally is what a test logs about a file of cases.
type tally struct {
	room, what    string // the file, and which part of it
	passed, total int
	test          string // that has logged it
}

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
}

func newResults() *results {
	return &results{outcome: map[string]string{}, partly: map[string]bool{}}
}

var (
	tallyLine = regexp.MustCompile(`_test\.go:\d+: ([\w*.-]+\.(?:json|txt|dat)\b.*?): (\d+)/(\d+)`)
	noteLine  = regexp.MustCompile(`_test\.go:\d+: (Node\.js v.*|\s*\d+ explained by: .*)`)
)

// command returns a command of the Go called toolchain, such as go1.26.8, or of the one at hand if that is "".
func command(root, toolchain string, args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	if toolchain != "" {
		cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+toolchain)
	}
	return cmd
}

// run runs the tests of rooms in the module at root by the Go called toolchain, as in [command]: all, or those that match the
// pattern.
func run(root, toolchain string, rooms []string, pattern string) (*results, error) {
	version, err := command(root, toolchain, "env", "GOVERSION").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOVERSION: %w", err)
	}
	args := []string{"test", "-json", "-count=1", "-run=" + pattern}
	for _, room := range rooms {
		args = append(args, "./"+path.Join("urlcore", room))
	}
	cmd := command(root, toolchain, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r := newResults()
	r.goVersion = strings.TrimSpace(string(version))
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("go test: %w: %s", err, lines.Bytes())
		}
		r.add(e)
	}
	// A failing test makes go test fail, too: the outcomes say which.
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	if len(r.outcome) == 0 {
		return nil, errors.New("go test has run no test")
	}
	return r, lines.Err()
}

func (r *results) add(e event) {
	switch e.Action {
	case "pass", "fail", "skip":
		if e.Test == "" && e.Action != "fail" {
			return
		}
		r.outcome[e.Package+" "+e.Test] = e.Action
		if e.Action == "fail" {
			r.failed = append(r.failed, e.Package+" "+e.Test)
		}
		for name := e.Test; e.Action == "skip" && strings.Contains(name, "/"); {
			name = path.Dir(name)
			r.partly[e.Package+" "+name] = true
		}
	case "output":
		if m := noteLine.FindStringSubmatch(e.Output); m != nil {
			r.notes = append(r.notes, strings.TrimSpace(m[1]))
		} else if m := tallyLine.FindStringSubmatch(e.Output); m != nil {
			passed, _ := strconv.Atoi(m[2]) // digits, by the pattern
			total, _ := strconv.Atoi(m[3])
			r.tallies = append(r.tallies, tally{strings.TrimPrefix(strings.TrimPrefix(e.Package, module), "/"), m[1], passed, total, e.Test})
		}
	}
}

// of returns the outcome of a test, "" if it has not run. A test of which a part was skipped has not shown all that it is
// to show.
func (r *results) of(p proof) string {
	name := p.pkg() + " " + p.test
	if r.outcome[name] == "pass" && r.partly[name] {
		return "skip"
	}
	return r.outcome[name]
}

// mark returns the outcome of a row: all of its tests passed, one was skipped, or one failed or did not run.
func (r *results) mark(x row) string {
	mark := "✔"
	for _, p := range x.proofs() {
		switch r.of(p) {
		case "pass":
		case "skip":
			if mark == "✔" {
				mark = "–"
			}
		default:
			mark = "✘"
		}
	}
	return mark
}

// counting returns a pattern of the tests that have logged a tally.
func (r *results) counting() string {
	var names []string
	for _, t := range r.tallies {
		name, _, _ := strings.Cut(t.test, "/")
		names = append(names, name)
	}
	slices.Sort(names)
	return "^(" + strings.Join(slices.Compact(names), "|") + ")$"
}

// sum returns how many cases have passed of all files.
func (r *results) sum() (passed, total int) {
	for _, t := range r.tallies {
		passed, total = passed+t.passed, total+t.total
	}
	return passed, total
}

// cell returns what has passed of the file that t is about, "" if it was not counted.
func (r *results) cell(t tally) string {
	for _, u := range r.files() {
		if u.room == t.room && u.what == t.what {
			return fmt.Sprintf("%d/%d", u.passed, u.total)
		}
	}
	return ""
}

// files returns the tallies by file, the functions of one file and the index tables each taken together.
func (r *results) files() []tally {
	var all []tally
	for _, t := range r.tallies {
		switch {
		case strings.HasPrefix(t.what, "index-"):
			t.what = "encoding-indexes/index-*.txt"
		case strings.HasPrefix(t.what, "ecma262"):
			t.what, _, _ = strings.Cut(t.what, ",")
		}
		same := func(u tally) bool { return u.room == t.room && u.what == t.what }
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i].passed += t.passed
			all[i].total += t.total
		} else {
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b tally) int { return strings.Compare(a.what, b.what) })
	return all
}

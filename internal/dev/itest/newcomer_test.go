package itest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/urlmill/urlmill/internal/dev/itest/readers"
	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// The first two hours of three people who have README, docs and --help alone: testdata/newcomer has what each of them types,
// mistakes included, and what each of them sees.

func TestNewcomerClickstream(t *testing.T) {
	broker := kafkatest.Start(t, kafkatest.Options{})
	newcomer(t, "clickstream.txtar", "KAFKA_BROKERS="+broker.Addr(), fmt.Sprintf("ADMIN=127.0.0.1:%d", testproc.Ports(t, 1)[0]))
}

func TestNewcomerCrawler(t *testing.T) { newcomer(t, "crawler.txtar") }

func TestNewcomerAnalyst(t *testing.T) { newcomer(t, "analyst.txtar") }

// newcomer runs a script with urlmill on the PATH.
func newcomer(t *testing.T, name string, variables ...string) {
	script := filepath.Join("testdata", "newcomer", name)
	countSteps(t, script)
	path := filepath.Dir(testproc.Urlmill(t)) + string(os.PathListSeparator) + os.Getenv("PATH")
	testscript.Run(t, testscript.Params{
		Files:               []string{script},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") == "1",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exec-code": execCode,
			"await":     await,
			"duck":      func(ts *testscript.TestScript, _ bool, args []string) { duck(t, ts, args) },
		},
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, "PATH="+path)
			env.Vars = append(env.Vars, variables...)
			return nil
		},
	})
}

var (
	step   = regexp.MustCompile(`^(! )?(exec|exec-code|await|kill|cp|duck) `)
	budget = regexp.MustCompile(`^# .*: (\d+) steps$`)
)

// countSteps compares what a person has done since the beginning, commands and edits, with the budget in the comments of a
// script. A budget may become smaller; one that has to grow says that something has become harder.
func countSteps(t *testing.T, script string) {
	t.Helper()
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	steps, budgets := 0, 0
	for i, line := range strings.Split(string(text), "\n") {
		if step.MatchString(line) {
			steps++
		}
		if of := budget.FindStringSubmatch(line); of != nil {
			budgets++
			if of[1] != strconv.Itoa(steps) {
				t.Errorf("%s:%d: %d steps: %s", script, i+1, steps, line)
			}
		}
	}
	if budgets < 2 {
		t.Errorf("%s has %d budgets", script, budgets)
	}
}

// execCode is "exec-code CODE PROGRAM ARG...": exec that wants an exit code.
func execCode(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || strconv.Itoa(exit.ExitCode()) != args[0] {
		ts.Fatalf("%v, want exit code %s", err, args[0])
	}
}

// await is "await REGEXP PROGRAM ARG...": it runs a program again until its output matches.
func await(ts *testscript.TestScript, _ bool, args []string) {
	const patience, pause = 2 * time.Minute, 200 * time.Millisecond
	want := regexp.MustCompile("(?m)" + args[0])
	for end := time.Now().Add(patience); ; time.Sleep(pause) {
		err := ts.Exec(args[1], args[2:]...)
		if err == nil && want.MatchString(ts.ReadFile("stdout")) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("%v does not say %q: %v", args[1:], args[0], err)
		}
	}
}

// duck is "duck SQL": it prints the rows of a query of DuckDB in the script's folder, a row a line, values with bars between.
func duck(t *testing.T, ts *testscript.TestScript, args []string) {
	db := readers.Duck(t)
	_, err := db.ExecContext(t.Context(), "SET file_search_path = '"+ts.MkAbs(".")+"'")
	ts.Check(err)
	rows, err := db.QueryContext(t.Context(), args[0])
	ts.Check(err)
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	ts.Check(err)
	values, targets := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		ts.Check(rows.Scan(targets...))
		cells := make([]string, len(values))
		for i, v := range values {
			cells[i] = fmt.Sprint(v)
		}
		_, err := fmt.Fprintln(ts.Stdout(), strings.Join(cells, " | "))
		ts.Check(err)
	}
	ts.Check(rows.Err())
}

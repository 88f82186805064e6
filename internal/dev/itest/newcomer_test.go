package itest

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
	broker.CreateTopic(t, "clicks.dead", 1)
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
			env.Vars = append(env.Vars, "PATH="+path, "URLMILL_REQUIRE_PYARROW="+os.Getenv("URLMILL_REQUIRE_PYARROW"),
				"PYTHON="+cmp.Or(os.Getenv("URLMILL_PYTHON"), "python3"))
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
	_, rows := ask(t, strings.ReplaceAll(args[0], "'./", "'"+ts.MkAbs(".")+"/"))
	for _, r := range rows {
		_, err := fmt.Fprintln(ts.Stdout(), strings.Join(r, " | "))
		ts.Check(err)
	}
}

// ask returns the columns and the rows of a query of DuckDB.
func ask(t *testing.T, query string) (names []string, cells [][]string) {
	t.Helper()
	rows, err := readers.Duck(t).QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	if names, err = rows.Columns(); err != nil {
		t.Fatal(err)
	}
	values, targets := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		row := make([]string, len(values))
		for i, v := range values {
			row[i] = fmt.Sprint(v)
		}
		cells = append(cells, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return names, cells
}

// TestReadme runs the first command of README, and then its query: the rows are those below it. With UPDATE_DOCS=1 they are written
// anew.
func TestReadme(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	readme := filepath.Join(root, "README.md")
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	of := regexp.MustCompile("(?s)```sh\n(urlmill parse .*?)\n```.*?```sql\n(.*?)\n```.*?\n(<!-- result: [^\n]* -->\n)(.*?)<!-- /result -->").FindSubmatchIndex(text)
	if of == nil {
		t.Fatal("README.md has no command, query and result")
	}
	group := func(i int) string { return string(text[of[2*i]:of[2*i+1]]) }
	args := strings.Fields(group(1))
	log := filepath.Join(t.TempDir(), args[len(args)-1])
	cmd := exec.CommandContext(t.Context(), testproc.Urlmill(t), append(args[1:len(args)-1], log)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	names, rows := ask(t, strings.ReplaceAll(group(2), "'log/", "'"+log+"/"))
	got := "\n| " + strings.Join(names, " | ") + " |\n|" + strings.Repeat(" --- |", len(names)) + "\n"
	for _, r := range rows {
		got += "| " + strings.Join(r, " | ") + " |\n"
	}
	got = strings.ReplaceAll(got, "<nil>", "") + "\n"
	if os.Getenv("UPDATE_DOCS") == "1" {
		if err := os.WriteFile(readme, slices.Concat(text[:of[8]], []byte(got), text[of[9]:]), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if got != group(4) {
		t.Errorf("README.md has\n%s, and the query gives\n%s", group(4), got)
	}
}

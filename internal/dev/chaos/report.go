package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/machine"
)

// totals are the sums over all scenarios.
type totals struct {
	faults                        int
	rows, lost, duplicated, wrong int64
	starts                        int
	ok                            bool
}

func add(outcomes []outcome) totals {
	t := totals{ok: len(outcomes) > 0}
	for _, o := range outcomes {
		t.faults += o.faults()
		t.rows += o.Rows
		t.lost += o.Lost
		t.duplicated += o.Duplicated
		t.wrong += o.Wrong
		t.starts += o.Starts
		t.ok = t.ok && len(o.Errors) == 0
	}
	t.ok = t.ok && t.lost == 0 && t.duplicated == 0 && t.wrong == 0
	return t
}

// line is the last one of the output.
func (t totals) line() string {
	return fmt.Sprintf("faults=%d rows=%d lost=%d duplicated=%d wrong=%d", t.faults, t.rows, t.lost, t.duplicated, t.wrong)
}

// verdict says what came of a scenario.
func verdict(o outcome) string {
	text := fmt.Sprintf("%d faults, %d rows, %d lost, %d duplicated, %d wrong", o.faults(), o.Rows, o.Lost, o.Duplicated, o.Wrong)
	if len(o.Errors) > 0 {
		text = fmt.Sprintf("FAILED, %d errors; %s", len(o.Errors), text)
	}
	return text
}

// print prints what went wrong, and how the time went.
func (e *env) print(outcomes []outcome, t totals) {
	fmt.Println()
	for _, o := range outcomes {
		fmt.Printf("%-14s %s, %d starts, %s (%s of it reading back)\n", o.Name, verdict(o), o.Starts, o.Took.Round(time.Second), o.Checking.Round(time.Second/10))
		for _, text := range o.Errors {
			fmt.Printf("    %s\n", strings.ReplaceAll(text, "\n", "\n    "))
		}
	}
	fmt.Printf("%s in all", time.Since(e.began).Round(time.Second))
	if !t.ok {
		fmt.Printf("; NOT as it has to be: %s=%d", envSeed, e.seed)
	}
	fmt.Println()
}

const (
	markBegin = "<!-- report: begin, written by make chaos -->"
	markEnd   = "<!-- report: end -->"
)

// writeReport puts the report between the markers of a file.
func (e *env) writeReport(name string, outcomes []outcome, t totals) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(text, []byte(markBegin))
	_, after, ok2 := bytes.Cut(rest, []byte(markEnd))
	if !ok || !ok2 {
		return fmt.Errorf("%s has no markers %q and %q", name, markBegin, markEnd)
	}
	var b bytes.Buffer
	b.Write(before)
	b.WriteString(markBegin + "\n\n")
	e.table(&b, outcomes, t)
	b.WriteString("\n" + markEnd)
	b.Write(after)
	return os.WriteFile(name, b.Bytes(), 0o644)
}

func (e *env) table(b *bytes.Buffer, outcomes []outcome, t totals) {
	fmt.Fprintf(b, "`%s`, in %s.\n\n", t.line(), time.Since(e.began).Round(time.Second))
	fmt.Fprintf(b, "%s, commit %s, %s; Apache Kafka %s; %s; %s=%d.\n\n", time.Now().UTC().Format("2006-01-02"), commitID(), runtime.Version(), kafkatest.Version(), machineText(), envSeed, e.seed)
	fmt.Fprintln(b, "| scenario | what is done | faults | rows | left out | starts | lost | duplicated | wrong | time |")
	fmt.Fprintln(b, "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, o := range outcomes {
		what := ""
		for _, s := range scenarios {
			if s.name == o.Name {
				what = s.what
			}
		}
		fmt.Fprintf(b, "| %s | %s | %d | %d | %d | %d | %d | %d | %d | %s |\n", o.Name, what, o.faults(), o.Rows, o.Skipped, o.Starts, o.Lost, o.Duplicated, o.Wrong, o.Took.Round(time.Second))
	}
	fmt.Fprintf(b, "\nWhat was counted as a fault:\n\n")
	for _, o := range outcomes {
		for _, what := range slices.Sorted(maps.Keys(o.Faults)) {
			fmt.Fprintf(b, "- %s: %s, %d times\n", o.Name, what, o.Faults[what])
		}
	}
}

// commitID names the commit that was built, and says when there was more.
func commitID() string {
	id, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	changed, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no").Output()
	if err == nil && len(changed) > 0 {
		return strings.TrimSpace(string(id)) + " with changes"
	}
	return strings.TrimSpace(string(id))
}

// machineText says what it ran on.
func machineText() string {
	model := machine.CPU()
	if model != "" {
		model += ", "
	}
	memory := ""
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		var kib int64
		if _, err := fmt.Sscanf(string(text), "MemTotal: %d kB", &kib); err == nil {
			memory = fmt.Sprintf(", %d GiB", (kib+1<<19)>>20)
		}
	}
	return fmt.Sprintf("%s%d CPUs%s, %s/%s", model, runtime.NumCPU(), memory, runtime.GOOS, runtime.GOARCH)
}

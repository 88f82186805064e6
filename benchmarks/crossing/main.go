// Command crossing says what it costs to carry a batch over the C border of liburlmill.
//
// It runs the program of plugins/arrowc/test/crossing.c, which measures the same three ways in turn: over the border,
// without it, and without it again; and within the first, what lies outside of the parser. That is the figure to go by. The
// difference of the ways has in it what the border does to the parser as well, and all noise of the parser, of which it is the
// hundredth part: the last two tell how far two measurements of the same are apart, and where the border's is not
// larger than that, no figure is given but a bound.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"github.com/urlmill/urlmill/benchmarks/internal/results"
)

// report is the JSON file.
type report struct {
	results.Head
	Rows   int     `json:"rows_per_batch"`
	Load   float64 `json:"load_before"` // average of a minute
	Rounds int     `json:"rounds"`
	Shapes []shape `json:"shapes"`
}

// shape is a stream, and what the border adds to it.
type shape struct {
	Name         string  `json:"name"`
	Batches      int     `json:"batches"`
	Without      float64 `json:"without_us"` // of a batch, CPU time of the thread
	Time         cost    `json:"cpu_time"`
	Cycles       *cost   `json:"user_cycles,omitempty"`
	Instructions *cost   `json:"user_instructions,omitempty"`
	Faults       int     `json:"page_faults"`
	Interrupted  int     `json:"interrupted"` // times that another thread got the CPU
}

func main() {
	program := flag.String("program", "../bin/crossing/crossing", "what plugins/arrowc/test/crossing.c was compiled to")
	out := flag.String("out", "", "JSON file for the result; left as it is on a busy machine")
	rounds := flag.Int("rounds", 9, "rounds; a range is given where there are 6 or more")
	repetitions := flag.Int("repetitions", 4, "repetitions of a round for streams of one batch")
	rows := flag.Int("rows", 65536, "rows of a batch")
	flag.Parse()
	if err := run(*program, *out, *rounds, *repetitions, *rows); err != nil {
		fmt.Fprintln(os.Stderr, "crossing:", err)
		os.Exit(1)
	}
}

func run(program, out string, rounds, repetitions, rows int) error {
	r := report{Head: results.NewHead(), Rows: rows, Load: load(), Rounds: rounds}
	c := exec.Command(program, strconv.Itoa(rounds), strconv.Itoa(repetitions), strconv.Itoa(rows))
	c.Stderr = os.Stderr
	text, err := c.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	if r.Shapes, err = read(string(text)); err != nil {
		return err
	}
	r.print()
	busy := r.Load >= float64(runtime.NumCPU())
	if busy {
		fmt.Printf("\nThe machine was busy (a load of %.1f when it began): trust cycles and instructions.\n", r.Load)
	}
	if out == "" {
		return nil
	}
	if busy {
		fmt.Printf("%s is left as it was.\n", out)
		return nil
	}
	return results.Write(out, r)
}

// load returns the average of processes that wanted to run in the last minute, 0 where nobody tells.
func load() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	v, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return v
}

func (r *report) print() {
	fmt.Printf("What the border costs a batch of %d rows by itself, and how much more it takes with than without,\n"+
		"each with [the range of its median]; how far the same measured twice is apart, in (brackets)\n\n", r.Rows)
	for _, s := range r.Shapes {
		fmt.Printf("%s, streams of %d: %.0f us without; %d page faults, %d times interrupted\n", s.Name, s.Batches, s.Without, s.Faults, s.Interrupted)
		fmt.Printf("  CPU time      %s\n", s.Time)
		if s.Cycles == nil {
			fmt.Println("  cycles and instructions could not be counted here: see /proc/sys/kernel/perf_event_paranoid")
			continue
		}
		fmt.Printf("  cycles        %s\n", s.Cycles)
		fmt.Printf("  instructions  %s\n", s.Instructions)
	}
}

// Command lineartest checks that the work of every operation on untrusted text grows as the text does. It counts the statements that
// are run, by the counters of Go's coverage, with which it has to be built, and the memory that is allocated: both are the same on
// every machine. It is run by its test.
package main

import (
	"fmt"
	"os"
)

// The sizes of inputs: one, ten and a hundred times.
const (
	small  = 1 << 10
	factor = 10
	// bound is how much more than ten times as much ten times the input may take: logarithms, buffers that double. Quadratic work takes
	// ten times more.
	bound = 3
)

func main() {
	dir, err := os.MkdirTemp("", "linear")
	if err == nil {
		err = run(dir)
		_ = os.RemoveAll(dir)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func run(dir string) error {
	c, err := count(func() { _ = loop(100_000) })
	if err != nil {
		return err
	}
	if c.steps < 100_000 || c.steps > 400_000 {
		return fmt.Errorf("a loop of 100,000 rounds has %d steps: the counters count something else", c.steps)
	}
	// An operation that is quadratic, so that a test that cannot fail is found out.
	ops, faults, runs := operations(), 0, 0
	quadratic := onText("quadratic", func(s string) { _ = loop(len(s) * len(s) / 100) })
	if n, _, err := compare(dir, quadratic, "query", urls["pairs"]); err != nil || n == 0 {
		return fmt.Errorf("an operation that is quadratic passes: %w", err)
	}
	for _, op := range ops {
		for name, attack := range op.attacks {
			n, text, err := compare(dir, op, name, attack)
			if err != nil {
				return err
			}
			fmt.Print(text)
			faults += n
			runs++
		}
	}
	fmt.Printf("%d operations on attacks, %d of them not linear\n", runs, faults)
	if faults > 0 {
		return fmt.Errorf("%d operations are not linear", faults)
	}
	return nil
}

// compare runs an operation on an attack of three sizes, and returns how many faults that found, and their text.
func compare(dir string, op operation, name string, a attack) (faults int, text string, err error) {
	var before counts
	for i, n := 0, small; i < 3; i, n = i+1, n*factor {
		f := op.prepare(dir, a(n))
		if f == nil {
			return faults, text, nil
		}
		if i == 0 {
			f() // tables are there
		}
		now, err := count(f)
		if err != nil {
			return 0, "", err
		}
		if i > 0 {
			for _, c := range []struct {
				unit           string
				one, ten, free uint64 // what a call takes in any case is free
			}{
				{"steps", before.steps, now.steps, 20_000},
				{"bytes allocated", before.mem, now.mem, 512 << 10},
				{"allocations", before.n, now.n, 1000},
			} {
				if c.ten > c.free && c.ten > bound*factor*max(c.one, c.free/factor/bound) {
					faults++
					text += fmt.Sprintf("%s, %s: %d %s, and %d for ten times the input\n", op.name, name, c.one, c.unit, c.ten)
				}
			}
		}
		before = now
	}
	return faults, text, nil
}

// loop runs n statements.
func loop(n int) (sum int) {
	for i := range n {
		sum ^= i
	}
	return sum
}

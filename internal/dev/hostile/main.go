package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const envSeed = "URLMILL_SEED" // a number that makes the same cases again

// lab is what all cases share.
type lab struct {
	binary string
	code   int64  // bytes of the binary that are mapped and not written to
	dir    string // of all cases
	good   string // files that are as they have to be, see base.go
	seed   uint64
	limit  time.Duration
	began  time.Time
}

// random returns what a case of this name chooses by, the same for the same seed.
func (l *lab) random(name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return rand.New(rand.NewPCG(l.seed, h.Sum64()))
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := hostile(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func hostile(ctx context.Context) (bool, error) {
	binary := flag.String("binary", "", "the urlmill to test; built from this tree by default")
	dir := flag.String("dir", filepath.Join("bin", "hostile"), "folder for inputs and outputs; those of cases that fail stay")
	only := flag.String("only", "", "cases whose names begin with one of these, with commas between them")
	limit := flag.Duration("limit", time.Minute, "how long a process may take")
	parallel := flag.Int("parallel", runtime.NumCPU(), "cases at a time")
	all := flag.Bool("all", false, "all mutated cases, and not two thirds of them")
	list := flag.Bool("list", false, "print the names of the cases, and run none")
	flag.Parse()
	debug.SetGCPercent(25)
	debug.SetMemoryLimit(128 << 20) // see the note, of what Linux counts

	l := &lab{limit: *limit, began: time.Now(), seed: uint64(time.Now().UnixNano()) % 1e9}
	if text := os.Getenv(envSeed); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return false, fmt.Errorf("%s=%s is no number", envSeed, text)
		}
		l.seed = n
	}
	cases := chosen(allCases(), *only)
	if !*all && !strings.Contains(*only, "/") { // whole formats, and not cases by their names
		cases = l.fewer(cases)
	}
	if *list {
		for _, c := range cases {
			fmt.Println(c.name)
		}
		return true, nil
	}
	if err := l.prepare(ctx, *binary, *dir); err != nil {
		return false, err
	}
	fmt.Printf("%d cases, %d at a time, with %s=%d\n", len(cases), *parallel, envSeed, l.seed)
	return l.runAll(ctx, cases, *parallel)
}

// chosen returns the cases whose names begin with one of what is asked for.
func chosen(all []*testCase, only string) []*testCase {
	if only == "" {
		return all
	}
	return slices.DeleteFunc(all, func(c *testCase) bool {
		return !slices.ContainsFunc(strings.Split(only, ","), func(p string) bool { return strings.HasPrefix(c.name, p) })
	})
}

// fewer leaves out one of each three mutated cases, chosen by the seed.
func (l *lab) fewer(cases []*testCase) []*testCase {
	r, seen, drop := l.random("fewer"), 0, 0
	return slices.DeleteFunc(cases, func(c *testCase) bool {
		if !strings.Contains(c.name, "/mutated") {
			return false
		}
		if seen%3 == 0 {
			drop = r.IntN(3)
		}
		seen++
		return (seen-1)%3 == drop
	})
}

// prepare builds the binary, and has it make the good files.
func (l *lab) prepare(ctx context.Context, binary, dir string) error {
	var err error
	if l.dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if err := os.RemoveAll(l.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(l.dir, 0o755); err != nil {
		return err
	}
	if binary == "" {
		binary = filepath.Join(l.dir, "urlmill")
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "grpcnotrace", "-o", binary, "./cmd/urlmill")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	if l.binary, err = filepath.Abs(binary); err != nil {
		return err
	}
	if l.code, err = mappedCode(l.binary); err != nil {
		return err
	}
	return l.makeGood(ctx)
}

// runAll runs the cases, prints what fails, and the table, and reports whether all is well.
func (l *lab) runAll(ctx context.Context, cases []*testCase, parallel int) (bool, error) {
	// Those that mostly wait come first, beside the others.
	slices.SortStableFunc(cases, func(a, b *testCase) int { return cmp.Compare(b.first, a.first) })
	var (
		mu   sync.Mutex
		wg   sync.WaitGroup
		slow []*testCase
		sums = newSums()
		next = make(chan *testCase)
	)
	for range parallel {
		wg.Go(func() {
			for c := range next {
				v := l.runCase(ctx, c)
				mu.Lock()
				switch {
				case ctx.Err() != nil: // its process was killed
				case l.mayBeLoad(c, v):
					slow = append(slow, c)
				default:
					l.report(sums, c, v)
				}
				mu.Unlock()
			}
		})
	}
	for _, c := range cases {
		if ctx.Err() != nil {
			break
		}
		next <- c
	}
	close(next)
	wg.Wait()
	patient := *l
	patient.limit *= 3
	for _, c := range slow {
		fmt.Printf("%6.1fs  %s took long: once more, alone, with %v\n", time.Since(l.began).Seconds(), c.name, patient.limit)
		if v := patient.runCase(ctx, c); ctx.Err() == nil {
			patient.report(sums, c, v)
		}
	}
	sums.print(os.Stdout)
	if err := ctx.Err(); err != nil {
		fmt.Println("not all of them:", sums.closing())
		return false, err
	}
	if own := peak(syscall.RUSAGE_SELF); own > memoryLimit {
		return false, fmt.Errorf("this program has taken %d MiB itself, which Linux counts for the processes that it starts", own>>20)
	}
	fmt.Println(sums.closing())
	return sums.passed(), nil
}

// mayBeLoad reports whether a case may have failed only because the machine was busy: one of its processes has taken half of the
// limit, which is how long a process is given to write the good rows, or more.
func (l *lab) mayBeLoad(c *testCase, v verdict) bool {
	_, known := knownCases[c.name]
	return len(v.faults) > 0 && !known && v.longest >= l.limit/2
}

// report counts what became of a case, and says how to repeat it when it has failed.
func (l *lab) report(s *sums, c *testCase, v verdict) {
	reason, known := knownCases[c.name]
	s.add(c, v, known)
	switch {
	case len(v.faults) == 0 && known:
		fmt.Printf("%6.1fs  %s: is in the list of known cases, and is well: take it out (%s)\n", time.Since(l.began).Seconds(), c.name, reason)
	case len(v.faults) > 0:
		var b bytes.Buffer
		for _, f := range v.faults {
			fmt.Fprintf(&b, "\n         %s: %s\n           %s", f.kind, f.what, f.command)
		}
		word := "FAILED"
		if known {
			word = "known, " + reason
		}
		fmt.Printf("%6.1fs  %s: %s%s\n         all of it: %s=%d go run ./internal/dev/hostile -only %s\n",
			time.Since(l.began).Seconds(), c.name, word, &b, envSeed, l.seed, c.name)
	case s.cases%50 == 0:
		fmt.Printf("%6.1fs  %d cases\n", time.Since(l.began).Seconds(), s.cases)
	}
}

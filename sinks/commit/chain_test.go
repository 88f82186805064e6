package commit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/sinks/store/storetest"
)

const end = firstPosition + 20

// deliverRest has a last process finish the work undisturbed, and returns what is wrong with the outcome.
func deliverRest(d *storetest.Disk, end int64) error { return deliverRestWithout(d, end, nil) }

// deliverRestWithout does so when people have removed positions.
func deliverRestWithout(d *storetest.Disk, end int64, removed map[int64]bool) error {
	c := newClient(d.Process())
	if err := c.run(context.Background(), clicks, end); err != nil {
		return fmt.Errorf("the last process: %w\n%s", err, d.Tree())
	}
	if err := checkWithout(d, clicks, end, removed); err != nil {
		return fmt.Errorf("%w\n%s", err, d.Tree())
	}
	return nil
}

func TestUndisturbed(t *testing.T) {
	d := newDisk(t)
	if err := deliverRest(d, end); err != nil {
		t.Fatal(err)
	}
	// The next one finds everything done, and leaves nothing behind.
	before := d.Tree()
	if err := deliverRest(d, end); err != nil {
		t.Fatal(err)
	}
	if after := d.Tree(); after != before || strings.Contains(after, "_tmp") {
		t.Errorf("before:\n%safter:\n%s", before, after)
	}
}

// allBut returns a decision that is true for all calls but each nth.
func allBut(nth int) func(storetest.Change) bool {
	n := 0
	return func(storetest.Change) bool { n++; return n%nth != 0 }
}

// survivors are power failures: what survives them of what was not synced.
var survivors = map[string]func() func(storetest.Change) bool{
	"nothing":    func() func(storetest.Change) bool { return func(storetest.Change) bool { return false } },
	"everything": func() func(storetest.Change) bool { return func(storetest.Change) bool { return true } },
	"removals": func() func(storetest.Change) bool {
		return func(c storetest.Change) bool { return c == storetest.NameTaken }
	},
	"names": func() func(storetest.Change) bool {
		return func(c storetest.Change) bool { return c != storetest.Content }
	},
	"one of two":   func() func(storetest.Change) bool { return allBut(2) },
	"two of three": func() func(storetest.Change) bool { return allBut(3) },
}

// interruptions are ways for a process to end.
func interruptions() map[string]func(*storetest.Disk, *actor) {
	all := map[string]func(*storetest.Disk, *actor){
		"kill": func(_ *storetest.Disk, a *actor) { a.kill() },
	}
	for name, keep := range survivors {
		all["power failure that leaves "+name] = func(d *storetest.Disk, a *actor) {
			d.PowerFailure(keep())
			a.kill()
		}
	}
	return all
}

// A process ends before each of its calls in turn, and another takes over.
func TestInterruptedAtEveryCall(t *testing.T) {
	for name, interrupt := range interruptions() {
		t.Run(name, func(t *testing.T) {
			for at := 0; ; at += stride(1, 5) {
				d := newDisk(t)
				a := launch(d, end)
				for a.calls < at && !a.done {
					a.step()
				}
				if a.done {
					t.Logf("before each of %d calls", at)
					return
				}
				what := a.next
				interrupt(d, a)
				if err := deliverRest(d, end); err != nil {
					t.Fatalf("before call %d, %v: %v", at, what, err)
				}
			}
		})
	}
}

// pair is two processes that want to deliver the same lane.
func pair(d *storetest.Disk, end int64, keep time.Duration) (a, b *actor) {
	a, b = launch(d, end), launch(d, end)
	for _, c := range []*actor{a, b} {
		c.every, c.keep = 1, keep // a checkpoint after every commit, so that records go away at once
	}
	return a, b
}

// interleave has one process make some calls and another one some of its own, in all combinations, and calls then with
// both.
func interleave(t *testing.T, end int64, step int, then func(what string, d *storetest.Disk, a, b *actor)) {
	t.Helper()
	runs := 0
	for first := 1; ; first += step {
		for second := 0; ; second += step {
			d := newDisk(t)
			a, b := pair(d, end, 0)
			for a.calls < first && !a.done {
				a.step()
			}
			for b.calls < second && !b.done {
				b.step()
			}
			last, exhausted := a.done, b.done
			then(fmt.Sprintf("after %d and %d calls, with %v and %v ahead", a.calls, b.calls, a.next, b.next), d, a, b)
			runs++
			if last {
				t.Logf("%d runs", runs)
				return
			}
			if exhausted {
				break
			}
		}
	}
}

// stride returns every how many calls the tests stop. It is 1, which takes minutes for two processes, if the environment asks for
// it.
func stride(usual, short int) int {
	switch {
	case os.Getenv("URLMILL_EXHAUSTIVE") != "":
		return 1
	case testing.Short():
		return short
	}
	return usual
}

// One process stops before each of its calls in turn, the other makes so many of its own, and then they go on one
// after the other: with two changes between them, all that can happen.
func TestTwoProcesses(t *testing.T) {
	const end = firstPosition + 8
	fenced := 0
	interleave(t, end, stride(2, 7), func(what string, d *storetest.Disk, a, b *actor) {
		a.finish()
		b.finish()
		if err := errors.Join(a.err, b.err); err != nil {
			t.Fatalf("%s: %v\n%s", what, err, d.Tree())
		}
		if err := deliverRest(d, end); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		fenced += a.fenced + b.fenced
	})
	if fenced == 0 {
		t.Error("no process ever was fenced")
	}
}

// As before, but there is a power failure instead of the rest.
func TestTwoProcessesAndPowerFailure(t *testing.T) {
	const end = firstPosition + 8
	for name, keep := range survivors {
		t.Run(name, func(t *testing.T) {
			interleave(t, end, stride(5, 13), func(what string, d *storetest.Disk, a, b *actor) {
				d.PowerFailure(keep())
				a.kill()
				b.kill()
				if err := deliverRest(d, end); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			})
		})
	}
}

// A process wakes up when the record at its position has long been removed, and creates its own. One that looks for the
// head just then must not take it for the head.
func TestLateRecordIsNoHead(t *testing.T) {
	d := newDisk(t)
	deliver := func(end int64) {
		t.Helper()
		c := newClient(d.Process())
		c.every = 1
		if err := c.run(t.Context(), clicks, end); err != nil {
			t.Fatal(err)
		}
	}
	deliver(firstPosition + 3)
	lane := "/out/" + Dir + "/" + laneName(clicks)
	reader, late := launch(d, firstPosition+9), launch(d, firstPosition+9)
	reader.every, late.every = 1, 1
	if !reader.until("readdir", lane) || !late.until("link", key(firstPosition+3)+".json") {
		t.Fatal("they make other calls than this test knows")
	}
	deliver(firstPosition + 9)
	if !late.until("readfile", ".jsonl") {
		t.Fatal("it does not look for a checkpoint")
	}
	reader.finish()
	late.kill()
	if reader.err != nil {
		t.Fatal(reader.err)
	}
	if err := deliverRest(d, firstPosition+9); err != nil {
		t.Fatal(err)
	}
}

// A record must not be removed before the checkpoint that has it is durable, also when another process has made that.
func TestCheckpointIsDurableFirst(t *testing.T) {
	const end = firstPosition + 9
	d := newDisk(t)
	a, b := pair(d, end, 0)
	checkpoint := key(firstPosition) + ".jsonl"
	if !a.until("link", checkpoint) || !b.until("link", checkpoint) {
		t.Fatal("they make other calls than this test knows")
	}
	a.step()
	if !b.until("remove", key(firstPosition)+".json") {
		t.Fatal("the record is not removed")
	}
	b.step()
	d.PowerFailure(survivors["removals"]())
	a.kill()
	b.kill()
	if err := deliverRest(d, end); err != nil {
		t.Fatal(err)
	}
}

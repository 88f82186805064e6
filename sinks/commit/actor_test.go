package commit

import (
	"context"
	"strings"

	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// actor is a process that makes its calls to the system one by one, when it is told to.
type actor struct {
	*client
	process *storetest.Process  // nil if it is not on a disk
	asks    chan storetest.Call // closed at its end
	turn    chan bool           // makes the call, or dies instead

	next  storetest.Call // that it is about to make
	done  bool
	err   error // of the whole process, once it is done
	calls int   // made so far
}

// launch starts a process that delivers a lane up to a position, and stops it before its first call.
func launch(d *storetest.Disk, end int64) *actor {
	p := d.Process()
	a := launchOn(func(before func(storetest.Call) error) *client {
		return newClient(storetest.Wrap(p, before))
	}, p.Kill, end)
	a.process = p
	return a
}

// launchOn starts a process that asks before every call.
func launchOn(process func(before func(storetest.Call) error) *client, kill func(), end int64) *actor {
	a := &actor{asks: make(chan storetest.Call), turn: make(chan bool)}
	dead := false
	a.client = process(func(c storetest.Call) error {
		if dead {
			return storetest.ErrDead // deferred calls of the unwinding stack
		}
		a.asks <- c
		if dead = !<-a.turn; dead {
			kill()
			return storetest.ErrDead
		}
		return nil
	})
	go func() {
		defer close(a.asks)
		a.err = a.run(context.Background(), clicks, end)
	}()
	a.wait()
	return a
}

// wait waits until the process is about to make a call, or done.
func (a *actor) wait() {
	next, asked := <-a.asks
	a.next, a.done = next, !asked
}

// step lets it make its next call.
func (a *actor) step() {
	if !a.done {
		a.calls++
		a.turn <- true
		a.wait()
	}
}

// kill ends it instead of its next call.
func (a *actor) kill() {
	if !a.done {
		a.turn <- false
		a.wait()
	}
}

// finish lets it run to its end.
func (a *actor) finish() {
	for !a.done {
		a.step()
	}
}

// until lets it run until it is about to make a call, and returns false if it never does.
func (a *actor) until(op, path string) bool {
	for !a.done && (a.next.Op != op || !strings.HasSuffix(a.next.Path, path)) {
		a.step()
	}
	return !a.done
}

package main

import (
	"sync/atomic"
	"time"
)

// feed produces records while processes that read them are killed, and no more than they can read in a while, however slow
// they are.
type feed struct {
	ahead int // how many may be there that are not read
	done  atomic.Int64
	over  chan struct{}
	ended chan error
}

// startFeed calls produce again and again, with pauses, until that fails. It returns how many records it has produced in all.
func startFeed(pause time.Duration, ahead int, produce func() (total int, err error)) *feed {
	f := &feed{ahead: ahead, over: make(chan struct{}), ended: make(chan error, 1)}
	go func() { f.ended <- f.run(pause, produce) }()
	return f
}

func (f *feed) run(pause time.Duration, produce func() (total int, err error)) (err error) {
	for total := 0; err == nil; {
		select {
		case <-f.over:
			return nil
		case <-time.After(pause):
		}
		if total < int(f.done.Load())+f.ahead {
			total, err = produce()
		}
	}
	return err
}

// read says how many of the records have been read.
func (f *feed) read(n int) { f.done.Store(int64(n)) }

// end ends it and returns its error.
func (f *feed) end() error {
	close(f.over)
	return <-f.ended
}

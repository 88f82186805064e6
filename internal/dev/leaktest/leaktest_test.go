package leaktest

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestFind checks that a goroutine that stays is found, and that one that needs longer than goleak waits is not.
func TestFind(t *testing.T) {
	before := goleak.IgnoreCurrent()
	stay := make(chan struct{})
	go func() { <-stay }()
	if err := find(0, before); err == nil {
		t.Error("a goroutine that stays was not found")
	}
	time.AfterFunc(time.Second, func() { close(stay) })
	if err := find(patience, before); err != nil {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	Check(t)
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	go func() { <-done }()
}

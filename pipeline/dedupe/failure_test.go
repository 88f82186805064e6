package dedupe

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/vfs"

	"github.com/urlmill/urlmill/pipeline"
)

// smallDisk is a file system with room for so many bytes, or one that does not answer any more.
type smallDisk struct {
	vfs.FS
	room atomic.Int64
	hung chan struct{} // until it is closed, writes wait; nil for a disk that answers
	is   atomic.Bool   // hung
}

func (d *smallDisk) file(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return smallFile{f, d}, nil
}

func (d *smallDisk) Create(name string) (vfs.File, error) { return d.file(d.FS.Create(name)) }

func (d *smallDisk) ReuseForWrite(from, to string) (vfs.File, error) {
	return d.file(d.FS.ReuseForWrite(from, to))
}

type smallFile struct {
	vfs.File
	disk *smallDisk
}

func (f smallFile) Write(p []byte) (int, error) {
	if f.disk.is.Load() {
		<-f.disk.hung
	}
	if f.disk.room.Add(-int64(len(p))) < 0 {
		return 0, syscall.ENOSPC
	}
	return f.File.Write(p)
}

// laneOf returns rows with keys that are all different.
func laneOf(n int) *diskLane {
	l := new(diskLane)
	for i := range n {
		l.input = append(l.input, row{key: int64(i), offset: int64(i)})
	}
	return l
}

// until runs f and fails the test where it does not return: that is what this is about, and not how long it takes.
func until(t *testing.T, what string, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(2 * time.Minute):
		t.Fatalf("%s does not end", what)
		return nil
	}
}

// TestFullDisk fills the disk of the state in all places where it may become full. The sink says so, ends, and has lost
// nothing when there is room again.
func TestFullDisk(t *testing.T) {
	for _, approximate := range []*Approximate{nil, {Memory: 1 << 20, Keys: 100_000}} {
		for _, room := range []int64{100, 2_000, 100_000, 500_000, 1_200_000, 2_000_000} {
			const rows = 60_000
			d := &disk{t: t, lanes: []*diskLane{laneOf(rows)}}
			mem := vfs.NewMem()
			small := &smallDisk{FS: mem}
			small.room.Store(room)
			opts := Options{Path: "/seen", Mode: Drop, KeyColumn: "url_key", Memory: 8 << 20, Approximate: approximate, Positions: true}
			err := until(t, "writing to a full disk", func() error { return writeAll(d, small, opts, 2000) })
			if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "/seen") || !strings.Contains(err.Error(), "dedupe.path") {
				t.Fatalf("room for %d bytes: the error is %v, and should tell which disk is full and what to do", room, err)
			}
			// The process has died with that; what it had on the disk is copied to a larger one.
			larger := vfs.NewMem()
			if _, err := vfs.Clone(mem, larger, "/seen", "/seen"); err != nil {
				t.Fatal(err)
			}
			if err := writeAll(d, larger, opts, 2000); err != nil {
				t.Fatalf("with room again: %v", err)
			}
			checkTruth(t, d, Drop)
		}
	}
}

// writeAll delivers the rest of the first lane, so many rows with each commit.
func writeAll(d *disk, fs vfs.FS, opts Options, rows int) error {
	p, err := begin(d, fs, opts)
	if err == nil {
		err = p.open(0)
	}
	for err == nil && p.read[0] < int64(len(d.lanes[0].input)) {
		if err = p.write(0, rows); err == nil {
			err = p.commit(0)
		}
	}
	if p.lanes != nil && p.lanes[0] != nil {
		err = errors.Join(err, p.abandon(0))
	}
	return errors.Join(err, p.sink.Close())
}

// TestHungDisk has the disk not answer: a lane that waits for it ends with its context, and the sink can be closed.
func TestHungDisk(t *testing.T) {
	d := &disk{t: t, lanes: []*diskLane{laneOf(1000)}}
	small := &smallDisk{FS: vfs.NewMem(), hung: make(chan struct{})}
	small.room.Store(1 << 40)
	p, err := begin(d, small, Options{Path: "/seen", Mode: Drop, KeyColumn: "url_key", Memory: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.open(0); err != nil {
		t.Fatal(err)
	}
	if err := p.write(0, 1000); err != nil {
		t.Fatal(err)
	}
	small.is.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err = until(t, "a commit", func() error {
		_, err := p.lanes[0].Commit(ctx)
		return err
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the commit ended with %v", err)
	}
	if err := p.abandon(0); err != nil {
		t.Fatal(err)
	}
	if err := until(t, "closing", p.sink.Close); err == nil || !strings.Contains(err.Error(), "/seen") {
		t.Errorf("closing says %v", err)
	}
	close(small.hung)
}

// TestLostCommitsAreSettled has a lane lose its commit to another process, and never come back: what it had claimed does not
// stay claimed for ever.
func TestLostCommitsAreSettled(t *testing.T) {
	d := &disk{t: t, lanes: []*diskLane{laneOf(10), laneOf(20)}}
	p, err := begin(d, vfs.NewMem(), Options{Path: "/seen", KeyColumn: "url_key", Memory: 8 << 20, Positions: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range []int{10, 10} {
		if err := errors.Join(p.open(i), p.write(i, n)); err != nil {
			t.Fatal(err)
		}
	}
	d.fenced = true
	if err := p.commit(0); !errors.Is(err, pipeline.ErrLaneLost) {
		t.Fatalf("the commit ended with %v", err)
	}
	if err := p.abandon(0); err != nil {
		t.Fatal(err)
	}
	d.fenced = false
	if err := errors.Join(p.commit(1), p.write(1, 10)); err != nil {
		t.Fatal(err)
	}
	if n := p.sink.claims.count(); n != 20 {
		t.Errorf("%d claims while it is not known whether the commit was made, want 20", n)
	}
	d.lanes[0].next = 5 // the other process has
	if err := p.commit(1); err != nil {
		t.Fatal(err)
	}
	if n := p.sink.claims.count(); n != 0 {
		t.Errorf("%d claims are left", n)
	}
	if err := p.sink.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFullDiskBesidePromotion fills the disk while the keys of a lane are noted: another lane, which goes on to commit, is told so,
// and waits for nothing that the first one has.
func TestFullDiskBesidePromotion(t *testing.T) {
	const rows = 60_000 // whose keys are more than the store takes without writing
	d := &disk{t: t, lanes: []*diskLane{laneOf(rows), laneOf(1000)}}
	small := &smallDisk{FS: vfs.NewMem()}
	small.room.Store(1 << 40)
	p, err := begin(d, small, Options{Path: "/seen", Mode: Drop, KeyColumn: "url_key", Memory: 8 << 20, Positions: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.open(0), p.open(1), p.write(0, rows), p.write(1, 1000)); err != nil {
		t.Fatal(err)
	}
	p.sink.state.opts.Step = func(step string) error {
		if step == "promote" {
			small.room.Store(0)
		}
		return nil
	}
	// The first one may not come to hear of it: its journal is durable, and a run is written beside it.
	for lane := range 2 {
		err := until(t, "a commit", func() error { return p.commit(lane) })
		if !errors.Is(err, syscall.ENOSPC) && (lane == 1 || err != nil) {
			t.Errorf("lane %d: %v", lane, err)
		}
	}
	_ = until(t, "abandoning", func() error { return errors.Join(p.abandon(0), p.abandon(1)) })
	if err := until(t, "closing", p.sink.Close); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("closing: %v", err)
	}
}

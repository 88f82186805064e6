package commit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

var (
	quiet  = slog.New(slog.DiscardHandler)
	clicks = pipeline.LaneID{Stream: "clicks", Partition: 3}
)

// firstPosition is where the input of the tests begins.
const firstPosition = 40

// Directories of a world's disk.
const (
	rowsDir = "/out"
	deadDir = "/dead"
)

// The input of the tests has a record at every position that is no multiple of 7, and every fifth is a dead letter.
func hasRecord(p int64) bool  { return p%7 != 0 }
func deadLetter(p int64) bool { return p%5 == 0 }

// fataler is a test, or one run of a model.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// client is a process that delivers the input, as the sinks do.
type client struct {
	stores   func(dir string) store.Store
	rows     store.Store
	dead     store.Store
	chain    *Chain
	seq      uint64
	every    int
	most     int
	keep     time.Duration
	old      *time.Duration
	fenced   int
	delivers func(next int64) (span int64) // how many positions to commit at once
	dir      func(first int64) string      // of a file with rows, "" for the place itself
	replaces string                        // the rows that it puts in the place of all others; "" for one that delivers
}

func newClient(sys store.FS) *client {
	return newClientOf(func(dir string) store.Store { return store.NewLocal(dir, sys, quiet) })
}

// newClientOf returns a process whose directories are given.
func newClientOf(stores func(dir string) store.Store) *client {
	return &client{stores: stores, every: 2, delivers: func(int64) int64 { return 3 }, dir: func(int64) string { return "" }}
}

// open does what a sink does when it starts.
func (c *client) open(ctx context.Context) error {
	c.rows, c.dead = c.stores(rowsDir), c.stores(deadDir)
	if err := errors.Join(c.rows.Prepare(ctx), c.dead.Prepare(ctx)); err != nil {
		return err
	}
	c.chain = New(Options{Root: c.rows, Place: c.place, Log: quiet, Provenance: Provenance{Urlmill: "test"}, every: c.every, most: c.most, keep: c.keep, old: c.old})
	if err := c.chain.Probe(ctx); err != nil {
		return err
	}
	return errors.Join(c.chain.Sweep(ctx, c.rows), c.chain.Sweep(ctx, c.dead))
}

func (c *client) place(_ context.Context, dir string) (store.Store, error) {
	switch dir {
	case "":
		return c.rows, nil
	case "../dead":
		return c.dead, nil
	}
	return nil, fmt.Errorf("no place %q", dir)
}

// deliver reads a lane up to a position. When it is fenced, it begins again, as a source does.
func (c *client) deliver(ctx context.Context, id pipeline.LaneID, end int64) error {
	for {
		l, err := c.chain.Open(ctx, id)
		if err != nil {
			return err
		}
		next := l.Next()
		if next == pipeline.Unknown {
			next = firstPosition
		}
		for err == nil && next < end {
			span := pipeline.Span{First: next, Next: min(end, next+c.delivers(next))}
			if err = c.commit(ctx, l, span); err == nil {
				next = l.Next()
			}
		}
		if !errors.Is(err, pipeline.ErrLaneLost) {
			return err
		}
		c.fenced++
	}
}

func (c *client) commit(ctx context.Context, l *Lane, span pipeline.Span) error {
	var files []File
	for _, f := range []struct {
		table pipeline.Table
		store store.Store
		place string
		dead  bool
	}{{pipeline.DeadLetters, c.dead, "../dead", true}, {pipeline.Rows, c.rows, "", false}} {
		file, err := c.write(ctx, f.store, l.id, span, f.dead)
		if err != nil {
			return errors.Join(err, l.Discard(ctx, files))
		}
		if file.Rows > 0 {
			file.Table, file.Place = f.table.String(), f.place
			files = append(files, file)
		}
	}
	return l.Commit(ctx, span, files)
}

// write writes the rows or the dead letters of a span, if there are any: a line with the position for each.
func (c *client) write(ctx context.Context, s store.Store, id pipeline.LaneID, span pipeline.Span, dead bool) (File, error) {
	var lines []string
	for p := span.First; p < span.Next; p++ {
		if hasRecord(p) && deadLetter(p) == dead {
			lines = append(lines, strconv.FormatInt(p, 10))
		}
	}
	if lines == nil {
		return File{}, nil
	}
	c.seq++
	name := FileName(id, span.First, s.Run(), c.seq, "txt")
	if !dead {
		name = path.Join(c.dir(span.First), name)
	}
	f, err := s.Begin(ctx, name)
	if err != nil {
		return File{}, err
	}
	if _, err := f.Write([]byte(strings.Join(lines, "\n") + "\n")); err != nil {
		return File{}, errors.Join(err, f.Discard())
	}
	p, err := f.Finish()
	if err != nil {
		return File{}, errors.Join(err, f.Discard())
	}
	return NewFile(pipeline.Rows, "", int64(len(lines)), p), nil
}

func (c *client) close() error { return errors.Join(c.rows.Close(), c.dead.Close()) }

// run is the whole life of a process.
func (c *client) run(ctx context.Context, id pipeline.LaneID, end int64) error {
	if err := c.open(ctx); err != nil {
		return err
	}
	if c.replaces != "" {
		return errors.Join(c.replace(ctx), c.close())
	}
	return errors.Join(c.deliver(ctx, id, end), c.close())
}

// newDisk returns a disk with the parent directories.
func newDisk(t fataler) *storetest.Disk {
	t.Helper()
	d := storetest.NewDisk()
	p := d.Process()
	if err := errors.Join(p.Mkdir(rowsDir), p.Mkdir(deadDir), p.SyncDir("/")); err != nil {
		t.Fatal(err)
	}
	return d
}

// check checks what was delivered to a disk.
func check(d *storetest.Disk, id pipeline.LaneID, end int64) error {
	return checkWithout(d, id, end, nil)
}

// checkWithout checks it when somebody has removed positions, which may be there again after a power failure.
func checkWithout(d *storetest.Disk, id pipeline.LaneID, end int64, removed map[int64]bool) error {
	p := d.Process()
	return checkStores(func(dir string) store.Store { return store.NewLocal(dir, p, quiet) }, id, end, removed)
}

// checkStores checks that a lane was delivered up to a position: every record is in one visible file, and in the right
// one; every visible file is named by a record; the records follow each other.
func checkStores(stores func(dir string) store.Store, id pipeline.LaneID, end int64, removed map[int64]bool) error {
	ctx := context.Background()
	named, err := checkChain(stores(rowsDir), id, end)
	if err != nil {
		return err
	}
	seen := map[int64]int{}
	for _, dir := range []string{rowsDir, deadDir} {
		if err := checkFiles(ctx, stores(dir), dir, ".", named, seen); err != nil {
			return err
		}
	}
	for n := int64(firstPosition); n < end; n++ {
		want := 0
		if hasRecord(n) {
			want = 1
		}
		if seen[n] != want && (seen[n] != 0 || !removed[n]) {
			return fmt.Errorf("position %d is there %d times", n, seen[n])
		}
	}
	return nil
}

// checkFiles counts the positions in the visible files of a directory of the store at root, and of those below it.
func checkFiles(ctx context.Context, s store.Store, root, dir string, named map[string]bool, seen map[int64]int) error {
	entries, err := s.List(ctx, dir, "")
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		file := path.Join(root, name)
		switch {
		case hidden(e.Name):
			continue
		case e.Dir:
			if err := checkFiles(ctx, s, root, name, named, seen); err != nil {
				return err
			}
			continue
		case !named[file]:
			return fmt.Errorf("%s is visible, and no record names it", file)
		}
		content, err := s.Read(ctx, name)
		if err != nil {
			return err
		}
		for _, n := range positionsIn(string(content)) {
			if deadLetter(n) != (root == deadDir) {
				return fmt.Errorf("%s has the position %d", file, n)
			}
			seen[n]++
		}
	}
	return nil
}

// positionsIn returns the positions in the content of a file. A line that is none is -1.
func positionsIn(content string) (positions []int64) {
	for line := range strings.Lines(content) {
		n, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if err != nil {
			n = -1
		}
		positions = append(positions, n)
	}
	return positions
}

// checkChain walks over the records and returns the files that they name.
func checkChain(s store.Store, id pipeline.LaneID, end int64) (map[string]bool, error) {
	ctx, lane := context.Background(), laneName(id)
	named := map[string]bool{}
	take := func(r *Record) {
		for _, f := range r.Files {
			named[path.Join(rowsDir, f.Place, f.Name)] = true
		}
	}
	next := int64(firstPosition)
	for {
		c, err := readCheckpoint(ctx, s, lane, next)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, err
		}
		for _, r := range c.Records {
			take(r)
		}
		next = c.Next
	}
	for next < end {
		r, err := readRecord(ctx, s, lane, next)
		if err != nil {
			return nil, err
		}
		take(r)
		next = r.Next
	}
	if next != end {
		return nil, fmt.Errorf("the chain ends at %d instead of %d", next, end)
	}
	return named, nil
}

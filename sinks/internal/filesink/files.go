package filesink

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/internal/partition"
	"github.com/urlmill/urlmill/sinks/store"
)

const (
	// fileOverhead is about what an open file takes beside what its encoder and store say.
	fileOverhead = 8 << 10
	// maxFiles and maxDone are how many files of a lane, and complete files of all lanes, there may be before a commit
	// comes early: records name all of theirs.
	maxFiles = 4 << 10
	maxDone  = 16 << 10
	minDone  = 16 // of a lane, for the sake of the others
	// minFlush is what an encoder has to hold for it to pay to end its row group early.
	minFlush = 32 << 10
)

// openFile is a file being written. It belongs to the table of one lane; only finishMany lends it to another goroutine.
type openFile struct {
	dir   string // below the place; "" without partitions, [partition.Late] in the place of late rows
	place *place
	first int64 // position of the lane at which it was opened
	file  store.File
	enc   Encoder
	rows  int64
	used  uint64 // when it was last written to, by the count of the table
	held  int64  // bytes of memory, as they were last counted into those of the table
}

// memory returns the bytes of memory that the file holds.
func (f *openFile) memory() int64 {
	return fileOverhead + f.enc.Memory() + f.file.Memory()
}

// begin opens a file and its encoder. The caller puts it into t.open. Its name begins with the position of the batch that it
// is opened for, and is unique among all processes by the run and a number.
func (t *fileTable) begin(ctx context.Context, dir string) (*openFile, error) {
	at, below := t.place, dir
	if dir == partition.Late {
		at, below = t.sink.late, ""
	}
	s := at.store
	name := path.Join(below, commit.FileName(t.lane, t.span.First, s.Run(), t.sink.seq.Add(1), t.sink.opts.Format.Ext()))
	f, err := s.Begin(ctx, name)
	if err != nil {
		return nil, err
	}
	enc, err := t.sink.opts.Format.NewEncoder(f, t.schema)
	if f.Err() != nil { // an encoder may write at once, and lose the error
		err = f.Err()
	}
	if err != nil {
		if enc != nil {
			enc.Discard()
		}
		return nil, errors.Join(err, f.Discard())
	}
	t.sink.open.Add(1)
	return &openFile{dir: dir, place: at, first: t.span.First, file: f, enc: enc}, nil
}

// end completes a file, which is not published yet. The file is closed whatever comes of it.
func (t *fileTable) end(f *openFile) error {
	t.forget(f)
	done, err := t.complete(f)
	if err == nil {
		t.keep(done)
	}
	return err
}

// keep makes a complete file part of the next commit.
func (t *fileTable) keep(f commit.File) {
	t.sink.done.Add(1)
	t.done = append(t.done, f)
	t.doneBytes += f.Bytes
}

const (
	// syncsAtATime is how many files are completed side by side: a disk takes milliseconds to make one durable, and little
	// more for many.
	syncsAtATime = 16
	// fewFiles are not worth it.
	fewFiles = 8
)

// finishMany completes all open files side by side, and returns those that are complete in the order of files. The goroutines
// call complete alone, which leaves the table as it is; the table's own fields are changed here, before and after.
func (t *fileTable) finishMany(files []*openFile) ([]commit.File, error) {
	done := make([]commit.File, len(files))
	errs := make([]error, len(files))
	var group errgroup.Group
	group.SetLimit(syncsAtATime)
	for i, f := range files {
		t.forget(f)
		group.Go(func() error {
			done[i], errs[i] = t.complete(f)
			return nil
		})
	}
	_ = group.Wait() // its error is always nil: each file has its own
	for i, f := range done {
		if errs[i] == nil {
			t.keep(f)
		}
	}
	return t.take(), errors.Join(errs...)
}

// complete completes a file that the table has forgotten. It changes nothing of the table, so that it can run for several
// files at a time. Without an error the file waits under its temporary name for its commit; with one it is removed.
func (t *fileTable) complete(f *openFile) (commit.File, error) {
	t.sink.encoding <- struct{}{} // bounds what the encoders of all lanes take at a time; f.file.Finish waits for the disk alone
	err := f.enc.Finish(Provenance{Table: t.table, Lane: t.lane, Span: pipeline.Span{First: f.first, Next: t.span.Next}, Rows: f.rows})
	<-t.sink.encoding
	// The file's own error says more than what an encoder makes of it, and encoders may lose it.
	if f.file.Err() != nil {
		err = f.file.Err()
	} else if err != nil {
		err = fmt.Errorf("finishing a file of %d rows: %w", f.rows, err)
	}
	if err != nil {
		return commit.File{}, errors.Join(err, f.file.Discard())
	}
	pending, err := f.file.Finish()
	if err != nil {
		return commit.File{}, errors.Join(err, f.file.Discard())
	}
	return commit.NewFile(t.table, f.place.name, f.rows, pending), nil
}

// drop removes a file instead of completing it.
func (t *fileTable) drop(f *openFile) error {
	t.forget(f)
	f.enc.Discard()
	return f.file.Discard()
}

// forget takes a file out of the table, and its memory out of the sum. The file itself stays open.
func (t *fileTable) forget(f *openFile) {
	delete(t.open, f.dir)
	t.held -= f.held
	t.sink.open.Add(-1)
}

// flush makes a file's encoder write what it can, and give back that memory. For Parquet it ends a row group.
func (t *fileTable) flush(f *openFile) error {
	err := f.enc.Flush()
	if err == nil {
		err = f.file.Flush()
	}
	t.account(f)
	if f.file.Err() != nil {
		return f.file.Err()
	}
	return err
}

// account counts the memory of a file anew, after something that may have changed it.
func (t *fileTable) account(f *openFile) {
	held := f.memory()
	t.held += held - f.held
	f.held = held
}

// shrink gives back about half of the memory that is held: row groups of the largest files end early, and then, if that is not
// enough, the files that have been written to least recently. Their rows stay part of the next commit, so it changes nothing
// of what is delivered.
func (t *fileTable) shrink() error {
	target := t.held / 2
	files := t.files(func(a, b *openFile) int { return int(b.held - a.held) })
	for _, f := range files { // the largest first: fewer row groups are cut short
		if t.held <= target || f.enc.Memory() < minFlush {
			break
		}
		if err := t.flush(f); err != nil {
			return err
		}
	}
	if t.held <= target {
		return nil
	}
	for _, f := range t.files(byUse) {
		if t.held <= target {
			break
		}
		if err := t.end(f); err != nil {
			return err
		}
	}
	return nil
}

// full reports whether there are so many files that it is time to commit.
func (t *fileTable) full() bool {
	return len(t.open)+len(t.done) >= maxFiles || len(t.done) >= minDone && t.sink.done.Load() >= maxDone
}

// take returns the complete files, which are the caller's from then on.
func (t *fileTable) take() []commit.File {
	done := t.done
	t.sink.done.Add(int64(-len(done)))
	t.done, t.doneBytes = nil, 0
	return done
}

// byUse orders files by when they were last written to.
func byUse(a, b *openFile) int { return int(a.used) - int(b.used) }

// files returns the open files in order.
func (t *fileTable) files(order func(a, b *openFile) int) []*openFile {
	files := make([]*openFile, 0, len(t.open))
	for _, f := range t.open {
		files = append(files, f)
	}
	slices.SortFunc(files, order)
	return files
}

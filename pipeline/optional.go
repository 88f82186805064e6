package pipeline

import (
	"context"
	"io"
	"iter"
	"time"
)

// What sources, lanes, sinks and transforms may have beside their contracts is declared in this file, and found by [As] and
// [CountsOf] alone: they look through what wraps others, so that a wrapper declares what it changes and forwards nothing.
// What the codecs of sources may have is in sources/codec/optional.go.

// Wrapper is a [Source], [Lane], [Sink] or [Transform] that wraps another one. A rate limit, dedupe, tracing and the preview of
// a dry run are such. One whose inner value is not to be found has no Unwrap.
type Wrapper[V any] interface{ Unwrap() V }

// layers yields v and all that it wraps, the outermost first.
func layers[V any](v V) iter.Seq[V] {
	return func(yield func(V) bool) {
		for yield(v) {
			w, ok := any(v).(Wrapper[V])
			if !ok {
				return
			}
			v = w.Unwrap()
		}
	}
}

// As returns v, a [Source], [Lane], [Sink] or [Transform], as a T, or else the first of those that it wraps that is one. T is one
// of the interfaces of this file.
func As[T, V any](v V) (t T, ok bool) {
	for layer := range layers(v) {
		if t, ok = any(layer).(T); ok {
			return t, true
		}
	}
	return t, false
}

// Waiter is a [Lane] that can wait for records without a batch. Lanes whose Next may wait long, for a network, a
// terminal or a rate, implement it: batches are few and shared by all lanes, and one that waits in Next holds one. [Run] and the
// rate limit ask for it. A lane without it has its next records at hand.
type Waiter interface {
	// Wait returns when Next has something to return: records, the end, or an error; or when ctx ends. It is
	// called by the goroutine that calls Next, before each call of it. Next may be called with another ctx.
	Wait(ctx context.Context)
}

// Ender is a [Lane] that may be told to end while others run on, as a partition of Kafka that is about to move. The rate limit,
// which delays reading, asks for it, and stops waiting then. A lane without it ends by itself or with the drain of its source.
type Ender interface {
	// Ending returns a channel that is closed when Next is going to return io.EOF. It is the same for each call.
	Ending() <-chan struct{}
}

// Positions is a [Sink] that keeps the positions of lanes, and can be asked for them before a lane is opened: files with
// their chain of commits, and databases. [Run] asks for it on behalf of a [Resumer], and dedupe to resolve doubts. A sink
// without it keeps none.
type Positions interface {
	// Position returns how far a lane has come. It changes nothing, and may be called from several goroutines.
	Position(ctx context.Context, id LaneID) (Mark, error)
}

// Lister is a [Positions] that can list the lanes it has positions of. The source of files asks for it, to recognise a file under
// another name. Without it a file is known by its name alone.
type Lister interface {
	// Lanes returns the lanes with a session. It changes nothing, and reads no more than their names. The slice is the
	// caller's.
	Lanes(ctx context.Context) ([]LaneID, error)
}

// Historian is a [Positions] that can tell all that was committed of a lane: files with their chain of commits. The source of
// objects asks for it, to know which of them were read. Without it only the last position is known.
type Historian interface {
	// History calls each with the position after each commit of a lane, and what the source has said of it, in their order. It
	// changes nothing. Others may commit meanwhile; it then ends with a commit that has been the last one since it was called.
	History(ctx context.Context, id LaneID, each func(Mark) error) error
}

// Claimer is a [Positions] that has a place for claims beside them: files with their chain of commits. The source of objects asks
// for it, to divide its lanes among the processes that run. Without it each process has to be told its share.
type Claimer interface {
	// Claims returns the claims on a stream, nil where the output keeps no positions. All processes that deliver into the output
	// have the same.
	Claims(stream string) Claims
}

// Claims are small things with names, of lower-case letters, digits and hyphens, by which processes agree on which of them reads
// what. They save work and decide nothing about rows: where two processes believe that a lane is theirs, the sink has one of them
// commit, and the other one finds its lane lost.
type Claims interface {
	// Self is the name of this process, unlike that of any other: letters and digits.
	Self() string
	// Names returns the names of all claims.
	Names(ctx context.Context) ([]string, error)
	// Create makes a claim. Of several processes that create the same name one succeeds; the others get [io/fs.ErrExist].
	Create(ctx context.Context, name, content string) error
	// Read returns the content of a claim. The error of one that is not there is [io/fs.ErrNotExist].
	Read(ctx context.Context, name string) (string, error)
	// Delete removes a claim. One that is not there is no error.
	Delete(ctx context.Context, name string) error
}

// Keeper is a [Writer] with a place for the files of another component, one of which each commit names, together with the rows and
// at once with them: files with their chain. Dedupe asks for it, where each lane has a state of its own. A writer without it keeps
// nothing.
type Keeper interface {
	// Kept returns the file that the last commit of the lane names, nil if it names none.
	Kept() *Kept
	// Keep has the next commit name another file, which is durable, and those after it, until Keep is called again. A lane that is
	// opened without calling it goes on with the name that it has found.
	Keep(k Kept)
	// KeptFiles returns the place of the lane's files, nil where commits name none.
	KeptFiles() KeptFiles
}

// Kept is a file that a commit names.
type Kept struct {
	Name     string
	Bytes    int64
	Checksum string
	// Next is the position up to which the file is about the rows. It may be behind that of the commit, where rows were committed
	// without the component.
	Next int64
}

// KeptFiles is the place of the files of a lane. Its methods may be called from several goroutines. What is missing gives an error
// that is [io/fs.ErrNotExist].
type KeptFiles interface {
	// Create makes a file with a name of its own, which is durable when it returns. next is the position after which the file is
	// made: what List returns begins with it.
	Create(ctx context.Context, next int64, content []byte) (Kept, error)
	// Begin starts a file that is too large to be held in memory.
	Begin(ctx context.Context, next int64) (KeptFile, error)
	// Open returns a file for reading in parts, each of which may be a request.
	Open(ctx context.Context, name string) (KeptObject, error)
	// List returns the names of all files, with the positions after which they were made.
	List(ctx context.Context) ([]KeptName, error)
	// Modified returns when a file was made, by the clock of the place.
	Modified(ctx context.Context, name string) (time.Time, error)
	// Delete removes a file. One that is not there is no error.
	Delete(ctx context.Context, name string) error
}

// KeptName is the name of a file, and the position after which it was made.
type KeptName struct {
	Name string
	Next int64
}

// KeptFile is a file being written, which nobody sees before Finish.
type KeptFile interface {
	io.Writer
	// Finish ends the file and makes it durable under its name.
	Finish(ctx context.Context) (Kept, error)
	// Discard removes the file instead. It does nothing after Finish.
	Discard() error
}

// KeptObject is a file open for reading.
type KeptObject interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// Finisher is a [Writer] that holds more for its lane than what was written since the last commit: that of dedupe where each lane has
// a state of its own. [Run] tells it that the lane has ended in good order. A writer without it holds nothing then.
type Finisher interface {
	// Finish is called in place of Abandon, after the last commit. No other call follows it.
	Finish() error
}

// Resumer is a [Source] that wants to know what the sink holds of its lanes: Kafka and files. [Run] asks for it. A source without
// it does without.
type Resumer interface {
	// Resume is called once before Run, when the sink has started, unless that is no [Positions].
	Resume(p Positions)
}

// Surveyor is a [Source] that can be held against an output, without being read: Kafka and files. The command verify asks for
// it, and says of a source without it that there is nothing to compare with.
type Surveyor interface {
	// Survey returns how each lane of the source, and each that the output knows, stands. It changes nothing.
	Survey(ctx context.Context, known []Known) ([]Standing, error)
}

// Bounded is a [Source] without an end of its own that can be given one: Kafka. A run with an end asks for it. A source without it
// ends by itself or not at all.
type Bounded interface {
	// EndAt has each lane end before its first record that is not older than until or, where there is none yet and if until is
	// zero, behind the last one that there is when Run begins. Run then returns when its lanes have ended. It is called once,
	// before Run.
	EndAt(until time.Time)
}

// Rated is a [Source] with a rate that can be changed while it runs: the generator. A new configuration asks for it. The rate of
// a source without it is that of the pipeline alone.
type Rated interface {
	// SetRate sets how many records a second there are, 0 for no limit. It may be called at any time.
	SetRate(rate float64)
}

// Holder is a [Transform] that knows its memory. [Run] asks for it, and drops a batch and its transform when they have become too
// large. A transform without it counts as nothing.
type Holder interface {
	// Memory returns the bytes that it holds. It is not called while Apply is.
	Memory() int64
}

// Counter is a [Source] or a [Sink] that counts what [Stats] cannot see. Metrics, status page, progress and summary ask for it,
// by [CountsOf]. A wrapper counts what it does itself; what it wraps counts too.
type Counter interface {
	// Count sets the parts of c that it counts, and leaves the others alone. It may be called at any time, by several
	// goroutines, and does not wait.
	Count(c *Counts)
}

// Counts are what the sources and sinks of a pipeline count. A part is nil where no component has such a thing.
type Counts struct {
	Progress   *Progress        // of a source that may have an end
	Input      *InputCounts     // of a source behind a network
	Files      *FileCounts      // of a sink that writes files or streams
	Late       *int64           // rows that were committed in a place of their own, of a sink that has one
	Duplicates *DuplicateCounts // of dedupe
	Loads      *LoadCounts      // of a sink that loads rows into a database
	Table      *TableCounts     // of a sink whose files are added to an Iceberg table
}

// Progress is how much of its input a source has read.
type Progress struct {
	// Done and Total are in the same unit, bytes or records; Total is 0 where the end is not known.
	Done, Total int64
}

// InputCounts are those of a source that tries again what fails.
type InputCounts struct {
	// Since is when something began to fail that is tried again, and Err how it failed last; zero and nil when nothing does.
	Since   time.Time
	Err     error
	Retries int64 // all, also of what has passed
	// Unreadable is how many parts of the input could not be read when they were first fetched.
	Unreadable int64
	// Notices are the messages about new objects, by what became of them; nil without a queue of such.
	Notices map[string]int64
	Lags    []Lag // of the lanes that are being read
}

// Behind returns how far all lanes are behind, 0 for nil.
func (in *InputCounts) Behind() (records int64) {
	if in == nil {
		return 0
	}
	for _, l := range in.Lags {
		records += l.Behind
	}
	return records
}

// Lag is how far a lane is behind.
type Lag struct {
	Lane   LaneID
	Behind int64 // records that could be read and have not been yet
}

// FileCounts are the finished files, and the bytes in them and in a stream.
type FileCounts struct{ Files, Bytes int64 }

// DuplicateCounts are the rows that were there before. They are left out if Dropped, and marked otherwise.
type DuplicateCounts struct {
	Rows    int64
	Dropped bool
	Shards  *ShardCounts // nil where all lanes have one state
}

// ShardCounts are those of states of duplicates that each belong to a lane.
type ShardCounts struct {
	// Lanes are those that have their state here, Keys what they know, and Runs the number of files with the keys.
	Lanes, Keys, Runs int64
	// Restores is how many states were read from the output, and Fetched how many bytes of it were copied for that. Restoring is how
	// long it took, all taken together.
	Restores, Fetched int64
	Restoring         time.Duration
}

// LoadCounts are the loads into a database, how often one was tried again, and the values that the database cannot hold, which
// are null there.
type LoadCounts struct{ Loads, Retries, Nulled int64 }

// TableCounts are the snapshots that this process has made of a table, and the files that it has added. Failing says that the
// last attempt failed.
type TableCounts struct {
	Snapshots, Files int64
	Failing          bool
}

// CountsOf returns what a source, a sink and all that they wrap have counted. Either may be nil.
func CountsOf(src Source, sink Sink) (c Counts) {
	count(src, &c)
	count(sink, &c)
	return c
}

func count[V any](v V, c *Counts) {
	for layer := range layers(v) {
		if counter, ok := any(layer).(Counter); ok {
			counter.Count(c)
		}
	}
}

package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
)

// Unknown is the position of a sink that keeps none, and of a lane that has not been read yet: the source
// then starts where its own policy says.
const Unknown int64 = -1

// ErrLaneLost is the cause of a lane context that was cancelled because the lane now belongs to another
// process, or will before its rows could be committed. What was written since the last commit is abandoned;
// the next owner of the lane reads it again.
var ErrLaneLost = errors.New("another process has taken over what this one was reading, before its rows were committed")

// LaneID names one ordered stream of records.
type LaneID struct {
	// Stream is the Kafka topic, the path of the file, "-" for standard input.
	Stream string
	// Partition is the Kafka partition, and 0 for everything else.
	Partition int32
	// Session tells inputs of the same name apart, whose positions mean nothing to each other: every reading of
	// standard input or of a pipe, every version of a file, and a topic that was made anew. It is letters and digits, and empty where a stream
	// is the same for ever.
	Session string
}

func (id LaneID) String() string { return fmt.Sprintf("%s/%d", id.Stream, id.Partition) }

// Source hands out lanes.
type Source interface {
	// Run calls each once for every lane, side by side in goroutines of its own, and returns when all
	// lanes have ended. A source may hand out the same lane again later, in another generation of a
	// consumer group, never twice at the same time.
	//
	// Closing drain asks for a soft end: Next returns io.EOF on every lane, no new lanes are handed out,
	// and Run returns once each has. Cancelling ctx is the hard end. The context that each receives is
	// derived from ctx and is also cancelled, with the cause [ErrLaneLost], when the lane is lost.
	//
	// each returns an error when the lane's own methods did; Run decides whether the other lanes go
	// on, and returns it in the end. When the fault is not the source's, each returns nil and drain is
	// closed. An error of kind [ErrLaneLost] with a context that is not cancelled says that, as the sink has found,
	// another process has committed positions of the lane: the source finds out whose it is, and may hand it out again.
	Run(ctx context.Context, drain <-chan struct{}, each func(context.Context, Lane) error) error
}

// Lane is one ordered stream of records, read by one goroutine.
type Lane interface {
	// ID is constant.
	ID() LaneID
	// Start is called once before the first Next, with the position to begin at: the next offset of the
	// sink, or [Unknown] to begin by the source's own policy.
	Start(ctx context.Context, next int64) error
	// Next resets b and fills it with at least one and at most b.MaxRows records, and stops once it holds
	// b.MaxBytes. It waits for the first record, then takes what is there without waiting long for more.
	// A batch without records but with b.Next beyond b.First is allowed: positions that hold none.
	//
	// io.EOF says that the lane has ended here, because its input has, because of a drain, or because
	// the partition is about to move; what was read is to be committed. Any other error ends the lane
	// after what was read before it has been committed.
	Next(ctx context.Context, b *Batch) error
	// Acknowledge tells the source that all before next is durable. It is called from another goroutine
	// than Next, one call at a time, and positions never fall.
	Acknowledge(ctx context.Context, next int64) error
}

// Stopped returns the error with which the Next of a [Lane] ends instead of reading on: the cause that ctx has ended for, or
// io.EOF once drain is closed. It is nil otherwise. It does not wait.
func Stopped(ctx context.Context, drain <-chan struct{}) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-drain:
		return io.EOF
	default:
		return nil
	}
}

// Table is one of the two outputs of a lane.
type Table uint8

const (
	// Rows is the table of parsed URLs.
	Rows Table = iota
	// DeadLetters is the table of the records that the error policy took out of Rows.
	DeadLetters
	// NumTables is the number of tables.
	NumTables
)

func (t Table) String() string { return [...]string{"rows", "dead_letters"}[t] }

// Schemas holds the schema of each [Table]. Schemas[DeadLetters] is nil when the error policy sends
// nothing there.
type Schemas [NumTables]*arrow.Schema

// Span is a range of positions of a lane: First is the position of its first record, Next the one after its
// last. Of is the identity of what they are positions of, as in [Mark].
type Span struct {
	First, Next int64
	Of          string
}

// Extend adds a span that follows.
func (s *Span) Extend(next Span) {
	s.Next = max(s.Next, next.Next)
	if next.Of != "" {
		s.Of = next.Of
	}
}

// Mark is how far a lane has come, and in what.
type Mark struct {
	// Next is the position to go on at, [Unknown] for a lane of which nothing is known.
	Next int64
	// Of identifies what the positions are of, in the words of the source, which has given it with the [Span] that ended
	// at Next: a topic can be made anew, and a file replaced, under the same name. It is empty where none was given. For a lane that
	// was begun and not committed to it is that of the first span, which began at Next: what it says of the span's end is not done.
	Of string
}

// Sink makes rows durable.
type Sink interface {
	// Start is called once, before any Open. It checks that the output can be written.
	Start(ctx context.Context, schemas Schemas) error
	// Open returns the writer of a lane and the position that the lane has to be read from, [Unknown]
	// for a sink that keeps no positions.
	Open(ctx context.Context, id LaneID) (w Writer, next int64, err error)
	// Close is called once, after every writer's last call.
	Close() error
}

// Writer takes the rows of one lane. Its methods are called from one goroutine at a time.
type Writer interface {
	// Write adds the rows of r, which came from the positions of span, to table t. r and its memory are
	// the caller's again when Write returns; what is kept has to be copied. Spans arrive in order; every
	// span arrives for [Rows], with an r without rows where it only moves the position, and may have
	// arrived for [DeadLetters] just before.
	Write(ctx context.Context, t Table, r arrow.Record, span Span) error
	// Size returns what has been written since the last Commit.
	Size() Size
	// Commit makes everything written so far durable and visible, and returns the position after it. It
	// makes no files where there were no rows. An error means that nothing of it may be acknowledged.
	Commit(ctx context.Context) (next int64, err error)
	// Abandon drops what was written since the last Commit and leaves nothing of it visible. No other
	// call follows it.
	Abandon() error
}

// Size counts what a writer holds uncommitted.
type Size struct {
	Rows  int64 // of both tables
	Bytes int64 // as written so far, or an estimate of it
	// Full asks for a commit, whatever the limits say.
	Full bool
}

// Transform turns batches into Arrow records. An instance belongs to one batch, whose records may be those of any lane,
// and is not used concurrently.
type Transform interface {
	// Apply parses b. The records of the result belong to the transform and are valid until the next
	// Apply. Under the policy [Fail] a bad row gives a [*RowError] together with the output of the rows
	// before it. Apply may take rows out of b.
	Apply(b *Batch) (Output, error)
}

// Output is what a [Transform] made of a batch.
type Output struct {
	// Records holds a record for each [Table]. That of Rows is never nil, but may have no rows; that of
	// DeadLetters is nil when there are none.
	Records [NumTables]arrow.Record
	// DeadURLs are the URLs of the rows in DeadLetters, which has none. They are valid as long as Records.
	DeadURLs *NullBytes
	// Invalid counts the rows with an error, whatever became of them.
	Invalid int64
	// Dropped counts the rows that are in no table.
	Dropped int64
	// Nulled counts the rows without an error in which a carried field is null because it was not of its type.
	Nulled int64
	// Errors counts the invalid rows and those that are nulled by their stable code, which ends with the name of the field for
	// those of a field. It is valid as long as Records.
	Errors []ErrorCount
}

// ErrorCount is a number of rows that have the same error.
type ErrorCount struct {
	Code string // as in the column url_error
	Rows int64
}

// Kind says what an error of a row is about.
type Kind string

// Kinds of errors.
const (
	OfURL    Kind = "url"    // the URL or its base is none
	OfRecord Kind = "record" // the record could not be read, or decoded
	OfField  Kind = "field"  // a carried field is not of its type
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{OfURL, OfRecord, OfField} }

// KindOf returns the kind of the error with a code, as in the column url_error.
func KindOf(code string) Kind {
	for _, k := range []Kind{OfRecord, OfField} {
		if rest, ok := strings.CutPrefix(code, string(k)); ok && strings.HasPrefix(rest, "-") {
			return k
		}
	}
	return OfURL
}

// OnFieldError says what happens to a row with a carried field that is not of its type.
type OnFieldError uint8

const (
	// KeepField leaves the field null and its error in the row, which is sound otherwise.
	KeepField OnFieldError = iota
	// FieldIsRowError makes it an error of the row, which goes as [OnError] says.
	FieldIsRowError
	// FieldToDeadLetters moves the row to the table [DeadLetters].
	FieldToDeadLetters
)

var onFieldErrorNames = [...]string{"keep", "error", "dead_letter"}

// String returns the name that a configuration has for it.
func (o OnFieldError) String() string {
	if int(o) < len(onFieldErrorNames) {
		return onFieldErrorNames[o]
	}
	return "unknown"
}

// OnFieldErrors returns all of them. The caller owns the slice.
func OnFieldErrors() []OnFieldError {
	return []OnFieldError{KeepField, FieldIsRowError, FieldToDeadLetters}
}

// OnError says what happens to a row that has an error.
type OnError uint8

const (
	// Keep leaves the row in its place, with null components, the error's code and its position.
	Keep OnError = iota
	// Drop leaves the row out and counts it.
	Drop
	// ToDeadLetters moves the row to the table [DeadLetters].
	ToDeadLetters
	// Fail stops the pipeline; everything before the row is committed.
	Fail
)

var onErrorNames = [...]string{"keep", "drop", "dead_letter", "fail"}

// String returns the name that a configuration has for the policy.
func (o OnError) String() string {
	if int(o) < len(onErrorNames) {
		return onErrorNames[o]
	}
	return "unknown"
}

// OnErrors returns all policies. The caller owns the slice.
func OnErrors() []OnError { return []OnError{Keep, Drop, ToDeadLetters, Fail} }

// RowError is the error of a pipeline that stopped under the policy [Fail].
type RowError struct {
	Lane     LaneID
	Offset   int64
	File     string // of several in the lane, "" if there are none, and the position of its first record
	Base     int64
	Numbered bool   // Offset is the number of a record, of a file or standard input
	Code     string // as in the column url_error
	Pos      int64  // byte position in the input, -1 when there is none
	Input    string // the start of the offending input
}

func (e *RowError) Error() string {
	at := ""
	if e.Pos >= 0 {
		at = fmt.Sprintf(" at byte %d", e.Pos)
	}
	return fmt.Sprintf("%s: %s%s in %q: stopped, because the error policy is \"fail\"; "+
		"use keep, drop or dead_letter to go on past such rows", e.place(), e.Code, at, e.Input)
}

// place names the record: by its offset in a partition, and by its number in a file or standard input, from 0, as in the
// column "record".
func (e *RowError) place() string {
	if !e.Numbered {
		return fmt.Sprintf("%s: offset %d", e.Lane, e.Offset)
	}
	name := e.Lane.Stream
	switch {
	case e.File != "":
		name = e.File
	case name == "-":
		name = "standard input"
	}
	return fmt.Sprintf("%s: record %d (counted from 0)", name, e.Offset-e.Base)
}

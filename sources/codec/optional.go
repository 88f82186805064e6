package codec

import (
	"context"
	"fmt"
	"io"
	"log/slog"
)

// What codecs and their factories may have beside their contracts is declared in this file.

// Observer is a [Codec] that has to see the records before the first that is wanted as well, such as a header line: access logs
// and delimited text. The source of files asks for it. A codec without it never sees them.
type Observer interface {
	// Observe takes a record that is not wanted, and does not keep it.
	Observe(record []byte)
}

// Headed is a [Codec] that finds its columns by the names in the first record, such as a header line: access logs and delimited
// text. The source of files asks for it, and warns of what is lacking. A codec without it has no header.
type Headed interface {
	// CheckHeader returns what the first record lacks that the options name, once it has been decoded or observed, and
	// nil before.
	CheckHeader() error
}

// Framer is a [Codec] whose records are not lines, and that finds them itself: archives. The source of files asks for it, and gives it
// what a file holds. A codec without it has lines.
type Framer interface {
	// Opening returns what every record begins with. Behind a damage of a compressed file, reading goes on with the next member whose
	// content begins so.
	Opening() string
	// Frame returns the records of a file. Of each it keeps at most so many bytes. It is called once, before the first Decode, which
	// is given what the records return, one after the other.
	Frame(content Content, most int) Records
}

// Content is what a file holds, without its compression. It is used by one goroutine.
type Content interface {
	// Read implements [io.Reader]. It returns bytes of one member at most, and a [*MemberEnd] behind the last of them. It does not
	// wait: what it returns then, Records has to return.
	Read(p []byte) (int, error)
	// Plain reports, once Read has returned bytes, whether they are those of the file, which is not compressed.
	Plain() bool
}

// MemberEnd is the error of a [Content] at the end of a member, which is a part of a file that was compressed on its own, such as a
// member of gzip or a frame of zstd. The next Read goes on with the next one. Files of other formats have no such parts.
type MemberEnd struct {
	Start, End int64 // in the file, as it is stored
	// Damage is why the member could not be read to its end, nil for one that was. End is then where reading goes on.
	Damage error
}

func (e *MemberEnd) Error() string {
	return fmt.Sprintf("the member from byte %d to %d: %v", e.Start, e.End, e.Damage)
}

// FormatError is the error of a file that is not of the codec's format.
type FormatError struct{ Reason string }

func (e *FormatError) Error() string { return e.Reason }

// Records finds the records of a file.
type Records interface {
	// Next returns the next record, valid until the next call, and whether it is longer than what is kept of it. An error ends the
	// file, but for that of a Content that does not wait, after which it may be called again.
	Next() (record []byte, cut bool, err error)
	// Ready reports whether Next returns without reading, but for records that are none.
	Ready() bool
	// Fill reads once. Next does so by itself.
	Fill()
	// Rest returns what was read behind the last record that Next has returned, as far as it is kept.
	Rest() []byte
}

// Resolver is a [Codec] that fetches something from elsewhere before it can decode a record, such as its schema from a registry:
// Avro, Protobuf and JSON Schema. The source of Kafka asks for it. A codec without it decodes every record at once.
type Resolver interface {
	// Resolved reports whether record can be taken apart without waiting. It costs next to nothing.
	Resolved(record []byte) bool
	// Resolve gets what record needs, and does not keep it. The error says that it is not to be had for now: the source
	// tries again later, and does not go on without it. What elsewhere does not know at all is no error here, but a
	// fault of the record.
	Resolve(ctx context.Context, record []byte) error
}

// UnresolvedError is the error of a [Table] whose next record needs what a [Resolver] cannot get for now. Nothing is wrong with its file.
type UnresolvedError struct{ Err error }

func (e *UnresolvedError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the resolver.
func (e *UnresolvedError) Unwrap() error { return e.Err }

// Alone is a [Factory] that says whether a record can be decoded without those before it: delimited text. The replay of dead letters asks
// for it. A factory without it decodes every record alone, or has an error for one that it cannot.
type Alone interface {
	// NotAlone returns what a record lacks that is alone, and what to do about it; "" if nothing.
	NotAlone() string
}

// Opener is a [Factory] that reads files which its options name beside the schema, such as certificates: those of the codecs with
// a schema registry. Until then it has touched none of them. The start of a pipeline asks for it. A factory without it has no
// such files.
type Opener interface {
	Factory
	// Open reads the files. It is called before the first record is read. The error has every problem, joined, each a
	// [*pipeline.FieldError].
	Open() error
}

// Logger is a [Factory] whose codecs say in the log what they find out about their input: access logs whose format is recognised. The
// start of a pipeline gives it the log. A factory without it has nothing to say.
type Logger interface {
	// SetLog sets the log, before the first call of New.
	SetLog(log *slog.Logger)
}

// Enveloped is a [Factory] whose records may be the elements of an array in a JSON document instead of lines: access logs of Azure.
// The source of files asks for it; such an element has a position as a line has. A factory without it has lines alone.
type Enveloped interface {
	Factory
	// Envelope returns the member of the document that has the array, "" for none.
	Envelope() string
}

// Tables is a [Factory] for files that are tables, whose records are rows and not bytes with an end: Parquet. The source of files
// asks for it, and reads such files with it. With a factory without it, it reads lines.
type Tables interface {
	Factory
	// OpenTable opens a file of size bytes. A value of the URL that is longer than maxValue is cut there.
	OpenTable(r io.ReaderAt, size int64, maxValue int) (Table, error)
}

// Shaped are options that say the shape of rows also where their codec cannot be made. The check of columns asks for it, so that a
// mistake of the codec hides none of theirs. Options without it say nothing until they have a factory.
type Shaped interface{ Shape() Shape }

// Sparing is a [Factory] whose codecs need not fill in texts that nobody looks at: access logs. The start of a pipeline asks for it. A
// factory without it fills in all of its fields.
type Sparing interface {
	// Spare says which of Fields are not looked at. Those that are texts may be null from then on, in every row; all else stays as it
	// is, with its faults. It is called at most once, before New.
	Spare(unused []bool)
}

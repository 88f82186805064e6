package file

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/s2"
	"github.com/therootcompany/xz"

	"github.com/urlmill/urlmill/sources/codec"
)

// errNotRead says that a file is recognised but of a kind that is not read.
var errNotRead = errors.New("this is not a text and not one of the compressed formats that are read: " +
	"gzip, zstd, snappy (framed), S2, LZ4, bzip2, xz; unpack or convert it first, or give the codec parquet for Parquet files")

// errUTF16 says the same of a text.
var errUTF16 = errors.New("texts are read in UTF-8; convert it first, such as with: iconv -f UTF-16 -t UTF-8")

// errShrunk says that the end of a file has come before that which it had.
var errShrunk = errors.New("the file has become shorter while it was read")

// ReadError is the error of a file that could not be read to its end. All whole records before it have been
// delivered, and the other files are read all the same.
type ReadError struct {
	Path   string
	Format string // the name of the compression, "text" for none
	// Offset is where in the file, as it is stored, reading ended; a damage may lie somewhat before it.
	// Size is the size of the file, 0 when it is unknown.
	Offset, Size int64
	// Record is the position after the last record delivered, and Rest the number of bytes that were
	// read after it without a line end, and not delivered.
	Record int64
	Rest   int
	Err    error
}

// Error says what is wrong, how far reading got, and what to do.
func (e *ReadError) Error() string {
	if errors.Is(e.Err, errNotRead) || errors.Is(e.Err, errUTF16) {
		return fmt.Sprintf("%s: %s file: %v", e.Path, e.Format, e.Err)
	}
	if e.Format == objectFormat || errors.As(e.Err, new(*codec.FormatError)) {
		return fmt.Sprintf("%s: %v", e.Path, e.Err)
	}
	if e.Format == tableFormat {
		return e.tableMessage()
	}
	if window := (*errWindow)(nil); errors.As(e.Err, &window) {
		return fmt.Sprintf("%s: %s file: %v; allow more memory (memory_limit), let fewer files be read side by side (source.file.parallel), "+
			"or compress it again with a smaller window, such as with: zstd -19", e.Path, e.Format, e.Err)
	}
	what, remedy := e.diagnose()
	at := fmt.Sprintf("byte %d", e.Offset)
	if e.Size > 0 {
		at += fmt.Sprintf(" of %d", e.Size)
	}
	rest := ""
	if e.Rest > 0 {
		rest = fmt.Sprintf(", the %d bytes of an unfinished line after them were not", e.Rest)
	}
	return fmt.Sprintf("%s: %s at %s: %v; the %d records before it were read%s; %s: record %d is next",
		e.Path, what, at, e.Err, e.Record, rest, remedy, e.Record)
}

// diagnose tells what happened and what to do about it.
func (e *ReadError) diagnose() (what, remedy string) {
	switch {
	case errors.Is(e.Err, errShrunk):
		return "it ends too early", "get the whole file and run again"
	case e.Format == "text" && !errors.Is(e.Err, io.ErrUnexpectedEOF):
		return "reading failed", "check the disk or the connection and run again"
	case e.truncated():
		return fmt.Sprintf("the %s data ends too early", e.Format), "get the whole file and run again"
	}
	return fmt.Sprintf("the %s data is damaged", e.Format), "get the file again from where it came, or repair it, and run again; " +
		"if it has the same bytes as far as they were read (source.file.on_changed decides if not)"
}

func (e *ReadError) truncated() bool {
	// The S2 reader takes an end in the middle of a chunk for any other damage.
	ended := e.Size > 0 && e.Offset >= e.Size
	return errors.Is(e.Err, io.ErrUnexpectedEOF) || errors.Is(e.Err, xz.ErrBuf) || ended && errors.Is(e.Err, s2.ErrCorrupt)
}

// Unwrap returns the error of the reader.
func (e *ReadError) Unwrap() error { return e.Err }

// TooShortError is the error of a file that has fewer records than were read from it the last time: it is not the
// same file any more.
type TooShortError struct {
	Path          string
	Next, Records int64 // the position to go on at, and the number of records there are
}

func (e *TooShortError) Error() string {
	return fmt.Sprintf("%s: reading goes on at record %d, but the file has %d records: it has been replaced or cut since; "+
		"put the file back, or deliver to another output to read it from the start", e.Path, e.Next, e.Records)
}

// ChangedError is the error of a file that is not the one any more that was read under its path, or that this run has
// looked at before.
type ChangedError struct {
	Path string
	Next int64  // the position after the last record read
	Why  string // what has changed
	Now  bool   // since this run has looked at it
}

func (e *ChangedError) Error() string {
	if e.Now {
		return fmt.Sprintf("%s: %s, and nothing of it has been read by this run: run again", e.Path, e.Why)
	}
	return fmt.Sprintf("%s: it has changed since its first %d records were delivered: %s; put back the file that was read, or set source.file.on_changed: "+
		"whole reads it from its beginning as a new file, skip leaves it out", e.Path, e.Next, e.Why)
}

// isOwn reports whether err concerns one file only, so that the others go on.
func isOwn(err error) bool {
	var read *ReadError
	var short *TooShortError
	var changed *ChangedError
	return errors.As(err, &read) || errors.As(err, &short) || errors.As(err, &changed)
}

// Package framing finds the records of a byte stream.
package framing

import (
	"bytes"
	"errors"
	"io"

	"github.com/urlmill/urlmill/sources/codec"
)

// ErrAgain is the error of a reader that has nothing to return now and may have later. [Lines.Next] returns it, and reads on when
// it is called again.
var ErrAgain = errors.New("nothing to read yet")

const (
	// firstBuffer is the memory a reader of lines begins with.
	firstBuffer = 128 << 10
	// shrinkAfter is how many reads go by without a record that needs more before it goes back to that: one
	// giant record is not to pin its memory, and a stream of them not to allocate for each.
	shrinkAfter = 8
	// maxEmptyReads is how often in a row an io.Reader may return nothing and no error.
	maxEmptyReads = 100
)

var (
	bom     = []byte("\ufeff")
	newline = []byte("\n")
)

// Lines splits a byte stream into lines. A line ends with LF or with CR LF, neither of which belongs to it, or
// with the end of the stream, which after a line end begins no further line. A UTF-8 byte order mark at the
// start of the stream is not part of it. All other bytes are data, NUL among them.
//
// It allocates nothing but the memory for one record.
type Lines struct {
	r   io.Reader
	max int
	buf []byte
	// buf[start:end] has been read and not been handed out; there is no line end before scanned.
	start, scanned, end int
	unneeded            int   // reads in a row that would have done with firstBuffer
	err                 error // of r, and what Next returns once the lines before it are through
	begun               bool  // the byte order mark is behind us
	skipping            bool  // the rest of a line that was cut is still to be left out
}

// NewLines returns a reader of the lines of r. A line longer than maxRecord bytes, which must be positive, is cut.
func NewLines(r io.Reader, maxRecord int) *Lines { return &Lines{r: r, max: maxRecord} }

// Next returns the next line, without its end. It is valid until the next call of Next. cut tells that the line is
// longer than the limit: record is its start, and the rest is left out.
//
// The error is io.EOF at the end of the stream, and else the one that reading ended with, after all whole lines
// before it. What follows the last of them is in Rest then. Only [ErrAgain] is no end.
func (l *Lines) Next() (record []byte, cut bool, err error) {
	for !l.begun && l.err == nil {
		l.Fill()
	}
	for {
		if i := bytes.IndexByte(l.buf[l.scanned:l.end], '\n'); i >= 0 {
			i += l.scanned
			line := l.buf[l.start:i]
			l.start, l.scanned = i+1, i+1
			if l.skipping {
				l.skipping = false
				continue
			}
			record, cut = l.limit(codec.TrimReturn(line))
			return record, cut, nil
		}
		l.scanned = l.end
		if rest := l.buf[l.start:l.end]; l.tooLong(rest) {
			l.start, l.skipping = l.end, true
			return rest[:l.max], true, nil
		}
		if l.err != nil {
			return l.last()
		}
		l.Fill()
	}
}

// Ready reports whether Next returns without reading: a whole line is there, or as much of it as is handed out, or
// the end of the stream.
func (l *Lines) Ready() bool {
	if !l.begun && l.err == nil {
		return false // what is there may be the start of a byte order mark
	}
	unread := l.buf[l.scanned:l.end]
	if l.skipping {
		_, unread, _ = bytes.Cut(unread, newline)
	}
	return l.err != nil || bytes.IndexByte(unread, '\n') >= 0 || l.tooLong(l.buf[l.start:l.end])
}

// Rest returns what came after the last whole line before an error other than io.EOF: the start of a line of which
// nobody knows how it goes on. It is valid as long as the Lines is not used.
func (l *Lines) Rest() []byte { return l.buf[l.start:l.end] }

// last returns the line that ends with the stream, and then the error.
func (l *Lines) last() (record []byte, cut bool, err error) {
	if l.err == ErrAgain { //nolint:errorlint // a wrapped one is an error like others
		l.err = nil
		return nil, false, ErrAgain
	}
	if l.skipping {
		l.start = l.end
	}
	if l.start == l.end || l.err != io.EOF { //nolint:errorlint // a wrapped io.EOF does not end the stream in good order
		return nil, false, l.err
	}
	line := l.buf[l.start:l.end]
	l.start = l.end
	record, cut = l.limit(codec.TrimReturn(line))
	return record, cut, nil
}

func (l *Lines) limit(line []byte) ([]byte, bool) {
	if len(line) > l.max {
		return line[:l.max], true
	}
	return line, false
}

// tooLong reports whether a line that begins with rest is longer than the limit, whatever follows.
func (l *Lines) tooLong(rest []byte) bool {
	if l.skipping {
		return false
	}
	return len(rest) > l.max+1 || len(rest) == l.max+1 && rest[l.max] != '\r'
}

// Fill reads once. Next does so by itself; Fill is for callers who look at Ready first, because they have
// something better to do than to wait for the rest of a line.
func (l *Lines) Fill() {
	if l.skipping && bytes.IndexByte(l.buf[l.scanned:l.end], '\n') < 0 {
		l.start, l.scanned = l.end, l.end
	}
	left := l.buf[l.start:l.end]
	l.unneeded++
	if len(left) >= firstBuffer {
		l.unneeded = 0
	}
	switch {
	case l.buf == nil, len(l.buf) > firstBuffer && l.unneeded > shrinkAfter:
		l.move(make([]byte, firstBuffer))
	case len(left) == len(l.buf):
		l.move(make([]byte, 2*len(l.buf)))
	case len(left) == 0 || l.end > len(l.buf)/2:
		l.move(l.buf)
	}
	l.read()
	if !l.begun {
		l.skipBOM()
	}
}

// move moves what is left to the front of buf, which becomes the buffer.
func (l *Lines) move(buf []byte) {
	n := copy(buf, l.buf[l.start:l.end])
	l.buf, l.scanned = buf, l.scanned-l.start
	l.start, l.end = 0, n
}

func (l *Lines) read() {
	for range maxEmptyReads {
		n, err := l.r.Read(l.buf[l.end:])
		l.end += n
		l.err = err
		if n > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}

// skipBOM removes the byte order mark once the first bytes tell whether there is one.
func (l *Lines) skipBOM() {
	head := l.buf[l.start:l.end]
	if bytes.HasPrefix(head, bom) {
		l.start += len(bom)
		l.scanned = l.start
		l.begun = true
		return
	}
	l.begun = !bytes.HasPrefix(bom, head)
}

package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/framing"
)

const (
	opening = "WARC/"
	// bufferSize is how much is read at a time. Blocks pass through the buffer and are kept nowhere.
	bufferSize = 64 << 10
	// maxHTTP is how much of a block is looked at for the end of its HTTP header.
	maxHTTP = 64 << 10
	// maxKept bounds the memory that a giant record leaves behind.
	maxKept = 1 << 20
	// maxJunk is how much is kept of bytes that are no record.
	maxJunk = 256
)

var (
	errARC = &codec.FormatError{Reason: "this is an ARC file, which is not read; make a WARC file of it first, such as with: warcio recompress in.arc.gz out.warc.gz"}
	record = []byte(opening)
)

// state is where in a record a reader is.
type state uint8

const (
	between  state = iota // before one
	header                // in its header
	http                  // in the HTTP header of its block
	payload               // in its block, which is kept
	skipping              // in its block, which is not
	behind                // behind its block
	junk                  // in bytes that belong to none, before the first record or behind a damage
)

// reader finds the records of an archive. Of each it keeps the header, and the HTTP header of its block or, for metadata, the block.
type reader struct {
	in   codec.Content
	max  int
	keep bool // the blocks of metadata

	buf        []byte
	start, end int   // of buf, what has been read and not used
	at         int64 // position in the content of buf[start]
	err        error // of the last read, to be dealt with behind buf[start:end]

	state   state
	rec     []byte // what is kept of the record
	line    int    // where the current line begins in rec
	most    int    // bytes of rec up to the end of an HTTP header
	left    int64  // bytes of the block that are still to come
	first   bool   // no record has begun in the member yet
	own     bool   // the record begins with its member
	fresh   bool   // a line begins here
	crossed bool   // a member has ended within the record, and nothing has been read since
	ended   codec.MemberEnd
	begun   int64 // position of the record in the content

	done, cut bool
	damage    bool  // the record, which is done, could not be read as a whole
	place     place // of the record that is done
	fail      error
}

// place is where a record is in its file. The length is 0 where a record has no bytes of its own there.
type place struct{ offset, length int64 }

// Next implements [codec.Records].
func (r *reader) Next() ([]byte, bool, error) {
	for !r.Ready() {
		r.Fill()
	}
	if r.done {
		r.done = false
		return r.rec, r.cut, nil
	}
	err := r.fail
	if err == framing.ErrAgain { //nolint:errorlint // as the stream returns it
		r.fail = nil
	}
	return nil, false, err
}

// Ready implements [codec.Records].
func (r *reader) Ready() bool {
	for !r.done && r.fail == nil && r.step() {
	}
	return r.done || r.fail != nil
}

// Rest implements [codec.Records].
func (r *reader) Rest() []byte {
	if r.done || r.state == between {
		return r.buf[r.start:r.end]
	}
	return r.rec
}

// Fill implements [codec.Records].
func (r *reader) Fill() {
	if r.buf == nil {
		r.buf = make([]byte, bufferSize)
	}
	if r.err != nil || r.end-r.start == len(r.buf) {
		return
	}
	r.end = copy(r.buf, r.buf[r.start:r.end])
	r.start = 0
	n, err := r.in.Read(r.buf[r.end:])
	r.end += n
	if r.err = err; err == framing.ErrAgain { //nolint:errorlint // as above
		r.err, r.fail = nil, err
	}
}

// step goes on with what has been read. It returns false if that is not enough.
func (r *reader) step() bool {
	if r.start == r.end || r.short() {
		return r.err != nil && r.stop()
	}
	if r.crossed {
		r.crossed = false
		if bytes.HasPrefix(r.buf[r.start:r.end], record) { // the record was shorter than it says
			r.finish(place{r.ended.Start, r.ended.End - r.ended.Start}, true)
			return true
		}
		r.own = false
	}
	switch r.state {
	case between:
		r.begin()
	case header:
		if r.lines(r.max) {
			r.endHeader()
		} else if len(r.rec) >= r.max {
			r.cut, r.left, r.state, r.fresh = true, 0, behind, false
		}
	case http:
		if r.lines(r.most) || len(r.rec) >= r.most || r.left == 0 {
			r.block()
		}
	case payload:
		r.take(int(min(int64(r.end-r.start), r.left, int64(r.max-len(r.rec)))))
		if r.cut = r.left > 0 && len(r.rec) == r.max; r.cut || r.left == 0 {
			r.block()
		}
	case skipping:
		n := min(int64(r.end-r.start), r.left)
		r.pass(int(n))
		r.left -= n
		r.block()
	case behind, junk:
		r.seek()
	}
	return true
}

// short reports whether what has been read is too short to say whether it begins a record.
func (r *reader) short() bool {
	undecided := r.state == between || r.state == behind || r.state == junk || r.crossed
	return undecided && r.err == nil && r.end-r.start < len(record)
}

// pass goes on behind n bytes.
func (r *reader) pass(n int) {
	r.start += n
	r.at += int64(n)
}

// take keeps the next n bytes, of a block unless the header is read.
func (r *reader) take(n int) {
	r.rec = append(r.rec, r.buf[r.start:r.start+n]...)
	r.pass(n)
	if r.state != header {
		r.left -= int64(n)
	}
}

// lines keeps lines up to an empty one, and reports whether that has come. It keeps most bytes in all.
func (r *reader) lines(most int) bool {
	for r.start < r.end && len(r.rec) < most {
		n := min(r.end-r.start, most-len(r.rec))
		if r.state != header {
			n = int(min(int64(n), r.left))
		}
		if n == 0 {
			return false
		}
		i := bytes.IndexByte(r.buf[r.start:r.start+n], '\n')
		if i < 0 {
			r.take(n)
			continue
		}
		r.take(i + 1)
		line := codec.TrimReturn(r.rec[r.line : len(r.rec)-1])
		if r.line = len(r.rec); len(line) == 0 {
			return true
		}
	}
	return false
}

// begin begins a record, or finds that there is none.
func (r *reader) begin() {
	data := r.buf[r.start:r.end]
	if b := data[0]; b == '\r' || b == '\n' {
		r.pass(1)
		return
	}
	if cap(r.rec) > maxKept {
		r.rec = nil
	}
	r.rec, r.line, r.left, r.cut, r.damage, r.begun = r.rec[:0], 0, 0, false, false, r.at
	r.own, r.first = r.first, false
	switch {
	case bytes.HasPrefix(data, record):
		r.state = header
	case r.at == 0 && bytes.HasPrefix(data, []byte("filedesc:")):
		r.fail = errARC
	case r.at == 0:
		r.fail = &codec.FormatError{Reason: fmt.Sprintf("this is no WARC file: it begins with %q, and a record with %q; give another codec, or leave the file out",
			data[:min(len(data), 16)], opening)}
	default:
		r.state, r.own, r.fresh, r.damage = junk, false, false, true
	}
}

// endHeader looks at the header that is complete.
func (r *reader) endHeader() {
	h := parseHeader(r.rec)
	length, ok := codec.ParseInt(h.length)
	switch {
	case !ok: // nothing says where the block ends
		r.left, r.damage = 0, true
	case r.keep && bytes.EqualFold(h.kind, []byte("metadata")):
		r.left, r.state, r.rec, r.line = length, payload, r.rec[:0], 0
	case !r.keep && h.isHTTP():
		r.left, r.state, r.most = length, http, min(r.max, len(r.rec)+maxHTTP)
	default:
		r.left, r.state = length, skipping
	}
	if r.left == 0 {
		r.block()
	}
}

// block goes on with what is left of the block.
func (r *reader) block() {
	if r.state = skipping; r.left == 0 {
		r.state, r.fresh = behind, true
	}
}

// seek goes on to the next record, which begins a line. What stands before it belongs to the last one, whose length may be wrong.
func (r *reader) seek() {
	data := r.buf[r.start:r.end]
	switch {
	case !r.fresh:
		n := bytes.IndexByte(data, '\n') + 1
		if r.fresh = n > 0; !r.fresh {
			n = len(data)
		}
		r.junk(data[:n])
		r.pass(n)
	case data[0] == '\r' || data[0] == '\n':
		r.pass(1)
	case bytes.HasPrefix(data, record):
		r.finish(r.here(), r.damage)
	default:
		r.fresh = false
	}
}

// here returns the place of a record that ends here. One of several in a member has no bytes of its own.
func (r *reader) here() place {
	if r.in.Plain() {
		return place{r.begun, r.at - r.begun}
	}
	return place{}
}

// junk keeps the first bytes of what is no record.
func (r *reader) junk(data []byte) {
	if room := maxJunk - len(r.rec); r.state == junk && room > 0 {
		r.rec = append(r.rec, data[:min(len(data), room)]...)
	}
}

// finish ends the record.
func (r *reader) finish(p place, damage bool) {
	r.done, r.damage, r.place, r.state, r.crossed = true, damage, p, between, false
}

// stop deals with the error that reading has ended with, or with the end of a member, when all before it has been used.
func (r *reader) stop() bool {
	var member *codec.MemberEnd
	inside := r.state != between
	switch {
	case errors.As(r.err, &member):
		r.err = nil
		r.endMember(member)
	case r.err != io.EOF: //nolint:errorlint // a wrapped io.EOF does not end it in good order
		r.fail = r.err
	case r.crossed: // the record was shorter than it says
		r.finish(place{r.ended.Start, r.ended.End - r.ended.Start}, true)
	case r.state == behind || r.state == junk:
		r.finish(r.here(), r.damage)
	case inside:
		r.fail = fmt.Errorf("the last record lacks its end: %w", io.ErrUnexpectedEOF)
	default:
		r.fail = io.EOF
	}
	return true
}

// endMember ends a member of the file.
func (r *reader) endMember(m *codec.MemberEnd) {
	inside := r.state != between
	alone := r.own
	r.first = true
	if m.Damage != nil && !inside {
		r.rec = r.rec[:0]
		r.cut = false
		r.finish(place{m.Start, m.End - m.Start}, true)
		return
	}
	switch {
	case m.Damage != nil:
		r.finish(place{m.Start, m.End - m.Start}, true)
	case r.state == behind && alone:
		r.finish(place{m.Start, m.End - m.Start}, r.damage)
	case r.state == behind || r.state == junk:
		r.finish(place{}, r.damage)
	case inside && !r.crossed:
		r.crossed, r.ended = true, *m
	}
}

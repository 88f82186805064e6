package accesslog

import (
	"bytes"
	"strings"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/urlcore/charset"
)

// span is where a field stands in the line.
type span struct{ start, end int }

// lines implements [codec.Codec].
type lines struct {
	*factory
	fault   codec.FirstFault // of the current record
	tokens  []token          // the factory's, or those of the last #Fields line
	binding binding

	spans   []span // of the tokens
	set     []bool // columns that have a value in this row
	scratch []byte
	line    []byte
}

// Prepare implements [codec.Codec].
func (c *lines) Prepare(b *pipeline.Batch) {
	codec.PrepareCarried(b, c.columns)
}

// Observe implements [codec.Observer].
func (c *lines) Observe(record []byte) {
	if c.w3c {
		c.directive(codec.TrimReturn(record))
	}
}

// Decode implements [codec.Codec].
func (c *lines) Decode(b *pipeline.Batch, record []byte) bool {
	line := codec.TrimReturn(record)
	if c.w3c && len(line) > 0 && line[0] == '#' {
		c.directive(line)
		return false
	}
	b.Records.Append(record)
	var at int
	var ok bool
	if c.w3c {
		at, ok = c.splitW3C(line)
	} else {
		at, ok = c.split(line)
	}
	if !ok {
		codec.AppendNulls(b, false)
		codec.AddFault(b, pipeline.FaultMalformed, int64(at))
		return true
	}
	c.line = line
	c.fault.Reset()
	clear(c.set)
	c.appendURL(b)
	for i := range c.spans {
		c.appendField(b, i)
	}
	for i, set := range c.set {
		if !set {
			b.Carried[i].AppendNull()
		}
	}
	c.fault.AddTo(b)
	c.line = nil
	return true
}

// DecodeNull implements [codec.Codec].
func (c *lines) DecodeNull(b *pipeline.Batch) {
	b.Records.AppendNull()
	codec.AppendNulls(b, false)
	codec.AddFault(b, pipeline.FaultNull, -1)
}

// split finds the fields of a line. Where it does not fit the format it returns the byte from which on.
func (c *lines) split(line []byte) (at int, ok bool) {
	c.spans = c.spans[:0]
	if c.syslog {
		at = headerEnd(line)
	}
	for i := range c.tokens {
		t := &c.tokens[i]
		if !bytes.HasPrefix(line[at:], []byte(t.before)) {
			if c.open && i > 0 && strings.HasPrefix(t.before, string(line[at:])) {
				return len(line), true // a vendor's older format, which ends earlier
			}
			return at, false
		}
		at += len(t.before)
		end := c.fieldEnd(line, at, i)
		if end < 0 {
			return at, false
		}
		c.spans = append(c.spans, span{at, end})
		at = end
	}
	if c.open {
		return at, true
	}
	return at, string(line[at:]) == c.after
}

// headerEnd returns where the message behind a syslog header begins, 0 where there is none.
func headerEnd(line []byte) int {
	colon := bytes.Index(line, []byte("]: "))
	if colon < 0 || bytes.IndexByte(line[:colon], '[') != bytes.LastIndexByte(line[:colon], '[') {
		return 0
	}
	return colon + len("]: ")
}

// fieldEnd returns where the field of token i that begins at start ends, -1 where what has to follow does not.
func (c *lines) fieldEnd(line []byte, start, i int) int {
	if c.tokens[i].quoted {
		return quotedEnd(line, start)
	}
	next := c.after
	if i+1 < len(c.tokens) {
		next = c.tokens[i+1].before
	}
	rest := line[start:]
	if next == "" && c.open {
		next = " "
	}
	if next == "" {
		return len(line)
	}
	n := bytes.IndexByte(rest, next[0])
	if n >= 0 && len(next) > 1 {
		n = bytes.Index(rest, []byte(next))
	}
	if n < 0 && c.open {
		// The last field that an older format has.
		if n = bytes.IndexAny(rest, " \"]"); n < 0 {
			n = len(rest)
		}
	}
	if n < 0 {
		return -1
	}
	return start + n
}

// quotedEnd returns where the quotation mark stands that no backslash escapes.
func quotedEnd(line []byte, start int) int {
	for at := start; ; {
		n := bytes.IndexByte(line[at:], '"')
		if n < 0 {
			return -1
		}
		at += n
		slashes := at
		for slashes > start && line[slashes-1] == '\\' {
			slashes--
		}
		if (at-slashes)%2 == 0 {
			return at
		}
		at++
	}
}

// value returns the text of field i, nothing for one that is - or not there.
func (c *lines) value(i int) []byte {
	if i < 0 || i >= len(c.spans) {
		return nil
	}
	v := c.line[c.spans[i].start:c.spans[i].end]
	if len(v) == 1 && v[0] == '-' {
		return nil
	}
	return v
}

// appendField adds field i to its column, if it has one that has no value yet.
func (c *lines) appendField(b *pipeline.Batch, i int) {
	column := c.binding.columns[i]
	if column < 0 || c.set[column] {
		return
	}
	value := c.value(i)
	if len(value) == 0 {
		return
	}
	dst, f := &b.Carried[column], &c.tokens[i].field
	ok := true
	switch dst.Field.Type {
	case pipeline.Int64, pipeline.Float64:
		ok = codec.AppendNumber(dst, value)
	case pipeline.Timestamp:
		var t int64
		if t, ok = c.time(value, f.role); ok {
			dst.Ints = append(dst.Ints, t)
		}
	default:
		dst.Text.Data = charset.AppendUTF8(dst.Text.Data, c.unescaped(value, f.escape))
		dst.Text.End()
	}
	if !ok {
		c.fault.Note(pipeline.FaultFieldType, int64(c.spans[i].start))
		return
	}
	dst.Valid = append(dst.Valid, true)
	c.set[column] = true
}

func (c *lines) time(value []byte, r role) (int64, bool) {
	switch r {
	case timeCLF:
		return codec.ParseCLF(value)
	case timeISO:
		return codec.ParseRFC3339(value)
	case timeMillis:
		return codec.ParseEpoch(value, codec.EpochMillis)
	case clock:
		day, ok := codec.ParseDay(c.value(c.binding.roles[dateOnly]))
		of, valid := codec.ParseClock(value)
		return day + of, ok && valid
	default:
		return codec.ParseEpoch(value, codec.EpochSeconds)
	}
}

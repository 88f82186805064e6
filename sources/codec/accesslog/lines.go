package accesslog

import (
	"bytes"
	"encoding/binary"
	"math/bits"
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
	row     int    // number of the current one; a column has its value when it has more entries
	scratch []byte
	line    []byte
	plain   bool // it has neither backslashes nor bytes beyond ASCII; false also where nobody looked
	slow    bool // for tests: no line is taken for plain, so that all of them go the readable way
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
	switch {
	case c.w3c:
		at, ok = c.splitW3C(line)
	case c.tabs:
		at, ok = c.splitBy(line, '\t')
	default:
		at, ok = c.split(line)
	}
	if !ok {
		codec.AppendNulls(b, false)
		codec.AddFault(b, pipeline.FaultMalformed, int64(at))
		return true
	}
	c.line = line
	c.row = len(b.URLs.Valid)
	c.fault.Reset()
	c.appendURL(b)
	c.appendFields(b)
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
	if c.syslog {
		at = headerEnd(line)
	}
	c.plain = !c.slow && isPlain(line)
	if c.plain && !c.open && c.splitPlain(line, at) {
		return len(line), true
	}
	c.spans = c.spans[:0]
	for i := range c.tokens {
		t := &c.tokens[i]
		if !hasPrefix(line[at:], t.before) {
			if c.open && i > 0 && strings.HasPrefix(t.before, string(line[at:])) {
				return len(line), true // a vendor's older format, which ends earlier
			}
			return at, false
		}
		at += len(t.before)
		end := c.fieldEnd(line, at, t)
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

// splitPlain is split for most lines: those that are plain and fit the format. It returns false where it is not sure, for
// split to look closer.
func (c *lines) splitPlain(line []byte, at int) bool {
	tokens := c.tokens
	if at > len(line) || !hasPrefix(line[at:], tokens[0].before) {
		return false
	}
	at += len(tokens[0].before)
	spans := c.spans[:len(tokens)]
	for i := range spans {
		t := &tokens[i]
		rest := line[at:]
		n := len(rest)
		if t.next != "" {
			if n = indexByte(rest, t.next[0]); n < 0 || !t.isAt(rest[n:]) {
				return false
			}
		}
		spans[i] = span{at, at + n}
		at += n + len(t.next)
	}
	c.spans = spans
	return at == len(line)
}

// headerEnd returns where the message behind a syslog header begins, 0 where there is none.
func headerEnd(line []byte) int {
	colon := bytes.Index(line, []byte("]: "))
	if colon < 0 || bytes.IndexByte(line[:colon], '[') != bytes.LastIndexByte(line[:colon], '[') {
		return 0
	}
	return colon + len("]: ")
}

// fieldEnd returns where the field of token t that begins at start ends, -1 where what has to follow does not.
func (c *lines) fieldEnd(line []byte, start int, t *token) int {
	if t.quoted {
		return quotedEnd(line, start)
	}
	if t.next == "" {
		return len(line)
	}
	n := bytes.Index(line[start:], []byte(t.next))
	if n < 0 && c.open {
		// The last field that an older format has.
		if n = bytes.IndexAny(line[start:], " \"]"); n < 0 {
			return len(line)
		}
	}
	if n < 0 {
		return -1
	}
	return start + n
}

// hasPrefix is bytes.HasPrefix for a prefix of few bytes, which a call would take longer for.
func hasPrefix(s []byte, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if s[i] != prefix[i] {
			return false
		}
	}
	return true
}

const ones, high = 0x0101010101010101, 0x8080808080808080

// indexByte is bytes.IndexByte for fields, most of which are short: their end is among the first sixteen bytes, which takes
// less than a call. (x - 0x01…) & ^x & 0x80… flags the zero bytes of x, exactly up to the first.
func indexByte(s []byte, b byte) int {
	if len(s) >= 16 {
		x := binary.LittleEndian.Uint64(s) ^ ones*uint64(b)
		if hit := (x - ones) &^ x & high; hit != 0 {
			return bits.TrailingZeros64(hit) / 8
		}
		x = binary.LittleEndian.Uint64(s[8:]) ^ ones*uint64(b)
		if hit := (x - ones) &^ x & high; hit != 0 {
			return bits.TrailingZeros64(hit)/8 + 8
		}
	}
	return bytes.IndexByte(s, b)
}

// isPlain reports whether line has neither a backslash nor a byte beyond ASCII.
func isPlain(line []byte) bool {
	if bytes.IndexByte(line, '\\') >= 0 {
		return false
	}
	s := line
	for ; len(s) >= 32; s = s[32:] {
		le := binary.LittleEndian
		if (le.Uint64(s)|le.Uint64(s[8:])|le.Uint64(s[16:])|le.Uint64(s[24:]))&high != 0 {
			return false
		}
	}
	odd := byte(0)
	for _, b := range s {
		odd |= b
	}
	return odd < 0x80
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

// appendFields adds the fields to their columns, those that have one that has no value yet. Then it gives every column
// that has none a null.
func (c *lines) appendFields(b *pipeline.Batch) {
	line, row, columns := c.line, c.row, c.binding.columns
	for i, at := range c.spans {
		if i >= len(columns) || uint(columns[i]) >= uint(len(b.Carried)) { // a column of -1 is none
			continue
		}
		value := line[at.start:at.end]
		dst := &b.Carried[columns[i]]
		if len(value) == 0 || len(value) == 1 && value[0] == '-' || len(dst.Valid) > row {
			continue
		}
		if c.plain && dst.Field.Type == pipeline.String {
			dst.Text.Append(value)
			dst.Valid = append(dst.Valid, true)
		} else {
			c.appendField(dst, i, value)
		}
	}
	for i := range b.Carried {
		if v := &b.Carried[i]; len(v.Valid) == row {
			v.AppendNull()
		}
	}
}

// appendField adds value, that of field i.
func (c *lines) appendField(dst *pipeline.Values, i int, value []byte) {
	f := &c.tokens[i].field
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

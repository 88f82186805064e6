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
	*layout                  // of the line: one of the factory's, or that of the last #Fields line
	current int              // index of the factory's
	fault   codec.FirstFault // of the current record

	spans    []span // of the tokens
	lastTime readTime
	row      int // number of the current one; a column has its value when it has more entries
	scratch  []byte
	line     []byte
	plain    bool // it has neither backslashes nor bytes beyond ASCII; false also where nobody looked
	ascii    bool // it has no bytes beyond ASCII; false also where nobody looked
	slow     bool // for tests: no line is taken for plain, so that all of them go the readable way

	reader        *codec.PlaceReader // of a format in JSON
	unescapedLine []byte             // a record with the texts behind it that had escapes
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
	c.line = line
	c.fault.Reset()
	switch {
	case c.places != nil:
		at, ok = c.splitJSON(line)
	case c.w3c:
		c.ascii = !c.slow && isASCII(line)
		at, ok = c.splitW3C(line)
	case c.tabs:
		c.ascii = !c.slow && isASCII(line)
		at, ok = c.splitBy(line, '\t')
	default:
		at, ok = c.split(line)
	}
	if !ok {
		c.line = nil
		return c.Nulls(b, pipeline.FaultMalformed, at)
	}
	c.row = len(b.URLs.Valid)
	c.appendURL(b)
	if c.binding.address >= 0 {
		c.appendPeer(b)
	}
	c.appendFields(b)
	c.fault.AddTo(b)
	c.line = nil
	if cap(c.unescapedLine) > maxScratch {
		c.unescapedLine = nil
	}
	return true
}

// split finds the fields of a line. Where it does not fit the format it returns the byte from which on.
func (c *lines) split(line []byte) (at int, ok bool) {
	switch {
	case c.syslog:
		at = headerEnd(line)
	case c.header:
		at = syslogEnd(line)
	}
	c.plain = !c.slow && isPlain(line)
	if c.plain && !c.padded && c.splitPlain(line, at) && (c.client == 0 || c.isBare(line)) && c.isListed(line) && c.isQuoted(line) {
		return len(line), true
	}
	var l lead
	if c.client > 0 {
		if l, ok = readLead(line, c.client > 1); !ok {
			return l.at, false
		}
		at = l.at
	}
	before, furthest := c.current, 0
	for i := range c.layouts {
		c.use(i)
		end, ok := c.splitLayout(line, at, &l)
		switch {
		case !ok:
		case !c.isQuoted(line):
			end, ok = bytes.LastIndexByte(line, '"'), false
		case c.open && len(c.spans) < c.own && c.binding.roles[host] == len(c.spans)-1:
			ok = false // the host itself may have been cut
		}
		if ok {
			return end, true
		}
		furthest = max(furthest, end)
	}
	c.use(before)
	return furthest, false
}

// isQuoted reports whether line has as many quotation marks as it should have.
func (c *lines) isQuoted(line []byte) bool {
	return c.quotes == 0 || bytes.Count(line, []byte(`"`)) == c.quotes
}

// use makes the factory's layout i that of the line.
func (c *lines) use(i int) { c.current, c.layout = i, &c.layouts[i] }

// isBare reports whether nothing stands before the client's address, and nothing was shifted, in a line that splitPlain has
// split. It is false for lines that have to be looked at closer.
func (c *lines) isBare(line []byte) bool {
	s := c.spans[c.client-1:]
	if c.client > 1 && (!isClient(line[:c.spans[0].end]) || !isNumber(line[c.spans[1].start:c.spans[1].end])) {
		return false // see hostPort
	}
	return s[1].end == s[1].start+1 && line[s[1].start] == '-' && isClient(line[s[0].start:s[0].end])
}

// isListed reports whether the field that has to be a list of addresses is one, or empty.
func (c *lines) isListed(line []byte) bool {
	if c.layout.list == 0 {
		return true
	}
	s := c.spans[c.layout.list-1]
	return s.start == s.end || s.is(line, "-") || isList(line[s.start:s.end])
}

// splitLayout finds the fields of a line in the current layout, from at on, behind lead.
func (c *lines) splitLayout(line []byte, at int, l *lead) (end int, ok bool) {
	c.spans = c.spans[:0]
	if c.client == 0 {
		return c.splitTokens(line, at, c.layout.tokens[:c.own])
	}
	if c.client > 1 {
		c.spans = append(c.spans, l.host, l.port)
	}
	if end, ok = c.splitTokens(line, at, c.layout.tokens[c.client-1:c.own]); !ok {
		return end, false
	}
	s := c.spans[c.client-1:]
	if !isClient(line[s[0].start:s[0].end]) && l.first.end == 0 || !isUser(line[s[1].start:s[1].end], line[s[2].start:s[2].end]) {
		return at, false
	}
	if !c.isListed(line) {
		return c.spans[c.layout.list-1].start, false
	}
	if l.first.end > 0 {
		s[0] = l.first
	}
	c.spans = append(c.spans, l.list, l.host, l.port)
	return end, true
}

// splitTokens finds the fields of tokens from at to the end of the line.
func (c *lines) splitTokens(line []byte, at int, tokens []token) (end int, ok bool) {
	for i := range tokens {
		t := &tokens[i]
		before := t.before
		if i == 0 && c.client > 1 {
			before = "" // the lead has it
		}
		if !hasPrefix(line[at:], before) {
			if c.open && i > 0 && strings.HasPrefix(before, string(line[at:])) {
				return len(line), true // a vendor's older format, which ends earlier
			}
			return at, false
		}
		at += len(before)
		for t.padded && at < len(line) && line[at] == ' ' {
			at++
		}
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
	return at, string(line[at:]) == c.layout.after
}

// splitPlain is split for most lines: those that are plain and fit the format. It returns false where it is not sure, for
// split to look closer.
func (c *lines) splitPlain(line []byte, at int) bool {
	tokens := c.layout.tokens[:c.own]
	if at > len(line) || !hasPrefix(line[at:], tokens[0].before) {
		return false
	}
	at += len(tokens[0].before)
	c.spans = c.spans[:len(tokens)]
	spans := c.spans
	for i := range spans {
		t := &tokens[i]
		rest := line[at:]
		n := len(rest)
		if t.next != "" {
			if t.until != 0 {
				n = t.colon(rest)
			} else if hit, ok := firstByte(rest, t.first); ok {
				n = hit
			} else {
				n = indexByte(rest, t.next[0])
			}
			if n < 0 || len(t.next) > 1 && !t.isAt(rest[n:]) {
				return c.open && c.splitLast(rest, at, i, n)
			}
		}
		spans[i] = span{at, at + n}
		at += n + len(t.next)
	}
	return at == len(line)
}

// splitLast adds field i, that begins with rest at at, if the line ends with it, or at n of rest within what would follow it, as lines
// of a vendor's older format do. It returns false where that takes a closer look.
func (c *lines) splitLast(rest []byte, at, i, n int) bool {
	if n < 0 {
		n = len(rest)
	}
	t := &c.layout.tokens[i]
	if len(rest)-n > len(t.next) || !strings.HasPrefix(t.next, string(rest[n:])) || i == c.binding.roles[host] ||
		t.quoted && n == len(rest) || !t.quoted && bytes.ContainsAny(rest[:n], " \"]") {
		return false
	}
	c.spans = append(c.spans[:i], span{at, at + n})
	return true
}

// headerEnd returns where the message behind a syslog header begins, 0 where there is none.
func headerEnd(line []byte) int {
	colon := bytes.IndexByte(line, ']')
	if colon < 0 {
		return 0
	}
	if !hasPrefix(line[colon:], "]: ") { // which takes longer to find
		if colon = bytes.Index(line, []byte("]: ")); colon < 0 {
			return 0
		}
	}
	if open := bytes.IndexByte(line[:colon], '['); bytes.IndexByte(line[open+1:colon], '[') >= 0 {
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
		if c.strict && bytes.IndexByte(line[start:], ' ') >= 0 {
			return -1
		}
		return len(line)
	}
	n := bytes.Index(line[start:], []byte(t.next))
	if t.until != 0 {
		n = t.colon(line[start:])
	} else if c.strict && n != bytes.IndexByte(line[start:], t.next[0]) {
		return -1
	}
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
// less than a call.
func indexByte(s []byte, b byte) int {
	if len(s) >= 16 {
		if at, ok := firstByte(s, ones*uint64(b)); ok {
			return at
		}
		if at, ok := firstByte(s[8:], ones*uint64(b)); ok {
			return at + 8
		}
	}
	return bytes.IndexByte(s, b)
}

// firstByte returns where among the first eight bytes of s the byte is that word has eight times, and whether it is there.
// (x - 0x01…) & ^x & 0x80… flags the zero bytes of x, exactly up to the first.
func firstByte(s []byte, word uint64) (at int, ok bool) {
	if len(s) < 8 {
		return 0, false
	}
	x := binary.LittleEndian.Uint64(s) ^ word
	hit := (x - ones) &^ x & high
	return bits.TrailingZeros64(hit) / 8, hit != 0
}

// isPlain reports whether line has neither a backslash nor a byte beyond ASCII.
func isPlain(line []byte) bool {
	n := len(line)
	if n < 8 {
		return bytes.IndexByte(line, '\\') < 0 && isASCII(line)
	}
	// The last eight bytes are one word, some of which has been seen before: a loop over a rest of few bytes takes longer.
	hit := plainHit(line[n-8:])
	for ; len(line) >= 32; line = line[32:] {
		hit |= plainHit(line) | plainHit(line[8:]) | plainHit(line[16:]) | plainHit(line[24:])
	}
	for ; len(line) >= 8; line = line[8:] {
		hit |= plainHit(line)
	}
	return hit&high == 0
}

// plainHit returns a word with the highest bit of a byte set if one of the first eight of s is a backslash or beyond ASCII.
func plainHit(s []byte) uint64 {
	x := binary.LittleEndian.Uint64(s)
	slash := x ^ '\\'*ones
	return x | (slash-ones)&^slash
}

// isASCII reports whether s has no byte beyond ASCII.
func isASCII(s []byte) bool {
	for ; len(s) >= 32; s = s[32:] {
		le := binary.LittleEndian
		if (le.Uint64(s)|le.Uint64(s[8:])|le.Uint64(s[16:])|le.Uint64(s[24:]))&high != 0 {
			return false
		}
	}
	odd := uint64(0)
	for ; len(s) >= 8; s = s[8:] {
		odd |= binary.LittleEndian.Uint64(s)
	}
	for _, b := range s {
		odd |= uint64(b)
	}
	return odd&high == 0
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
			continue
		}
		if dst.Field.Type == pipeline.Int64 {
			if n, ok := codec.ParseInt(value); ok {
				dst.Ints = append(dst.Ints, n)
				dst.Valid = append(dst.Valid, true)
				continue
			}
		}
		c.appendField(b, columns[i], i, value)
	}
	for i := range b.Carried {
		if v := &b.Carried[i]; len(v.Valid) == row {
			v.AppendNull()
		}
	}
}

// appendField adds value, that of field i, to a carried column.
func (c *lines) appendField(b *pipeline.Batch, column, i int, value []byte) {
	dst := &b.Carried[column]
	f := &c.layout.tokens[i].field
	var ok bool
	switch {
	case dst.Field.Type == pipeline.String:
		text := c.unescaped(value, f.escape)
		if c.ascii && len(text) == len(value) { // an escape is longer than what it stands for
			dst.Text.Data = append(dst.Text.Data, text...)
		} else {
			dst.Text.Data = charset.AppendUTF8(dst.Text.Data, text)
		}
		dst.Text.End()
		ok = true
	case dst.Field.Type == pipeline.Timestamp && f.role.isTime():
		var t int64
		if t, ok = c.time(value, f.role); ok {
			dst.Ints = append(dst.Ints, t)
		}
	case dst.Field.Type == pipeline.Float64 && c.places != nil:
		if f.role == seconds {
			value = bytes.TrimSuffix(value, []byte("s"))
		}
		var n float64
		if n, ok = codec.ParseNumber(value); ok {
			dst.Floats = append(dst.Floats, n)
		}
	default:
		ok = codec.AppendScalar(dst, value, f.role.format())
	}
	if !ok {
		c.fault.NoteField(column, c.position(i))
		return
	}
	dst.Valid = append(dst.Valid, true)
}

// format returns how a time is written that not access logs alone have.
func (r role) format() codec.TimeFormat {
	switch r {
	case timeMillis:
		return codec.EpochMillis
	default:
		return codec.EpochSeconds
	}
}

// isTime reports whether the role is that of a time which [lines.time] reads.
func (r role) isTime() bool { return r == timeCLF || r == timeISO || r == timeAny || r == clock }

// time reads a time as access logs alone have them. Many lines have the second of the line before, whose text is not read again.
func (c *lines) time(value []byte, r role) (micros int64, ok bool) {
	if r == clock {
		return c.parseTime(value, r)
	}
	last, seconds, fraction := &c.lastTime, len(value), int64(0)
	if r == timeCLF {
		seconds = len("02/Jan/2006:15:04:05")
	}
	if len(value) > seconds && value[seconds] == '.' {
		of, rest, isFraction := codec.ParseFraction(value[seconds:])
		if !isFraction || len(rest) > 0 {
			return c.parseTime(value, r)
		}
		fraction, value = of, value[:seconds]
	}
	if r != last.role || string(value) != string(last.text[:last.size]) {
		if micros, ok = c.parseTime(value, r); !ok || len(value) > len(last.text) {
			return micros + fraction, ok
		}
		last.role, last.size, last.micros = r, copy(last.text[:], value), micros
	}
	return last.micros + fraction, true
}

// readTime is a time that has been read. Its role is one that has none before the first.
type readTime struct {
	role   role
	text   [32]byte // its first size bytes
	size   int
	micros int64
}

func (c *lines) parseTime(value []byte, r role) (int64, bool) {
	switch r {
	case timeCLF:
		return codec.ParseCLF(value)
	case timeISO:
		return codec.ParseISO8601(value)
	case timeAny:
		return codec.ParseTime(value)
	case dateOnly:
		return codec.ParseDay(value)
	}
	day, ok := c.time(c.value(c.binding.roles[dateOnly]), dateOnly)
	of, valid := codec.ParseClock(value)
	return day + of, ok && valid
}

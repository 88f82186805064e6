package accesslog

import (
	"bytes"
	"strings"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/urlcore/charset"
	"github.com/urlmill/urlmill/urlcore/percent"
)

// appendURL puts the URL together.
func (c *lines) appendURL(b *pipeline.Batch) {
	r := &c.binding.roles
	if i := r[request]; i >= 0 && i < len(c.spans) {
		c.appendRequest(b, i)
		return
	}
	if c.origin != "" {
		c.appendAuthority(b)
		return
	}
	if verb := c.value(r[method]); string(verb) == "CONNECT" || string(verb) == "NONE" { // Squid's for what was no request
		c.noURL(b, pipeline.FaultFieldMissing, r[method])
		return
	}
	text := c.value(r[target])
	rest := []byte(nil)
	at := r[target]
	if len(text) == 0 {
		text, rest, at = c.value(r[path]), c.value(r[query]), r[path]
		if c.tabs && bytes.IndexByte(text, '?') >= 0 {
			rest = nil // of real-time logs, and only of them, the stem has the query
		}
	}
	if len(text) == 0 || string(text) == "*" {
		c.noURL(b, pipeline.FaultFieldMissing, at)
		return
	}
	e := byBackslash
	if at >= 0 {
		e = c.layout.tokens[at].field.escape
	}
	c.appendTarget(b, text, rest, e)
}

// putPort gives the column of the client's port, if there is one, its value from field i.
func (c *lines) putPort(b *pipeline.Batch, i int, value []byte) {
	column := c.binding.number
	if column >= len(b.Carried) || len(b.Carried[column].Valid) > c.row { // of a format that is recognised, it has no column
		return
	}
	dst := &b.Carried[column]
	if !codec.AppendScalar(dst, value, 0) {
		c.fault.NoteField(column, c.position(i))
		return
	}
	dst.Valid = append(dst.Valid, true)
}

// appendAuthority adds the URL of a connection, of which the log has no more than the host's name, and the address of the server with its port.
func (c *lines) appendAuthority(b *pipeline.Batch) {
	name := c.value(c.binding.roles[host])
	if len(name) == 0 {
		c.noURL(b, pipeline.FaultFieldMissing, c.binding.roles[host])
		return
	}
	dst := append(append(append(b.URLs.Data, c.origin...), "://"...), name...)
	server := c.value(c.binding.roles[port])
	if colon := bytes.LastIndexByte(server, ':'); colon >= 0 {
		dst = append(dst, server[colon:]...)
	}
	b.URLs.Data = dst
	b.URLs.End()
	b.URLs.Valid = append(b.URLs.Valid, true)
}

func (c *lines) noURL(b *pipeline.Batch, code pipeline.FaultCode, field int) {
	b.URLs.AppendNull()
	at := int64(-1)
	if field >= 0 && field < len(c.spans) {
		at = c.position(field)
	}
	c.fault.Note(code, at)
}

// appendPeer adds address and port of the client, which stand in one field with a colon between.
func (c *lines) appendPeer(b *pipeline.Batch) {
	i := c.binding.roles[peer]
	value := c.value(i)
	if len(value) == 0 {
		return
	}
	address := value
	if colon := bytes.LastIndexByte(value, ':'); colon > 0 && value[colon-1] != ':' {
		address = value[:colon]
		c.putPort(b, i, value[colon+1:])
	}
	c.putText(b, c.binding.address, bytes.Trim(address, "[]"))
}

// appendRequest takes field i, a request line, apart.
func (c *lines) appendRequest(b *pipeline.Batch, i int) {
	line := c.value(i)
	if len(line) == 0 {
		c.noURL(b, pipeline.FaultFieldMissing, i)
		return
	}
	space := indexByte(line, ' ')
	if space <= 0 || string(line[:space]) != "GET" && !isToken(line[:space]) {
		c.noURL(b, pipeline.FaultMalformed, i)
		return
	}
	verb, rest := line[:space], line[space+1:]
	if string(verb) == "-" {
		c.noURL(b, pipeline.FaultFieldMissing, i) // a load balancer's for a request that it could not read: - http://host:80- -
		return
	}
	text, version := rest, []byte(nil)
	last := len(rest) - len(" HTTP/1.1") // where the last space stands but for HTTP/2 and the like
	if last < 0 || string(rest[last:last+len(" HTTP/")]) != " HTTP/" || bytes.IndexByte(rest[last+len(" HTTP/"):], ' ') >= 0 {
		last = bytes.LastIndexByte(rest, ' ')
	}
	if last >= 0 && bytes.HasPrefix(rest[last+1:], []byte("HTTP/")) {
		text, version = rest[:last], rest[last+1:] // the target may have spaces that nobody escaped
	}
	c.putText(b, c.binding.method, verb)
	c.putText(b, c.binding.version, version)
	switch {
	case len(text) == 0 || string(text) == "*" || string(text) == "-" || string(verb) == "CONNECT":
		c.noURL(b, pipeline.FaultFieldMissing, i) // about the server or a connection, not about a resource
	default:
		c.appendTarget(b, text, nil, c.layout.tokens[i].field.escape)
	}
}

// isToken reports whether s may be a method.
//
// Source: RFC 9110, section 5.6.2
func isToken(s []byte) bool {
	for _, b := range s {
		switch {
		case 'a' <= b|0x20 && b|0x20 <= 'z', '0' <= b && b <= '9', bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), b) >= 0:
		default:
			return false
		}
	}
	return true
}

// putText gives a column of text its value, unless it has one.
func (c *lines) putText(b *pipeline.Batch, column int, value []byte) {
	if column < 0 || len(value) == 0 {
		return
	}
	dst := &b.Carried[column]
	if len(dst.Valid) > c.row {
		return
	}
	if c.plain {
		dst.Text.Data = append(dst.Text.Data, value...)
	} else {
		dst.Text.Data = charset.AppendUTF8(dst.Text.Data, value)
	}
	dst.Text.End()
	dst.Valid = append(dst.Valid, true)
}

// appendTarget adds a URL: text where it is absolute, and else the origin with text and query behind it.
func (c *lines) appendTarget(b *pipeline.Batch, text, rest []byte, e escape) {
	dst := b.URLs.Data
	if text[0] == '/' {
		dst = c.appendOrigin(dst)
	}
	dst = append(dst, c.unescaped(text, e)...)
	if len(rest) > 0 {
		if rest[0] != '?' {
			dst = append(dst, '?')
		}
		dst = append(dst, c.unescaped(rest, e)...)
	}
	b.URLs.Data = dst
	b.URLs.End()
	b.URLs.Valid = append(b.URLs.Valid, true)
}

// appendOrigin appends the origin that was asked. A log that has a host has it in every line but those without a
// request; where it is missing the base stands in, and without one the URL will be an error of its own.
func (c *lines) appendOrigin(dst []byte) []byte {
	r := &c.binding.roles
	name := c.value(r[host])
	if len(name) == 0 {
		name = c.value(r[edge])
	}
	if len(name) == 0 {
		return append(dst, c.base...)
	}
	number := c.value(r[port])
	dst = append(dst, c.schemeOf(number)...)
	dst = append(append(dst, "://"...), name...)
	if len(number) > 0 && bytes.IndexByte(name[bytes.LastIndexByte(name, ']')+1:], ':') < 0 {
		dst = append(append(dst, ':'), number...)
	}
	return dst
}

// schemeOf returns the scheme of the request as well as the log tells.
func (c *lines) schemeOf(port []byte) string {
	r := &c.binding.roles
	if s := c.value(r[scheme]); len(s) > 0 {
		if bytes.EqualFold(s, []byte("https")) || bytes.EqualFold(s, []byte("wss")) {
			return "https"
		}
		return "http"
	}
	if i := r[secure]; i >= 0 {
		if s := c.value(i); len(s) > 0 && string(s) != "off" && string(s) != "0" {
			return "https"
		}
		return "http"
	}
	switch string(port) {
	case "443":
		return "https"
	case "80":
		return "http"
	default:
		return c.scheme
	}
}

// unescaped returns value without its escapes, in scratch memory where it has any.
func (c *lines) unescaped(value []byte, e escape) []byte {
	if c.plain || e == asIs {
		return value
	}
	mark := [...]byte{byBackslash: '\\', byPercent: '%', byAgent: '%', byPlus: '+'}[e]
	i := bytes.IndexByte(value, mark)
	if i < 0 {
		return value
	}
	twice, known := false, e != byAgent
	n := i
	dst := append(c.scratch[:0], value...) // no longer than that
	for ; i < len(value); i++ {
		b := value[i]
		switch {
		case b != mark:
		case e == byPlus:
			b = ' '
		case e == byPercent || e == byAgent:
			digits := i + 1
			v, ok := hexByte(value[digits:])
			if v == '%' && !known {
				// A text with spaces that were escaped once has %2520 only where the browser sent %20.
				known, twice = true, bytes.Contains(value, []byte("%2520")) && !bytes.Contains(value, []byte("%20"))
			}
			if v == '%' && twice {
				digits = i + len("%25")
				v, ok = hexByte(value[digits:])
			}
			if ok {
				b, i = v, digits+1
			}
		case i+1 < len(value):
			b, i = unbackslashed(value, i)
		}
		dst[n] = b
		n++
	}
	c.scratch = dst
	if cap(c.scratch) > maxScratch {
		c.scratch = nil
	}
	return dst[:n]
}

// maxScratch bounds what a giant field leaves behind, in bytes.
const maxScratch = 64 << 10

// unbackslashed returns what the escape at value[i] stands for, and where it ends. An escape that is none stays.
func unbackslashed(value []byte, i int) (b byte, end int) {
	switch next := value[i+1]; next {
	case 'x':
		if v, ok := hexByte(value[i+2:]); ok {
			return v, i + 3
		}
		return '\\', i
	default:
		if at := strings.IndexByte(`ntr"\`, next); at >= 0 {
			return "\n\t\r\"\\"[at], i + 1
		}
		return '\\', i
	}
}

// hexByte reads two hexadecimal digits.
func hexByte(s []byte) (byte, bool) {
	if len(s) < 2 {
		return 0, false
	}
	high, ok := percent.Unhex(s[0])
	low, valid := percent.Unhex(s[1])
	return high<<4 | low, ok && valid
}

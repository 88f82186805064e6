// Package lineproto is "urlmill url --line-protocol": metrics in InfluxDB's line protocol go through, and those with a URL in
// a field or a tag get the URL's parts as further fields. Telegraf's processor execd speaks it.
//
// A metric without the field is passed on as it is, as are comments, and lines that are no metric: what they are is for
// others to say. Metrics are passed on while there is nothing more to read without waiting.
package lineproto

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/held"
	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/psl"
)

const (
	readSize = 256 << 10
	// maxMetric is the longest metric that is read, 64 MiB.
	maxMetric = 64 << 20
)

// Serve passes the metrics of r on to w until r ends; field is the name of the field or tag with the URL. The fields that are
// added have its name, an underscore, and scheme, host, port, registrable_domain, path, query or fragment, those that there are
// in this order; port is an integer, all others are strings. Where it is no URL there is error alone. Serve returns the error
// of w, or of r other than io.EOF.
func Serve(r io.Reader, w io.Writer, field string) error {
	s := &server{out: held.Output{W: w}, field: field}
	in := bufio.NewReaderSize(s.out.Before(r), readSize)
	return s.out.Serve(func() error {
		line, err := s.metric(in)
		if len(line) > 0 {
			s.pass(line)
		}
		return err
	})
}

type server struct {
	field string
	out   held.Output

	line, text []byte
	parser     urlcore.Parser
	url        urlcore.URL
}

// metric returns the next metric with its line end. It is valid until the next call. A string may have line ends in it.
func (s *server) metric(in *bufio.Reader) ([]byte, error) {
	s.line = s.line[:0]
	var end ending
	for {
		part, err := in.ReadSlice('\n')
		s.line = append(s.line, part...)
		end.read(part)
		switch {
		case len(s.line) > maxMetric:
			return nil, fmt.Errorf("a metric of more than %d bytes", maxMetric)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return s.line, err
		}
		if !end.open() {
			return s.line, nil
		}
	}
}

// pass adds a metric to what is to be written.
func (s *server) pass(line []byte) {
	m := split(line, s.field)
	if !m.found {
		s.out.Data = append(s.out.Data, line...)
		return
	}
	s.out.Data = append(s.out.Data, line[:m.fieldsEnd]...)
	s.text = unescape(s.text[:0], m.value, m.tag)
	if failure := s.parser.Parse(&s.url, s.text, nil); !failure.OK() {
		s.add("error", []byte(failure.Code.String()))
	} else {
		s.addParts()
	}
	s.out.Data = append(s.out.Data, line[m.fieldsEnd:]...)
	if cap(s.line) > 4*readSize {
		s.line = nil
	}
}

func (s *server) addParts() {
	u := &s.url
	s.add("scheme", u.Bytes(urlcore.Scheme))
	s.addNonEmpty("host", u.Bytes(urlcore.Host))
	if port := u.Bytes(urlcore.Port); len(port) > 0 {
		s.name("port")
		s.out.Data = append(append(s.out.Data, port...), 'i')
	}
	_, domain, _ := u.Site(psl.Default())
	s.addNonEmpty("registrable_domain", domain)
	s.addNonEmpty("path", u.Bytes(urlcore.Path))
	s.addNonEmpty("query", u.Bytes(urlcore.Query))
	s.addNonEmpty("fragment", u.Bytes(urlcore.Fragment))
}

func (s *server) addNonEmpty(suffix string, value []byte) {
	if len(value) > 0 {
		s.add(suffix, value)
	}
}

// name adds a comma, the name of a field, and the sign behind it.
func (s *server) name(suffix string) {
	s.out.Data = append(s.out.Data, ',')
	for i := range len(s.field) {
		if c := s.field[i]; c == ',' || c == '=' || c == ' ' {
			s.out.Data = append(s.out.Data, '\\')
		}
		s.out.Data = append(s.out.Data, s.field[i])
	}
	s.out.Data = append(append(append(s.out.Data, '_'), suffix...), '=')
}

// add adds a field with a string.
func (s *server) add(suffix string, value []byte) {
	s.name(suffix)
	s.out.Data = append(s.out.Data, '"')
	for _, b := range value {
		if b == '"' || b == '\\' {
			s.out.Data = append(s.out.Data, '\\')
		}
		s.out.Data = append(s.out.Data, b)
	}
	s.out.Data = append(s.out.Data, '"')
}

// parts is what is known of a metric.
type parts struct {
	found     bool   // the field or tag is there, with a text
	tag       bool   // it is a tag
	value     []byte // as it stands there, without quotes
	fieldsEnd int    // where the fields end
}

// ending finds out whether a metric goes on behind a line end, by a look at each of its bytes: in a string it does.
type ending struct {
	in      section
	escaped bool // by the byte before
}

// section is what a byte of a metric belongs to.
type section uint8

const (
	atStart section = iota
	inTags          // and the measurement
	inName          // of a field
	atValue         // its first byte
	inValue         // that is no string
	inString
	behindString
	behindFields // or in a comment
)

// open reports whether the metric ends within a string so far.
func (e *ending) open() bool { return e.in == inString }

// read goes on with the next bytes of the metric.
func (e *ending) read(part []byte) {
	for _, b := range part {
		if e.escaped {
			e.escaped = false
			continue
		}
		e.step(b)
		e.escaped = b == '\\' && e.in != behindFields
	}
}

func (e *ending) step(b byte) {
	switch e.in {
	case atStart:
		switch b {
		case '#':
			e.in = behindFields
		case ' ':
			e.in = inName
		default:
			e.in = inTags
		}
	case inTags:
		if b == ' ' {
			e.in = inName
		}
	case inName:
		if b == '=' {
			e.in = atValue
		}
	case atValue:
		if e.in = inValue; b == '"' {
			e.in = inString
			return
		}
		e.endValue(b)
	case inValue:
		e.endValue(b)
	case inString:
		if b == '"' {
			e.in = behindString
		}
	case behindString:
		if e.in = behindFields; b == ',' {
			e.in = inName
		}
	case behindFields:
	}
}

// endValue is a byte of a value that is no string.
func (e *ending) endValue(b byte) {
	switch b {
	case ',':
		e.in = inName
	case ' ':
		e.in = behindFields
	}
}

// split takes a metric apart. A field goes before a tag of the same name.
func split(line []byte, name string) (m parts) {
	end := len(bytes.TrimRight(line, "\r\n"))
	if end == 0 || line[0] == '#' {
		return parts{}
	}
	tags := until(line[:end], 0, " ")
	at := until(line[:tags], 0, ",")
	for at < tags {
		equals := until(line[:tags], at+1, "=,")
		next := until(line[:tags], equals, ",")
		if equals < next && is(line[at+1:equals], name) {
			m.found, m.tag, m.value = true, true, line[equals+1:next]
		}
		at = next
	}
	for at = tags; at < end; {
		equals := until(line[:end], at+1, "=")
		if equals == end {
			return parts{} // no metric
		}
		value := equals + 1
		next := until(line[:end], value, ", ")
		text := value < end && line[value] == '"'
		if text {
			closing := until(line, value+1, `"`)
			if next = closing + 1; next > end {
				return parts{} // it ends within a string
			}
		}
		if text && is(line[at+1:equals], name) {
			m.found, m.tag, m.value = true, false, line[value+1:next-1]
		}
		at = next
		m.fieldsEnd = next
		if at < end && line[at] != ',' {
			break
		}
	}
	m.found = m.found && m.fieldsEnd > 0
	return m
}

// until returns where one of the bytes of stop is that has no backslash before it, from i on, or the end.
func until(line []byte, i int, stop string) int {
	for ; i < len(line); i++ {
		if line[i] == '\\' {
			i++
		} else if bytes.IndexByte([]byte(stop), line[i]) >= 0 {
			return i
		}
	}
	return len(line)
}

// is compares a name as it stands in a metric.
func is(escaped []byte, name string) bool {
	if bytes.IndexByte(escaped, '\\') < 0 {
		return string(escaped) == name
	}
	return string(unescape(nil, escaped, true)) == name
}

// unescape appends a text without its backslashes: those before commas, spaces and signs of equality in names and tags,
// those before quotes and backslashes in strings. Any other backslash is itself.
func unescape(dst, text []byte, name bool) []byte {
	special := `"\`
	if name {
		special = `,= `
	}
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && bytes.IndexByte([]byte(special), text[i+1]) >= 0 {
			i++
		}
		dst = append(dst, text[i])
	}
	return dst
}

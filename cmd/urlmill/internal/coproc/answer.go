package coproc

import (
	"bytes"
	"strconv"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/form"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// format is how requests are written. Its options have no error.
var format, _ = codec.NewNDJSON(codec.NDJSONOptions{URL: "/input", Base: "/base"})

// answerer answers requests. It keeps its buffers, and the last base: consecutive requests mostly have the same.
type answerer struct {
	codec   codec.Codec // of requests
	request pipeline.Batch
	parser  urlcore.Parser
	url     urlcore.URL

	baseText    []byte
	baseURL     urlcore.URL
	baseFailure urlcore.Failure
	haveBase    bool

	decoded []byte // scratch
}

// append adds the answer to a line, with its line end.
func (a *answerer) append(dst, line []byte) []byte {
	if a.codec == nil {
		a.codec = format.New()
	}
	if cap(a.request.Records.Data) > 4*readSize {
		a.request = pipeline.Batch{} // one long message does not hold its memory for ever
	}
	r := &a.request
	r.Reset()
	a.codec.Decode(r, line)
	if len(r.Faults) > 0 {
		return appendError(dst, pipeline.FaultMalformed.String(), position(line, int(r.Faults[0].Pos)))
	}
	var base *urlcore.URL
	if r.Bases.Valid[0] {
		if failure := a.parseBase(r.Bases.At(0)); !failure.OK() {
			return appendError(dst, "base-"+failure.Code.String(), failure.Pos)
		}
		base = &a.baseURL
	}
	if failure := a.parser.Parse(&a.url, r.URLs.At(0), base); !failure.OK() {
		return appendError(dst, failure.Code.String(), failure.Pos)
	}
	return a.appendURL(dst)
}

// position returns where a line stops being a request: at pos, or where the escape begins that is bad there. One that lacks an input, for
// which pos is negative, stops behind its object.
func position(line []byte, pos int) int {
	if pos < 0 {
		if bytes.HasPrefix(bytes.TrimLeft(line, " \t\r\n"), []byte("{")) {
			return len(line)
		}
		return 0
	}
	const longest = len(`\u123`)
	slash := bytes.LastIndexByte(line[:pos], '\\')
	isEscape := slash >= max(0, pos-longest) && (slash == pos-1 || line[slash+1] == 'u')
	if before := bytes.TrimRight(line[:slash+1], `\`); isEscape && (slash-len(before))%2 == 0 {
		return slash
	}
	return pos
}

// parseBase parses a base unless it is that of the line before.
func (a *answerer) parseBase(text []byte) urlcore.Failure {
	if a.haveBase && bytes.Equal(text, a.baseText) {
		return a.baseFailure
	}
	a.baseText = append(a.baseText[:0], text...)
	a.haveBase = true
	a.baseFailure = a.parser.Parse(&a.baseURL, a.baseText, nil)
	return a.baseFailure
}

// appendError adds the answer to an input that does not parse.
func appendError(dst []byte, code string, pos int) []byte {
	dst = append(dst, `{"error":"`...)
	dst = append(dst, code...)
	dst = append(dst, `","position":`...)
	dst = strconv.AppendInt(dst, int64(pos), 10)
	return append(dst, '}', '\n')
}

// appendURL adds the answer to an input that parses.
func (a *answerer) appendURL(dst []byte) []byte {
	u := &a.url
	member := appendQuoted
	if run(u.Bytes(urlcore.Href)) == len(u.Bytes(urlcore.Href)) {
		member = appendPlain // so are all its parts
	}
	dst = append(dst, `{"href":"`...)
	dst = member(dst, u.Bytes(urlcore.Href))
	dst = append(dst, `","origin":"`...)
	dst = a.appendOrigin(dst)
	dst = append(dst, `","protocol":"`...)
	dst = append(dst, u.Bytes(urlcore.Scheme)...)
	dst = append(dst, `:","username":"`...)
	dst = member(dst, u.Bytes(urlcore.Username))
	dst = append(dst, `","password":"`...)
	dst = member(dst, u.Bytes(urlcore.Password))
	dst = append(dst, `","host":"`...)
	dst = member(dst, u.Bytes(urlcore.Host))
	if u.HasPort() {
		dst = append(dst, ':')
		dst = append(dst, u.Bytes(urlcore.Port)...)
	}
	dst = append(dst, `","hostname":"`...)
	dst = member(dst, u.Bytes(urlcore.Host))
	dst = append(dst, `","port":"`...)
	dst = append(dst, u.Bytes(urlcore.Port)...)
	dst = append(dst, `","pathname":"`...)
	dst = member(dst, u.Bytes(urlcore.Path))
	dst = append(dst, `","search":"`...)
	if query := u.Bytes(urlcore.Query); len(query) > 0 {
		dst = append(dst, '?')
		dst = member(dst, query)
	}
	dst = append(dst, `","hash":"`...)
	if fragment := u.Bytes(urlcore.Fragment); len(fragment) > 0 {
		dst = append(dst, '#')
		dst = member(dst, fragment)
	}
	dst = append(dst, '"')
	dst = a.appendDomain(dst)
	return a.appendParams(dst)
}

func (a *answerer) appendOrigin(dst []byte) []byte {
	a.decoded = a.url.AppendOrigin(a.decoded[:0])
	return appendQuoted(dst, a.decoded)
}

// appendDomain adds the members public_suffix and registrable_domain.
func (a *answerer) appendDomain(dst []byte) []byte {
	suffix, domain, _ := a.url.Site(psl.Default())
	dst = append(dst, `,"public_suffix":`...)
	dst = appendNullable(dst, suffix)
	dst = append(dst, `,"registrable_domain":`...)
	return appendNullable(dst, domain)
}

// appendNullable adds a part of a host as a JSON string, null for nil.
func appendNullable(dst, part []byte) []byte {
	if part == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = appendQuoted(dst, part) // it may hold quotes: http://a"b/
	return append(dst, '"')
}

// appendParams adds the member params and the end of the line.
func (a *answerer) appendParams(dst []byte) []byte {
	dst = append(dst, `,"params":[`...)
	first := true
	query := a.url.Bytes(urlcore.Query)
	for name, value, rest, ok := form.Next(query); ok; name, value, rest, ok = form.Next(rest) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, `["`...)
		a.decoded = form.AppendDecode(a.decoded[:0], name)
		dst = appendQuoted(dst, a.decoded)
		dst = append(dst, `","`...)
		a.decoded = form.AppendDecode(a.decoded[:0], value)
		dst = appendQuoted(dst, a.decoded)
		dst = append(dst, `"]`...)
	}
	return append(dst, "]}\n"...)
}

func appendPlain(dst, s []byte) []byte { return append(dst, s...) }

// appendQuoted adds s, which is UTF-8, as it stands between the quotes of a JSON string.
func appendQuoted(dst, s []byte) []byte {
	for {
		n := run(s)
		dst = append(dst, s[:n]...)
		if n == len(s) {
			return dst
		}
		dst = appendEscaped(dst, s[n])
		s = s[n+1:]
	}
}

func appendEscaped(dst []byte, b byte) []byte {
	const hex = "0123456789abcdef"
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
}

// stringEnd tells the bytes that end a run of a JSON string: quote, backslash and the controls that must not be there.
var stringEnd = func() (t [256]bool) {
	for b := range 0x20 {
		t[b] = true
	}
	t['"'], t['\\'] = true, true
	return t
}()

// run returns the length of the start of s that needs no care within a JSON string.
func run(s []byte) int {
	for i, b := range s {
		if stringEnd[b] {
			return i
		}
	}
	return len(s)
}

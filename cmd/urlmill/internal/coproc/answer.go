package coproc

import (
	"bytes"
	"strconv"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/form"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// answerer answers requests. It keeps its buffers, and the last base: consecutive requests mostly have the same.
type answerer struct {
	reader reader
	parser urlcore.Parser
	url    urlcore.URL

	baseText    []byte
	baseURL     urlcore.URL
	baseFailure urlcore.Failure
	haveBase    bool

	decoded []byte // scratch
}

// append adds the answer to a line, with its line end.
func (a *answerer) append(dst, line []byte) []byte {
	req, pos, ok := a.reader.read(line)
	if !ok {
		return appendError(dst, pipeline.FaultMalformed.String(), pos)
	}
	var base *urlcore.URL
	if req.hasBase {
		if failure := a.parseBase(req.base); !failure.OK() {
			return appendError(dst, "base-"+failure.Code.String(), failure.Pos)
		}
		base = &a.baseURL
	}
	if failure := a.parser.Parse(&a.url, req.input, base); !failure.OK() {
		return appendError(dst, failure.Code.String(), failure.Pos)
	}
	return a.appendURL(dst)
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

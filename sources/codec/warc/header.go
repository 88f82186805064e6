package warc

import (
	"bytes"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// headers are the fields of a header that are looked at, and those of the HTTP header behind it. They alias the record.
type headers struct {
	target, kind, date, length, contentType, ip, id, digest, truncated, detected, languages []byte

	status, mime, location []byte // of HTTP
}

// isHTTP reports whether the block is an HTTP message.
func (h *headers) isHTTP() bool {
	const message = "application/http"
	return len(h.contentType) >= len(message) && bytes.EqualFold(h.contentType[:len(message)], []byte(message))
}

// parseHeader reads the header of a record.
func parseHeader(rec []byte) (h headers) {
	h.parse(rec)
	return h
}

// parse reads the header of a record, and returns what stands behind it. Of a field that is there twice the first counts.
func (h *headers) parse(rec []byte) (block []byte) {
	return eachField(rec, func(name, value []byte) {
		var to *[]byte
		switch {
		case is(name, "WARC-Target-URI"):
			to, value = &h.target, unquoted(value)
		case is(name, "warc-type"):
			to = &h.kind
		case is(name, "warc-date"):
			to = &h.date
		case is(name, "content-length"):
			to = &h.length
		case is(name, "content-type"):
			to = &h.contentType
		case is(name, "warc-ip-address"):
			to = &h.ip
		case is(name, "warc-record-id"):
			to, value = &h.id, unquoted(value)
		case is(name, "warc-payload-digest"):
			to = &h.digest
		case is(name, "warc-truncated"):
			to = &h.truncated
		case is(name, "warc-identified-payload-type"):
			to = &h.detected
		case is(name, "warc-identified-content-language"):
			to = &h.languages
		default:
			return
		}
		if *to == nil {
			*to = value
		}
	})
}

// parseHTTP reads the HTTP header that a block begins with.
func (h *headers) parseHTTP(block []byte) {
	line, _, _ := bytes.Cut(block, []byte("\n"))
	if rest, ok := bytes.CutPrefix(line, []byte("HTTP/")); ok {
		if _, rest, ok = bytes.Cut(rest, []byte(" ")); ok {
			h.status, _, _ = bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
		}
	}
	eachField(block, func(name, value []byte) {
		switch {
		case is(name, "content-type") && h.mime == nil:
			h.mime = value
		case is(name, "location") && h.location == nil:
			h.location = value
		}
	})
}

// is reports whether the name of a field is that one, in any case.
func is(name []byte, want string) bool {
	return len(name) == len(want) && bytes.EqualFold(name, []byte(want))
}

// eachField calls each with the fields of a header behind its first line, and returns what stands behind the header. Lines that go on
// with a value are left out.
func eachField(text []byte, each func(name, value []byte)) []byte {
	for first := true; len(text) > 0; first = false {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		if line = codec.TrimReturn(line); len(line) == 0 {
			break
		}
		if at := bytes.IndexByte(line, ':'); at > 0 && !first && line[0] != ' ' && line[0] != '\t' {
			each(bytes.TrimRight(line[:at], " \t"), bytes.TrimSpace(line[at+1:]))
		}
	}
	return text
}

// unquoted returns a URI without the angle brackets that WARC 1.0 has around it, and wget around those of targets as well.
func unquoted(uri []byte) []byte {
	if n := len(uri); n >= 2 && uri[0] == '<' && uri[n-1] == '>' {
		return uri[1 : n-1]
	}
	return uri
}

// mediaType returns the type of a Content-Type, and its charset, nil for none.
func mediaType(value []byte) (mime, charset []byte) {
	mime, params, _ := bytes.Cut(value, []byte(";"))
	for len(params) > 0 {
		var p []byte
		p, params, _ = bytes.Cut(params, []byte(";"))
		name, v, _ := bytes.Cut(bytes.TrimSpace(p), []byte("="))
		if bytes.EqualFold(bytes.TrimSpace(name), []byte("charset")) && charset == nil {
			charset = bytes.Trim(bytes.TrimSpace(v), `"'`)
		}
	}
	return bytes.TrimSpace(mime), charset
}

// The columns of records, captures and pages. A codec has those of them that its records have.
var (
	fetchTime   = pipeline.Field{Name: "fetch_time", Type: pipeline.Timestamp}
	fetchStatus = pipeline.Field{Name: "fetch_status", Type: pipeline.Int64}
	redirect    = pipeline.Field{Name: "fetch_redirect"}
	digest      = pipeline.Field{Name: "content_digest"}
	mimeType    = pipeline.Field{Name: "content_mime_type"}
	mimeFound   = pipeline.Field{Name: "content_mime_detected"}
	charset     = pipeline.Field{Name: "content_charset"}
	languages   = pipeline.Field{Name: "content_languages"}
	truncated   = pipeline.Field{Name: "content_truncated"}
	filename    = pipeline.Field{Name: "warc_filename"}
	offset      = pipeline.Field{Name: "warc_offset", Type: pipeline.Int64}
	length      = pipeline.Field{Name: "warc_length", Type: pipeline.Int64}
)

// appender adds the fields of a row, one after the other.
type appender struct {
	b     *pipeline.Batch
	next  int
	fault codec.FirstFault
}

func (a *appender) reset(b *pipeline.Batch) {
	a.b, a.next = b, 0
	a.fault.Reset()
}

// add adds the value of the next field, nil or empty for none. Times are those of archives: ISO 8601, or digits from the year on.
func (a *appender) add(value []byte) {
	dst := &a.b.Carried[a.next]
	a.next++
	if len(value) == 0 {
		dst.AppendNull()
		return
	}
	var ok bool
	if dst.Field.Type == pipeline.Timestamp {
		var t int64
		if t, ok = parseTime(value); ok {
			dst.Ints = append(dst.Ints, t)
		}
	} else {
		ok = codec.AppendScalar(dst, value, codec.RFC3339)
	}
	if !ok {
		a.fault.NoteField(a.next-1, -1)
		dst.AppendNull()
		return
	}
	dst.Valid = append(dst.Valid, true)
}

// number adds a number, or a null.
func (a *appender) number(n int64, there bool) {
	dst := &a.b.Carried[a.next]
	a.next++
	if !there {
		dst.AppendNull()
		return
	}
	dst.Ints = append(dst.Ints, n)
	dst.Valid = append(dst.Valid, true)
}

// parseTime reads a time as WARC has it, or as indexes have it: 20261124135500, or with milliseconds.
func parseTime(s []byte) (int64, bool) {
	const digits, millis = len("20060102150405"), len("20060102150405000")
	if len(s) != digits && len(s) != millis {
		return codec.ParseISO8601(s)
	}
	var buf [len("2006-01-02T15:04:05.000Z")]byte
	t := append(buf[:0], s[:4]...)
	for i, sep := range []byte("--T::") {
		t = append(append(t, sep), s[4+2*i:6+2*i]...)
	}
	if len(s) == millis {
		t = append(append(t, '.'), s[digits:]...)
	}
	return codec.ParseRFC3339(append(t, 'Z'))
}

// noDash returns a value of an index, nil for the dash that stands for none.
func noDash(value []byte) []byte {
	if len(value) == 1 && value[0] == '-' {
		return nil
	}
	return value
}

// plainDigest returns a digest as indexes have it, without the name of SHA-1.
func plainDigest(value []byte) []byte {
	const sha1 = "sha1:"
	if len(value) > len(sha1) && bytes.EqualFold(value[:len(sha1)], []byte(sha1)) {
		return value[len(sha1):]
	}
	return value
}

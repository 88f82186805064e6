package urlcols

import (
	"bytes"
	"strings"

	"github.com/urlmill/urlmill/pipeline"
)

// WithScheme returns url, with scheme before it if it is a bare host, and as it is otherwise.
//
// A bare host is, from its first byte on: a host, a colon and one to five digits or nothing, and then nothing more or a slash, question
// mark or number sign with anything behind it. A host is localhost in any case; an IPv6 address in brackets; or two labels or more with
// dots between them, and perhaps one behind them, each of ASCII letters, digits, hyphens, underscores and characters beyond ASCII. The
// last label is not of digits alone, unless there are four such. What begins with two slashes lacks the scheme as well.
//
// The standard has no such URLs. It reads example.com:80/a as a URL with the scheme example.com, which is why nothing is a bare host by
// itself.
func WithScheme(scheme, url string) string { return lacks([]byte(url), scheme+"://") + url }

// lacks returns what of before, a scheme and "://", url lacks.
func lacks(url []byte, before string) string {
	if bytes.HasPrefix(url, []byte("//")) {
		return strings.TrimSuffix(before, "//")
	}
	end := bytes.IndexAny(url, "/?#")
	if end < 0 {
		end = len(url)
	}
	if !isBareHost(url[:end]) {
		return ""
	}
	return before
}

// isBareHost reports whether b is a host, or a host and a port.
func isBareHost(b []byte) bool {
	const longestPort = 5
	host := b
	if i := bytes.LastIndexByte(b, ':'); i >= 0 && b[len(b)-1] != ']' {
		if port := b[i+1:]; len(port) > longestPort || !isDigits(port) {
			return false
		}
		host = b[:i]
	}
	if len(host) > 0 && host[0] == '[' {
		address, closed := bytes.CutSuffix(host[1:], []byte("]"))
		return closed && len(bytes.Trim(address, "0123456789abcdefABCDEF:.")) == 0
	}
	if bytes.EqualFold(host, []byte("localhost")) {
		return true
	}
	host = bytes.TrimSuffix(host, []byte("."))
	labels, numbers, number := 0, 0, false
	for more := true; more; labels++ {
		var label []byte
		label, host, more = bytes.Cut(host, []byte("."))
		if len(label) == 0 || bytes.IndexFunc(label, isNoLabel) >= 0 {
			return false
		}
		if number = isDigits(label); number {
			numbers++
		}
	}
	return labels > 1 && (!number || labels == 4 && numbers == 4)
}

// isNoLabel reports whether a label has no r. Bytes that are not UTF-8 are U+FFFD here, which the parser refuses.
func isNoLabel(r rune) bool {
	return r < 0x80 && r != '-' && r != '_' && (r|0x20 < 'a' || r|0x20 > 'z') && (r < '0' || r > '9')
}

func isDigits(b []byte) bool { return len(b) > 0 && len(bytes.Trim(b, "0123456789")) == 0 }

// withSchemes returns the URLs of the batch, with before in front of those that lack it and have no base. s.added has how many bytes
// that were.
func (s *state) withSchemes(before string) *pipeline.Bytes {
	urls, bases := &s.batch.URLs, &s.batch.Bases
	s.absolute.Reset()
	s.added = s.added[:0]
	for i := range urls.Len() {
		url, added := urls.At(i), ""
		if bases.Len() == 0 || len(bases.At(i)) == 0 {
			added = lacks(url, before)
		}
		s.absolute.Data = append(append(s.absolute.Data, added...), url...)
		s.absolute.End()
		s.added = append(s.added, uint8(len(added)))
	}
	return &s.absolute
}

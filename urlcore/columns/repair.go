package columns

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/internal/scan"
	"github.com/urlmill/urlmill/urlcore/percent"
)

// maxRepair is the longest input that is repaired, well below the limit of the state machine.
const maxRepair = 1 << 20

// repair parses an absolute http or https URL of which some part is not in its normal form, and writes that form into
// the side buffer. It returns false, with nothing changed, for what is rare or may be no URL.
//
// It follows the same states as urlcore's parser, of which each finds its end here by a table.
func (c *Columns) repair(in []byte, i int) bool {
	if len(in) > maxRepair {
		return false
	}
	r := repairer{c: c, side: c.pos.Side, base: len(c.pos.Side), in: in, row: i}
	for len(r.in) > 0 && r.in[0] <= ' ' {
		r.in = r.in[1:]
		r.lead++
	}
	for len(r.in) > 0 && r.in[len(r.in)-1] <= ' ' {
		r.in = r.in[:len(r.in)-1]
	}
	if !r.scheme() || !r.authority() || r.failed {
		return r.failed
	}
	if !r.path() || !r.rest() {
		return false
	}
	r.finish()
	return true
}

// repairer is the state of a repair.
type repairer struct {
	c    *Columns
	row  int
	lead int    // bytes of white space cut off
	in   []byte // without white space around it
	pos  int    // in in
	side []byte // the side buffer with the URL in the making
	base int    // where that begins

	failed     bool // the row is no URL, and has its error
	wellFormed bool // in was found to be UTF-8

	// Ends and starts of parts in side.
	schemeEnd, host, last, hostEnd, pathStart, query, fragment int

	flags Flags
	port  int32
	user  bool
}

// scheme takes "http://" or "https://" in any case.
func (r *repairer) scheme() bool {
	const longest = "https"
	if len(r.in) < len("http://h") {
		return false
	}
	n := 0
	for ; n < len(longest) && r.in[n]|0x20 == longest[n]; n++ {
	}
	if n < len("http") || string(r.in[n:n+3]) != "://" {
		return false
	}
	r.side = append(append(r.side, longest[:n]...), "://"...)
	r.schemeEnd = r.base + n
	r.pos = n + 3
	r.flags = IsURL | HasHost | HasOrigin
	return true
}

// authority takes the credentials, host and port.
func (r *repairer) authority() bool {
	end, at := r.pos, -1
	for ; end < len(r.in); end++ {
		if authorityStop[r.in[end]] {
			if c := r.in[end]; c == '/' || c == '?' || c == '#' {
				break
			} else if c != '@' || at >= 0 {
				return false
			}
			at = end
		}
	}
	if at >= 0 {
		if !r.credentials(r.in[r.pos:at]) {
			return false
		}
		r.pos = at + 1
	}
	host, port, _ := bytes.Cut(r.in[r.pos:end], []byte{':'})
	if !r.domain(host) || r.failed || !r.takePort(port) {
		return false
	}
	r.pos = end
	return true
}

// credentials takes username and password that need not be percent-encoded.
func (r *repairer) credentials(info []byte) bool {
	user, password, _ := bytes.Cut(info, []byte{':'})
	for _, part := range [2][]byte{user, password} {
		for _, c := range part {
			if percent.Userinfo.Has(c) {
				return false
			}
		}
	}
	r.user = len(user) > 0
	r.side = append(r.side, user...)
	if len(password) > 0 {
		r.side = append(append(r.side, ':'), password...)
	}
	if len(user)+len(password) > 0 {
		r.side = append(r.side, '@')
	}
	return true
}

// domain takes a host: a domain, if need be by the cache of those that are not ASCII, or an IPv4 address in its
// normal form.
func (r *repairer) domain(host []byte) bool {
	r.host = len(r.side)
	r.hostEnd = r.host + len(host)
	r.side = slices.Grow(r.side, len(host))[:r.hostEnd]
	for i, c := range host {
		lower := hostByte[c]
		if lower == 0 {
			return r.unicodeDomain(host)
		}
		r.side[r.host+i] = lower
	}
	text := r.side[r.host:]
	r.last = r.host + bytes.LastIndexByte(text, '.') + 1
	switch {
	case r.last == r.hostEnd:
		return false
	case !isDigit(r.side[r.last]):
		r.flags |= HasSuffix
		return true
	}
	return isIPv4(text)
}

// unicodeDomain takes a host that is not ASCII, if it is known.
func (r *repairer) unicodeDomain(host []byte) bool {
	nonASCII := false
	for _, c := range host {
		nonASCII = nonASCII || c >= utf8.RuneSelf
		if c <= ' ' {
			return false
		}
	}
	if !nonASCII || !utf8.Valid(host) {
		return false
	}
	k, known := r.c.hosts.get(host)
	switch {
	case !known:
		r.c.unknownHost, r.c.unknownAt = host, r.lead+r.pos
		return false
	case k.ascii == "":
		r.c.fail(r.row, Error{Code: urlcore.CodeDomainToASCII, Pos: int32(r.lead+r.pos) + k.pos})
		r.failed = true
		return true
	}
	r.side = append(r.side[:r.host], k.ascii...)
	r.hostEnd = len(r.side)
	r.last = r.host + bytes.LastIndexByte(r.side[r.host:], '.') + 1
	r.flags |= HasSuffix
	return true
}

// isIPv4 reports whether host is an IPv4 address as it is serialized.
func isIPv4(host []byte) bool {
	for part := range 4 {
		n, size := 0, 0
		for size < len(host) && size < 4 && isDigit(host[size]) {
			n = n*10 + int(host[size]-'0')
			size++
		}
		if size == 0 || n > 255 || size > 1 && host[0] == '0' {
			return false
		}
		if host = host[size:]; part == 3 {
			break
		}
		if len(host) == 0 || host[0] != '.' {
			return false
		}
		host = host[1:]
	}
	return len(host) == 0
}

// takePort takes the digits behind the colon.
func (r *repairer) takePort(digits []byte) bool {
	r.port = -1
	if len(digits) > 5 {
		return false
	}
	n := int32(0)
	for _, c := range digits {
		if !isDigit(c) {
			return false
		}
		n = n*10 + int32(c-'0')
	}
	if n > 65535 || len(digits) > 1 && digits[0] == '0' {
		return false
	}
	standard := int32(80)
	if r.schemeEnd-r.base == len("https") {
		standard = 443
	}
	if len(digits) > 0 && n != standard {
		r.side = append(append(r.side, ':'), digits...)
		r.flags |= HasPort
		r.port = n
	}
	return true
}

// path takes the path. in[run:pos] is what is still to be copied.
func (r *repairer) path() bool {
	r.pathStart = len(r.side)
	r.side = append(r.side, '/')
	if r.pos == len(r.in) || r.in[r.pos] != '/' {
		return true
	}
	r.pos++
	run, inSegment := r.pos, false
	for r.pos < len(r.in) {
		c := r.in[r.pos]
		if !inSegment {
			if size, dots := dotSegment(r.in[r.pos:]); dots > 0 {
				r.side = append(r.side, r.in[run:r.pos]...)
				if dots == 2 {
					r.shorten()
				}
				if r.pos += size; r.pos < len(r.in) && r.in[r.pos] == '/' {
					r.pos++
				}
				run = r.pos
				continue
			}
		}
		inSegment = c != '/'
		if changes[c]&inPath != 0 {
			if c == '?' || c == '#' {
				break
			}
			r.side = append(r.side, r.in[run:r.pos]...)
			if !r.encode(c) {
				return false
			}
			run = r.pos + 1
		}
		r.pos++
	}
	r.side = append(r.side, r.in[run:r.pos]...)
	return true
}

// labelBefore returns where the label of the host begins that stands before the one that begins at label.
func (r *repairer) labelBefore(label int) int {
	return r.host + bytes.LastIndexByte(r.side[r.host:max(label-1, r.host)], '.') + 1
}

// shorten removes the last segment of the path, behind which there is a slash.
func (r *repairer) shorten() {
	if end := len(r.side) - 1; end > r.pathStart {
		r.side = r.side[:r.pathStart+bytes.LastIndexByte(r.side[r.pathStart:end], '/')+1]
	}
}

// encode appends a byte that is percent-encoded. It refuses what becomes something else.
func (r *repairer) encode(c byte) bool {
	if c == '\\' || c == '\t' || c == '\n' || c == '\r' || c >= utf8.RuneSelf && !r.checkUTF8() {
		return false
	}
	r.side = percent.AppendByte(r.side, c)
	return true
}

// checkUTF8 reports whether the input is well-formed; if not, parts of it are replaced.
func (r *repairer) checkUTF8() bool {
	r.wellFormed = r.wellFormed || utf8.Valid(r.in)
	return r.wellFormed
}

// rest takes the query and the fragment.
func (r *repairer) rest() bool {
	r.query = len(r.side)
	if r.pos < len(r.in) && r.in[r.pos] == '?' {
		r.flags |= HasQuery
		r.side = append(r.side, '?')
		r.query = len(r.side)
		r.pos++
		end := len(r.in)
		if i := bytes.IndexByte(r.in[r.pos:], '#'); i >= 0 {
			end = r.pos + i
		}
		if !r.encoded(end, inQuery) {
			return false
		}
	}
	r.fragment = len(r.side)
	if r.pos == len(r.in) {
		return true
	}
	r.flags |= HasFragment
	r.side = append(r.side, '#')
	r.pos++
	return r.encoded(len(r.in), inFragment)
}

// encoded takes the input up to end, percent-encoded as it has to be in a region.
func (r *repairer) encoded(end int, in region) bool {
	run := r.pos
	for ; r.pos < end; r.pos++ {
		if c := r.in[r.pos]; changes[c]&in != 0 {
			r.side = append(r.side, r.in[run:r.pos]...)
			if !r.encode(c) {
				return false
			}
			run = r.pos + 1
		}
	}
	r.side = append(r.side, r.in[run:end]...)
	return true
}

// finish writes the row.
func (r *repairer) finish() {
	p := &r.c.pos
	end := len(r.side)
	origin := Span{Start: sideAt(r.base), End: sideAt(r.pathStart)}
	if r.host > r.schemeEnd+len("://") {
		start := len(r.side)
		r.side = append(append(r.side, r.side[r.base:r.schemeEnd]...), "://"...)
		r.side = append(r.side, r.side[r.host:r.pathStart]...)
		origin = Span{Start: sideAt(start), End: sideAt(len(r.side))}
	}
	p.Side = r.side
	pathEnd, fragment := r.query, r.fragment
	if r.flags&HasQuery != 0 {
		pathEnd--
	}
	if r.flags&HasFragment != 0 {
		fragment++
	}
	p.Parts[r.row] = Parts{
		Href: sidePart(r.base, end), Scheme: sidePart(r.base, r.schemeEnd), Host: sidePart(r.host, r.hostEnd), Origin: origin,
		Path: sidePart(r.pathStart, pathEnd), Query: sidePart(r.query, r.fragment), Fragment: sidePart(fragment, end),
		Domain: sideAt(r.hostEnd), Suffix: sideAt(r.hostEnd),
	}
	row := r.c.row(r.row)
	if r.flags&HasSuffix != 0 && r.c.wantsDomains() {
		second := r.labelBefore(r.last)
		r.c.findDomain(&p.Parts[r.row], &r.flags, p.Side, scan.Side, labels{r.hostEnd, r.last, second, r.labelBefore(second)})
	}
	p.Flags[row] = r.flags
	if r.port >= 0 {
		p.ports = append(p.ports, rowPort{row, r.port})
	}
	if r.user {
		p.users = append(p.users, row)
	}
}

// dotSegment looks at the segment of a path that s begins with. It returns its length, and 1 dot for a single-dot URL
// path segment or 2 for a double-dot one; else no dots.
//
// https://url.spec.whatwg.org/#single-dot-path-segment
func dotSegment(s []byte) (size, dots int) {
	for ; size < len(s); dots++ {
		switch c := s[size]; {
		case c == '/' || c == '?' || c == '#':
			return size, dots
		case dots == 2:
			return 0, 0
		case c == '.':
			size++
		case len(s)-size >= 3 && c == '%' && s[size+1] == '2' && s[size+2]|0x20 == 'e':
			size += 3
		default:
			return 0, 0
		}
	}
	return size, dots
}

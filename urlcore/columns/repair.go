package columns

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/internal/scan"
	"github.com/urlmill/urlmill/urlcore/percent"
)

// maxRepair is the longest input that is repaired, in bytes. Percent-encoding makes a byte into three, so that a repaired URL
// stays far below [MaxURL], and repair need not look for that limit.
const maxRepair = 1 << 20

// repair parses an absolute http or https URL of which some part is not in its normal form, and writes that form into
// the side buffer. It returns false, with nothing changed, for what is rare or may be no URL: the state machine then
// decides. The one error that it finds itself is that of a host of which the cache knows that it is none.
//
// It follows the same states as urlcore's parser, of which each finds its end here by a table. What it accepts, it has to
// serialize as the parser does, byte by byte (TestDifferential); so each method refuses whatever it is not sure of, and a
// rule that is added has to be one that the standard gives no exception from for these two schemes.
func (c *Columns) repair(in []byte, i int) bool {
	if len(in) > maxRepair {
		return false
	}
	// r.side may grow into memory of c.pos.Side, but c.pos.Side becomes longer in finish alone: of a repair that is given
	// up, nothing is left that the next row does not overwrite.
	r := repairer{c: c, side: c.pos.Side, base: len(c.pos.Side), in: in, row: i}
	// C0 controls and spaces at both ends are dropped: https://url.spec.whatwg.org/#concept-basic-url-parser
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

// repairer is the state of a repair. Its methods take one part after the other off in and append it to side in its normal
// form. They return false for a row that is left to the state machine.
type repairer struct {
	c    *Columns
	row  int    // in the current stretch
	lead int    // bytes cut off before in; positions of errors count from the row as it was given
	in   []byte // without white space around it
	pos  int    // in in: what is before it has been taken
	side []byte // the side buffer with the URL in the making
	base int    // where that begins in side

	failed     bool // the row is no URL, and has its error
	wellFormed bool // in was found to be UTF-8

	// Ends and starts of parts in side. last is where the last label of the host begins; query and fragment are behind their
	// marks for the first, and on it for the second, or where the part would begin if there is none.
	schemeEnd, host, last, hostEnd, pathStart, query, fragment int

	flags Flags
	port  int32
	user  bool
}

// scheme takes "http://" or "https://" in any case. With two slashes behind it, such a URL is absolute whatever the base is;
// with fewer or with backslashes it is left to the state machine.
func (r *repairer) scheme() bool {
	const longest = "https"
	if len(r.in) < len("http://h") { // all that is indexed below is there then
		return false
	}
	n := 0
	for ; n < len(longest) && r.in[n]|0x20 == longest[n]; n++ { // only a letter of either case becomes this letter
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

// authority takes the credentials, host and port. Its end has to be found first: a colon divides host and port, or user and
// password if an at sign follows.
func (r *repairer) authority() bool {
	end, at := r.pos, -1
	for ; end < len(r.in); end++ {
		if authorityStop[r.in[end]] {
			if c := r.in[end]; c == '/' || c == '?' || c == '#' {
				break
			} else if c != '@' || at >= 0 {
				return false // of two at signs, the first would have to be encoded
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

// credentials takes username and password that need not be percent-encoded. Marks with nothing behind them are dropped: an
// at sign without credentials, and a colon without a password.
func (r *repairer) credentials(info []byte) bool {
	user, password, _ := bytes.Cut(info, []byte{':'})
	for _, part := range [2][]byte{user, password} {
		for _, c := range part {
			if percent.Userinfo.Has(c) { // a second colon, too
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
//
// A domain in ASCII is made lower case and no more, also where a label begins with "xn--". Its last label decides whether it
// is an address: one that does not begin with a digit is no number, so the host is a domain; of the others, only
// addresses as they are serialized are taken, since 0x7f, 010 and 1 are addresses as well, and 1a is none.
func (r *repairer) domain(host []byte) bool {
	r.host = len(r.side)
	r.hostEnd = r.host + len(host)
	r.side = slices.Grow(r.side, len(host))[:r.hostEnd]
	for i, c := range host {
		lower := hostByte[c]
		if lower == 0 {
			return r.unicodeDomain(host) // writes over what is here
		}
		r.side[r.host+i] = lower
	}
	text := r.side[r.host:]
	r.last = r.host + bytes.LastIndexByte(text, '.') + 1
	switch {
	case r.last == r.hostEnd: // empty, as in http:///h, where the host comes later; or with a dot at its end
		return false
	case !isDigit(r.side[r.last]):
		r.flags |= HasSuffix
		return true
	}
	return isIPv4(text)
}

// unicodeDomain takes a host that is not ASCII, if it is known. One that is not is noted: the state machine then parses the
// row, and byMachine tells the cache what became of it.
//
// The cache goes by the bytes of the host and has what the parser said of the very same ones, so that no rule of IDNA is
// repeated here.
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
		// pos is where the host begins: it moves behind the authority as a whole.
		r.c.fail(r.row, Error{Code: urlcore.CodeDomainToASCII, Pos: int32(r.lead+r.pos) + k.pos})
		r.failed = true
		return true
	}
	r.side = append(r.side[:r.host], k.ascii...)
	r.hostEnd = len(r.side)
	r.last = r.host + bytes.LastIndexByte(r.side[r.host:], '.') + 1
	r.flags |= HasSuffix // the cache keeps domains alone, no addresses
	return true
}

// isIPv4 reports whether host is an IPv4 address as it is serialized: four decimal numbers without leading zeros.
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

// takePort takes the digits behind the colon. No digits and the port of the scheme are no port. Leading zeros, which the
// standard drops, are left to the state machine.
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
//
// Where a segment begins, side ends with a slash: after copying what is due, as behind a dot segment, whose own slash is
// dropped. So a double-dot segment has only to remove the segment before that slash, and the path of "/a/.." ends with one.
func (r *repairer) path() bool {
	r.pathStart = len(r.side)
	r.side = append(r.side, '/') // these schemes have no empty paths
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
			if c == '?' || c == '#' { // both would be encoded in a path, so that the table has them
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

// labelBefore returns where the label of the host begins that stands before the one that begins at label, or where the host
// begins if that is the first.
func (r *repairer) labelBefore(label int) int {
	return r.host + bytes.LastIndexByte(r.side[r.host:max(label-1, r.host)], '.') + 1
}

// shorten removes the last segment of the path, which ends with a slash. The first slash stays: "/../" is "/".
func (r *repairer) shorten() {
	if end := len(r.side) - 1; end > r.pathStart {
		r.side = r.side[:r.pathStart+bytes.LastIndexByte(r.side[r.pathStart:end], '/')+1]
	}
}

// encode appends a byte that is percent-encoded. It refuses what becomes something else: a backslash, which is a slash in
// these schemes, tabs and line breaks, which are dropped, and bytes that are no UTF-8.
func (r *repairer) encode(c byte) bool {
	if c == '\\' || c == '\t' || c == '\n' || c == '\r' || c >= utf8.RuneSelf && !r.checkUTF8() {
		return false
	}
	r.side = percent.AppendByte(r.side, c)
	return true
}

// checkUTF8 reports whether the input is well-formed UTF-8. If not, the standard puts U+FFFD in the place of some of its bytes.
// The whole input is looked at, once: a byte alone does not tell.
func (r *repairer) checkUTF8() bool {
	r.wellFormed = r.wellFormed || utf8.Valid(r.in)
	return r.wellFormed
}

// rest takes the query and the fragment. A mark with nothing behind it stays: "/?" has an empty query, and "/" has none.
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

// encoded takes the input up to end, percent-encoded as it has to be in a region of the URL.
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

// finish writes the row, and makes what was appended to side a part of the side buffer. Nothing fails from here on.
func (r *repairer) finish() {
	p := &r.c.pos
	end := len(r.side)
	// The origin is what the URL begins with, up to the path. With credentials in between, it is written behind the URL.
	origin := Span{Start: sideAt(r.base), End: sideAt(r.pathStart)}
	if r.host > r.schemeEnd+len("://") {
		start := len(r.side)
		r.side = append(append(r.side, r.side[r.base:r.schemeEnd]...), "://"...)
		r.side = append(r.side, r.side[r.host:r.pathStart]...)
		origin = Span{Start: sideAt(start), End: sideAt(len(r.side))}
	}
	p.Side = r.side
	// Spans have no marks: the query begins behind its own already, and the fragment does not yet.
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
		Domain: sideAt(r.hostEnd), Suffix: sideAt(r.hostEnd), // empty, until findDomain moves them
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
// path segment or 2 for a double-dot one. For any other segment it returns no dots, also for an empty one. A dot may be
// written as %2e.
//
// https://url.spec.whatwg.org/#single-dot-path-segment
func dotSegment(s []byte) (size, dots int) {
	for ; size < len(s); dots++ {
		switch c := s[size]; {
		case c == '/' || c == '?' || c == '#':
			return size, dots
		case dots == 2: // and more: a name like any other
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

package urlcore

import (
	"bytes"
	"slices"

	"github.com/urlmill/urlmill/urlcore/charset"
	"github.com/urlmill/urlmill/urlcore/percent"
)

// pathStart is the path start state.
//
// https://url.spec.whatwg.org/#path-start-state
func (p *Parser) pathStart() state {
	c, ok := p.peek(0)
	switch {
	case p.u.loc.scheme.special():
		if ok && c == '\\' {
			p.report(CodeInvalidReverseSolidus, p.pos)
			p.pos++
		} else if ok && c == '/' {
			p.pos++
		}
		return statePath
	case ok && p.override == noState && c == '?':
		p.pos++
		return stateQuery
	case ok && p.override == noState && c == '#':
		p.pos++
		return stateFragment
	case ok:
		if c == '/' {
			p.pos++
		}
		return statePath
	case p.override != noState && p.u.loc.host == HostNone:
		p.u.buf = append(p.u.buf, '/')
	}
	return stateDone
}

// path is the path state. In the buffer each segment stands behind its slash, so that an empty list of
// segments is the empty string. Input that needs no change is appended in runs of many segments: in[run:i]
// is what is still to be appended.
//
// https://url.spec.whatwg.org/#path-state
func (p *Parser) path() state {
	buf := append(p.u.buf, '/')
	run, segment := p.pos, p.pos
	if !p.CollectErrors && p.u.loc.scheme != schemeFile {
		segment = skipPlainSegments(p.in, segment)
	}
	for {
		var end int
		buf, run, end = p.scanSegment(buf, run, segment)
		slash := end < len(p.in) && (p.in[end] == '/' || p.in[end] == '\\')
		if p.CollectErrors {
			p.checkUnits(max(segment, p.unitsFrom), end)
			if slash && p.in[end] == '\\' {
				p.report(CodeInvalidReverseSolidus, end)
			}
		}
		switch s := p.in[segment:end]; dotSegment(s) {
		case 0:
			if p.u.loc.scheme == schemeFile && isDriveLetter(s) && s[1] == '|' {
				buf, run = p.normalizeDriveLetter(buf, run, segment)
			}
			if slash && p.in[end] == '\\' {
				buf = append(append(buf, p.in[run:end]...), '/')
				run = end + 1
			}
		case 2:
			buf = append(buf, p.in[run:segment]...)
			buf = append(p.shorten(buf[:len(buf)-1]), '/')
			run = min(end+1, len(p.in)) // the slash in front, which is there, serves the next segment
			if !slash {
				run = end
			}
		default:
			buf = append(buf, p.in[run:segment]...)
			run = end
			if slash {
				run++
			}
		}
		if !slash {
			p.u.buf = append(buf, p.in[run:end]...)
			p.pos = end
			p.endPath()
			return p.afterPath()
		}
		segment = end + 1
	}
}

// skipPlainSegments returns the start of the first segment, from the one at i on, that has to be looked at:
// the last one, and one with a byte to encode or a backslash, or that may be a dot segment. It is a shortcut
// of the path state: those in front of it are kept as they are.
func skipPlainSegments(in []byte, i int) int {
	segment := i
	for ; i < len(in); i++ {
		if i == segment && (in[i] == '.' || in[i] == '%') {
			break
		}
		if class[in[i]]&isPathStop == 0 {
			continue
		}
		if in[i] != '/' {
			break
		}
		segment = i + 1
	}
	return segment
}

// scanSegment goes to the end of the segment that starts at segment and percent-encodes what has to be. It
// returns the buffer, the start of what is not yet appended to it, and the end of the segment.
func (p *Parser) scanSegment(buf []byte, run, segment int) ([]byte, int, int) {
	in, i := p.in, segment
	for ; i < len(in); i++ {
		c := in[i]
		if class[c]&isPathStop == 0 {
			continue
		}
		switch c {
		case '/':
			return buf, run, i
		case '\\':
			if p.u.loc.scheme.special() {
				return buf, run, i
			}
			continue
		case '?', '#':
			if p.override == noState {
				return buf, run, i
			}
		}
		buf = p.grow(buf, run)
		buf = percent.AppendByte(append(buf, in[run:i]...), c)
		run = i + 1
	}
	return buf, run, i
}

// normalizeDriveLetter writes the drive letter at segment with a colon, if it is the path's first segment.
//
// https://url.spec.whatwg.org/#path-state, step 1.4.1
func (p *Parser) normalizeDriveLetter(buf []byte, run, segment int) ([]byte, int) {
	buf = append(buf, p.in[run:segment]...)
	if len(buf) != int(p.u.loc.pathStart)+1 {
		return buf, segment
	}
	return append(buf, p.in[segment], ':'), segment + 2
}

// dotSegment returns 1 for a single-dot URL path segment, 2 for a double-dot one, and 0 for all others.
//
// https://url.spec.whatwg.org/#single-dot-path-segment
func dotSegment(s []byte) int {
	dots := 0
	for len(s) > 0 && dots < 3 {
		switch {
		case s[0] == '.':
			s = s[1:]
		case len(s) >= 3 && s[0] == '%' && s[1] == '2' && s[2]|0x20 == 'e':
			s = s[3:]
		default:
			return 0
		}
		dots++
	}
	return dots % 3
}

// shorten removes the last segment of the path that buf ends with, but not a drive letter that is the
// only segment of a file URL's path.
//
// https://url.spec.whatwg.org/#shorten-a-urls-path
func (p *Parser) shorten(buf []byte) []byte {
	start := int(p.u.loc.pathStart)
	path := buf[start:]
	if p.u.loc.scheme == schemeFile && len(path) == 3 && isNormalizedDriveLetter(path[1:]) {
		return buf
	}
	return buf[:start+max(bytes.LastIndexByte(path, '/'), 0)]
}

// endPath puts "/." in front of a path that would otherwise be read as an authority.
//
// https://url.spec.whatwg.org/#url-serializing, step 3
func (p *Parser) endPath() {
	l := &p.u.loc
	if l.host == HostNone && !l.opaque && bytes.HasPrefix(p.u.buf[l.pathStart:], []byte("//")) {
		p.u.buf = slices.Insert(p.u.buf, int(l.pathStart), '/', '.')
		l.pathStart += 2
	}
}

// afterPath goes on to the query or fragment.
//
// https://url.spec.whatwg.org/#path-state, steps 1.6 and 1.7
func (p *Parser) afterPath() state {
	c, ok := p.peek(0)
	if !ok {
		return stateDone
	}
	p.pos++
	if c == '?' {
		return stateQuery
	}
	return stateFragment
}

// opaquePath is the opaque path state. A space in front of the query or fragment is encoded, since it
// would be stripped from the end if those were removed.
//
// https://url.spec.whatwg.org/#cannot-be-a-base-url-path-state
func (p *Parser) opaquePath() state {
	p.noAuthority()
	p.u.loc.opaque = true
	in, run, i := p.in, p.pos, p.pos
	for ; i < len(in); i++ {
		c := in[i]
		if c == '?' || c == '#' {
			break
		}
		beforeEnd := c == ' ' && i+1 < len(in) && (in[i+1] == '?' || in[i+1] == '#')
		if class[c]&isEncodedC0 != 0 || beforeEnd {
			p.u.buf = p.grow(p.u.buf, run)
			p.u.buf = percent.AppendByte(append(p.u.buf, in[run:i]...), c)
			run = i + 1
		}
	}
	p.u.buf = append(p.u.buf, in[run:i]...)
	if p.CollectErrors {
		p.checkUnits(p.pos, i)
	}
	p.pos = i
	return p.afterPath()
}

// query is the query state, after the question mark.
//
// https://url.spec.whatwg.org/#query-state
func (p *Parser) query() state {
	end := len(p.in)
	if p.override == noState {
		if i := bytes.IndexByte(p.in[p.pos:], '#'); i >= 0 {
			end = p.pos + i
		}
	}
	if p.CollectErrors {
		p.checkUnits(p.pos, end)
	}
	l := &p.u.loc
	l.queryStart = uint32(len(p.u.buf))
	buf := append(p.u.buf, '?')
	set, bit := &percent.Query, isEncodedQuery
	if l.scheme.special() {
		set, bit = &percent.SpecialQuery, isEncodedSpecial
	}
	switch {
	case p.Encoding == nil, l.scheme == schemeOther, l.scheme == schemeWS, l.scheme == schemeWSS:
		p.u.buf = p.appendEncoded(buf, p.pos, end, bit)
	default:
		p.u.buf = charset.AppendPercentEncode(buf, p.in[p.pos:end], p.Encoding, set, false)
	}
	if end == len(p.in) {
		return stateDone
	}
	p.pos = end + 1
	return stateFragment
}

// fragment is the fragment state, after the number sign.
//
// https://url.spec.whatwg.org/#fragment-state
func (p *Parser) fragment() state {
	if p.CollectErrors {
		p.checkUnits(p.pos, len(p.in))
	}
	p.u.loc.fragStart = uint32(len(p.u.buf))
	p.u.buf = p.appendEncoded(append(p.u.buf, '#'), p.pos, len(p.in), isEncodedFragment)
	return stateDone
}

// appendEncoded appends in[start:end] with the bytes of a class percent-encoded.
//
// https://url.spec.whatwg.org/#string-utf-8-percent-encode
func (p *Parser) appendEncoded(dst []byte, start, end int, bit uint16) []byte {
	src, run := p.in[start:end], 0
	for i, c := range src {
		if class[c]&bit != 0 {
			dst = p.grow(dst, start+run)
			dst = percent.AppendByte(append(dst, src[run:i]...), c)
			run = i + 1
		}
	}
	return append(dst, src[run:]...)
}

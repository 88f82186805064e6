package urlcore

import (
	"bytes"
	"strconv"

	"github.com/urlmill/urlmill/urlcore/percent"
)

// authority is the authority state. It finds the end of the authority and the last @ in it at once, where
// the standard goes back and forth, so that many of them take no more than linear time.
//
// https://url.spec.whatwg.org/#authority-state
func (p *Parser) authority() state {
	special := p.u.loc.scheme.special()
	end, at := p.pos, -1
	for ; end < len(p.in); end++ {
		c := p.in[end]
		if class[c]&isAuthorityStop == 0 || c == '\\' && !special {
			continue
		}
		if c != '@' {
			break
		}
		p.report(CodeInvalidCredentials, end)
		at = end
	}
	p.startAuthority()
	if at >= 0 {
		if at+1 == end {
			return p.fail(CodeHostMissing, end)
		}
		p.appendCredentials(p.in[p.pos:at])
		p.pos = at + 1
	}
	return stateHost
}

// appendCredentials writes the username and password that userinfo holds, percent-encoded, and the @, but
// nothing when both are empty.
//
// https://url.spec.whatwg.org/#authority-state, step 1.4
func (p *Parser) appendCredentials(userinfo []byte) {
	username, password, _ := bytes.Cut(userinfo, []byte{':'})
	p.u.buf = p.grow(p.u.buf, p.pos)
	p.writeCredentials(username, password)
}

// writeCredentials appends username and password in percent-encoded form.
func (p *Parser) writeCredentials(username, password []byte) {
	p.u.buf = percent.AppendEncode(p.u.buf, username, &percent.Userinfo)
	p.u.loc.userEnd = uint32(len(p.u.buf))
	if len(password) > 0 {
		p.u.buf = percent.AppendEncode(append(p.u.buf, ':'), password, &percent.Userinfo)
	}
	if len(username)+len(password) > 0 {
		p.u.buf = append(p.u.buf, '@')
	}
}

// hostState is the host state and, with that state override, the hostname state.
//
// https://url.spec.whatwg.org/#host-state
func (p *Parser) hostState() state {
	if p.override != noState && p.old.loc.scheme == schemeFile {
		return stateFileHost
	}
	special := p.u.loc.scheme.special()
	start, end := p.pos, p.pos
	inBrackets, colon := false, false
scan:
	for ; end < len(p.in); end++ {
		c := p.in[end]
		if class[c]&isHostStop == 0 {
			continue
		}
		switch {
		case c == '[':
			inBrackets = true
		case c == ']':
			inBrackets = false
		case c == ':':
			if !inBrackets {
				colon = true
				break scan
			}
		case c != '\\' || special:
			break scan
		}
	}
	empty := start == end
	switch {
	case colon && empty, special && empty:
		return p.fail(CodeHostMissing, end)
	case colon && p.override == stateHostname:
		return p.refuse(RefusedRest, end)
	case empty && p.override != noState && (p.old.HasCredentials() || p.old.HasPort()):
		return p.refuse(RefusedEmptyHost, end)
	}
	p.startHost()
	if !p.parseHost(start, end) {
		return stateFailed
	}
	p.endHost()
	p.pos = end
	switch {
	case colon:
		p.pos++
		return statePort
	case p.override != noState:
		return stateDone
	}
	return statePathStart
}

// port is the port state, after the colon.
//
// https://url.spec.whatwg.org/#port-state
func (p *Parser) port() state {
	const tooLarge = 1 << 16
	start := p.pos
	end, port := start, 0
	for end < len(p.in) && isDigit(p.in[end]) {
		port = min(port*10+int(p.in[end]-'0'), tooLarge)
		end++
	}
	if p.override == noState && end < len(p.in) {
		c := p.in[end]
		if c != '/' && c != '?' && c != '#' && (c != '\\' || !p.u.loc.scheme.special()) {
			return p.fail(CodePortInvalid, end)
		}
	}
	if end > start {
		if port == tooLarge {
			return p.fail(CodePortOutOfRange, start)
		}
		p.setPort(port)
	}
	p.pos = end
	switch {
	case p.override == noState:
		return statePathStart
	case end == start:
		return p.fail(CodePortInvalid, end)
	}
	return stateDone
}

// setPort writes the port, unless it is the scheme's default, which is null.
func (p *Parser) setPort(port int) {
	l := &p.u.loc
	if l.port = int32(port); l.port == l.scheme.defaultPort() {
		l.port = -1
		return
	}
	p.u.buf = strconv.AppendUint(append(p.u.buf, ':'), uint64(port), 10)
	l.pathStart = uint32(len(p.u.buf))
}

// startAuthority appends the slashes that begin an authority, after "scheme:".
func (p *Parser) startAuthority() {
	l := &p.u.loc
	p.u.buf = append(p.u.buf[:l.schemeEnd+1], '/', '/')
	l.userEnd = uint32(len(p.u.buf))
}

// startHost sets the start of the host, which is appended next.
func (p *Parser) startHost() {
	p.u.loc.hostStart = uint32(len(p.u.buf))
}

// endHost sets the end of the host, and for now of the authority.
func (p *Parser) endHost() {
	end := uint32(len(p.u.buf))
	p.u.loc.hostEnd, p.u.loc.pathStart = end, end
}

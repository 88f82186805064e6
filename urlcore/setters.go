package urlcore

import "github.com/urlmill/urlmill/urlcore/charset"

// The setters of the URL class. As there, input that a part cannot take leaves the URL as it is; [URL.SetHref]
// alone can fail. Tabs and newlines in the input are removed, but for SetUsername and SetPassword, which
// encode them.
//
// https://url.spec.whatwg.org/#url-class

// SetHref parses value as an absolute URL and makes u that URL. On failure u is unchanged and the error is
// an *[Error].
//
// https://url.spec.whatwg.org/#dom-url-href
func (u *URL) SetHref(value string) error {
	var p Parser
	if f := p.Parse(u, stringBytes(value), nil); !f.OK() {
		return &Error{Code: f.Code, Pos: f.Pos, Input: value}
	}
	return nil
}

// SetProtocol sets the scheme. What follows a colon in value is ignored. A special scheme can only become
// another special one, and the port becomes null when it is the new scheme's default.
//
// https://url.spec.whatwg.org/#dom-url-protocol
func (u *URL) SetProtocol(value string) {
	if !changeable(u, len(value)) {
		return
	}
	var p Parser
	p.startOverride(u, stateSchemeStart, append([]byte(value), ':'))
	if p.run(stateSchemeStart) != stateDone {
		return
	}
	old := &u.loc
	l := *old
	l.scheme, l.schemeEnd = p.u.loc.scheme, p.u.loc.schemeEnd
	l.shift(fromUserEnd, l.schemeEnd-old.schemeEnd)
	p.u.buf = append(p.u.buf, u.buf[old.schemeEnd+1:old.hostEnd]...)
	rest := old.hostEnd
	if u.HasPort() && old.port == l.scheme.defaultPort() {
		l.port = -1
		l.shift(fromPathStart, old.hostEnd-old.pathStart)
		rest = old.pathStart
	}
	u.commit(&p, rest, l)
}

// SetUsername sets the username, percent-encoded. It does nothing where the URL cannot have one: without
// a host, and for file URLs.
//
// https://url.spec.whatwg.org/#dom-url-username
func (u *URL) SetUsername(value string) {
	if u.canSetCredentials(value) {
		u.setCredentials(appendWellFormed(nil, value), u.Bytes(Password))
	}
}

// SetPassword sets the password, percent-encoded. It does nothing where SetUsername does nothing.
//
// https://url.spec.whatwg.org/#dom-url-password
func (u *URL) SetPassword(value string) {
	if u.canSetCredentials(value) {
		u.setCredentials(u.Bytes(Username), appendWellFormed(nil, value))
	}
}

// canSetCredentials reports whether u can have a username or password, and one as long as value.
func (u *URL) canSetCredentials(value string) bool {
	return !u.cannotHaveCredentialsOrPort() && changeable(u, len(value))
}

// setCredentials sets both. What is percent-encoded already holds nothing that would be encoded again.
func (u *URL) setCredentials(username, password []byte) {
	var p Parser
	p.u.buf = append(p.u.buf, u.buf[:u.loc.schemeEnd+3]...)
	p.writeCredentials(username, password)
	l := u.loc
	l.userEnd = p.u.loc.userEnd
	l.shift(fromHostStart, uint32(len(p.u.buf))-l.hostStart)
	u.commit(&p, u.loc.hostStart, l)
}

// SetHost sets the host and, if value has one, the port. It does nothing for opaque paths.
//
// https://url.spec.whatwg.org/#dom-url-host
func (u *URL) SetHost(value string) { u.setHost(value, stateHost) }

// SetHostname sets the host alone; a value with a port changes nothing.
//
// https://url.spec.whatwg.org/#dom-url-hostname
func (u *URL) SetHostname(value string) { u.setHost(value, stateHostname) }

func (u *URL) setHost(value string, override state) {
	var p Parser
	if u.loc.opaque || !p.beginOverride(u, override, stringBytes(value)) {
		return
	}
	old := &u.loc
	p.startAuthority()
	if old.host != HostNone {
		p.u.buf = append(p.u.buf[:0], u.buf[:old.hostStart]...)
		p.u.loc.userEnd = old.userEnd
	}
	final := p.run(override)
	// What is wrong with a port does not undo the host in front of it.
	portFailed := old.scheme != schemeFile && p.u.loc.hostEnd != 0
	if final != stateDone && !portFailed {
		return
	}
	l := *old
	l.host, l.userEnd, l.hostStart, l.hostEnd = p.u.loc.host, p.u.loc.userEnd, p.u.loc.hostStart, p.u.loc.hostEnd
	if p.u.loc.port == keepPort {
		p.u.buf = append(p.u.buf, u.buf[old.hostEnd:u.authorityEnd()]...)
	} else {
		l.port = p.u.loc.port
	}
	l.shift(fromPathStart, uint32(len(p.u.buf))-old.pathStart)
	u.commit(&p, old.pathStart, l)
}

// SetPort sets the port from the digits that value begins with; "" makes it null. It does nothing where
// SetUsername does nothing.
//
// https://url.spec.whatwg.org/#dom-url-port
func (u *URL) SetPort(value string) {
	var p Parser
	if u.cannotHaveCredentialsOrPort() || !p.beginOverride(u, statePort, stringBytes(value)) {
		return
	}
	p.u.buf = append(p.u.buf, u.buf[:u.loc.hostEnd]...)
	p.u.loc.port = -1
	if value != "" && p.run(statePort) != stateDone {
		return
	}
	l := u.loc
	l.port = p.u.loc.port
	l.shift(fromPathStart, uint32(len(p.u.buf))-l.pathStart)
	u.commit(&p, u.loc.pathStart, l)
}

// SetPathname sets the path; ? and # in value are encoded. It does nothing for opaque paths.
//
// https://url.spec.whatwg.org/#dom-url-pathname
func (u *URL) SetPathname(value string) {
	var p Parser
	if u.loc.opaque || !p.beginOverride(u, statePathStart, stringBytes(value)) {
		return
	}
	end := u.authorityEnd()
	p.u.buf = append(p.u.buf, u.buf[:end]...)
	p.u.loc.host, p.u.loc.pathStart = u.loc.host, uint32(end)
	p.run(statePathStart)
	l := u.loc
	l.pathStart = p.u.loc.pathStart
	l.shift(fromQueryStart, uint32(len(p.u.buf))-l.queryStart)
	u.commit(&p, u.loc.queryStart, l)
}

// SetSearch sets the query, of which one leading question mark is dropped; "" makes it null. # in value is
// encoded.
//
// https://url.spec.whatwg.org/#dom-url-search
func (u *URL) SetSearch(value string) {
	u.setQuery(value != "", trimFirst(value, '?'))
	u.refreshParams()
}

// setQuery sets the query to value or, without present, to null.
func (u *URL) setQuery(present bool, value string) {
	var p Parser
	if !p.beginOverride(u, stateQuery, stringBytes(value)) {
		return
	}
	p.u.buf = append(p.u.buf, u.buf[:u.loc.queryStart]...)
	if present {
		p.run(stateQuery)
	}
	l := u.loc
	l.shift(fromFragStart, uint32(len(p.u.buf))-l.fragStart)
	u.commit(&p, u.loc.fragStart, l)
}

// SetHash sets the fragment, of which one leading number sign is dropped; "" makes it null.
//
// https://url.spec.whatwg.org/#dom-url-hash
func (u *URL) SetHash(value string) {
	var p Parser
	if !p.beginOverride(u, stateFragment, stringBytes(trimFirst(value, '#'))) {
		return
	}
	p.u.buf = append(p.u.buf, u.buf[:u.loc.fragStart]...)
	if value != "" {
		p.run(stateFragment)
	}
	u.commit(&p, uint32(len(u.buf)), u.loc)
}

// trimFirst returns s without its first byte, if that is c.
func trimFirst(s string, c byte) string {
	if s != "" && s[0] == c {
		return s[1:]
	}
	return s
}

// keepPort is the port of the URL in the making while a host setter has not set another.
const keepPort = -2

// beginOverride makes p ready for a run over value with a state override, for a change of u. It returns
// false when there is no URL to change, or one of the two is too long.
func (p *Parser) beginOverride(u *URL, override state, value []byte) bool {
	if !changeable(u, len(value)) {
		return false
	}
	p.startOverride(u, override, value)
	return true
}

// startOverride does the same without a look at the lengths.
func (p *Parser) startOverride(u *URL, override state, value []byte) {
	p.prepare(value, false)
	p.override, p.old = override, u
	p.u.loc = location{
		scheme: u.loc.scheme, schemeEnd: u.loc.schemeEnd, port: keepPort, opaque: u.loc.opaque,
		queryStart: unset, fragStart: unset,
	}
	if override == stateHost || override == stateHostname {
		p.u.buf = append(p.u.buf, u.buf[:u.loc.schemeEnd+1]...)
	}
}

// changeable reports whether u holds a URL and the result of a change with that much input stays within
// 32-bit offsets.
func changeable(u *URL, input int) bool {
	return !u.IsEmpty() && input <= MaxInput && uint64(len(u.buf)) <= maxBase
}

// commit makes u what the setter has put together: the buffer in the making and the rest of u's own.
func (u *URL) commit(p *Parser, rest uint32, l location) {
	u.buf = append(p.u.buf, u.buf[rest:]...)
	u.loc = l
}

// The offsets of a location in their order, from which on shift moves them.
const (
	fromUserEnd = iota
	fromHostStart
	fromPathStart
	fromQueryStart
	fromFragStart
)

// shift adds delta to an offset and all behind it. delta may be negative, modulo 2^32.
func (l *location) shift(from int, delta uint32) {
	if from <= fromUserEnd {
		l.userEnd += delta
	}
	if from <= fromHostStart {
		l.hostStart += delta
		l.hostEnd += delta
	}
	if from <= fromPathStart {
		l.pathStart += delta
	}
	if from <= fromQueryStart {
		l.queryStart += delta
	}
	l.fragStart += delta
}

// appendWellFormed appends s with U+FFFD for each maximal ill-formed part.
func appendWellFormed(dst []byte, s string) []byte {
	b := stringBytes(s)
	if utf8Valid(b) {
		return append(dst, b...)
	}
	return charset.AppendUTF8(dst, b)
}

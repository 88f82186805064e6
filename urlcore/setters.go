package urlcore

import "github.com/urlmill/urlmill/urlcore/charset"

// The setters of the URL class. As there, input that a part cannot take leaves the URL as it is; [URL.SetHref]
// alone can fail, and the setters of try.go, which say why. Tabs and newlines in the input are removed, but for
// SetUsername and SetPassword, which encode them.
//
// Behind each there is a method that says why it has changed nothing. Its argument whole makes it refuse a
// value of which the standard's setter drops the end.
//
// https://url.spec.whatwg.org/#url-class

// SetHref parses value as an absolute URL and makes u that URL. On failure u is unchanged and the error is
// an *[Error].
//
// https://url.spec.whatwg.org/#dom-url-href
func (u *URL) SetHref(value string) error {
	if f := u.parseApart(stringBytes(value)); !f.OK() {
		return &Error{Code: f.Code, Pos: f.Pos, Input: value}
	}
	return nil
}

// parseApart parses an absolute URL into u, and into a new buffer, since copies of u may share the old one.
func (u *URL) parseApart(text []byte) Failure {
	var p Parser
	shared := u.buf
	u.buf = nil
	f := p.Parse(u, text, nil)
	if !f.OK() {
		u.buf = shared
	}
	return f
}

// SetProtocol sets the scheme. What follows a colon in value is ignored. A special scheme can only become
// another special one, and the port becomes null when it is the new scheme's default.
//
// https://url.spec.whatwg.org/#dom-url-protocol
func (u *URL) SetProtocol(value string) { u.setProtocol(value, false) }

func (u *URL) setProtocol(value string, whole bool) refusal {
	if r := u.changeable(len(value)); !r.ok() {
		return r
	}
	var p Parser
	p.startOverride(u, stateSchemeStart, append([]byte(value), ':'))
	if final := p.run(stateSchemeStart); final != stateDone {
		return p.refusal(final)
	}
	if whole && p.pos < len(p.in)-1 { // the last byte is the colon from here
		return refusal{RefusedRest, Failure{Pos: p.pos}}
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
	return u.commit(&p, rest, l)
}

// SetUsername sets the username, percent-encoded. It does nothing where the URL cannot have one: without
// a host, and for file URLs.
//
// https://url.spec.whatwg.org/#dom-url-username
func (u *URL) SetUsername(value string) { u.setUsername(value) }

func (u *URL) setUsername(value string) refusal {
	if r := u.takesCredentials(len(value)); !r.ok() {
		return r
	}
	return u.setCredentials(appendWellFormed(nil, value), u.Bytes(Password))
}

// SetPassword sets the password, percent-encoded. It does nothing where SetUsername does nothing.
//
// https://url.spec.whatwg.org/#dom-url-password
func (u *URL) SetPassword(value string) { u.setPassword(value) }

func (u *URL) setPassword(value string) refusal {
	if r := u.takesCredentials(len(value)); !r.ok() {
		return r
	}
	return u.setCredentials(u.Bytes(Username), appendWellFormed(nil, value))
}

// takesCredentials says why u cannot have a username, password or port from that much input.
//
// https://url.spec.whatwg.org/#cannot-have-a-username-password-port
func (u *URL) takesCredentials(input int) refusal {
	r := u.changeable(input)
	switch {
	case !r.ok():
	case u.loc.scheme == schemeFile:
		r.reason = RefusedFile
	case u.loc.host <= HostEmpty:
		r.reason = RefusedWithoutHost
	}
	return r
}

// setCredentials sets both. What is percent-encoded already holds nothing that would be encoded again.
func (u *URL) setCredentials(username, password []byte) refusal {
	var p Parser
	p.u.buf = append(p.u.buf, u.buf[:u.loc.schemeEnd+3]...)
	p.writeCredentials(username, password)
	l := u.loc
	l.userEnd = p.u.loc.userEnd
	l.shift(fromHostStart, uint32(len(p.u.buf))-l.hostStart)
	return u.commit(&p, u.loc.hostStart, l)
}

// SetHost sets the host and, if value has one, the port. It does nothing for opaque paths.
//
// https://url.spec.whatwg.org/#dom-url-host
func (u *URL) SetHost(value string) { u.setHost(value, stateHost, false) }

// SetHostname sets the host alone; a value with a port changes nothing.
//
// https://url.spec.whatwg.org/#dom-url-hostname
func (u *URL) SetHostname(value string) { u.setHost(value, stateHostname, false) }

func (u *URL) setHost(value string, override state, whole bool) refusal {
	if u.loc.opaque {
		return refusal{reason: RefusedOpaquePath}
	}
	var p Parser
	if r := p.beginOverride(u, override, stringBytes(value)); !r.ok() {
		return r
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
	if final != stateDone && (whole || !portFailed) {
		return p.refusal(final)
	}
	if whole && p.pos < len(p.in) {
		return refusal{RefusedRest, Failure{Pos: p.pos}}
	}
	l := *old
	l.host, l.userEnd, l.hostStart, l.hostEnd = p.u.loc.host, p.u.loc.userEnd, p.u.loc.hostStart, p.u.loc.hostEnd
	if p.u.loc.port == keepPort {
		p.u.buf = append(p.u.buf, u.buf[old.hostEnd:u.authorityEnd()]...)
	} else {
		l.port = p.u.loc.port
	}
	l.shift(fromPathStart, uint32(len(p.u.buf))-old.pathStart)
	return u.commit(&p, old.pathStart, l)
}

// SetPort sets the port from the digits that value begins with; "" makes it null. It does nothing where
// SetUsername does nothing.
//
// https://url.spec.whatwg.org/#dom-url-port
func (u *URL) SetPort(value string) { u.setPort(value, false) }

func (u *URL) setPort(value string, whole bool) refusal {
	if r := u.takesCredentials(len(value)); !r.ok() {
		return r
	}
	var p Parser
	p.startOverride(u, statePort, stringBytes(value))
	p.u.buf = append(p.u.buf, u.buf[:u.loc.hostEnd]...)
	p.u.loc.port = -1
	if value != "" {
		if final := p.run(statePort); final != stateDone {
			return p.refusal(final)
		}
	}
	if whole && p.pos < len(p.in) {
		return refusal{RefusedRest, Failure{Pos: p.pos}}
	}
	l := u.loc
	l.port = p.u.loc.port
	l.shift(fromPathStart, uint32(len(p.u.buf))-l.pathStart)
	return u.commit(&p, u.loc.pathStart, l)
}

// SetPathname sets the path; ? and # in value are encoded. It does nothing for opaque paths.
//
// https://url.spec.whatwg.org/#dom-url-pathname
func (u *URL) SetPathname(value string) { u.setPathname(value) }

func (u *URL) setPathname(value string) refusal {
	if u.loc.opaque {
		return refusal{reason: RefusedOpaquePath}
	}
	var p Parser
	if r := p.beginOverride(u, statePathStart, stringBytes(value)); !r.ok() {
		return r
	}
	end := u.authorityEnd()
	p.u.buf = append(p.u.buf, u.buf[:end]...)
	p.u.loc.host, p.u.loc.pathStart = u.loc.host, uint32(end)
	p.run(statePathStart)
	l := u.loc
	l.pathStart = p.u.loc.pathStart
	l.shift(fromQueryStart, uint32(len(p.u.buf))-l.queryStart)
	return u.commit(&p, u.loc.queryStart, l)
}

// SetSearch sets the query, of which one leading question mark is dropped; "" makes it null. # in value is
// encoded.
//
// https://url.spec.whatwg.org/#dom-url-search
func (u *URL) SetSearch(value string) { u.setSearch(value) }

func (u *URL) setSearch(value string) refusal {
	r := u.setQuery(value != "", trimFirst(value, '?'))
	u.refreshParams()
	return r
}

// setQuery sets the query to value or, without present, to null, and leaves the list behind SearchParams.
func (u *URL) setQuery(present bool, value string) refusal {
	var p Parser
	if r := p.beginOverride(u, stateQuery, stringBytes(value)); !r.ok() {
		return r
	}
	p.u.buf = append(p.u.buf, u.buf[:u.loc.queryStart]...)
	if present {
		p.run(stateQuery)
	}
	l := u.loc
	l.shift(fromFragStart, uint32(len(p.u.buf))-l.fragStart)
	return u.commit(&p, u.loc.fragStart, l)
}

// SetHash sets the fragment, of which one leading number sign is dropped; "" makes it null.
//
// https://url.spec.whatwg.org/#dom-url-hash
func (u *URL) SetHash(value string) { u.setHash(value) }

func (u *URL) setHash(value string) refusal {
	var p Parser
	if r := p.beginOverride(u, stateFragment, stringBytes(trimFirst(value, '#'))); !r.ok() {
		return r
	}
	p.u.buf = append(p.u.buf, u.buf[:u.loc.fragStart]...)
	if value != "" {
		p.run(stateFragment)
	}
	return u.commit(&p, uint32(len(u.buf)), u.loc)
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

// beginOverride makes p ready for a run over value with a state override, for a change of u. It refuses
// when there is no URL to change, or one of the two is too long.
func (p *Parser) beginOverride(u *URL, override state, value []byte) refusal {
	r := u.changeable(len(value))
	if r.ok() {
		p.startOverride(u, override, value)
	}
	return r
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

// changeable refuses when u holds no URL, or the result of a change with that much input may not stay
// within 32-bit offsets.
func (u *URL) changeable(input int) refusal {
	switch {
	case u.IsEmpty():
		return refusal{reason: RefusedEmptyURL}
	case input > MaxInput || uint64(len(u.buf)) > maxBase:
		return refusal{RefusedValue, Failure{Code: CodeInputTooLong}}
	}
	return refusal{}
}

// commit makes u what the setter has put together: the buffer in the making and the rest of u's own. The old
// buffer stays as it is for copies of u.
func (u *URL) commit(p *Parser, rest uint32, l location) refusal {
	u.buf = append(p.u.buf, u.buf[rest:]...)
	u.loc = l
	return refusal{}
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

package urlcore

// relative is the relative state.
//
// https://url.spec.whatwg.org/#relative-state
func (p *Parser) relative() state {
	p.copyScheme()
	special := p.base.loc.scheme.special()
	switch {
	case p.at(0, '/'):
		p.pos++
		return stateRelativeSlash
	case special && p.at(0, '\\'):
		p.report(CodeInvalidReverseSolidus, p.pos)
		p.pos++
		return stateRelativeSlash
	}
	p.copyAuthority()
	p.copyPath()
	return p.afterBasePath()
}

// afterBasePath goes on where a path was copied from the base: a query, a fragment or the end keep it, and
// anything else is resolved against it.
//
// https://url.spec.whatwg.org/#relative-state, steps 2.1 to 2.4; shared by the file state
func (p *Parser) afterBasePath() state {
	c, ok := p.peek(0)
	switch {
	case !ok:
		p.endPath()
		p.copyQuery()
		return stateDone
	case c == '?':
		p.pos++
		p.endPath()
		return stateQuery
	case c == '#':
		p.pos++
		p.endPath()
		p.copyQuery()
		return stateFragment
	}
	if p.u.loc.scheme == schemeFile && startsWithDriveLetter(p.in[p.pos:]) {
		p.report(CodeFileInvalidWindowsDriveLetter, p.pos)
		p.u.buf = p.u.buf[:p.u.loc.pathStart]
	} else {
		p.u.buf = p.shorten(p.u.buf)
	}
	return statePath
}

// relativeSlash is the relative slash state.
//
// https://url.spec.whatwg.org/#relative-slash-state
func (p *Parser) relativeSlash() state {
	special := p.u.loc.scheme.special()
	switch {
	case special && p.at(0, '\\'):
		p.report(CodeInvalidReverseSolidus, p.pos)
		p.pos++
		return stateSpecialAuthorityIgnoreSlashes
	case p.at(0, '/'):
		p.pos++
		if special {
			return stateSpecialAuthorityIgnoreSlashes
		}
		return stateAuthority
	}
	p.copyAuthority()
	return statePath
}

// copyScheme begins the URL with the base's scheme.
func (p *Parser) copyScheme() {
	b := &p.base.loc
	p.u.buf = append(p.u.buf[:0], p.base.buf[:b.schemeEnd+1]...)
	p.u.loc.scheme, p.u.loc.schemeEnd = b.scheme, b.schemeEnd
}

// copyAuthority begins the URL with the base's scheme, credentials, host and port.
func (p *Parser) copyAuthority() {
	b := &p.base.loc
	p.u.buf = append(p.u.buf[:0], p.base.buf[:p.base.authorityEnd()]...)
	l := &p.u.loc
	l.scheme, l.schemeEnd = b.scheme, b.schemeEnd
	l.userEnd, l.hostStart, l.hostEnd = b.userEnd, b.hostStart, b.hostEnd
	l.host, l.port = b.host, b.port
	l.pathStart = uint32(len(p.u.buf))
}

// copyPath appends the base's path.
func (p *Parser) copyPath() {
	p.u.buf = append(p.u.buf, p.base.buf[p.base.loc.pathStart:p.base.loc.queryStart]...)
}

// copyQuery appends the base's query, if it has one.
func (p *Parser) copyQuery() {
	b := &p.base.loc
	if b.queryStart < b.fragStart {
		p.u.loc.queryStart = uint32(len(p.u.buf))
		p.u.buf = append(p.u.buf, p.base.buf[b.queryStart:b.fragStart]...)
	}
}

package urlcore

// schemeStart is the scheme start state.
//
// https://url.spec.whatwg.org/#scheme-start-state
func (p *Parser) schemeStart() state {
	if c, ok := p.peek(0); ok && isAlpha(c) {
		return stateScheme
	}
	if p.override == noState {
		return stateNoScheme
	}
	return p.refuse(RefusedScheme, 0)
}

// scheme is the scheme state, from its first letter on.
//
// https://url.spec.whatwg.org/#scheme-state
func (p *Parser) scheme() state {
	in := p.in
	end := 0
	for end < len(in) && class[in[end]]&isSchemeByte != 0 {
		end++
	}
	if end == len(in) || in[end] != ':' {
		if p.override != noState {
			return p.refuse(RefusedScheme, end)
		}
		return stateNoScheme // begins again: nothing was consumed
	}
	buf := append(p.u.buf[:0], in[:end]...)
	for i, c := range buf {
		buf[i] = toLower(c)
	}
	kind := schemeOf(buf)
	p.u.buf = append(buf, ':')
	p.u.loc.scheme = kind
	p.u.loc.schemeEnd = uint32(len(buf))
	p.pos = end + 1
	if p.override != noState {
		return p.schemeOverridden(kind)
	}
	switch {
	case kind == schemeFile:
		if !p.at(0, '/') || !p.at(1, '/') {
			p.report(CodeSpecialSchemeMissingFollowingSolidus, p.pos)
		}
		return stateFile
	case kind != schemeOther && p.base != nil && p.base.loc.scheme == kind:
		return stateSpecialRelativeOrAuthority
	case kind != schemeOther:
		return stateSpecialAuthoritySlashes
	case p.at(0, '/'):
		p.pos++
		return statePathOrAuthority
	}
	return stateOpaquePath
}

// schemeOverridden says whether the URL that is changed may take the new scheme.
//
// https://url.spec.whatwg.org/#scheme-state, step 2.1
func (p *Parser) schemeOverridden(kind schemeKind) state {
	old := p.old
	switch {
	case old.loc.scheme.special() != kind.special():
		return p.refuse(RefusedSpecial, 0)
	case kind == schemeFile && (old.HasCredentials() || old.HasPort()):
		return p.refuse(RefusedFile, 0)
	case old.loc.scheme == schemeFile && old.loc.host == HostEmpty:
		return p.refuse(RefusedWithoutHost, 0)
	}
	return stateDone
}

// noScheme is the no scheme state.
//
// https://url.spec.whatwg.org/#no-scheme-state
func (p *Parser) noScheme() state {
	switch base := p.base; {
	case base == nil, base.IsEmpty(), base.loc.opaque && !p.at(0, '#'):
		return p.fail(CodeMissingSchemeNonRelativeURL, p.pos)
	case base.loc.opaque:
		p.copyAuthority()
		p.copyPath()
		p.copyQuery()
		p.u.loc.opaque = true
		p.pos++
		return stateFragment
	case base.loc.scheme == schemeFile:
		return stateFile
	}
	return stateRelative
}

// specialRelativeOrAuthority is the special relative or authority state.
//
// https://url.spec.whatwg.org/#special-relative-or-authority-state
func (p *Parser) specialRelativeOrAuthority() state {
	if p.at(0, '/') && p.at(1, '/') {
		p.pos += 2
		return stateSpecialAuthorityIgnoreSlashes
	}
	p.report(CodeSpecialSchemeMissingFollowingSolidus, p.pos)
	return stateRelative
}

// pathOrAuthority is the path or authority state.
//
// https://url.spec.whatwg.org/#path-or-authority-state
func (p *Parser) pathOrAuthority() state {
	if p.at(0, '/') {
		p.pos++
		return stateAuthority
	}
	p.noAuthority()
	return statePath
}

// specialAuthoritySlashes is the special authority slashes state.
//
// https://url.spec.whatwg.org/#special-authority-slashes-state
func (p *Parser) specialAuthoritySlashes() state {
	if p.at(0, '/') && p.at(1, '/') {
		p.pos += 2
	} else {
		p.report(CodeSpecialSchemeMissingFollowingSolidus, p.pos)
	}
	return stateSpecialAuthorityIgnoreSlashes
}

// specialAuthorityIgnoreSlashes is the special authority ignore slashes state.
//
// https://url.spec.whatwg.org/#special-authority-ignore-slashes-state
func (p *Parser) specialAuthorityIgnoreSlashes() state {
	for p.at(0, '/') || p.at(0, '\\') {
		p.report(CodeSpecialSchemeMissingFollowingSolidus, p.pos)
		p.pos++
	}
	return stateAuthority
}

// noAuthority sets the offsets of a URL whose host is null, after "scheme:".
func (p *Parser) noAuthority() {
	end := uint32(len(p.u.buf))
	l := &p.u.loc
	l.host = HostNone
	l.userEnd, l.hostStart, l.hostEnd, l.pathStart = end, end, end, end
}

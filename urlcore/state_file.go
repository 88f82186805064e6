package urlcore

import "bytes"

// file is the file state.
//
// https://url.spec.whatwg.org/#file-state
func (p *Parser) file() state {
	p.u.buf = append(p.u.buf[:0], "file:"...)
	p.u.loc.scheme, p.u.loc.schemeEnd = schemeFile, uint32(len("file"))
	if c, ok := p.peek(0); ok && (c == '/' || c == '\\') {
		if c == '\\' {
			p.report(CodeInvalidReverseSolidus, p.pos)
		}
		p.pos++
		return stateFileSlash
	}
	if p.base != nil && p.base.loc.scheme == schemeFile {
		p.copyAuthority()
		p.copyPath()
		return p.afterBasePath()
	}
	p.emptyFileHost()
	return statePath
}

// fileSlash is the file slash state.
//
// https://url.spec.whatwg.org/#file-slash-state
func (p *Parser) fileSlash() state {
	if c, ok := p.peek(0); ok && (c == '/' || c == '\\') {
		if c == '\\' {
			p.report(CodeInvalidReverseSolidus, p.pos)
		}
		p.pos++
		return stateFileHost
	}
	if p.base == nil || p.base.loc.scheme != schemeFile {
		p.emptyFileHost()
		return statePath
	}
	p.copyAuthority()
	if !startsWithDriveLetter(p.in[p.pos:]) {
		if first := firstSegment(p.base.Bytes(Path)); isNormalizedDriveLetter(first) {
			p.u.buf = append(append(p.u.buf, '/'), first...)
		}
	}
	return statePath
}

// fileHost is the file host state.
//
// https://url.spec.whatwg.org/#file-host-state
func (p *Parser) fileHost() state {
	start := p.pos
	end := start
	for end < len(p.in) && !isOneOf(p.in[end], "/\\?#") {
		end++
	}
	host := p.in[start:end]
	if p.override == noState && isDriveLetter(host) {
		// The letter is no host but the first segment of the path, which begins at it.
		p.report(CodeFileInvalidWindowsDriveLetterHost, start)
		p.emptyFileHost()
		p.unitsFrom = end // its bar was seen here, where it is no error of its own
		return statePath
	}
	p.emptyFileHost()
	p.pos = end
	if len(host) > 0 {
		if !p.parseHost(start, end) {
			return stateFailed
		}
		if string(p.u.buf[p.u.loc.hostStart:]) == "localhost" {
			p.u.buf = p.u.buf[:p.u.loc.hostStart]
			p.u.loc.host = HostEmpty
		}
		p.endHost()
	}
	if p.override != noState {
		return stateDone
	}
	return statePathStart
}

// emptyFileHost appends the slashes of an authority that is an empty host, after "file:".
func (p *Parser) emptyFileHost() {
	p.startAuthority()
	p.startHost()
	p.u.loc.host = HostEmpty
	p.endHost()
}

// isDriveLetter reports whether s is a Windows drive letter: a letter and a colon or vertical bar.
//
// https://url.spec.whatwg.org/#windows-drive-letter
func isDriveLetter(s []byte) bool {
	return len(s) == 2 && isAlpha(s[0]) && (s[1] == ':' || s[1] == '|')
}

// isNormalizedDriveLetter reports whether s is a letter and a colon.
//
// https://url.spec.whatwg.org/#normalized-windows-drive-letter
func isNormalizedDriveLetter(s []byte) bool {
	return len(s) == 2 && isAlpha(s[0]) && s[1] == ':'
}

// startsWithDriveLetter reports whether s starts with a Windows drive letter that its end, a slash, a
// question mark or a number sign follows.
//
// https://url.spec.whatwg.org/#start-with-a-windows-drive-letter
func startsWithDriveLetter(s []byte) bool {
	return len(s) >= 2 && isDriveLetter(s[:2]) && (len(s) == 2 || isOneOf(s[2], "/\\?#"))
}

// firstSegment returns the first segment of a serialized path.
func firstSegment(path []byte) []byte {
	first, _, _ := bytes.Cut(bytes.TrimPrefix(path, []byte{'/'}), []byte{'/'})
	return first
}

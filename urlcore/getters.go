package urlcore

// The getters of the URL class. They return what the standard's JavaScript API returns, with delimiters:
// Protocol has its colon, Search its question mark, Hash its number sign. The parts without delimiters and
// without allocation are given by [URL.Bytes].
//
// https://url.spec.whatwg.org/#url-class

// Href returns the serialization.
func (u *URL) Href() string { return string(u.buf) }

// String returns the serialization, like [URL.Href].
func (u *URL) String() string { return string(u.buf) }

// HrefWithoutFragment returns the serialization with the fragment left out.
//
// https://url.spec.whatwg.org/#url-serializing, exclude fragment
func (u *URL) HrefWithoutFragment() string { return string(u.buf[:u.loc.fragStart]) }

// Protocol returns the scheme and a colon.
func (u *URL) Protocol() string {
	if u.IsEmpty() {
		return ""
	}
	return string(u.buf[:u.loc.schemeEnd+1])
}

// Username returns the username in percent-encoded form, or "".
func (u *URL) Username() string { return string(u.Bytes(Username)) }

// Password returns the password in percent-encoded form, or "".
func (u *URL) Password() string { return string(u.Bytes(Password)) }

// Host returns the host and, unless the port is null, a colon and the port.
func (u *URL) Host() string {
	if u.loc.host == HostNone {
		return ""
	}
	return string(u.buf[u.loc.hostStart:u.loc.pathStart])
}

// Hostname returns the host without the port; IPv6 addresses are in brackets.
func (u *URL) Hostname() string { return string(u.Bytes(Host)) }

// Port returns the port in decimal digits, or "" when it is null.
func (u *URL) Port() string { return string(u.Bytes(Port)) }

// Pathname returns the path.
func (u *URL) Pathname() string { return string(u.Bytes(Path)) }

// Search returns the query with its question mark, or "" when it is null or empty.
func (u *URL) Search() string {
	if u.loc.fragStart-u.loc.queryStart <= 1 {
		return ""
	}
	return string(u.buf[u.loc.queryStart:u.loc.fragStart])
}

// Hash returns the fragment with its number sign, or "" when it is null or empty.
func (u *URL) Hash() string {
	if len(u.buf)-int(u.loc.fragStart) <= 1 {
		return ""
	}
	return string(u.buf[u.loc.fragStart:])
}

// MarshalText returns the serialization, so that a URL is a string in JSON as toJSON makes it.
func (u *URL) MarshalText() ([]byte, error) { return append([]byte(nil), u.buf...), nil }

// UnmarshalText parses an absolute URL. On failure u is unchanged and the error an *[Error].
func (u *URL) UnmarshalText(text []byte) error {
	var p Parser
	return p.Parse(u, text, nil).Err(text)
}

package urlcore

import (
	"slices"

	"github.com/urlmill/urlmill/urlcore/percent"
)

// The getters of the URL class. They return what the standard's JavaScript API returns, with delimiters:
// Protocol has its colon, Search its question mark, Hash its number sign. The parts without delimiters and
// without allocation are given by [URL.Bytes].
//
// https://url.spec.whatwg.org/#url-class

// Href returns the serialization.
func (u *URL) Href() string { return string(u.buf) }

// String returns the serialization, like [URL.Href]. The receiver is a value, so that package fmt prints
// URLs that are kept by value.
func (u URL) String() string { return string(u.buf) }

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

// DecodedUsername returns the username without percent-encoding, as it would be sent to a server. Bytes
// that are no UTF-8 stay as they are. [URL.SetUsername] takes percent signs for what they are in a URL:
// give it percent.Encode(name, &percent.Component) for a name that may hold some.
func (u *URL) DecodedUsername() string { return u.decoded(Username) }

// DecodedPassword returns the password without percent-encoding, otherwise like [URL.DecodedUsername].
func (u *URL) DecodedPassword() string { return u.decoded(Password) }

// DecodedFragment returns the fragment without number sign and percent-encoding. Bytes that are no UTF-8
// stay as they are. A browser looks for an element of that name where it finds none of the encoded one.
func (u *URL) DecodedFragment() string { return u.decoded(Fragment) }

// decoded returns a part without percent-encoding.
func (u *URL) decoded(part Part) string { return string(percent.AppendDecode(nil, u.Bytes(part))) }

// hidden stands for a username or password that is not to be seen.
const hidden = "xxxxx"

// Redacted returns the serialization with "xxxxx" for the password, if there is one, as that of net/url
// does. What the username, path, query and fragment hold stays visible; [URL.LogValue] hides the username.
func (u *URL) Redacted() string { return u.redacted(int(u.loc.userEnd)) }

// redacted returns the serialization with "xxxxx" for the password and for the username from keep on.
func (u *URL) redacted(keep int) string {
	l := &u.loc
	if !u.HasCredentials() {
		return u.Href()
	}
	b := slices.Clone(u.buf[:keep])
	if keep < int(l.userEnd) {
		b = append(b, hidden...)
	}
	if l.hostStart > l.userEnd+1 {
		b = append(append(b, ':'), hidden...)
	}
	return string(append(b, u.buf[l.hostStart-1:]...))
}

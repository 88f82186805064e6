package urlcore

import (
	"errors"
	"net/url"
	"strings"

	"github.com/urlmill/urlmill/urlcore/percent"
)

// escapedForNetURL holds what net/url does not leave alone in a path or fragment. A path with any of it would be
// written anew from its decoded form, in which %2F is a slash.
var escapedForNetURL = percent.Path.With(`|\^`).Without("?")

// ErrNetURL is returned for URLs that net/url would make others of: whose host is opaque and holds an escape for one of the
// characters :, ", <, >, [ and ], as that of foo://h%3A80/, which net/url cannot tell from a port.
var ErrNetURL = errors.New("urlcore: net/url cannot hold the URL's host")

// NetURL returns u as a URL of net/url, for functions that take one, such as those of net/http. It shares nothing with u.
//
// Its String is u's Href, and [FromNetURL] gives u back, but for what net/url cannot hold:
//
//   - characters such as | in a path and # in a fragment, and percent signs that begin no escape, are percent-encoded where the
//     standard leaves them alone;
//   - username, password and the host of a URL that is not special are kept decoded, so that it is net/url which chooses what
//     is encoded, and in which letters;
//   - an empty fragment, "#" at the end, is gone, and so are the slashes of an authority that is empty before an empty path,
//     as in "foo://", and the path of a URL without a host that begins with "//" gets its "/." as a segment.
//
// The empty URL gives an empty one. The error is [ErrNetURL], and never comes for special URLs.
func (u *URL) NetURL() (*url.URL, error) {
	v := &url.URL{Scheme: string(u.Bytes(Scheme)), RawQuery: string(u.Bytes(Query))}
	v.ForceQuery = u.HasQuery() && v.RawQuery == ""
	v.RawFragment, v.Fragment = netURLText(u.Bytes(Fragment))
	if u.loc.opaque {
		v.Opaque = u.Pathname()
		return v, nil
	}
	path := u.Bytes(Path)
	if u.HasHost() {
		v.Host = string(percent.AppendDecode(nil, u.Bytes(Host)))
		if u.loc.host == HostOpaque && strings.ContainsAny(v.Host, `:"<>[]`) {
			return nil, ErrNetURL
		}
		v.User = u.netURLUser()
		if u.HasPort() {
			v.Host += ":" + u.Port()
		}
	} else {
		v.OmitHost = true
		path = u.buf[u.loc.hostEnd:u.loc.queryStart] // with "/."
	}
	v.RawPath, v.Path = netURLText(path)
	return v, nil
}

// netURLUser returns username and password, or nil where there is neither.
func (u *URL) netURLUser() *url.Userinfo {
	name, password := string(percent.Decode(u.Username())), string(percent.Decode(u.Password()))
	switch {
	case !u.HasCredentials():
		return nil
	case password == "":
		return url.User(name)
	}
	return url.UserPassword(name, password)
}

// netURLText returns a path or fragment with everything escaped that net/url wants to be, and decoded.
func netURLText(text []byte) (raw, decoded string) {
	var b []byte
	for i, c := range text {
		size, ok := urlUnit(text[i:])
		if c == '%' && (size != 3 || !ok) || escapedForNetURL.Has(c) {
			b = percent.AppendByte(b, c)
		} else {
			b = append(b, c)
		}
	}
	return string(b), string(percent.Decode(string(b)))
}

// FromNetURL parses the serialization of a URL of net/url, which it does not keep. The error is an *[Error]: where v has no
// scheme, or something that the standard refuses. What becomes of v is what becomes of the input of every parse: dot segments
// are resolved, hosts normalized, default ports dropped. A special URL whose path is opaque to net/url, as that of "http:h", is
// read as browsers do, as http://h/.
func FromNetURL(v *url.URL) (*URL, error) { return Parse(v.String()) }

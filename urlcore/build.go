package urlcore

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/urlmill/urlmill/urlcore/form"
	"github.com/urlmill/urlmill/urlcore/percent"
)

// Builder holds the parts of a URL as text, and [Builder.URL] puts them together. Each field is encoded as its part needs, so
// that no value, whatever it holds, gets into another part: a slash in a segment or an at sign in a username is a character
// like others. For what is in percent-encoded form already, use the setters, or [Parse].
type Builder struct {
	// Scheme is the scheme without its colon.
	Scheme string
	// Username and Password need a Host, and another scheme than file.
	Username, Password string
	// Host is a domain, which may be in Unicode, or an address; brackets round IPv6 addresses may be left out. "" is no host,
	// and the empty host of file. It holds no port.
	Host string
	// Port is the port, and none if 0; a special scheme's default is left out of the URL.
	Port uint16
	// Segments are those of the path: none for "/", or an empty one at the end for a slash there.
	Segments []string
	// Query are the query's names and values in their order, form-urlencoded as by [URL.SearchParams]. There is no query without.
	Query []form.Pair
	// Fragment is the fragment without its number sign, and none if "".
	Fragment string
}

// ErrBuilder is returned for parts that do not go together: a username, password or port without a host or for file, or no host
// for a special scheme.
var ErrBuilder = errors.New("urlcore: parts do not go together")

// URL puts the parts together. It keeps nothing of b, which may be used again. An error names the field at fault, and wraps
// [ErrBuilder], [ErrDotSegment], or an *[Error] for what Scheme and Host cannot be.
func (b *Builder) URL() (*URL, error) {
	u, err := Parse(b.Scheme + "://h/") // for what the scheme is
	if err != nil || !isScheme(b.Scheme) {
		return nil, fmt.Errorf("urlcore: Scheme %q: %w", b.Scheme, &Error{Code: CodeMissingSchemeNonRelativeURL, Input: b.Scheme})
	}
	if err := b.check(u.loc.scheme); err != nil {
		return nil, err
	}
	text := []byte(b.Scheme + ":")
	if b.Host != "" || u.loc.scheme == schemeFile {
		if text, err = b.appendAuthority(text, u.Special()); err != nil {
			return nil, err
		}
	}
	if u, err = Parse(string(append(text, '/'))); err != nil {
		return nil, err
	}
	if err := u.Segments().Push(b.Segments...); err != nil {
		return nil, fmt.Errorf("urlcore: Segments %q: %w", b.Segments, err)
	}
	if len(b.Query) > 0 {
		u.SetSearch(string(form.AppendPairs(nil, b.Query)))
	}
	set := percent.Fragment.With("%#")
	u.SetHash(percent.Encode(b.Fragment, &set))
	return u, nil
}

// isScheme reports whether s is the name of a scheme and nothing else.
//
// https://url.spec.whatwg.org/#url-scheme-string
func isScheme(s string) bool {
	for i := range len(s) {
		if class[s[i]]&isSchemeByte == 0 {
			return false
		}
	}
	return s != "" && isAlpha(s[0])
}

// check refuses parts that do not go together.
func (b *Builder) check(scheme schemeKind) error {
	for _, part := range []struct {
		name string
		set  bool
	}{{"Username", b.Username != ""}, {"Password", b.Password != ""}, {"Port", b.Port != 0}} {
		if part.set && scheme == schemeFile {
			return fmt.Errorf("%w: %s is set, which URLs of the scheme file do not have", ErrBuilder, part.name)
		}
		if part.set && b.Host == "" {
			return fmt.Errorf("%w: %s is set, which needs a Host", ErrBuilder, part.name)
		}
	}
	if scheme.special() && scheme != schemeFile && b.Host == "" {
		return fmt.Errorf("%w: the scheme %s needs a Host", ErrBuilder, b.Scheme)
	}
	return nil
}

// appendAuthority appends "//", credentials, host and port.
func (b *Builder) appendAuthority(text []byte, special bool) ([]byte, error) {
	text = append(text, "//"...)
	if b.Username != "" || b.Password != "" {
		text = percent.AppendEncode(text, []byte(b.Username), &percent.Component)
		text = percent.AppendEncode(append(text, ':'), []byte(b.Password), &percent.Component)
		text = append(text, '@')
	}
	if b.Host != "" {
		host := b.Host
		if host[0] != '[' && strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		host, _, err := ParseHost(host, !special)
		if err != nil {
			return nil, fmt.Errorf("urlcore: Host %q: %w", b.Host, err)
		}
		text = append(text, host...)
	}
	if b.Port != 0 {
		text = strconv.AppendUint(append(text, ':'), uint64(b.Port), 10)
	}
	return text, nil
}

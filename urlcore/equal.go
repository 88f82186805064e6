package urlcore

import "bytes"

// Equal reports whether two URLs are equal: whether their serializations are. A nil URL equals nil alone.
//
// https://url.spec.whatwg.org/#concept-url-equals
func (u *URL) Equal(v *URL) bool {
	if u == nil || v == nil {
		return u == v
	}
	return bytes.Equal(u.buf, v.buf)
}

// EqualExcludingFragments reports whether two URLs are equal without regard to their fragments. A nil URL
// equals nil alone.
//
// https://url.spec.whatwg.org/#concept-url-equals, exclude fragments
func (u *URL) EqualExcludingFragments(v *URL) bool {
	if u == nil || v == nil {
		return u == v
	}
	return bytes.Equal(u.buf[:u.loc.fragStart], v.buf[:v.loc.fragStart])
}

// HostEqual reports whether two URLs have equal hosts: of the same kind and with the same value. A nil URL
// has the host of no other.
//
// https://url.spec.whatwg.org/#concept-host-equals
func (u *URL) HostEqual(v *URL) bool {
	if u == nil || v == nil {
		return u == v
	}
	return u.loc.host == v.loc.host && bytes.Equal(u.Bytes(Host), v.Bytes(Host))
}

package urlcore

import "strconv"

// Origin is the origin of a URL: a tuple of scheme, host and port, or opaque. Its zero value is an opaque
// origin. Origins are compared with [Origin.Same], not with ==, since an opaque one equals nothing.
//
// https://url.spec.whatwg.org/#origin
type Origin struct {
	scheme, host string
	kind         HostKind
	port         int32 // -1: null
	tuple        bool
}

// Opaque reports whether o is an opaque origin.
func (o Origin) Opaque() bool { return !o.tuple }

// String returns the serialization: "null" for an opaque origin, else scheme, host and port.
//
// https://html.spec.whatwg.org/#ascii-serialisation-of-an-origin
func (o Origin) String() string {
	if !o.tuple {
		return "null"
	}
	s := o.scheme + "://" + o.host
	if o.port >= 0 {
		s += ":" + strconv.Itoa(int(o.port))
	}
	return s
}

// Same reports whether two origins are same origin. An opaque origin is not even the same as itself.
//
// https://html.spec.whatwg.org/#same-origin
func (o Origin) Same(other Origin) bool { return o.tuple && o == other }

// SchemelesslySameSite reports whether two origins are schemelessly same site: the same host, or hosts with
// the same registrable domain.
//
// https://html.spec.whatwg.org/#schemelessly-same-site
func (o Origin) SchemelesslySameSite(other Origin) bool {
	if !o.tuple || !other.tuple {
		return false
	}
	site := registrableDomain(o.kind, o.host)
	if site == "" {
		return o.kind == other.kind && o.host == other.host
	}
	return site == registrableDomain(other.kind, other.host)
}

// SameSite reports whether two origins are same site: of one scheme and schemelessly same site.
//
// https://html.spec.whatwg.org/#same-site
func (o Origin) SameSite(other Origin) bool {
	return o.scheme == other.scheme && o.SchemelesslySameSite(other)
}

// SecurityOrigin returns the URL's origin. That of a blob: URL is the one of its entry, if a resolver gave
// one, or of the http, https or file URL in its path.
//
// https://url.spec.whatwg.org/#concept-url-origin
func (u *URL) SecurityOrigin() Origin {
	switch u.loc.scheme {
	case schemeHTTP, schemeHTTPS, schemeWS, schemeWSS, schemeFTP:
		port := u.loc.port
		return Origin{
			scheme: string(u.Bytes(Scheme)), host: string(u.Bytes(Host)), kind: u.loc.host, port: port, tuple: true,
		}
	case schemeOther:
		if string(u.Bytes(Scheme)) != "blob" {
			break
		}
		if u.blob != nil {
			return u.blob.Origin
		}
		if inner := u.blobTarget(); inner != nil {
			return inner.SecurityOrigin()
		}
	}
	return Origin{}
}

// blobTarget returns the URL in the path of a blob: URL, if its origin counts, and else nil.
func (u *URL) blobTarget() *URL {
	var p Parser
	inner := new(URL)
	if !p.Parse(inner, u.Bytes(Path), nil).OK() {
		return nil
	}
	switch inner.loc.scheme {
	case schemeHTTP, schemeHTTPS, schemeFile:
		return inner
	}
	return nil
}

// Origin returns the serialization of the URL's origin, "null" for an opaque one.
func (u *URL) Origin() string { return string(u.AppendOrigin(nil)) }

// AppendOrigin appends the serialization of the URL's origin to dst and returns the extended buffer. It
// allocates nothing else, but for blob: URLs.
func (u *URL) AppendOrigin(dst []byte) []byte {
	switch u.loc.scheme {
	case schemeHTTP, schemeHTTPS, schemeWS, schemeWSS, schemeFTP:
		dst = append(dst, u.buf[:u.loc.schemeEnd+3]...)
		return append(dst, u.buf[u.loc.hostStart:u.loc.pathStart]...)
	case schemeFile:
		return append(dst, "null"...)
	}
	return append(dst, u.SecurityOrigin().String()...)
}

// BlobEntry returns the entry that the Parser's resolver gave for a blob: URL, or nil.
func (u *URL) BlobEntry() *BlobEntry { return u.blob }

// SameOrigin reports whether the origins of two URLs are the same.
func SameOrigin(a, b *URL) bool { return a.SecurityOrigin().Same(b.SecurityOrigin()) }

// SameSite reports whether the origins of two URLs are same site.
func SameSite(a, b *URL) bool { return a.SecurityOrigin().SameSite(b.SecurityOrigin()) }

// SchemelesslySameSite reports whether the origins of two URLs are schemelessly same site.
func SchemelesslySameSite(a, b *URL) bool {
	return a.SecurityOrigin().SchemelesslySameSite(b.SecurityOrigin())
}

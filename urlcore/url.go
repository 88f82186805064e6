package urlcore

import "bytes"

// HostKind tells the kinds of host apart.
//
// https://url.spec.whatwg.org/#concept-host
type HostKind uint8

// The kinds of host.
const (
	HostNone   HostKind = iota // null: there is no authority
	HostEmpty                  // the empty host: file:///x, foo:///x
	HostDomain                 // an ASCII domain, lower-cased, IDNs as A-labels
	HostIPv4                   // four decimal numbers
	HostIPv6                   // an address in brackets, in the form of RFC 5952
	HostOpaque                 // the host of a URL whose scheme is not special
)

// String returns "none", "empty", "domain", "ipv4", "ipv6" or "opaque".
func (k HostKind) String() string {
	if int(k) < len(hostKindNames) {
		return hostKindNames[k]
	}
	return "unknown"
}

var hostKindNames = [...]string{"none", "empty", "domain", "ipv4", "ipv6", "opaque"}

// URL is a URL record: a parsed URL as its serialization in one buffer, with the offsets of its parts.
//
//	https://user:pass@example.com:1234/foo/bar?baz#quux
//	     |  |   |    ||          |    |       |   |     |
//	     |  |   |    ||          |    |       |   |     len(buf)
//	     |  |   |    ||          |    |       |   fragStart
//	     |  |   |    ||          |    |       queryStart
//	     |  |   |    ||          |    pathStart
//	     |  |   |    ||          hostEnd
//	     |  |   |    |hostStart
//	     |  |   |    hostStart-1: the '@', there when hostStart > schemeEnd+3
//	     |  |   userEnd: the ':' before a password
//	     |  schemeEnd+3
//	     schemeEnd
//
// queryStart and fragStart point at '?' and '#', and at the next part's start where the part is null.
// Without an authority (host null) userEnd, hostStart and hostEnd are schemeEnd+1. Then two bytes "/."
// may stand between that and pathStart, which keep a path that begins with "//" from being read as an
// authority; they are no part of the path.
//
// The zero value is the empty URL: no scheme, every part empty or null. A URL may be used again as the
// destination of [Parser.Parse]. It may be read by several goroutines at once and changed by one alone; the
// first call of [URL.SearchParams] on a URL, and on each copy of it, counts as a change.
//
// # Copies
//
// A URL may be copied by assignment. The copy shares the buffer, but what changes one of the two leaves the
// other alone: setters, [URL.SetHref] and what unmarshals write a new buffer, and the copy has a list of
// SearchParams of its own. Two things write into the buffer that is there, and so into all copies, as they
// are made for many URLs or pairs in a row: [Parser.Parse] into a URL that is used again, and Append to the
// list of a URL that has a fragment and is longer than 4 KiB. Of such a URL keep a [URL.Clone]. The command
// urlcore/urlcopy, alone or for go vet, finds what keeps copies of URLs that are parsed into again.
type URL struct {
	buf []byte
	loc location
	// blob is the environment's entry for a blob: URL, if a resolver gave one.
	blob *BlobEntry
	// query is the list behind SearchParams, nil until asked for. In a copy it is the original's.
	query *linkedParams
	// version is that of the list when the two last agreed.
	version uint32
}

// location is the fixed-size part of a URL.
type location struct {
	schemeEnd, userEnd, hostStart, hostEnd, pathStart, queryStart, fragStart uint32

	port   int32 // -1: null
	scheme schemeKind
	host   HostKind
	opaque bool // the path is opaque
}

// Part names a part of a URL for [URL.Bytes].
type Part uint8

// The parts of a URL. Each is what stands in the serialization, without the delimiters around it.
const (
	Href     Part = iota // the whole serialization
	Scheme               // without the colon
	Username             // percent-encoded
	Password             // percent-encoded
	Host                 // without the port; IPv6 addresses in their brackets
	Port                 // decimal digits, empty when null
	Path                 // with its first slash, if any
	Query                // without the question mark
	Fragment             // without the number sign
)

// Reset makes u the empty URL and keeps its buffer for the next use.
func (u *URL) Reset() {
	*u = URL{buf: u.buf[:0], query: u.query}
	u.refreshParams()
}

// Clone returns a copy of u that shares nothing with it.
func (u *URL) Clone() *URL {
	return &URL{buf: bytes.Clone(u.buf), loc: u.loc, blob: u.blob}
}

// Bytes returns a part of the serialization without copying. The slice belongs to u, must not be written
// to, and is valid until u is changed, reset or used as a destination again. Parts that are null give an
// empty slice; see [URL.HasHost], [URL.HasPort], [URL.HasQuery] and [URL.HasFragment].
func (u *URL) Bytes(part Part) []byte {
	start, end := u.Span(part)
	return u.buf[start:end:end]
}

// Span returns where in the serialization a part lies: Bytes(Href)[start:end].
func (u *URL) Span(part Part) (start, end int) {
	l := &u.loc
	switch part {
	case Scheme:
		return 0, int(l.schemeEnd)
	case Username:
		return u.userStart(), int(l.userEnd)
	case Password:
		if l.hostStart > l.userEnd+1 {
			return int(l.userEnd) + 1, int(l.hostStart) - 1
		}
		return int(l.userEnd), int(l.userEnd)
	case Host:
		return int(l.hostStart), int(l.hostEnd)
	case Port:
		if l.port < 0 || l.host == HostNone {
			return int(l.hostEnd), int(l.hostEnd)
		}
		return int(l.hostEnd) + 1, int(l.pathStart)
	case Path:
		return int(l.pathStart), int(l.queryStart)
	case Query:
		return min(int(l.queryStart)+1, int(l.fragStart)), int(l.fragStart)
	case Fragment:
		return min(int(l.fragStart)+1, len(u.buf)), len(u.buf)
	default:
		return 0, len(u.buf)
	}
}

// userStart returns where the username begins, or would begin.
func (u *URL) userStart() int {
	if u.loc.host == HostNone {
		return int(u.loc.userEnd)
	}
	return int(u.loc.schemeEnd) + 3
}

// authorityEnd returns the end of the authority, and of "scheme:" where there is none.
func (u *URL) authorityEnd() int {
	if u.loc.host == HostNone {
		return int(u.loc.hostEnd)
	}
	return int(u.loc.pathStart)
}

// IsEmpty reports whether u is the zero value or was reset, and so holds no URL.
func (u *URL) IsEmpty() bool { return len(u.buf) == 0 }

// Special reports whether the scheme is one of http, https, ws, wss, ftp and file.
//
// https://url.spec.whatwg.org/#is-special
func (u *URL) Special() bool { return u.loc.scheme != schemeOther }

// HostKind returns what kind of host u has.
func (u *URL) HostKind() HostKind { return u.loc.host }

// HasHost reports whether the host is not null. It may be empty.
func (u *URL) HasHost() bool { return u.loc.host != HostNone }

// HasPort reports whether the port is not null. The default port of a special scheme is null.
func (u *URL) HasPort() bool { return u.loc.port >= 0 && u.loc.host != HostNone }

// PortNumber returns the port, and false when it is null.
func (u *URL) PortNumber() (uint16, bool) {
	if !u.HasPort() {
		return 0, false
	}
	return uint16(u.loc.port), true
}

// EffectivePort returns the port that a connection would use: the URL's own, else the scheme's default.
// It is false for schemes without a default port.
func (u *URL) EffectivePort() (uint16, bool) {
	if u.HasPort() {
		return uint16(u.loc.port), true
	}
	def := u.loc.scheme.defaultPort()
	return uint16(max(def, 0)), def >= 0
}

// HasQuery reports whether the query is not null. It may be empty: "https://h/?".
func (u *URL) HasQuery() bool { return u.loc.queryStart < u.loc.fragStart }

// HasFragment reports whether the fragment is not null. It may be empty: "https://h/#".
func (u *URL) HasFragment() bool { return int(u.loc.fragStart) < len(u.buf) }

// HasCredentials reports whether the URL includes credentials: a username or a password.
//
// https://url.spec.whatwg.org/#include-credentials
func (u *URL) HasCredentials() bool {
	return u.loc.host != HostNone && u.loc.hostStart > u.loc.schemeEnd+3
}

// OpaquePath reports whether the path is opaque, as in mailto:me@example.com: one string that has no
// segments and that nothing can be resolved against.
//
// https://url.spec.whatwg.org/#url-opaque-path
func (u *URL) OpaquePath() bool { return u.loc.opaque }

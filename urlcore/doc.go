// Package urlcore is the WHATWG URL Standard (https://url.spec.whatwg.org/), one URL at a time: the basic
// URL parser with every state, base URLs and encodings, hosts with IDNA, IPv4 and IPv6, the serializer,
// origins, sites, and the attributes and setters of the URL class. It reads URLs as browsers do.
//
// # Parsing
//
// [Parse], [ParseRef] and [ParseWithBase] return a new [URL]; [CanParse] only asks. A program that parses
// many URLs has one [Parser] in each goroutine and parses into a [URL] that it uses again: that allocates
// nothing for ASCII input. Input is text in UTF-8; what is ill-formed counts as U+FFFD.
//
//	var p urlcore.Parser
//	var u urlcore.URL
//	for _, line := range lines {
//		if f := p.Parse(&u, line, nil); !f.OK() {
//			log.Printf("%s at byte %d: %s", f.Code, f.Pos, f.Code.Text())
//			continue
//		}
//		use(u.Bytes(urlcore.Host)) // valid until u is parsed into again
//	}
//
// # Errors
//
// A [Failure] has a stable [Code], named as the standard names its validation errors, and a byte position
// in the original input. The functions on strings wrap it in an [Error]. Most validation errors are no
// failures; the parser collects those, too, if [Parser.CollectErrors] is set. [IsValidURLString] says
// whether there are none.
//
// # Records
//
// A URL is its serialization in one buffer and the offsets of its parts. [URL.Bytes] gives the parts
// without copying and without delimiters, [URL.Href], [URL.Protocol], [URL.Search] and so on are the
// attributes of the URL class as strings. The setters work as there: what a part cannot take is ignored.
// Those that begin with Try return an error instead that says why. [URL.SearchParams] is the list of package form, linked to the query both ways.
//
// Hosts are normalized: domains in lower case with A-labels, numbers as IPv4 addresses, IPv6 addresses in
// the form of RFC 5952. [URL.HostKind] tells them apart. [URL.PublicSuffix] and [URL.RegistrableDomain] use
// the list of package psl.
//
// A URL can be kept and copied by value. As a field, map value or pointer it is a string in JSON, XML, gob, a
// database, a flag or a log, where its credentials are hidden; the empty URL goes there and back.
//
// # The standard's version
//
// The standard targeted is that of July 2026. The IDNA tables are those of golang.org/x/net/idna, of Unicode 17
// when built by Go 1.27, and of Unicode 15 by Go 1.26: [UnicodeVersion] says which. To the older ones the mappings
// and ignored characters of Unicode 17 are added here, but domains with characters that are new since then fail.
// Two limits are ours: input of more than [MaxInput] bytes fails, and so do domains of more than 4096 bytes that are
// not ASCII.
//
// # Coming from net/url
//
// net/url follows RFC 3986 and leaves most of its input as it is. Where the two differ most: this package
// normalizes while it parses, so Parse followed by Href may give another string, the same that a browser
// would use; a URL without a scheme is an error unless there is a base; and errors have codes.
//
//	net/url                       urlcore
//	url.Parse(s)                  urlcore.Parse(s), or ParseRef(s, base) for a reference
//	base.Parse(ref)               base.Resolve(ref)
//	base.ResolveReference(r)      base.ResolveReference(r); relative references are strings, for base.Resolve
//	url.ParseRequestURI(s)        Parse(s) for an absolute URL; nethttp.URL(r) for that of a request
//	u.String()                    u.Href() or u.String()
//	u.Scheme                      u.Bytes(urlcore.Scheme), or u.Protocol() with its colon
//	u.Opaque                      u.Pathname() where u.OpaquePath()
//	u.User.Username()             u.DecodedUsername(); u.Username() is percent-encoded
//	u.User.Password()             u.DecodedPassword(); u.Password() is percent-encoded
//	u.Host                        u.Host()
//	u.Hostname()                  u.Hostname(), with brackets round an IPv6 address; u.Addr()
//	u.Port()                      u.Port(), "" for the default port; u.EffectivePort()
//	u.Path (decoded)              u.Segments().All()
//	u.EscapedPath(), u.RawPath    u.Pathname()
//	u.RawQuery                    u.Bytes(urlcore.Query), or u.Search() with its question mark
//	u.ForceQuery                  u.HasQuery()
//	u.Query(), url.Values         u.SearchParams(): in order, and linked to the URL
//	u.Fragment (decoded)          u.DecodedFragment()
//	u.EscapedFragment()           u.Bytes(urlcore.Fragment), or u.Hash() with its number sign
//	u.IsAbs()                     always true
//	u.JoinPath(elem...)           u.JoinPath(elem...); u.Segments().Push(text...) for names of any characters
//	u.Redacted()                  u.Redacted(); u.LogValue() hides the username as well
//	url.QueryEscape(s)            form.AppendEncode
//	url.QueryUnescape(s)          form.AppendDecode
//	url.PathEscape(s)             percent.Encode(s, &percent.Component)
//	url.PathUnescape(s)           percent.Decode(s)
//	*url.Error, EscapeError       *urlcore.Error
//	assigning to a field          the setters, or TrySet... with an error
//	u2 := *u                      the same, or u.Clone() of a URL that is parsed into again
//	&url.URL{...}                 Builder{...}.URL()
//
// [URL.NetURL] and [FromNetURL] convert. docs/migrate-net-url.md says what differs how often, and
// "urlmill url --diff net/url" what does in a list.
package urlcore

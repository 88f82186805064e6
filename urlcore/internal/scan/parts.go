package scan

// Parts says where the parts of one URL are. Domain and Suffix are where the registrable domain and the public
// suffix begin; both reach to the end of the host, and Domain is that end when there is none.
//
//	https://www.example.co.uk:8080/a/b?c=d#e
//	|    |  |   |       |    |    |   | | ||
//	|    |  |   |       |    |    |   | | |Fragment.Start
//	|    |  |   |       |    |    |   | | Query.End
//	|    |  |   |       |    |    |   Query.Start
//	|    |  |   |       |    |    Path.Start, Origin.End
//	|    |  |   |       |    Host.End
//	|    |  |   |       Suffix
//	|    |  |   Domain
//	|    |  Host.Start
//	|    Scheme.End
//	Href.Start, Scheme.Start, Origin.Start
type Parts struct {
	Href, Scheme, Host, Origin, Path, Query, Fragment Span
	Domain, Suffix                                    uint32
}

// PartsWords is the size of Parts in words of 32 bits; each field stands at the word of its name.
const (
	PartsWords = 16

	HrefWord, SchemeWord, HostWord, OriginWord, PathWord, QueryWord, FragmentWord = 0, 2, 4, 6, 8, 10, 12

	DomainWord, SuffixWord = 14, 15
)

// Flags says which parts a row has.
type Flags uint8

// The flags. A row without IsURL has an error and no part.
const (
	IsURL Flags = 1 << iota
	HasHost
	HasPort
	HasOrigin // the origin is not opaque
	HasDomain
	HasSuffix
	HasQuery
	HasFragment
)

// RootPath is the path "/" of a URL that is written without one: the first byte of the side buffer.
var RootPath = Span{Start: Side, End: Side + 1}

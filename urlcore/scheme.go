package urlcore

// schemeKind tells the special schemes apart; every other scheme is schemeOther.
//
// https://url.spec.whatwg.org/#special-scheme
type schemeKind uint8

const (
	schemeOther schemeKind = iota
	schemeHTTP
	schemeHTTPS
	schemeWS
	schemeWSS
	schemeFTP
	schemeFile
)

// defaultPorts holds the default port of each scheme, -1 where there is none.
var defaultPorts = [...]int32{
	schemeOther: -1,
	schemeHTTP:  80,
	schemeHTTPS: 443,
	schemeWS:    80,
	schemeWSS:   443,
	schemeFTP:   21,
	schemeFile:  -1,
}

// defaultPort returns the scheme's default port or -1.
func (k schemeKind) defaultPort() int32 { return defaultPorts[k] }

// special reports whether k is one of the special schemes.
func (k schemeKind) special() bool { return k != schemeOther }

// schemeOf returns the kind of a scheme that is in lower case.
func schemeOf(scheme []byte) schemeKind {
	switch string(scheme) {
	case "http":
		return schemeHTTP
	case "https":
		return schemeHTTPS
	case "ws":
		return schemeWS
	case "wss":
		return schemeWSS
	case "ftp":
		return schemeFTP
	case "file":
		return schemeFile
	}
	return schemeOther
}

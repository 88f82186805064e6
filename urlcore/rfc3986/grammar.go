package rfc3986

import (
	"fmt"
	"strings"
)

// A Production is a rule of the grammar in appendix A of the RFC.
type Production uint8

// The productions, in the order of the appendix.
const (
	URI Production = iota
	HierPart
	URIReference
	AbsoluteURI
	RelativeRef
	RelativePart
	Scheme
	Authority
	Userinfo
	Host
	Port
	IPLiteral
	IPvFuture
	IPv6Address
	H16
	LS32
	IPv4Address
	DecOctet
	RegName
	Path
	PathAbempty
	PathAbsolute
	PathNoscheme
	PathRootless
	PathEmpty
	Segment
	SegmentNZ
	SegmentNZNC
	PChar
	Query
	Fragment
	PctEncoded
	Unreserved
	Reserved
	GenDelims
	SubDelims
	productions
)

// rules holds name and matcher of each production.
var rules = [productions]struct {
	name  string
	match func(string) bool
}{
	URI:          {"URI", func(s string) bool { r, err := parse(s); return err.Code == 0 && r.HasScheme }},
	HierPart:     {"hier-part", isHierPart},
	URIReference: {"URI-reference", func(s string) bool { _, err := parse(s); return err.Code == 0 }},
	AbsoluteURI:  {"absolute-URI", func(s string) bool { r, err := parse(s); return err.Code == 0 && r.HasScheme && !r.HasFragment }},
	RelativeRef:  {"relative-ref", func(s string) bool { r, err := parse(s); return err.Code == 0 && !r.HasScheme }},
	RelativePart: {"relative-part", isRelativePart},
	Scheme:       {"scheme", isScheme},
	Authority:    {"authority", func(s string) bool { _, err := parseAuthority(s); return err.Code == 0 }},
	Userinfo:     {"userinfo", func(s string) bool { return userinfoClass.span(s) == len(s) }},
	Host:         {"host", func(s string) bool { _, ok := hostKind(s); return ok }},
	Port:         {"port", func(s string) bool { return digitClass.spanPlain(s) == len(s) }},
	IPLiteral:    {"IP-literal", func(s string) bool { k, ok := hostKind(s); return ok && (k == HostIPv6 || k == HostFuture) }},
	IPvFuture:    {"IPvFuture", isIPvFuture},
	IPv6Address:  {"IPv6address", isIPv6},
	H16:          {"h16", isH16},
	LS32:         {"ls32", isLS32},
	IPv4Address:  {"IPv4address", isIPv4},
	DecOctet:     {"dec-octet", isDecOctet},
	RegName:      {"reg-name", func(s string) bool { return regNameClass.span(s) == len(s) }},
	Path:         {"path", isPath},
	PathAbempty:  {"path-abempty", isPathAbempty},
	PathAbsolute: {"path-absolute", isPathAbsolute},
	PathNoscheme: {"path-noscheme", isPathNoscheme},
	PathRootless: {"path-rootless", isPathRootless},
	PathEmpty:    {"path-empty", func(s string) bool { return s == "" }},
	Segment:      {"segment", func(s string) bool { return pcharClass.span(s) == len(s) }},
	SegmentNZ:    {"segment-nz", func(s string) bool { return s != "" && pcharClass.span(s) == len(s) }},
	SegmentNZNC:  {"segment-nz-nc", func(s string) bool { return s != "" && segmentNCClass.span(s) == len(s) }},
	PChar:        {"pchar", func(s string) bool { return isOneOf(&pcharClass, s) || isTriplet(s) && len(s) == 3 }},
	Query:        {"query", func(s string) bool { return queryClass.span(s) == len(s) }},
	Fragment:     {"fragment", func(s string) bool { return queryClass.span(s) == len(s) }},
	PctEncoded:   {"pct-encoded", func(s string) bool { return isTriplet(s) && len(s) == 3 }},
	Unreserved:   {"unreserved", func(s string) bool { return isOneOf(&unreservedClass, s) }},
	Reserved:     {"reserved", func(s string) bool { return isOneOf(&reservedClass, s) }},
	GenDelims:    {"gen-delims", func(s string) bool { return isOneOf(&genDelimClass, s) }},
	SubDelims:    {"sub-delims", func(s string) bool { return isOneOf(&subDelimClass, s) }},
}

// Productions returns all productions in the order of the appendix. The caller owns the slice.
func Productions() []Production {
	all := make([]Production, productions)
	for i := range all {
		all[i] = Production(i)
	}
	return all
}

// String returns the RFC's name of the production, such as "hier-part".
func (p Production) String() string {
	if p < productions {
		return rules[p].name
	}
	return fmt.Sprintf("rfc3986.Production(%d)", uint8(p))
}

// Match reports whether the production matches the whole of s. A value that is no production matches nothing.
func (p Production) Match(s string) bool { return p < productions && rules[p].match(s) }

// isOneOf reports whether s is a single character of the class.
func isOneOf(c *class, s string) bool { return len(s) == 1 && c.has(s[0]) }

func isScheme(s string) bool {
	return s != "" && letterClass.has(s[0]) && schemeClass.spanPlain(s) == len(s)
}

func isPathAbempty(s string) bool {
	return s == "" || s[0] == '/' && pathClass.span(s) == len(s)
}

func isPathAbsolute(s string) bool {
	return s != "" && isPathAbempty(s) && !strings.HasPrefix(s, "//")
}

func isPathRootless(s string) bool {
	return s != "" && s[0] != '/' && pathClass.span(s) == len(s)
}

func isPathNoscheme(s string) bool {
	first, _, _ := strings.Cut(s, "/")
	return isPathRootless(s) && strings.IndexByte(first, ':') < 0
}

func isPath(s string) bool { return isPathAbempty(s) || isPathRootless(s) }

// isHierPart matches what follows the scheme in a URI.
func isHierPart(s string) bool {
	if strings.HasPrefix(s, "//") {
		return isNetPath(s)
	}
	return isPath(s)
}

// isRelativePart matches a relative reference up to its query.
func isRelativePart(s string) bool {
	if strings.HasPrefix(s, "//") {
		return isNetPath(s)
	}
	return isPathAbempty(s) || isPathNoscheme(s)
}

// isNetPath matches two slashes, an authority and path-abempty.
func isNetPath(s string) bool {
	end := 2
	for end < len(s) && s[end] != '/' {
		end++
	}
	_, err := parseAuthority(s[2:end])
	return err.Code == 0 && isPathAbempty(s[end:])
}

package rfc3986

import "strings"

// A Ref is a URI reference, divided into its components. The Has fields tell an absent component, whose text is "",
// from an empty one. There always is a path.
//
//	  foo://example.com:8042/over/there?name=ferret#nose
//	  \_/   \______________/\_________/ \_________/ \__/
//	   |           |            |            |        |
//	scheme     authority       path        query   fragment
//
// The zero value is the empty reference.
type Ref struct {
	Scheme, Authority, Path, Query, Fragment       string
	HasScheme, HasAuthority, HasQuery, HasFragment bool
}

// Split divides s at its delimiters as the regular expression of the RFC's appendix B does, and never fails. What is in
// the components need not be as the grammar wants it: [Parse] sees to that. The components are parts of s.
func Split(s string) Ref {
	var r Ref
	s, r.Fragment, r.HasFragment = strings.Cut(s, "#")
	s, r.Query, r.HasQuery = strings.Cut(s, "?")
	if i := schemeEnd(s); i > 0 {
		r.Scheme, r.HasScheme = s[:i], true
		s = s[i+1:]
	}
	if rest, ok := strings.CutPrefix(s, "//"); ok {
		r.HasAuthority = true
		end := strings.IndexByte(rest, '/')
		if end < 0 {
			end = len(rest)
		}
		r.Authority, s = rest[:end], rest[end:]
	}
	r.Path = s
	return r
}

// schemeEnd returns the index of the first colon of s when it is before any slash, else -1.
func schemeEnd(s string) int {
	if i := strings.IndexAny(s, ":/"); i >= 0 && s[i] == ':' {
		return i
	}
	return -1
}

// String puts the components together again, by section 5.3 of the RFC: of what [Split] returned it makes the
// same text.
//
// A path that would be taken for something else gets a dot segment before it: "/." before one that begins with two
// slashes where there is no authority, as after resolving "/..//x", and "./" before one with a colon in its first
// segment where there is no scheme.
func (r Ref) String() string {
	var b strings.Builder
	b.Grow(len(r.Scheme) + len(r.Authority) + len(r.Path) + len(r.Query) + len(r.Fragment) + len(":///.?#"))
	if r.HasScheme {
		b.WriteString(r.Scheme)
		b.WriteByte(':')
	}
	switch {
	case r.HasAuthority:
		b.WriteString("//")
		b.WriteString(r.Authority)
	case strings.HasPrefix(r.Path, "//"):
		b.WriteString("/.")
	case !r.HasScheme && schemeEnd(r.Path) > 0:
		b.WriteString("./")
	}
	b.WriteString(r.Path)
	if r.HasQuery {
		b.WriteByte('?')
		b.WriteString(r.Query)
	}
	if r.HasFragment {
		b.WriteByte('#')
		b.WriteString(r.Fragment)
	}
	return b.String()
}

// FileName returns the last segment of the path: what follows its last slash, as it is written. It is "" for
// a path that ends in a slash or in a dot segment, since that is a directory.
func (r Ref) FileName() string {
	name := r.Path[strings.LastIndexByte(r.Path, '/')+1:]
	if name == "." || name == ".." {
		return ""
	}
	return name
}

// Extension returns what follows the last dot of the file name, without the dot. It is "" where there is no dot, where
// nothing follows it, and where the name begins with it and has no other.
func (r Ref) Extension() string {
	name := r.FileName()
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		return name[dot+1:]
	}
	return ""
}

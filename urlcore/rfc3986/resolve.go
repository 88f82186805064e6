package rfc3986

import "strings"

// Mode says how a reference is resolved that has the scheme of its base.
type Mode uint8

const (
	// Strict takes such a reference for an absolute one, which it is: "http:g" stays "http:g".
	Strict Mode = iota
	// NonStrict takes it for a relative one, as software older than the RFC does: "http:g" is "g".
	NonStrict
)

// ResolveReference resolves the reference ref against base by section 5.2 of the RFC and returns the target. Both are
// divided by [Split], whatever is in their components. The error is an [*Error]: base has no scheme.
func ResolveReference(base, ref string) (string, error) {
	target, err := Resolve(Split(base), Split(ref), Strict)
	if err != nil {
		return "", err
	}
	return target.String(), nil
}

// Resolve resolves ref against base by section 5.2.2 of the RFC. A fragment of base has no effect. The error is an
// [*Error]: base has no scheme.
func Resolve(base, ref Ref, mode Mode) (Ref, error) {
	if !base.HasScheme {
		return Ref{}, &Error{Code: CodeBase}
	}
	if mode == NonStrict && ref.HasScheme && strings.EqualFold(ref.Scheme, base.Scheme) {
		ref.Scheme, ref.HasScheme = "", false
	}
	target := ref // with its scheme, authority, query and fragment
	switch {
	case ref.HasScheme, ref.HasAuthority:
		target.Path = RemoveDotSegments(ref.Path)
	case ref.Path == "":
		target.Path = base.Path
		if !ref.HasQuery {
			target.Query, target.HasQuery = base.Query, base.HasQuery
		}
	case ref.Path[0] == '/':
		target.Path = RemoveDotSegments(ref.Path)
	default:
		target.Path = RemoveDotSegments(merge(base, ref.Path))
	}
	if !ref.HasScheme {
		if !ref.HasAuthority {
			target.Authority, target.HasAuthority = base.Authority, base.HasAuthority
		}
		target.Scheme, target.HasScheme = base.Scheme, true
	}
	return target, nil
}

// merge puts path in the place of the last segment of the base's path; section 5.2.3.
func merge(base Ref, path string) string {
	if base.HasAuthority && base.Path == "" {
		return "/" + path
	}
	return base.Path[:strings.LastIndexByte(base.Path, '/')+1] + path
}

// RemoveDotSegments returns path without the segments "." and "..", by section 5.2.4 of the RFC. A segment "%2e" is an
// ordinary one. The time it takes is linear. Without a dot segment the result is path itself.
func RemoveDotSegments(path string) string {
	if !hasDotSegment(path) {
		return path
	}
	out := make([]byte, 0, len(path))
	for in := path; in != ""; {
		switch {
		case strings.HasPrefix(in, "../"):
			in = in[3:]
		case strings.HasPrefix(in, "./"), strings.HasPrefix(in, "/./"):
			in = in[2:]
		case in == "/.":
			in = "/"
		case strings.HasPrefix(in, "/../"):
			in = in[3:]
			out = dropSegment(out)
		case in == "/..":
			in = "/"
			out = dropSegment(out)
		case in == ".", in == "..":
			in = ""
		default:
			end := strings.IndexByte(in[1:], '/') + 1
			if end == 0 {
				end = len(in)
			}
			out = append(out, in[:end]...)
			in = in[end:]
		}
	}
	return string(out)
}

// dropSegment removes the last segment and the slash before it.
func dropSegment(out []byte) []byte {
	for len(out) > 0 {
		last := out[len(out)-1]
		out = out[:len(out)-1]
		if last == '/' {
			break
		}
	}
	return out
}

// hasDotSegment reports whether a segment of path is "." or "..".
func hasDotSegment(path string) bool {
	for {
		segment, rest, more := strings.Cut(path, "/")
		if segment == "." || segment == ".." {
			return true
		}
		if !more {
			return false
		}
		path = rest
	}
}

package urlcore

import (
	"bytes"
	"strings"
)

// ResolveReference returns ref as seen from u, for programs that come from net/url. A URL of this package is absolute, so that
// is a copy of ref, and of u without its fragment where ref is the empty URL. References that are relative are strings, since
// what they mean depends on the base's scheme: give them to [URL.Resolve].
func (u *URL) ResolveReference(ref *URL) *URL {
	if !ref.IsEmpty() {
		return ref.Clone()
	}
	same := u.Clone()
	same.SetHash("")
	return same
}

// MakeRelative returns a reference that u.Resolve makes target of, as short as dot segments allow: "../c?q" from
// https://h/a/b to https://h/c?q. It is false where there is none: where scheme, host or port differ, and for opaque
// paths.
//
// This is make_relative of rust-url, but that what it returns always resolves to target. Where rust-url's would not, it
// begins with "./", is "." or the last segment, begins with the path's slash, or with "//" and host. The last is the case
// where the credentials differ, which rust-url ignores; the reference then holds those of target. To a directory above, "/"
// included, it goes by dots.
func (u *URL) MakeRelative(target *URL) (ref string, ok bool) {
	if u.loc.opaque || target.loc.opaque || u.IsEmpty() || !u.HostEqual(target) || u.loc.port != target.loc.port ||
		!bytes.Equal(u.Bytes(Scheme), target.Bytes(Scheme)) {
		return "", false
	}
	rest := string(target.buf[target.loc.queryStart:])
	var p Parser
	var back URL
	for _, path := range [...]string{
		relativePath(u, target),
		target.Pathname(),
		string(target.buf[target.loc.schemeEnd+1 : target.loc.queryStart]),
	} {
		ref = path + rest
		if p.Parse(&back, stringBytes(ref), u).OK() && back.Equal(target) {
			return ref, true
		}
	}
	return "", false
}

// relativePath returns the path of a reference from one URL to another, or something like it: with drive letters in the paths,
// or none, it may lead elsewhere.
func relativePath(from, to *URL) string {
	fromPath, toPath := from.Pathname(), to.Pathname()
	if fromPath == toPath && (to.HasQuery() || !from.HasQuery()) {
		return ""
	}
	fromDirectory := fromPath[:strings.LastIndexByte(fromPath, '/')+1]
	if fromDirectory == "" {
		fromDirectory = "/" // the directory of an empty path
	}
	common := 0 // where the directories begin to differ, which is behind a slash
	for i := 0; i < min(len(fromDirectory), len(toPath)) && fromDirectory[i] == toPath[i]; i++ {
		if toPath[i] == '/' {
			common = i + 1
		}
	}
	up := strings.Repeat("../", strings.Count(fromDirectory[common:], "/"))
	down := toPath[common:]
	scheme, _, colon := strings.Cut(down, ":")
	switch {
	case up != "":
		return up + down
	case down == "":
		return "."
	case down[0] == '/' || colon && isScheme(scheme):
		return "./" + down // which would be a path from the root, or have a scheme
	}
	return down
}

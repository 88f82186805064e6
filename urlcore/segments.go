package urlcore

import (
	"bytes"
	"errors"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/urlcore/percent"
)

var (
	// ErrNoSegments is returned where the path is opaque, or there is no URL, and so there are no segments to change.
	ErrNoSegments = errors.New("urlcore: the path has no segments that could be changed: it is opaque, or the URL is empty")
	// ErrDotSegment is returned for the segments "." and "..", which no path can hold: parsing resolves them.
	ErrDotSegment = errors.New(`urlcore: "." and ".." cannot be segments of a path`)
)

// Segments are the segments of a URL's path: those of "/a/b/" are "a", "b" and "". The path of a special URL
// has one at least, which is empty in "/"; an opaque path has none. It is a view: it changes the URL that it
// was taken from, and sees what else does.
//
// Text goes in and comes out without percent-encoding, whatever it holds: a slash in a segment is %2F in the URL.
// Indices are those of slices, and like there, those out of range panic. A change takes time in proportion
// to the path's length; give Push and Insert all segments at once.
//
// https://url.spec.whatwg.org/#url-path, and the PathSegmentsMut of rust-url
type Segments struct{ u *URL }

// Segments returns the segments of the path.
func (u *URL) Segments() Segments { return Segments{u} }

// encodedSegment holds what would end a segment or change its meaning: a bar might make a drive letter.
var encodedSegment = percent.Path.With(`%/\|`)

// Len returns the number of segments.
func (s Segments) Len() int {
	if s.u.loc.opaque {
		return 0
	}
	return bytes.Count(s.u.Bytes(Path), []byte{'/'})
}

// All yields the segments, decoded, as the path is when the iteration begins. Bytes that are no UTF-8 stay as
// they are.
func (s Segments) All() iter.Seq[string] {
	return func(yield func(string) bool) {
		for segment := range s.Encoded() {
			if !yield(string(percent.Decode(segment))) {
				return
			}
		}
	}
}

// Encoded yields the segments as they stand in the URL, as the path is when the iteration begins.
func (s Segments) Encoded() iter.Seq[string] {
	return func(yield func(string) bool) {
		if s.u.loc.opaque {
			return
		}
		rest, more := strings.CutPrefix(s.u.Pathname(), "/")
		for more {
			var segment string
			segment, rest, more = strings.Cut(rest, "/")
			if !yield(segment) {
				return
			}
		}
	}
}

// At returns the segment i, decoded.
func (s Segments) At(i int) string { return string(percent.Decode(slices.Collect(s.Encoded())[i])) }

// Push adds segments at the end. The first takes the place of the empty one that the path "/" is, and of no
// other: pushed to "/a/", "b" makes "/a//b". Call [Segments.PopIfEmpty] beforehand where a slash at the end
// does not count.
//
// The error is [ErrNoSegments] or [ErrDotSegment], and nothing is changed then; rust-url leaves "." and ".."
// out.
func (s Segments) Push(segments ...string) error {
	n := s.Len()
	if n == 1 && len(segments) > 0 && string(s.u.Bytes(Path)) == "/" {
		return s.replace(0, 1, segments)
	}
	return s.replace(n, n, segments)
}

// Pop takes the last segment away, if there is one. Of the only one an empty one is left. The error is [ErrNoSegments].
func (s Segments) Pop() error {
	n := s.Len()
	return s.replace(max(n-1, 0), n, nil)
}

// PopIfEmpty takes the last segment away if it is empty: the slash at the path's end. The error is
// [ErrNoSegments].
func (s Segments) PopIfEmpty() error {
	n := s.Len()
	if bytes.HasSuffix(s.u.Bytes(Path), []byte{'/'}) {
		return s.replace(n-1, n, nil)
	}
	return s.replace(n, n, nil)
}

// Set replaces the segment i. The errors are those of Push.
func (s Segments) Set(i int, segment string) error {
	return s.replace(i, i+1, []string{segment})
}

// Insert adds segments in front of the segment i, or at the end if i is Len. The errors are those of Push.
func (s Segments) Insert(i int, segments ...string) error { return s.replace(i, i, segments) }

// Delete takes the segments from i to before j away; of all of them an empty one is left. The error is
// [ErrNoSegments].
func (s Segments) Delete(i, j int) error { return s.replace(i, j, nil) }

// Clear takes all segments away, so that the path is "/"; an empty one stays. The error is [ErrNoSegments].
func (s Segments) Clear() error { return s.replace(0, s.Len(), nil) }

// replace puts segments in the place of those from i to before j.
func (s Segments) replace(i, j int, segments []string) error {
	if s.u.loc.opaque || s.u.IsEmpty() {
		return ErrNoSegments
	}
	if slices.Contains(segments, ".") || slices.Contains(segments, "..") {
		return ErrDotSegment
	}
	if i == j && len(segments) == 0 {
		return nil // even an empty path stays
	}
	encoded := make([]string, len(segments))
	for k, text := range segments {
		encoded[k] = percent.Encode(text, &encodedSegment)
	}
	all := slices.Replace(slices.Collect(s.Encoded()), i, j, encoded...)
	s.u.SetPathname("/" + strings.Join(all, "/"))
	return nil
}

// JoinPath returns a copy of u with elements joined to its path, in the way of net/url: they are relative
// whether they begin with a slash or not, dot segments are resolved and do not lead above the path's start,
// several slashes become one, and a slash at the end of the last element stays. Query and fragment stay.
//
// Elements are in percent-encoded form. What may not stand in a path is encoded, so that "?" and "#" belong
// to it. The path is "/" at least. As everywhere in this package, "%2e" counts as a dot, in special URLs a backslash as a slash, and a
// drive letter at the start of a file URL's path stays. An opaque path stays as it is.
//
// To go from a page to a link on it use [URL.Resolve]; to add names that may hold any character,
// [Segments.Push].
func (u *URL) JoinPath(elem ...string) *URL {
	joined := u.Clone()
	if u.loc.opaque {
		return joined
	}
	drive, start := "", u.Pathname()
	if first := firstSegment(u.Bytes(Path)); u.loc.scheme == schemeFile && isNormalizedDriveLetter(first) {
		drive, start = start[:3], start[3:]
	}
	all := make([]string, 0, 2+len(elem))
	all = append(all, "/", start)
	for _, e := range elem {
		all = append(all, u.pathText(e))
	}
	p := path.Join(all...)
	if strings.HasSuffix(all[len(all)-1], "/") && p != "/" {
		p += "/"
	}
	joined.SetPathname(drive + p)
	return joined
}

// pathText returns an element of a path as the path state would read it: without tabs and newlines, with slashes.
func (u *URL) pathText(s string) string {
	s = withoutTabs.Replace(s)
	if u.Special() {
		s = strings.ReplaceAll(s, `\`, "/")
	}
	return s
}

var withoutTabs = strings.NewReplacer("\t", "", "\n", "", "\r", "")

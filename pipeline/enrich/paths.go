package enrich

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// pathRule is a pattern of paths. A segment of it is a text, or "" for any one; with rest any number may follow.
type pathRule struct {
	pattern  string
	segments []string
	rest     bool
	result   []byte
}

// parsePath returns the rule of a pattern, such as /blog/{year}/** .
func parsePath(pattern, result string) (pathRule, error) {
	r := pathRule{pattern: pattern, result: []byte(result)}
	body, ok := strings.CutPrefix(pattern, "/")
	if !ok {
		return r, fmt.Errorf("%q does not begin with a slash; write a path such as /p/*", pattern)
	}
	body, r.rest = strings.CutSuffix("/"+body, "/**")
	if body == "" && r.rest {
		return r, nil
	}
	for segment := range strings.SplitSeq(body[1:], "/") {
		if segment == "*" || strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}") {
			segment = ""
		} else if strings.ContainsAny(segment, "*{}?#") || segment == "" && len(body) > 1 {
			return r, fmt.Errorf("%q: a segment is a text, * or {name}, and ** may stand at the end", pattern)
		} else if segment == "" {
			segment = "/" // of the path "/" alone: no segment has one
		}
		r.segments = append(r.segments, segment)
	}
	return r, nil
}

// match reports whether the rule has a path, which begins with a slash.
func (r *pathRule) match(path []byte) bool {
	for _, want := range r.segments {
		if len(path) == 0 {
			return false
		}
		path = path[1:]
		if want == "/" {
			return len(path) == 0
		}
		end := bytes.IndexByte(path, '/')
		if end < 0 {
			end = len(path)
		}
		if end == 0 || want != "" && string(path[:end]) != want {
			return false
		}
		path = path[end:]
	}
	return r.rest || len(path) == 0 || len(path) == 1 && len(r.segments) > 0 // /a/ is /a
}

// shadowedPath reports that a rule never counts, since an earlier one has all of its paths.
func shadowedPath(rules []pathRule, r pathRule) error {
	for _, before := range rules {
		if covers(before, r) {
			return fmt.Errorf("%q can never count: %q stands before it and has all of its paths; put it first, or take one out", r.pattern, before.pattern)
		}
	}
	return nil
}

func covers(a, b pathRule) bool {
	if len(a.segments) > len(b.segments) || !a.rest && (b.rest || len(a.segments) != len(b.segments)) {
		return false
	}
	for i, want := range a.segments {
		if want != "" && want != b.segments[i] || want == "" && b.segments[i] == "/" {
			return false
		}
	}
	return true
}

// bounded is a set of at most limit hashes. It is safe for concurrent use and allocates nothing.
type bounded struct {
	seed  maphash.Seed
	slots []atomic.Uint64
	left  atomic.Int64
}

// tableSize returns the slots for a limit: at most half of them are taken, so that a search ends soon.
func tableSize(limit int) int {
	n := 16
	for n < 2*limit {
		n *= 2
	}
	return n
}

func newBounded(limit int) *bounded {
	b := &bounded{seed: maphash.MakeSeed(), slots: make([]atomic.Uint64, tableSize(limit))}
	b.left.Store(int64(limit))
	return b
}

// has reports whether text is in the set, and adds it if there is room.
func (b *bounded) has(text []byte) bool {
	h := max(maphash.Bytes(b.seed, text), 1) // 0 is a free slot
	for at := h; ; at++ {
		slot := &b.slots[at&uint64(len(b.slots)-1)]
		old := slot.Load()
		if old == h {
			return true
		}
		if old != 0 {
			continue
		}
		if b.left.Load() <= 0 {
			return false
		}
		if b.left.Add(-1) < 0 { // another goroutine has taken the last place
			b.left.Add(1)
			return false
		}
		if slot.CompareAndSwap(0, h) {
			return true
		}
		b.left.Add(1)
		if slot.Load() == h {
			return true
		}
	}
}

// appendTemplate appends a path with what looks like an identifier in each segment replaced by its kind.
func appendTemplate(dst, path []byte) []byte {
	for len(path) > 0 {
		if path[0] == '/' {
			dst = append(dst, '/')
			path = path[1:]
			continue
		}
		var seen byteClass
		end := 0
		for end < len(path) && path[end] != '/' {
			seen |= byteClasses[path[end]]
			end++
		}
		segment := path[:end]
		path = path[end:]
		switch {
		case seen&(digit|at) == 0 && end < 32:
			dst = append(dst, segment...)
			continue
		case seen == digit:
			dst = append(dst, "{id}"...)
			continue
		}
		kind, rest := kindOf(segment), segment[end:]
		if dot := bytes.LastIndexByte(segment, '.'); dot > 0 && end-dot <= 6 && (kind == "" || kind == slugKind) && isName(segment[dot+1:]) {
			if of := kindOf(segment[:dot]); of != "" {
				kind, rest = of, segment[dot:]
			}
		}
		if kind == "" {
			rest = segment
		}
		dst = append(append(dst, kind...), rest...)
	}
	return dst
}

// isName reports whether text is letters, with a digit behind them at most.
func isName(text []byte) bool {
	for i, c := range text {
		if byteClasses[c]&letter == 0 && (i == 0 || byteClasses[c]&digit == 0) {
			return false
		}
	}
	return len(text) > 0
}

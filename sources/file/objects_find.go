package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/internal/objstore"
)

// place is what one of Options.Paths means in a bucket.
type place struct {
	path   string // as it was given
	prefix string // of the keys that are listed
	// pattern has the segments that keys are compared with, and is nil where everything below prefix is meant. exact says that the
	// prefix is the whole key.
	pattern []string
	below   int // behind which byte names are looked at, without a pattern
	exact   bool
	last    string // the greatest key that was listed
	// conditions are those that the directories of keys have to hold. of is the place of Options.Paths that this one is a part of.
	conditions []condition
	of         *place
}

// cutObject cuts the address of objects into its scheme, its first segment and the rest; ok is false for other paths.
func cutObject(address string) (scheme, name, keys string, ok bool) {
	at := strings.Index(address, "://")
	if at < 0 || strings.EqualFold(address[:at], "file") {
		return "", "", "", false
	}
	name, keys, _ = strings.Cut(address[at+3:], "/")
	return address[:at+3], name, keys, true
}

// places returns what an address means. A key may be that of an object and the beginning of others.
func places(address, keys string) ([]place, error) {
	meta := strings.IndexAny(keys, `*?[\`)
	switch {
	case meta >= 0:
		segments := strings.Split(strings.TrimSuffix(keys, "/"), "/")
		for _, s := range segments {
			if _, err := path.Match(s, ""); err != nil {
				return nil, fmt.Errorf("%w in %q; close the bracket, or write \\[ for the character itself", err, s)
			}
		}
		segments = slices.CompactFunc(segments, func(a, b string) bool { return a == anyDepth && b == anyDepth })
		return []place{{path: address, prefix: keys[:meta], pattern: segments}}, nil
	case keys == "" || strings.HasSuffix(keys, "/"):
		return []place{{path: address, prefix: keys, below: len(keys)}}, nil
	}
	return []place{{path: address, prefix: keys, exact: true}, {path: address, prefix: keys + "/", below: len(keys) + 1}}, nil
}

// matches reports whether the place means an object. Names that begin with a dot or an underscore are left out as those of files
// are, and so are the marks that tools make for directories.
func (p *place) matches(key string) bool {
	switch {
	case strings.HasSuffix(key, "/"), len(p.conditions) > 0 && !satisfies(key, p.conditions):
		return false
	case p.exact:
		return key == p.prefix
	case p.pattern != nil:
		return matchKey(p.pattern, strings.Split(key, "/"))
	}
	return visible(strings.Split(key[p.below:], "/"))
}

// matchKey reports whether segments of a key, or the first of them, match a pattern; what lies below a match is read like what lies
// in a directory.
func matchKey(pattern, key []string) bool {
	switch {
	case len(pattern) == 0:
		return visible(key)
	case len(key) == 0:
		return len(pattern) == 1 && pattern[0] == anyDepth
	case pattern[0] == anyDepth:
		return matchKey(pattern[1:], key) || visible(key[:1]) && matchKey(pattern, key[1:])
	}
	if s := pattern[0]; hasMeta(s) && key[0] != "" && hidden(key[0]) && s[0] != key[0][0] {
		return false
	}
	ok, _ := path.Match(pattern[0], key[0]) // the pattern has been checked
	return ok && matchKey(pattern[1:], key[1:])
}

// Matches reports whether a key matches a pattern as it does in Options.Paths, to its end.
func Matches(pattern, key string) (bool, error) {
	found, err := places("", pattern)
	if err != nil {
		return false, err
	}
	segments, names := found[0].pattern, strings.Split(key, "/")
	if len(segments) != len(names) && !slices.Contains(segments, anyDepth) {
		return false, nil // what lies below a match
	}
	return matchKey(segments, names), nil
}

// visible reports whether no segment is left out.
func visible(segments []string) bool {
	return !slices.ContainsFunc(segments, func(s string) bool { return s != "" && hidden(s) })
}

// Holds reports whether keys below output are read with the address read, both of objects.
func Holds(read, output string) bool {
	scheme, name, keys, ok := cutObject(read)
	to, outName, below, outOK := cutObject(output)
	if !ok || !outOK || scheme != to || name != outName {
		return false
	}
	// A file of the output may have any name, so that a pattern that could match one is enough.
	key := strings.TrimSuffix(below, "/") + "/x"
	found, err := places(read, keys)
	return err == nil && slices.ContainsFunc(found, func(p place) bool {
		if p.pattern != nil {
			return strings.HasPrefix(key, p.prefix) || strings.HasPrefix(p.prefix, strings.TrimSuffix(key, "x"))
		}
		return strings.HasPrefix(p.prefix, strings.TrimSuffix(key, "x")) || strings.HasPrefix(key, p.prefix) && p.matches(key)
	})
}

// stretch is a part of a place: the keys behind after, up to until if that is not "".
type stretch struct {
	place        *place
	after, until string
}

// ring returns all places as stretches, from a key on and then around. That a start goes on where the last one was is a matter of
// time alone: what was read is known of each object.
func ring(all []place, from string) (parts []stretch) {
	start := -1
	for i := range all {
		if from != "" && !all[i].exact && strings.HasPrefix(from, all[i].prefix) {
			start = i
		}
	}
	if start < 0 {
		for i := range all {
			parts = append(parts, stretch{place: &all[i]})
		}
		return parts
	}
	parts = append(parts, stretch{place: &all[start], after: from})
	for i := range all[1:] {
		parts = append(parts, stretch{place: &all[(start+1+i)%len(all)]})
	}
	return append(parts, stretch{place: &all[start], until: from})
}

const (
	// pageObjects is how many objects are asked for at a time, the most that stores give.
	pageObjects = 1000
	// pagesAhead is how many pages are listed before those before are through.
	pagesAhead = 2
)

// errUnordered is the error of a store whose listings cannot be gone on with from a key.
var errUnordered = errors.New("the store does not list its keys in their order, so that nobody could say which of them were read; " +
	"use a store that does as S3 does (docs/objects.md)")

// walk calls each with the objects of a stretch.
func (s *ObjectSource) walk(ctx context.Context, at stretch, each func(objstore.Object) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	pages := make(chan []objstore.Object, pagesAhead)
	done := make(chan struct{})
	defer func() { cancel(nil); <-done }()
	go func() {
		defer close(done)
		defer close(pages)
		limit, after := pageObjects, at.after
		if at.place.exact {
			limit = 1
		}
		for more := true; more; {
			s.requests.Add(1)
			page, next, err := s.store.List(ctx, at.place.prefix, after, limit)
			if err == nil && next && len(page) == 0 {
				err = errUnordered
			}
			for _, o := range page {
				if o.Key <= after && err == nil {
					err = errUnordered
				}
				after = o.Key
			}
			if err != nil {
				cancel(err)
				return
			}
			more = next && !at.place.exact && (at.until == "" || after <= at.until)
			select {
			case pages <- page:
			case <-ctx.Done():
				return
			}
		}
	}()
	for page := range pages {
		for _, o := range page {
			if at.until != "" && o.Key > at.until {
				return nil
			}
			s.passed(at.place, o.Key)
			if !at.place.matches(o.Key) {
				continue
			}
			if err := each(o); err != nil {
				return err
			}
		}
	}
	return context.Cause(ctx)
}

// passed notes that a key was listed.
func (s *ObjectSource) passed(p *place, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.of != nil {
		p = p.of
	}
	p.last = max(p.last, key)
}

// check looks whether the bucket can be listed and its objects be read, and its notifications, before anything else is done.
func (s *ObjectSource) check(ctx context.Context) error {
	if s.queue != nil {
		if err := s.queue.Check(ctx); err != nil {
			return err
		}
	}
	matched := map[string]bool{}
	for i := range s.places {
		p := &s.places[i]
		limit := pageObjects
		if p.exact {
			limit = 1
		}
		page, more, err := s.store.List(ctx, p.prefix, "", limit)
		if err != nil {
			return err
		}
		page = slices.DeleteFunc(page, func(o objstore.Object) bool { return !p.matches(o.Key) })
		matched[p.path] = matched[p.path] || len(page) > 0 || more && !p.exact || s.follow
		if err := s.probe(ctx, page); err != nil {
			return err
		}
	}
	for _, p := range s.o.Paths {
		if !matched[p] {
			return fmt.Errorf("%s: no object of the bucket has such a key (names that begin with . or _ are left out); "+
				"correct the path, or set poll to wait for objects", p)
		}
	}
	return nil
}

// probe tries to read one byte of an object. Single objects may have rights of their own, so that it takes three to be sure.
func (s *ObjectSource) probe(ctx context.Context, page []objstore.Object) error {
	page = slices.DeleteFunc(page, func(o objstore.Object) bool { return o.Size == 0 })
	if len(page) == 0 {
		return nil
	}
	for _, o := range []objstore.Object{page[0], page[len(page)/2], page[len(page)-1]} {
		body, err := s.store.Open(ctx, o, 0, 1)
		if err == nil {
			return body.Close()
		}
		if !errors.Is(err, fs.ErrPermission) {
			return nil // about this object alone, or said again when it is read
		}
		if o == page[len(page)-1] {
			return err
		}
	}
	return nil
}

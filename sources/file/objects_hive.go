package file

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

const (
	// mostSpans is into how many prefixes a path is divided at most; with more of them it is listed as a whole.
	mostSpans = 1000
	// mostDirPages bounds the requests for the directories of a path.
	mostDirPages = 100
	// atOnceLists is how many prefixes are listed at a time.
	atOnceLists = 8
)

// condition says which directories named KEY=VALUE are read.
type condition struct {
	text, key, op, value string
}

const conditionAdvice = "give a key, an operator (=, !=, <, <=, > or >=) and a value, such as dt>=2026-11-20"

// operators of conditions, the longer ones first.
var operators = []string{"<=", ">=", "!=", "==", "<", ">", "="}

// parseCondition returns what a text such as dt>=2026-11-20 means.
func parseCondition(text string) (c condition, err error) {
	at := strings.IndexAny(text, "<>=!")
	if at < 0 {
		return c, errors.New("has no operator")
	}
	for _, op := range operators {
		if rest, ok := strings.CutPrefix(text[at:], op); ok {
			c = condition{text: text, key: strings.TrimSpace(text[:at]), op: op, value: strings.TrimSpace(rest)}
			break
		}
	}
	if c.key == "" || c.op == "" || strings.ContainsAny(c.key, "/=") || strings.Contains(c.value, "/") {
		return c, errors.New("is no condition")
	}
	return c, nil
}

// holds reports whether a value of the key, as it is in the name of a directory, is one that is meant. Two numbers are compared as such,
// other values byte by byte.
func (c condition) holds(value string) bool {
	if plain, err := url.PathUnescape(value); err == nil { // as Hive writes what cannot be in a name
		value = plain
	}
	order := strings.Compare(value, c.value)
	a, errA := strconv.ParseFloat(value, 64)
	if b, errB := strconv.ParseFloat(c.value, 64); errA == nil && errB == nil {
		order = cmp.Compare(a, b)
	}
	switch c.op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	case "!=":
		return order != 0
	}
	return order == 0
}

// excludes reports whether a directory is one that conditions leave out. It removes those from open that the directory decides about.
func excludes(dir string, open []condition) (rest []condition, out bool) {
	key, value, ok := strings.Cut(dir, "=")
	if !ok {
		return open, false
	}
	for _, c := range open {
		switch {
		case c.key != key:
			rest = append(rest, c)
		case !c.holds(value):
			return nil, true
		}
	}
	return rest, false
}

// satisfies reports whether the directories of a key are those of all conditions. One without a directory for a condition is not.
func satisfies(key string, conditions []condition) bool {
	dirs := strings.Split(key, "/")
	for _, dir := range dirs[:len(dirs)-1] {
		rest, out := excludes(dir, conditions)
		if out {
			return false
		}
		conditions = rest
	}
	return len(conditions) == 0
}

// divider finds the prefixes that have to be listed.
type divider struct {
	s     *ObjectSource
	ctx   context.Context
	group *errgroup.Group

	mu    sync.Mutex
	spans []place
	pages int
	much  bool
}

// divide returns the prefixes that have to be listed for a place, in the order of their keys: those of the directories that its pattern
// and the conditions leave. It is the place itself where directories say nothing, or where there are too many of them.
func (s *ObjectSource) divide(ctx context.Context, p place) ([]place, error) {
	if p.exact || !p.divisible(len(s.conditions) > 0) {
		return []place{p}, nil
	}
	d := &divider{s: s}
	d.group, d.ctx = errgroup.WithContext(ctx)
	d.group.SetLimit(atOnceLists)
	start := p.prefix[:strings.LastIndexByte(p.prefix, '/')+1]
	open, out := s.conditions, false
	for dir := range strings.SplitSeq(start, "/") {
		if open, out = excludes(dir, open); out {
			return nil, nil
		}
	}
	d.walk(p, start, p.prefix, open)
	if err := d.group.Wait(); err != nil {
		return nil, err
	}
	if d.much {
		return []place{p}, nil
	}
	slices.SortFunc(d.spans, func(a, b place) int { return strings.Compare(a.prefix, b.prefix) })
	return d.spans, nil
}

// divisible reports whether directories may say that a part of the place need not be listed.
func (p *place) divisible(conditions bool) bool {
	if conditions {
		return true
	}
	depth := strings.Count(p.prefix, "/")
	for i := depth; i < len(p.pattern)-1 && p.pattern[i] != anyDepth; i++ {
		if hasMeta(p.pattern[i]) && p.narrows(i+1) {
			return true
		}
	}
	return false
}

// narrows reports whether a segment from i on that is not behind any number of directories, and is no name of an object, begins with
// something by which fewer keys are listed.
func (p *place) narrows(i int) bool {
	for ; i < len(p.pattern)-1 && p.pattern[i] != anyDepth; i++ {
		if literal(p.pattern[i]) != "" {
			return true
		}
	}
	return false
}

// literal returns what all names begin with that match a segment.
func literal(segment string) string {
	if at := strings.IndexAny(segment, `*?[\`); at >= 0 {
		return segment[:at]
	}
	return segment
}

// walk looks at the directory dir, all of whose keys that matter begin with prefix. open are the conditions that no directory above has
// decided.
func (d *divider) walk(p place, dir, prefix string, open []condition) {
	depth := strings.Count(dir, "/")
	var segment string
	fixed := false // it is one directory
	more := len(open) > 0
	if depth < len(p.pattern) {
		segment = p.pattern[depth]
		if last := depth == len(p.pattern)-1; !last && segment != anyDepth && !slices.Contains(p.pattern[:depth], anyDepth) {
			fixed = !hasMeta(segment) && !strings.Contains(segment, `\`)
			more = more || p.narrows(depth+1)
		} else {
			segment = ""
		}
	}
	switch {
	case !more:
		d.add(p, dir+max(literal(segment), prefix[len(dir):]))
		return
	case fixed:
		if rest, out := excludes(segment, open); !out {
			next := dir + segment + "/"
			d.walk(p, next, next, rest)
		}
		return
	}
	list := max(dir+literal(segment), prefix)
	err := d.s.store.Dirs(d.ctx, list, func(names []string) bool {
		d.s.requests.Add(1)
		for _, name := range names {
			last := strings.TrimSuffix(name[len(dir):], "/")
			rest, out := excludes(last, open)
			if out || hidden(last) && (segment == "" || segment[0] != last[0]) {
				continue
			}
			if ok, _ := path.Match(segment, last); !ok && segment != "" {
				continue
			}
			if !d.group.TryGo(func() error { d.walk(p, name, name, rest); return d.ctx.Err() }) {
				d.walk(p, name, name, rest)
			}
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.pages++
		d.much = d.much || d.pages > mostDirPages || len(d.spans) > mostSpans
		return !d.much
	})
	if err != nil {
		d.group.Go(func() error { return err })
	}
}

// add adds a prefix that is to be listed.
func (d *divider) add(p place, prefix string) {
	p.prefix, p.last = prefix, ""
	d.mu.Lock()
	defer d.mu.Unlock()
	d.spans = append(d.spans, p)
}

// parts returns the stretches of a look, from a key on and then around: at everything, or at what is behind the last keys.
func (r *running) parts(from string, all bool) ([]stretch, error) {
	if !all {
		parts := ring(r.places, from)
		for i := range parts {
			parts[i].after = parts[i].place.last
		}
		return parts, nil
	}
	var spans []place
	for i := range r.places {
		some, err := r.divide(r.ctx, r.places[i])
		if err != nil {
			return nil, err
		}
		for j := range some {
			some[j].of = &r.places[i]
		}
		spans = append(spans, some...)
	}
	return ring(spans, from), nil
}

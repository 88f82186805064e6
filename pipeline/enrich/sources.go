package enrich

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/urlcore/charset"
	"github.com/urlmill/urlmill/urlcore/psl"
)

//go:embed lists/referrers.txt
var builtInReferrers string

// class says what kind of place a visitor comes from.
type class uint8

const (
	none class = iota // there is no referrer
	internal
	search
	social
	email
	video
	shopping
	news
	assistant
	paid
	app
	other
)

var classNames = []string{"none", "internal", "search", "social", "email", "video", "shopping", "news", "ai_assistant", "paid", "app", "other"}

// classTexts are classNames as columns have them.
var classTexts = func() (texts [][]byte) {
	for _, name := range classNames {
		texts = append(texts, []byte(name))
	}
	return texts
}()

// source is a place that visitors come from.
type source struct {
	name     []byte
	tag      []byte // what it is called as a source, as GA4 does: google
	class    class
	params   []string          // of its own URLs, that have the search term, in their order
	encoding *charset.Encoding // of terms that are not UTF-8; nil: UTF-8
}

// place is an entry of a source. A host is found with all below it, or with exact alone and below www.
type place struct {
	source *source
	exact  bool
	paths  []pathPlace // those of the host that are places of their own, the longest first
}

type pathPlace struct {
	prefix []byte
	source *source
}

// sources are the lines of a list of referrers.
type sources struct {
	hosts map[string]place   // by host, or by its part before any public suffix and ".*": google.*
	apps  map[string]*source // by the identifier of an app
	tags  map[string]*source // by what utm_source has for it, in lower case
	names map[string]bool    // of all sources
}

var (
	sourceLine  = regexp.MustCompile(`^([a-z_]+)\s+([^:]+?)\s*:\s*(.*)$`)
	hostPattern = regexp.MustCompile(`^=?[a-z0-9-]+(\.[a-z0-9-]+)*(\.\*|\.[a-z0-9-]+)(/[^\s]*)?$`)
)

// parseSources reads a list of referrers: lines of a class, a name, a colon, and places.
//
//	search  Baidu: =baidu.com =m.baidu.com ?wd ?word %gb18030 ~baidu
//
// A place is a host with all below it, with = itself and www alone, with .* in front of any public suffix, with a path, or app:ID.
// ?NAME is a parameter with the search term, %NAME the encoding of terms that are not UTF-8, and ~NAME another name in utm_source.
func parseSources(file, text string) (*sources, error) {
	s := &sources{make(map[string]place), make(map[string]*source), make(map[string]*source), make(map[string]bool)}
	err := eachLine(file, text, builtInReferrers, func(line string, extended bool) error {
		m := sourceLine.FindStringSubmatch(line)
		if m == nil {
			return fmt.Errorf("%q is no referrer; write a class, a name, a colon and hosts, such as search Google: =google.* ?q", line)
		}
		src := &source{name: []byte(m[2]), tag: []byte(strings.ToLower(m[2])), class: class(max(slices.Index(classNames, m[1]), 0))}
		if src.class <= internal {
			return fmt.Errorf("%q is no class%s; there are %s", m[1], config.Suggest(m[1], classNames), config.Listed(classNames[search:], "and"))
		}
		if s.names[m[2]] && !extended {
			return fmt.Errorf("%q is there twice; put all hosts into one line", m[2])
		}
		s.names[m[2]] = true
		for field := range strings.FieldsSeq(m[3]) {
			if err := s.add(src, field); err != nil && !extended {
				return err
			}
		}
		if err := s.tag(src, string(src.tag)); err != nil && !extended {
			return err
		}
		return nil
	})
	return s, err
}

// tag adds a name that a source has in utm_source.
func (s *sources) tag(src *source, name string) error {
	if before := s.tags[name]; before != nil && before != src {
		return fmt.Errorf("%q is a name of %s already; take it out of one line", name, before.name)
	}
	s.tags[name] = src
	return nil
}

// add adds what stands behind the colon of a line.
func (s *sources) add(src *source, field string) error {
	twice := func(other *source) error {
		return fmt.Errorf("%q is a place of %s already; take it out of one line", field, other.name)
	}
	switch {
	case field[0] == '?':
		src.params = append(src.params, field[1:])
		return nil
	case field[0] == '~':
		return s.tag(src, strings.ToLower(field[1:]))
	case field[0] == '%':
		e, ok := charset.Lookup(field[1:])
		if !ok {
			return fmt.Errorf("%q is no encoding; give a name such as %%gb18030, %%euc-kr or %%windows-1251", field)
		}
		src.encoding = e
		return nil
	case strings.HasPrefix(field, "app:"):
		if before := s.apps[field[4:]]; before != nil {
			return twice(before)
		}
		s.apps[field[4:]] = src
		return nil
	case !hostPattern.MatchString(field):
		return fmt.Errorf("%q is no host; write it in lower case, such as example.com, =example.com, example.* or example.com/path", field)
	}
	host, path, hasPath := strings.Cut(strings.TrimPrefix(field, "="), "/")
	p := s.hosts[host]
	if hasPath {
		p.paths = append(p.paths, pathPlace{[]byte("/" + path), src})
		slices.SortStableFunc(p.paths, func(a, b pathPlace) int { return len(b.prefix) - len(a.prefix) })
	} else {
		if p.source != nil {
			return twice(p.source)
		}
		p.source, p.exact = src, field[0] == '='
	}
	s.hosts[host] = p
	return nil
}

// find returns the place of a host that is in lower case, zero if no line has it. The place may be one of its paths alone.
func (s *sources) find(host []byte, suffixes *psl.List) place {
	host = bytes.TrimPrefix(host, www)
	suffix, _, _ := suffixes.LookupICANN(host)
	var found place
	look := func(key []byte, below bool) bool {
		p := s.hosts[string(key)]
		if !below && found.paths == nil {
			found.paths = p.paths
		}
		if p.source != nil && !(below && p.exact) {
			found.source = p.source
		}
		return found.source != nil
	}
	var buf [256]byte
	for at := 0; at < len(host); {
		if look(host[at:], at > 0) {
			return found
		}
		if suffix > at && suffix-at < len(buf)-1 && look(append(append(buf[:0], host[at:suffix]...), '*'), at > 0) {
			return found
		}
		dot := bytes.IndexByte(host[at:], '.')
		if dot < 0 {
			break
		}
		at += dot + 1
	}
	return found
}

// of returns the source of a path at the place, nil if it is none.
func (p place) of(path []byte) *source {
	for _, sub := range p.paths {
		if rest, ok := bytes.CutPrefix(path, sub.prefix); ok && (len(rest) == 0 || rest[0] == '/') {
			return sub.source
		}
	}
	return p.source
}

// classOf returns the class of what a URL names as its source, in lower case: a name that a list has, or a host.
func (s *sources) classOf(text []byte, suffixes *psl.List) class {
	src := s.tags[string(text)]
	if src == nil && bytes.IndexByte(text, '.') > 0 {
		src = s.find(text, suffixes).of(nil)
	}
	switch {
	case len(text) == 0:
		return none
	case src == nil:
		return other
	}
	return src.class
}

// eachLine calls add with every line of a list that has something, and returns an error of all lines that add refuses. Behind a list
// with the line "extend" come the lines of the one that is built in, of which only what the list does not have counts.
func eachLine(file, text, builtIn string, add func(line string, extended bool) error) error {
	var errs []error
	number, extend := 0, false
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		trimmed := strings.TrimSpace(line)
		var err error
		switch trimmed {
		case "":
		case "extend":
			extend = true
		default:
			err = add(trimmed, false)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d:%d: %w", file, number, 1+len(line)-len(strings.TrimLeft(line, " \t")), err))
		}
	}
	if extend {
		errs = append(errs, eachLine("", builtIn, "", func(line string, _ bool) error { return add(line, true) }))
	}
	return errors.Join(errs...)
}

// checkDomain reports what is wrong with a domain of an option.
func checkDomain(domain string) error {
	if !hostPattern.MatchString(domain) || strings.ContainsAny(domain, "=*/") {
		return fmt.Errorf("%q is no domain; write it in lower case and in ASCII, such as example.com", domain)
	}
	return nil
}

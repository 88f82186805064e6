package enrich

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/urlcore/columns"
)

// Queue says what queue_key is of a site without a group.
type Queue uint8

const (
	QueueHost    Queue = iota // QueueHost is the host.
	QueueDomain               // QueueDomain is the registrable domain, or the host where there is none.
	QueueAddress              // QueueAddress is the network of the host's address, or the host where none is known.
)

var queueNames = [...]string{"host", "domain", "address"}

// String returns the name that a configuration has for it.
func (q Queue) String() string { return queueNames[q] }

// Frontier are the options of the columns for what a crawler fetches next.
type Frontier struct {
	// Queue is what queue_key is made of.
	Queue Queue
	// Address is the carried field with the address of the host, for [QueueAddress]; "" for [FrontierAddress].
	Address string
	// MaxDepth and MaxParams are how many segments and parameters a URL may have, and MaxLength how many bytes, without being a trap.
	MaxDepth, MaxParams, MaxLength int
	// Sites is a file of rules for sites, "" for none.
	Sites string
}

// FrontierAddress is the field that has the address where no option names one.
const FrontierAddress = "ip"

// DefaultFrontier returns the options that an empty section stands for.
func DefaultFrontier() Frontier { return Frontier{MaxDepth: 20, MaxParams: 20, MaxLength: 2083} }

func (o *Frontier) section() config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "queue", Doc: "What queue_key is of a site without a group: its host, its registrable domain, or the network (/24, /64) of its address.", Value: config.Stringers(&o.Queue, QueueHost, QueueDomain, QueueAddress)},
		{Name: "address", Doc: "Carried field with the address of the host, for queue: address. Not set: ip.", Value: config.Text(&o.Address, "ip")},
		{Name: "max_depth", Doc: "How many segments a path may have without being a trap.", Value: config.Int(&o.MaxDepth, 1, 1<<16)},
		{Name: "max_params", Doc: "How many parameters a query may have without being a trap.", Value: config.Int(&o.MaxParams, 1, 1<<16)},
		{Name: "max_length", Doc: "How many bytes a URL may have without being a trap.", Value: config.Int(&o.MaxLength, 16, 1<<26)},
		{Name: "sites", Doc: "File of rules for sites: groups of hosts, parameters that matter, classes of paths, traps; see docs/crawl.md.", Value: config.Text(&o.Sites, "/etc/urlmill/sites.yaml")},
	}}
}

// Sites are what the columns of a frontier are made by. They are immutable, and safe for concurrent use.
type Sites struct {
	o       Frontier
	hosts   map[string]*site // by the host
	below   map[string]*site // by the domain that hosts are below
	version string
}

// site is what a file says of hosts.
type site struct {
	group  []byte
	params []string
	every  bool // all parameters matter
	paths  []pathRule
	traps  []pathRule
}

// Version returns a hash of what the rules were made of.
func (s *Sites) Version() string { return s.version }

// HasParams reports whether there is a site of which not all parameters matter.
func (s *Sites) HasParams() bool {
	for _, all := range []map[string]*site{s.hosts, s.below} {
		for _, one := range all {
			if !one.every {
				return true
			}
		}
	}
	return false
}

// writtenSite is a site as a file has it.
type writtenSite struct {
	hosts, params, traps []string
	noParams             bool
	group                string
	paths                []writtenPath
}

type writtenPath struct {
	class    string
	patterns []string
}

// ReadSites returns the rules of the options, with the file that they name; of nil options, rules of no site. What is wrong in the file
// has its line and column there.
func (o *Frontier) ReadSites() (*Sites, error) {
	s := &Sites{hosts: make(map[string]*site), below: make(map[string]*site)}
	if o == nil {
		return s, nil
	}
	s.o = *o
	if o.Sites == "" {
		return s, nil
	}
	text, err := config.ReadFile(o.Sites, config.MaxFileSize)
	if err == nil {
		s.version = fmt.Sprintf("sha256:%x", sha256.Sum256(text))[:len("sha256:")+32]
		err = s.read(o.Sites, text)
	}
	if err == nil {
		return s, nil
	}
	var errs []error
	for line := range strings.SplitSeq(err.Error(), "\n") { // a problem of a file is a line
		errs = append(errs, pipeline.FieldErrorf("sites", "%s", line))
	}
	return nil, errors.Join(errs...)
}

func (s *Sites) read(file string, text []byte) error {
	var sites []writtenSite
	_, err := config.Parse(file, text, config.Env{}, config.Section{Fields: []config.Field{
		{Name: "version", Doc: "Date of the rules.", Value: config.Text(new(string), "2026-11-24")},
		{
			Name: "sites", Doc: "Sites, each with its hosts.", Example: "sites: [{hosts: [example.com], group: example}]",
			Value: config.List(&sites, func() writtenSite { return writtenSite{} }, "[{hosts: [example.com], group: example}]", func(w *writtenSite) config.Section {
				section := w.section()
				section.Check = func(d *config.Check) { s.add(d, w) }
				return section
			}),
		},
	}})
	return err
}

func (w *writtenSite) section() config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "hosts", Doc: "Hosts of the site; *.example.com stands for all below example.com.", Value: config.Texts(&w.hosts, "[example.com, '*.example.com']"), Example: "hosts: [example.com]"},
		{Name: "group", Doc: "What queue_key is for these hosts.", Value: config.Text(&w.group, "example")},
		{Name: "params", Doc: "Parameters that matter: canonical_url and url_key have no others. Not set: all matter.", Value: config.Texts(&w.params, "[id, page]")},
		{Name: "no_params", Doc: "Whether no parameter matters.", Value: config.Bool(&w.noParams)},
		{Name: "paths", Doc: "Classes of paths, for page_class; the first that has a pattern for the path counts.", Value: config.List(&w.paths, func() writtenPath { return writtenPath{} }, "[{class: article, patterns: [/a/**]}]", func(p *writtenPath) config.Section {
			return config.Section{Fields: []config.Field{
				{Name: "class", Doc: "What page_class is.", Value: config.Text(&p.class, "article"), Example: "class: article"},
				{Name: "patterns", Doc: "Patterns of paths: * and {name} stand for a segment, ** at the end for any number.", Value: config.Texts(&p.patterns, "[/a/**]"), Example: "patterns: [/a/**]"},
			}}
		})},
		{Name: "traps", Doc: "Patterns of paths that are traps.", Value: config.Texts(&w.traps, "[/cgi-bin/**]")},
	}}
}

// add adds a site, and reports what is wrong with it.
func (s *Sites) add(d *config.Check, w *writtenSite) {
	one := &site{group: []byte(w.group), params: w.params, every: !w.noParams && len(w.params) == 0}
	if w.noParams && len(w.params) > 0 {
		d.Conflict("no_params", []string{"params"}, "no_params says that none matters, and params which do; take one out")
	}
	for i, host := range w.hosts {
		key := fmt.Sprintf("hosts[%d]", i)
		name, wild := strings.CutPrefix(host, "*.")
		to := s.hosts
		if wild {
			to = s.below
		}
		if err := checkDomain(name); err != nil {
			d.Conflict(key, nil, "%v", err)
		} else if to[name] != nil {
			d.Conflict(key, nil, "%s is a host of two sites, or twice of one; leave it in one place", host)
		}
		to[name] = one
	}
	if len(w.group) == 0 && one.every && len(w.paths) == 0 && len(w.traps) == 0 {
		d.Conflict("hosts", nil, "the site has no rule; give it a group, params, paths or traps")
	}
	for i, p := range w.paths {
		for k, pattern := range p.patterns {
			rule, err := parsePath(pattern, p.class)
			if err = cmpErr(err, shadowedPath(one.paths, rule)); err != nil {
				d.Conflict(fmt.Sprintf("paths[%d].patterns[%d]", i, k), nil, "%v", err)
			}
			one.paths = append(one.paths, rule)
		}
	}
	for i, pattern := range w.traps {
		rule, err := parsePath(pattern, trapSite)
		if err = cmpErr(err, shadowedPath(one.traps, rule)); err != nil {
			d.Conflict(fmt.Sprintf("traps[%d]", i), nil, "%v", err)
		}
		one.traps = append(one.traps, rule)
	}
}

// find returns the site of a host, nil for none. That of the host itself counts before those that it is below, of which the nearest does.
func (s *Sites) find(host []byte) *site {
	if one := s.hosts[string(host)]; one != nil || len(s.below) == 0 {
		return one
	}
	for {
		dot := bytes.IndexByte(host, '.')
		if dot < 0 {
			return nil
		}
		host = host[dot+1:]
		if one := s.below[string(host)]; one != nil {
			return one
		}
	}
}

// What the columns of a frontier need of the parser.
const (
	WantQueue     = columns.Host | columns.RegistrableDomain
	WantTrap      = columns.Host | columns.Path | columns.Query | columns.Href
	WantPageClass = columns.Host | columns.Path
)

// AppendQueue appends the queue of a host, whose registrable domain and address may be empty.
func (s *Sites) AppendQueue(dst, host, domain, address []byte) []byte {
	if one := s.find(host); one != nil && len(one.group) > 0 {
		return append(dst, one.group...)
	}
	switch {
	case s.o.Queue == QueueDomain && len(domain) > 0:
		return append(dst, domain...)
	case s.o.Queue == QueueAddress:
		if network := appendNetwork(dst, address); network != nil {
			return network
		}
	}
	return append(dst, host...)
}

// AppendURL appends a URL, which has that host, without the parameters that do not matter. It returns false where all do.
func (s *Sites) AppendURL(dst, host, url []byte) ([]byte, bool) {
	one := s.find(host)
	if one == nil || one.every {
		return dst, false
	}
	fragment := bytes.IndexByte(url, '#')
	if fragment < 0 {
		fragment = len(url)
	}
	head, query, ok := bytes.Cut(url[:fragment], []byte("?"))
	if dst = append(dst, head...); !ok {
		return append(dst, url[fragment:]...), true
	}
	separator := byte('?')
	for more := true; more; {
		var param []byte
		param, query, more = bytes.Cut(query, []byte("&"))
		name, _, _ := bytes.Cut(param, []byte("="))
		if one.matters(name) {
			dst = append(append(dst, separator), param...)
			separator = '&'
		}
	}
	return append(dst, url[fragment:]...), true
}

// matters reports whether a parameter does, by its name as it stands in the URL.
func (one *site) matters(name []byte) bool {
	for _, p := range one.params {
		if string(name) == p {
			return true
		}
	}
	return false
}

// AppendClass appends the class of a page, and returns false for none.
func (s *Sites) AppendClass(dst, host, path []byte) ([]byte, bool) {
	if one := s.find(host); one != nil {
		for i := range one.paths {
			if one.paths[i].match(path) {
				return append(dst, one.paths[i].result...), true
			}
		}
	}
	return dst, false
}

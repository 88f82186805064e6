package urlcols

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/zeebo/xxh3"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/enrich"
	"github.com/urlmill/urlmill/pipeline/enrich/agents"
	"github.com/urlmill/urlmill/urlcore/canon"
	"github.com/urlmill/urlmill/urlcore/columns"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// derivedText is a column of text that is made row by row of others.
type derivedText struct {
	data    []byte
	offsets []int32
	valid   []byte
	nulls   int
}

// at returns row i, empty for a null. It aliases the column.
func (d *derivedText) at(i int) []byte { return d.data[d.offsets[i]:d.offsets[i+1]] }

func (d *derivedText) array(s *state, t arrow.DataType) *array.Data {
	return s.varData(t, s.buffer(d.valid), d.nulls, d.offsets, d.data)
}

// derived holds what derived columns are made with, and what several of them share within a batch.
type derived struct {
	texts     []*derivedText // lent until the next record
	used      int
	canonical *derivedText // of this record, nil before somebody asks

	tracked     []bool
	haveTracked bool
	entries     []int32 // scratch
	matter      []byte  // scratch

	canonicaliser, surt *canon.Canonicaliser
	also                []*state // of Options.Also
	alsoReady           bool

	acquirer      *enrich.Acquirer // nil without acquisition columns
	acquiredReady bool

	describer      *enrich.Describer // nil without columns of the client
	describedReady bool
	hints          [agents.NumHints]*pipeline.Values // of describer
}

// reset forgets what belonged to the record before.
func (d *derived) reset() {
	d.used, d.canonical, d.haveTracked, d.alsoReady, d.acquiredReady, d.describedReady = 0, nil, false, false, false, false
}

// maxText is how long a column may become. It is a variable for tests.
var maxText = math.MaxInt32

// derive makes a column: row appends the text of row i to dst, or returns false for a null.
func (s *state) derive(rows int, row func(dst []byte, i int) ([]byte, bool)) *derivedText {
	d := &s.derived
	if d.used == len(d.texts) {
		d.texts = append(d.texts, new(derivedText))
	}
	t := d.texts[d.used]
	d.used++
	t.data, t.nulls = t.data[:0], 0
	t.offsets = append(t.offsets[:0], 0)
	t.valid = slices.Grow(t.valid[:0], (rows+7)/8)[:(rows+7)/8]
	clear(t.valid)
	for i := range rows {
		data, ok := row(t.data, i)
		if ok && len(data) > maxText {
			s.fault, ok = columns.ErrTooLarge, false
		}
		if ok {
			t.data = data
			t.valid[i/8] |= 1 << (i % 8)
		} else {
			t.nulls++
		}
		t.offsets = append(t.offsets, int32(len(t.data)))
	}
	return t
}

// deriveOf makes a column of a text column: nulls stay nulls.
func (s *state) deriveOf(from *columns.Text, row func(dst, value []byte) ([]byte, bool)) *derivedText {
	return s.derive(s.batch.Len(), func(dst []byte, i int) ([]byte, bool) {
		if !from.IsValid(i) {
			return nil, false
		}
		return row(dst, from.At(i))
	})
}

// canonicalText returns the canonical form of every URL.
func (s *state) canonicalText() *derivedText {
	d := &s.derived
	if d.canonical == nil {
		d.canonical = s.derive(s.batch.Len(), func(dst []byte, i int) ([]byte, bool) {
			if !s.cols.Href.IsValid(i) {
				return nil, false
			}
			return d.canonicaliser.Append(dst, s.mattering(i, s.cols.Href.At(i))), true
		})
	}
	return d.canonical
}

func (s *state) canonicalURL() *array.Data { return s.canonicalText().array(s, utf8Type) }

// urlKey is the XXH3-128 of the canonical form, big-endian.
func (s *state) urlKey() *array.Data {
	text := s.canonicalText()
	return s.derive(s.batch.Len(), func(dst []byte, i int) ([]byte, bool) {
		if !s.cols.Href.IsValid(i) {
			return dst, false
		}
		key := xxh3.Hash128(text.at(i)).Bytes()
		return append(dst, key[:]...), true
	}).array(s, binaryType)
}

// derivedColumns lists the columns that are there because the options ask for them.
func derivedColumns(opts Options) []column {
	var cols []column
	add := func(option string, more ...column) {
		for _, c := range more {
			c.asked = option
			cols = append(cols, c)
		}
	}
	if opts.Canonical != nil {
		want := columns.Href
		if opts.Frontier != nil { // whose rules are by host
			want |= columns.Host
		}
		add("canonical",
			column{
				name: "canonical_url", typ: utf8Type, nullable: true, want: want, build: (*state).canonicalURL,
				comment: "the URL in the canonical form " + opts.Canonical.Form.String(),
			},
			column{
				name: "url_key", typ: binaryType, nullable: true, want: want, build: (*state).urlKey,
				comment: "XXH3-128 of canonical_url, 16 bytes, big-endian",
			})
	}
	if opts.Tracking {
		add("tracking", column{
			name: "tracking_params", typ: paramsType, nullable: true, want: columns.Params | columns.RegistrableDomain,
			build: (*state).trackingParams, comment: "the parameters that the tracking rules name; params has the others",
		})
	}
	for i, p := range opts.Promote {
		add(fmt.Sprintf("promote[%d]", i), p.column())
	}
	for i := range opts.Also {
		add(fmt.Sprintf("other_urls[%d]", i), opts.Also[i].columns(i)...)
	}
	if opts.Acquisition != nil {
		add("acquisition", acquisitionColumns(opts)...)
	}
	if opts.UserAgent != nil || opts.Address != nil {
		add("client", clientColumns(opts)...)
	}
	if opts.Frontier != nil {
		add("frontier", frontierColumns()...)
	}
	return cols
}

// hostColumn is an extra column that is made of the host.
func hostColumn(name, comment string, row func(s *state, dst, host []byte) ([]byte, bool)) column {
	return column{
		name: name, typ: utf8Type, nullable: true, want: columns.Host, comment: comment, extra: true,
		build: func(s *state) *array.Data {
			return s.deriveOf(&s.cols.Host, func(dst, host []byte) ([]byte, bool) { return row(s, dst, host) }).array(s, utf8Type)
		},
	}
}

// extraColumns lists the columns that are there only where include or a profile names them.
func extraColumns() []column {
	cols := []column{
		{
			name: "effective_port", typ: int32Type, nullable: true, want: columns.Port | columns.Scheme, extra: true,
			build: (*state).effectivePort, comment: "the port, or that of the scheme; null where there is neither",
		},
		{
			name: "extension", typ: utf8Type, nullable: true, want: columns.Path, extra: true,
			comment: "what follows the last dot of the path's last segment; null where there is none",
			build: func(s *state) *array.Data {
				return s.deriveOf(&s.cols.Path, appendExtension).array(s, utf8Type)
			},
		},
		{
			name: "surt_key", typ: utf8Type, nullable: true, want: columns.Href, extra: true,
			comment: "the key of Common Crawl's index, as in com,example)/path",
			build: func(s *state) *array.Data {
				return s.deriveOf(&s.cols.Href, func(dst, href []byte) ([]byte, bool) {
					return s.derived.surt.Append(dst, href), true
				}).array(s, utf8Type)
			},
		},
		hostColumn("subdomain", "what stands before the registrable domain; null where nothing does", appendSubdomain),
		hostColumn("registry_suffix", "the public suffix by the list's section of registries alone", appendRegistrySuffix),
		hostColumn("registry_domain", "the registrable domain by the list's section of registries alone", appendRegistryDomain),
		hostColumn("host_reversed", "the labels of the host from right to left; an address as it is", appendReversed),
		hostColumn("top_level_domain", "the last label of the host; null for an address", label(1)),
	}
	for i, name := range []string{"2nd", "3rd", "4th", "5th"} {
		cols = append(cols, hostColumn("host_"+name+"_last_part", "a label of the host, counted from the right; null for an address", label(i+2)))
	}
	return cols
}

// labels returns a domain without the root's dot, which begins no label, and false for what is no domain.
func labels(host []byte) ([]byte, bool) {
	return bytes.TrimSuffix(host, []byte(".")), psl.IsDomain(host)
}

func appendSubdomain(s *state, dst, host []byte) ([]byte, bool) {
	if !psl.IsDomain(host) {
		return dst, false
	}
	_, start, _ := s.lists.suffixes.Lookup(host)
	if start <= 1 {
		return dst, false
	}
	return append(dst, host[:start-1]...), true
}

func appendRegistrySuffix(s *state, dst, host []byte) ([]byte, bool) {
	suffix, _ := s.registryStarts(host)
	return append(dst, host[max(suffix, 0):]...), suffix >= 0
}

func appendRegistryDomain(s *state, dst, host []byte) ([]byte, bool) {
	_, domain := s.registryStarts(host)
	return append(dst, host[max(domain, 0):]...), domain >= 0
}

// registryStarts returns where the registry's suffix and the domain below it begin, -1 for what is not there.
func (s *state) registryStarts(host []byte) (suffix, domain int) {
	if !psl.IsDomain(host) {
		return -1, -1
	}
	suffix, domain, _ = s.lists.suffixes.LookupICANN(host)
	return suffix, domain
}

func appendReversed(_ *state, dst, host []byte) ([]byte, bool) {
	rest, ok := labels(host)
	if !ok {
		return append(dst, host...), true
	}
	for {
		dot := bytes.LastIndexByte(rest, '.')
		dst = append(dst, rest[dot+1:]...)
		if dot < 0 {
			return dst, true
		}
		dst = append(dst, '.')
		rest = rest[:dot]
	}
}

// label returns what appends label n of a host, counted from 1 at the right.
func label(n int) func(*state, []byte, []byte) ([]byte, bool) {
	return func(_ *state, dst, host []byte) ([]byte, bool) {
		rest, ok := labels(host)
		if !ok {
			return dst, false
		}
		for range n - 1 {
			dot := bytes.LastIndexByte(rest, '.')
			if dot < 0 {
				return dst, false
			}
			rest = rest[:dot]
		}
		return append(dst, rest[bytes.LastIndexByte(rest, '.')+1:]...), true
	}
}

func appendExtension(dst, path []byte) ([]byte, bool) {
	name := path[bytes.LastIndexByte(path, '/')+1:]
	dot := bytes.LastIndexByte(name, '.')
	if dot <= 0 || dot == len(name)-1 {
		return dst, false
	}
	return append(dst, name[dot+1:]...), true
}

// defaultPorts are the ports of the special schemes.
//
// Source: https://url.spec.whatwg.org/#special-scheme
var defaultPorts = map[string]int32{"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}

func (s *state) effectivePort() *array.Data {
	n := s.batch.Len()
	values, bits, nulls := s.scratch.takeInts(n), s.scratch.takeBytes((n+7)/8), 0
	for i := range n {
		port, ok := int32(0), s.cols.Port.IsValid(i)
		if ok {
			port = s.cols.Port.Values[i]
		} else if s.cols.Scheme.IsValid(i) {
			port, ok = defaultPorts[string(s.cols.Scheme.At(i))]
		}
		values[i] = port
		if ok {
			bits[i/8] |= 1 << (i % 8)
		} else {
			nulls++
		}
	}
	return s.data(int32Type, n, nulls, s.buffer(bits), s.ints32(values))
}

// Also is another URL of the record, parsed into columns of its own.
type Also struct {
	Field   string   // name of the carried field that holds it
	Prefix  string   // of the names of its columns, such as referer_
	Include []string // its columns, named as those of the URL; empty means [AlsoDefault]

	field  int  // index in Options.Carried
	hidden bool // it has no columns of its own
}

// AlsoDefault are the columns that another URL has unless told otherwise.
var AlsoDefault = []string{"host", "registrable_domain", "path", "query", "url_error"}

// columns lists the columns of opts.Also[i].
func (a *Also) columns(i int) []column {
	var cols []column
	if a.hidden {
		return nil
	}
	for _, c := range append(urlColumns(Options{}), errorColumns()...) {
		if !slices.Contains(a.include(), c.name) {
			continue
		}
		build := c.build
		c.name = a.Prefix + c.name
		c.comment += ", of " + a.Field
		c.also, c.alsoWant, c.want = i+1, c.want, 0
		c.build = func(s *state) *array.Data { return build(s.alsoParsed(i)) }
		cols = append(cols, c)
	}
	return cols
}

func (a *Also) include() []string {
	if len(a.Include) == 0 {
		return AlsoDefault
	}
	return a.Include
}

// alsoParsed returns the state that holds the columns of opts.Also[i] of this record.
func (s *state) alsoParsed(i int) *state {
	d := &s.derived
	if !d.alsoReady {
		d.alsoReady = true
		for k, a := range d.also {
			values := &s.batch.Carried[s.plan.opts.Also[k].field]
			a.batch = s.batch
			a.scratch.reset()
			if err := columns.Parse(&a.cols, values.Text.Data, values.Text.Ends); err != nil {
				s.fault = err
				_ = columns.Parse(&a.cols, nil, make([]int32, s.batch.Len())) // nobody gets to see these rows
			}
			a.errs = a.errs[:0]
			for row, e := range a.cols.Errors {
				r := rowError{uint32(e.Code), int64(e.Pos)}
				if !values.Valid[row] {
					r = rowError{}
				}
				a.errs = append(a.errs, r)
			}
		}
	}
	return d.also[i]
}

// find notes which carried field holds the URL. It has to be text.
func (a *Also) find(carried []pipeline.Field) bool {
	a.field = slices.IndexFunc(carried, func(f pipeline.Field) bool {
		return f.Name == a.Field && f.Type == pipeline.String
	})
	return a.field >= 0
}

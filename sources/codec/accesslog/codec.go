package accesslog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/urlcore"
)

// Options configures the codec. One of Format, Nginx, Apache is given.
type Options struct {
	// Format is one of [Formats].
	Format string
	// Nginx is the format of a directive log_format, Apache that of a directive LogFormat.
	Nginx, Apache string
	// Base is the origin of requests whose log does not say the host, such as https://www.example.com.
	Base string
	// Fields are names of further fields of a W3C log that get a column of text, beside the known ones; of a real-time
	// log, those that its configuration has, in CloudFront's order, if they are not all.
	Fields []string
	// Scheme is that of requests whose log has the host and does not say whether they were encrypted: "https", the
	// default, or "http".
	Scheme string
}

// Validate returns every problem of o, joined, each a [*pipeline.FieldError].
func (o Options) Validate() error {
	_, err := o.compile()
	return err
}

// named returns the format that a name stands for.
func named(format string) string { return cmp.Or(synonyms[format], format) }

func (o Options) compile() (pattern, error) {
	var all pipeline.Problems
	o.Format = named(o.Format)
	given := 0
	for _, s := range []string{o.Format, o.Nginx, o.Apache} {
		if s != "" {
			given++
		}
	}
	if given != 1 {
		return pattern{}, pipeline.FieldErrorf("format", "give one of format, nginx and apache, such as format: combined")
	}
	if o.Scheme != "" && o.Scheme != "http" && o.Scheme != "https" {
		all.Value("scheme", o.Scheme, "is not known").Advise("give http or https")
	}
	if len(o.Fields) > 0 && o.Format != W3C && o.Format != RealTime {
		all.Add("fields", "only the formats w3c and cloudfront_realtime take them; the others have all of theirs")
	}
	if o.Base != "" {
		all.Join(checkBase(o.Base))
	}
	if o.Format == Auto {
		return pattern{}, all.Err()
	}
	p, key, err := o.pattern()
	if err != nil {
		all.Add(key, "%w", err)
	} else if o.Format != W3C && p.origin == "" {
		whole := o.Format == "alb" || o.Format == "elb" || o.Format == "squid" || p.places != nil // they log whole URLs, or the host
		all.Join(p.check(key, whole || o.Base != ""))
	}
	return p, all.Err()
}

// pattern returns the pattern and the key of what it was made of.
func (o Options) pattern() (p pattern, key string, err error) {
	switch {
	case o.Nginx != "":
		p, err = parseNginx(o.Nginx)
		return p, "nginx", err
	case o.Apache != "":
		p, err = parseApache(o.Apache)
		return p, "apache", err
	case o.Format == W3C:
		return pattern{}, "format", nil
	case o.Format == RealTime:
		p, err = realTime(o.Fields)
		return p, "fields", err
	}
	if preset, ok := presets[o.Format]; ok {
		return preset(), "format", nil
	}
	if members, ok := jsonFormats[o.Format]; ok {
		return jsonPattern(members), "format", nil
	}
	return p, "format", fmt.Errorf("there is no %q; there are %s", o.Format, strings.Join(Formats(), ", "))
}

// checkBase refuses what is no origin.
func checkBase(base string) error {
	u, err := urlcore.Parse(base)
	if err != nil {
		return pipeline.ValueErrorf("base", base, "is no URL: %w", err).Advise("give an origin such as https://www.example.com")
	}
	if u.Origin() == "null" || strings.TrimSuffix(u.Href(), "/") != u.Origin() {
		return pipeline.ValueErrorf("base", base, "is more or less than an origin").Advise("give one such as https://www.example.com")
	}
	return nil
}

// check returns what keeps p from giving URLs.
func (p *pattern) check(key string, hasOrigin bool) error {
	var have [ignored + 1]bool
	for _, t := range p.tokens {
		have[t.field.role] = true
	}
	switch {
	case !have[request] && !have[target] && !have[path]:
		return pipeline.FieldErrorf(key, "it has no request").Advise("add $request or %%r, or a field with the path")
	case !have[host] && !have[edge] && !hasOrigin:
		return pipeline.FieldErrorf("base", "the format does not say the host").Advise("give the origin that was asked, such as https://www.example.com")
	}
	return nil
}

// New returns the codec of access logs, or what Validate has to say about o.
//
// The line is kept in Batch.Records. A line that does not fit the format has a null URL, null fields and the fault
// FaultMalformed at the byte from which on it does not. One without a request, such as those of connections that
// were given up, has a null URL and FaultFieldMissing; one whose request is no HTTP request, FaultMalformed at the
// request. A field that is - or empty is null; one that is not of its type is null and gives FaultCarried.
func New(o Options) (codec.Factory, error) {
	p, err := o.compile()
	if err != nil {
		return nil, err
	}
	o.Format = named(o.Format)
	if o.Format == Auto {
		return newAuto(o)
	}
	return newFactory(o, p, nil), nil
}

// newFactory returns the codec of p with those columns, nil for all that p has.
func newFactory(o Options, p pattern, columns []pipeline.Field) *factory {
	f := &factory{pattern: p, base: strings.TrimSuffix(o.Base, "/"), scheme: cmp.Or(o.Scheme, "https"), w3c: o.Format == W3C, columns: columns}
	if o.Format == AzureFrontDoor || o.Format == AzureGateway {
		f.envelope = envelope
	}
	if p.client > 0 && o.Scheme == "" && strings.HasPrefix(o.Base, "http:") {
		f.scheme = "http" // of a virtual host that stands before a line
	}
	if f.w3c {
		f.extra = make(map[string]bool)
		for _, name := range o.Fields {
			f.extra[strings.ToLower(name)] = true
		}
		if columns == nil {
			f.columns = w3cColumns(o.Fields)
		}
		f.layouts = []layout{{}}
	} else {
		f.addLayouts(columns != nil)
	}
	f.Shape = codec.NewShape(f.columns, false, true) // a line is more than its URL
	return f
}

// addLayouts adds the layouts of the pattern, and their columns unless those are fixed.
func (f *factory) addLayouts(fixed bool) {
	for _, p := range append([]pattern{f.pattern}, f.others...) {
		l := layout{tokens: p.tokens, own: len(p.tokens), after: p.after, list: p.list}
		if f.client > 0 {
			l.tokens = slices.Concat(l.tokens, []token{{field: text("forwarded_for")}, {field: apacheFields["v"]}, {field: apacheFields["p"]}})
		}
		columns := slices.Clip(f.columns)
		l.binding = bind(l.tokens, &columns)
		if !fixed {
			f.columns = columns
		}
		f.layouts = append(f.layouts, l)
		f.spans = max(f.spans, len(l.tokens))
	}
}

// Spare implements [codec.Sparing].
func (f *factory) Spare(unused []bool) {
	f.unused = unused
	for i := range f.layouts {
		f.spare(&f.layouts[i].binding)
	}
}

// spare takes the columns of texts that are not looked at out of b. That of the peer's address stays: the port of it is a number, which
// may have a fault.
func (f *factory) spare(b *binding) {
	for i := range b.columns {
		f.spareOne(&b.columns[i])
	}
	f.spareOne(&b.method)
	f.spareOne(&b.version)
}

func (f *factory) spareOne(column *int) {
	if i := *column; i >= 0 && i < len(f.unused) && f.unused[i] && f.columns[i].Type == pipeline.String {
		*column = -1
	}
}

// factory is what all instances share and none changes.
type factory struct {
	codec.Shape
	pattern
	layouts      []layout
	spans        int // of the layout with most of them
	base, scheme string
	w3c          bool
	extra        map[string]bool // further fields of a W3C log, in lower case
	columns      []pipeline.Field
	unused       []bool // of columns; see Spare
	envelope     string // see [codec.Enveloped]
}

// layout is a way in which a line is written.
type layout struct {
	tokens  []token
	own     int // how many tokens the format has; those behind are of what the lead has
	after   string
	list    int // see [pattern]
	binding binding
}

// binding says where the fields of a line go.
type binding struct {
	columns []int        // of every field; -1: it has none
	roles   [ignored]int // field with the role, -1 for none; of several the first
	method  int          // column of the request's method, -1 for none
	version int          // column of its protocol
	address int          // column of the peer's address, -1 for none
	number  int          // column of its port
}

// bind adds the columns of the tokens to columns, and returns where they are.
func bind(tokens []token, columns *[]pipeline.Field) binding {
	b := binding{method: -1, version: -1, address: -1, number: -1}
	for i := range b.roles {
		b.roles[i] = -1
	}
	for i, t := range tokens {
		r := t.field.role
		if r < ignored && b.roles[r] < 0 {
			b.roles[r] = i
		}
		if t.field.name == "" {
			b.columns = append(b.columns, -1)
		} else {
			b.columns = append(b.columns, columnOf(columns, t.field.name, t.field.typ))
		}
		switch r {
		case request:
			b.method = columnOf(columns, "method", pipeline.String)
			b.version = columnOf(columns, "protocol", pipeline.String)
		case peer:
			b.address = columnOf(columns, "remote_addr", pipeline.String)
			b.number = columnOf(columns, "remote_port", pipeline.Int64)
		}
	}
	return b
}

// columnOf returns the index of the column, which it adds where it is not there yet.
func columnOf(columns *[]pipeline.Field, name string, typ pipeline.FieldType) int {
	for i, c := range *columns {
		if c.Name == name {
			return i
		}
	}
	*columns = append(*columns, pipeline.Field{Name: name, Type: typ})
	return len(*columns) - 1
}

// New implements [codec.Factory].
func (f *factory) New() codec.Codec {
	c := &lines{factory: f, layout: &f.layouts[0], spans: make([]span, 0, f.spans)}
	if f.places != nil {
		c.reader = f.places.NewReader()
	}
	return c
}

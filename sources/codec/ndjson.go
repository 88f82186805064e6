package codec

import (
	"strings"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
)

// NDJSONOptions configures the codec of records that are one JSON value each (RFC 8259): the lines of an NDJSON
// file, or the values of a topic. Places in a record are named by JSON pointers (RFC 6901), such as /url or
// /request/headers/0.
type NDJSONOptions struct {
	// URL points to the URL, a string. It must be given.
	URL string
	// Base points to the URL that the URL is resolved against, a string. Empty: records have none.
	Base string
	// Host points to the host of a URL that begins with a slash, a string that may have a port: access logs in JSON
	// have path and host apart. Empty: records have none.
	Host string
	// Scheme is that of such a URL, "https" by default, or points to it where it begins with a slash.
	Scheme string
	// Carry lists the fields that go along with the URL, in the order of their columns.
	Carry []CarriedField
	// SkipEmpty leaves records out that are empty or only white space. By default each is a row whose
	// fault is FaultMalformed.
	SkipEmpty bool
}

// NDJSONKind is the codec of JSON.
var NDJSONKind = Kind{Name: "ndjson", Doc: "A record is a JSON value, and pointers say where things are.", New: func() Options { return &NDJSONOptions{} }}

// Section implements [Options].
func (o *NDJSONOptions) Section() config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "url", Doc: "Pointer to the URL.", Value: config.Pointer(&o.URL, false), Example: "url: /url"},
		{Name: "base", Doc: "Pointer to what a relative URL is resolved against.", Value: config.Pointer(&o.Base, false)},
		{Name: "host", Doc: "Pointer to the host of URLs that begin with a slash.", Value: config.Pointer(&o.Host, false)},
		{Name: "scheme", Doc: "Scheme of such URLs, or a pointer to it.", Value: config.Text(&o.Scheme, "https, or /scheme")},
		{Name: "carry", Doc: "Other fields of the record, which become columns beside those of the URL.", Value: CarriedFields(&o.Carry)},
		{Name: "skip_empty", Doc: skipEmptyDoc, Value: config.Bool(&o.SkipEmpty)},
	}}
}

// Factory implements [Options].
func (o *NDJSONOptions) Factory() (Factory, error) { return NewNDJSON(*o) }

// Shape implements [Shaped].
func (o NDJSONOptions) Shape() Shape {
	var fields []pipeline.Field
	for _, c := range o.Carry {
		fields = append(fields, pipeline.Field{Name: c.Name, Type: c.Type})
	}
	return NewShape(fields, o.Base != "", true) // a record is more than its URL
}

// Validate returns every problem of o, joined, each a [*pipeline.FieldError].
func (o NDJSONOptions) Validate() error {
	var p pipeline.Problems
	pointer := func(key, text string) {
		if _, err := ParsePointer(text); err != nil {
			p.Add(key, "%w", err)
		}
	}
	if o.URL == "" {
		p.Add("url", "empty").Advise("give the JSON pointer of the URL, such as /url")
	}
	pointer("url", o.URL)
	pointer("base", o.Base)
	pointer("host", o.Host)
	switch {
	case o.Scheme == "" || o.Scheme == "http" || o.Scheme == "https":
	case o.Scheme[0] != '/':
		p.Value("scheme", o.Scheme, "is not known").Advise("give http, https or a JSON pointer such as /scheme")
	default:
		pointer("scheme", o.Scheme)
	}
	if o.Scheme != "" && o.Host == "" {
		p.Add("scheme", "without host it has no effect").Advise("give the JSON pointer of the host, or take it out")
	}
	checkFields(o.Carry, &p)
	for i, f := range o.Carry {
		pointer(carryKey(i)+".pointer", f.Pointer)
	}
	return p.Err()
}

// NewNDJSON returns the codec of JSON records, or what Validate has to say about o.
//
// The record is kept in Batch.Records as received. A record that is not JSON has a null URL, null fields and
// the fault FaultMalformed at the byte where it stops being JSON. A URL that is missing or null gives
// FaultFieldMissing; a URL or base of another type gives FaultFieldType at its value, a field FaultCarried, and it is null while
// the rest is there. A missing or null base or field is null without a fault. Where there are several faults,
// the first counts in the order URL, base, fields. Of members with the same key the last counts.
//
// Strings are unescaped; an escaped surrogate without its other half becomes U+FFFD. Bytes that are not UTF-8
// stay as they are in the URL and the base, which their parser deals with, and become U+FFFD in fields.
// An Int64 may be written with a fraction or an exponent as long as it is a whole number, up to 2^53 then.
// A JSON field is the text of its value, the null value's too.
func NewNDJSON(o NDJSONOptions) (Factory, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	f := &ndjsonFactory{skipEmpty: o.SkipEmpty, scheme: "https"}
	var pointers [][]string
	place := func(p string) (at int) {
		tokens, _ := ParsePointer(p) // validated above
		pointers = append(pointers, tokens)
		return len(pointers) - 1
	}
	placeOf := func(p string) int { // -1 for none
		if !strings.HasPrefix(p, "/") {
			return -1
		}
		return place(p)
	}
	f.url, f.base, f.host, f.schemeAt = place(o.URL), placeOf(o.Base), placeOf(o.Host), placeOf(o.Scheme)
	for _, c := range o.Carry {
		f.carry = append(f.carry, place(c.Pointer))
		f.times = append(f.times, c.Time)
	}
	f.Shape = o.Shape()
	if o.Scheme != "" && f.schemeAt < 0 {
		f.scheme = o.Scheme
	}
	root, captures := newTree(pointers)
	f.root, f.captures = root, len(captures)
	for _, at := range []*int{&f.url, &f.base, &f.host, &f.schemeAt} {
		if *at >= 0 {
			*at = captures[*at]
		}
	}
	for i, at := range f.carry {
		f.carry[i] = captures[at]
	}
	return f, nil
}

// ndjsonFactory is what all instances share and none changes.
type ndjsonFactory struct {
	Shape
	skipEmpty bool
	root      *node
	captures  int // how many there are
	// The captures of the URL and the fields, and of what may not be there, -1 then.
	url, base, host, schemeAt int
	carry                     []int
	times                     []TimeFormat // of every field
	scheme                    string       // where no capture has it
}

// New implements [Factory].
func (f *ndjsonFactory) New() Codec {
	return &ndjson{ndjsonFactory: f, scanner: scanner{caps: make([]capture, f.captures)}}
}

type ndjson struct {
	*ndjsonFactory
	scanner
	fault   FirstFault // of the current record
	scratch []byte
}

// Decode implements [Codec].
func (c *ndjson) Decode(b *pipeline.Batch, record []byte) bool {
	if c.skipEmpty && len(trim(record)) == 0 {
		return false
	}
	b.Records.Append(record)
	if !c.scan(c.root, record) {
		c.release()
		return c.Nulls(b, pipeline.FaultMalformed, c.pos)
	}
	c.fault.Reset()
	if v := c.caps[c.url]; v.kind == missing {
		c.fault.Note(pipeline.FaultFieldMissing, -1)
		b.URLs.AppendNull()
	} else if v.kind == null {
		c.fault.Note(pipeline.FaultFieldMissing, int64(v.start))
		b.URLs.AppendNull()
	} else {
		if c.host >= 0 && v.kind == text && c.isRooted(v) {
			b.URLs.Data = c.appendOrigin(b.URLs.Data)
		}
		c.appendURL(&b.URLs, v)
	}
	if c.hasBase {
		c.appendURL(&b.Bases, c.caps[c.base])
	}
	for i, slot := range c.carry {
		c.carryField(b, i, c.caps[slot])
	}
	c.fault.AddTo(b)
	c.release()
	return true
}

// release lets go of the record, and of scratch memory that a giant record has made too large to keep.
func (c *ndjson) release() {
	const keep = 64 << 10
	c.data = nil
	if cap(c.scratch) > keep {
		c.scratch = nil
	}
	if cap(c.key) > keep {
		c.key = nil
	}
}

// valueAt returns where the value at v begins in the record, with its quote.
func valueAt(v capture) int64 {
	if v.kind == text {
		return int64(v.start) - 1
	}
	return int64(v.start)
}

// isRooted reports whether the text at v begins with a slash, which may be escaped.
func (c *ndjson) isRooted(v capture) bool {
	s := c.data[v.start:v.end]
	return len(s) > 0 && (s[0] == '/' || s[0] == '\\' && s[1] == '/')
}

// appendOrigin appends what stands before the path of a URL, nothing where the record has no host.
func (c *ndjson) appendOrigin(dst []byte) []byte {
	host := c.caps[c.host]
	if host.kind != text || host.end == host.start {
		return dst
	}
	if c.schemeAt >= 0 && c.caps[c.schemeAt].kind == text {
		dst = append(dst, c.data[c.caps[c.schemeAt].start:c.caps[c.schemeAt].end]...)
	} else {
		dst = append(dst, c.scheme...)
	}
	dst = append(dst, "://"...)
	if host.escaped {
		return appendUnescaped(dst, c.data[host.start:host.end])
	}
	return append(dst, c.data[host.start:host.end]...)
}

func (c *ndjson) appendURL(column *pipeline.NullBytes, v capture) {
	switch {
	case v.kind != text:
		if v.kind > null {
			c.fault.Note(pipeline.FaultFieldType, valueAt(v))
		}
		column.AppendNull()
	case v.escaped:
		column.Data = appendUnescaped(column.Data, c.data[v.start:v.end])
		column.End()
		column.Valid = append(column.Valid, true)
	default:
		column.Append(c.data[v.start:v.end])
	}
}

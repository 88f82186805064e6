package codec

import (
	"strings"

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

// CarriedField is a part of the record that goes along with its URL.
type CarriedField struct {
	// Name is the name of its column. It must be given and be unique.
	Name string
	// Pointer points to it. Empty: the whole record.
	Pointer string
	// Type is the type of its column, String by default.
	Type pipeline.FieldType
	// Time says how a Timestamp is written, RFC 3339 by default.
	Time TimeFormat
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
	names := map[string]int{}
	for i, f := range o.Carry {
		at := carryKey(i)
		if f.Name == "" {
			p.Add(at+".name", "empty").Advise("give the name of the column")
		} else if first, taken := names[f.Name]; taken {
			p.Value(at+".name", f.Name, "is the name of %s already", carryKey(first))
		} else {
			names[f.Name] = i
		}
		pointer(at+".pointer", f.Pointer)
		if f.Type > pipeline.JSON {
			p.Add(at+".type", "unknown")
		}
		if f.Time >= numTimeFormats {
			p.Add(at+".time", "unknown")
		} else if f.Time != RFC3339 && f.Type != pipeline.Timestamp {
			p.Add(at+".time", "given for a field that is not a timestamp")
		}
	}
	return p.Err()
}

// Caddy returns the options for the access log of the web server Caddy, with its fields under the names that the codec
// of access logs has for them.
//
// Source: https://caddyserver.com/docs/logging
func Caddy() NDJSONOptions {
	return NDJSONOptions{
		URL: "/request/uri", Host: "/request/host",
		Carry: []CarriedField{
			{Name: "time", Pointer: "/ts", Type: pipeline.Timestamp, Time: EpochSeconds},
			{Name: "remote_addr", Pointer: "/request/remote_ip"},
			{Name: "method", Pointer: "/request/method"},
			{Name: "protocol", Pointer: "/request/proto"},
			{Name: "status", Pointer: "/status", Type: pipeline.Int64},
			{Name: "bytes", Pointer: "/size", Type: pipeline.Int64},
			{Name: "request_time", Pointer: "/duration", Type: pipeline.Float64},
			{Name: "referer", Pointer: "/request/headers/Referer/0"},
			{Name: "user_agent", Pointer: "/request/headers/User-Agent/0"},
			{Name: "remote_user", Pointer: "/user_id"},
		},
	}
}

// NewNDJSON returns the codec of JSON records, or what Validate has to say about o.
//
// The record is kept in Batch.Records as received. A record that is not JSON has a null URL, null fields and
// the fault FaultMalformed at the byte where it stops being JSON. A URL that is missing or null gives
// FaultFieldMissing; a URL, base or field of another type gives FaultFieldType at its value, and is null while
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
	f := &ndjsonFactory{skipEmpty: o.SkipEmpty, hasBase: o.Base != "", scheme: "https", host: -1, schemeAt: -1}
	var pointers [][]string
	add := func(p string) {
		tokens, _ := ParsePointer(p) // validated above
		pointers = append(pointers, tokens)
	}
	add(o.URL)
	if f.hasBase {
		add(o.Base)
	}
	for _, c := range o.Carry {
		add(c.Pointer)
		f.fields = append(f.fields, pipeline.Field{Name: c.Name, Type: c.Type})
		f.times = append(f.times, c.Time)
	}
	hostAt, schemeAt := -1, -1
	if o.Host != "" {
		hostAt = len(pointers)
		add(o.Host)
	}
	if strings.HasPrefix(o.Scheme, "/") {
		schemeAt = len(pointers)
		add(o.Scheme)
	} else if o.Scheme != "" {
		f.scheme = o.Scheme
	}
	f.root, f.slots = newTree(pointers)
	f.url, f.carry = f.slots[0], f.slots[1:len(o.Carry)+1]
	if f.hasBase {
		f.base, f.carry = f.slots[1], f.slots[2:len(o.Carry)+2]
	}
	if hostAt >= 0 {
		f.host = f.slots[hostAt]
	}
	if schemeAt >= 0 {
		f.schemeAt = f.slots[schemeAt]
	}
	return f, nil
}

// ndjsonFactory is what all instances share and none changes.
type ndjsonFactory struct {
	skipEmpty, hasBase bool
	fields             []pipeline.Field
	times              []TimeFormat // of every field
	root               *node
	slots              []int  // capture of every pointer: the URL, the base where there is one, the fields
	url, base          int    // their captures
	host, schemeAt     int    // likewise, -1 for none
	scheme             string // where no capture has it
	carry              []int
}

// New implements [Factory].
func (f *ndjsonFactory) New() Codec {
	c := &ndjson{ndjsonFactory: f}
	c.caps = make([]capture, len(f.slots))
	return c
}

// Fields implements [Factory].
func (f *ndjsonFactory) Fields() []pipeline.Field { return f.fields }

// HasBase implements [Factory].
func (f *ndjsonFactory) HasBase() bool { return f.hasBase }

// KeepsRecords implements [Factory]: a record is more than its URL.
func (f *ndjsonFactory) KeepsRecords() bool { return true }

type ndjson struct {
	*ndjsonFactory
	scanner
	fault   FirstFault // of the current record
	scratch []byte
}

// Prepare implements [Codec].
func (c *ndjson) Prepare(b *pipeline.Batch) {
	PrepareCarried(b, c.fields)
}

// Decode implements [Codec].
func (c *ndjson) Decode(b *pipeline.Batch, record []byte) bool {
	if c.skipEmpty && len(trim(record)) == 0 {
		return false
	}
	b.Records.Append(record)
	if !c.scan(c.root, record) {
		AppendNulls(b, c.hasBase)
		AddFault(b, pipeline.FaultMalformed, int64(c.pos))
		c.release()
		return true
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
		c.carryField(&b.Carried[i], c.caps[slot], c.times[i])
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

// DecodeNull implements [Codec].
func (c *ndjson) DecodeNull(b *pipeline.Batch) {
	b.Records.AppendNull()
	AppendNulls(b, c.hasBase)
	AddFault(b, pipeline.FaultNull, -1)
}

// wrongType notes that the value at v is not of the type it should be of.
func (c *ndjson) wrongType(v capture) {
	start := v.start
	if v.kind == text {
		start-- // the quote
	}
	c.fault.Note(pipeline.FaultFieldType, int64(start))
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
			c.wrongType(v)
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

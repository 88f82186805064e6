// Package warc reads archives of the web, and their indexes: WARC and WET, the links in WAT, CDX and CDXJ.
//
// A WARC file consists of records, mostly compressed each on its own. Their headers become rows; their bodies pass through a buffer
// and are kept nowhere (frame.go). A WAT file has a record for each page, with a document of JSON, whose links become rows.
package warc

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// All is the name that stands for all types of records.
const All = "all"

// DefaultTypes are the types of records that are rows unless others are named: those of what was fetched.
var DefaultTypes = []string{"response", "revisit", "resource", "conversion"}

// types are the types of records that the standard has.
var types = []string{"response", "revisit", "resource", "conversion", "request", "metadata", "warcinfo", "continuation"}

// Options configures the codec of WARC files.
type Options struct {
	// Types are the types of records that are rows, [DefaultTypes] by default. [All] stands for all of them.
	Types []string
}

// Validate returns every problem of o, joined, each a [*pipeline.FieldError].
func (o Options) Validate() error {
	var p pipeline.Problems
	for i, t := range o.Types {
		if t != All && !slices.Contains(types, t) {
			p.Value(fmt.Sprintf("types[%d]", i), t, "is no type of a record").Advise("use %s, or %s", strings.Join(types, ", "), All)
		}
	}
	return p.Err()
}

// New returns the codec of WARC files, or what Validate has to say about o.
//
// Of a record, the header is kept in Batch.Records, with the HTTP header that its block begins with. The URL is its target. A record
// that is damaged has [pipeline.FaultCorrupt] at its place in the file, as it is stored, and what is known of it; one without a target,
// such as a warcinfo, [pipeline.FaultFieldMissing]. A field that is not of its type is null and gives [pipeline.FaultCarried].
func New(o Options) (codec.Factory, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	f := &factory{Shape: codec.NewShape(fields, false, true), types: o.Types}
	if len(o.Types) == 0 {
		f.types = DefaultTypes
	}
	f.all = slices.Contains(f.types, All)
	return f, nil
}

// fields are the columns, in the order in which Decode adds them.
var fields = []pipeline.Field{
	{Name: "warc_type"},
	fetchTime, fetchStatus, redirect, digest, mimeType, mimeFound, charset, languages, truncated,
	{Name: "content_length", Type: pipeline.Int64},
	{Name: "ip"},
	{Name: "warc_record_id"},
	offset, length,
}

type factory struct {
	codec.Shape
	types []string
	all   bool
}

// New implements [codec.Factory].
func (f *factory) New() codec.Codec { return &archive{factory: f} }

// archive implements [codec.Codec] and [codec.Framer].
type archive struct {
	*factory
	frame *reader // nil for records that come alone
	row   appender
	h     headers
}

// Opening implements [codec.Framer].
func (a *archive) Opening() string { return opening }

// Frame implements [codec.Framer].
func (a *archive) Frame(content codec.Content, most int) codec.Records {
	a.frame = &reader{in: content, max: most, first: true}
	return a.frame
}

// pos returns the place for a fault, whose column has 32 bits: -1 behind them.
func (p place) pos() int64 {
	if p.offset > math.MaxInt32 {
		return -1
	}
	return p.offset
}

// where returns where the record is, and whether it is damaged.
func (r *reader) where() (p place, damaged bool) {
	if r == nil {
		return place{}, false
	}
	return r.place, r.damage
}

// Decode implements [codec.Codec].
func (a *archive) Decode(b *pipeline.Batch, record []byte) bool {
	p, damaged := a.frame.where()
	h := &a.h
	*h = headers{}
	block := h.parse(record)
	if !damaged && h.kind != nil && !a.wants(h.kind) {
		return false
	}
	b.Records.Append(record)
	if !bytes.HasPrefix(record, []byte(opening)) && !damaged {
		return a.Nulls(b, pipeline.FaultMalformed, 0)
	}
	a.row.reset(b)
	if damaged {
		a.row.fault.Note(pipeline.FaultCorrupt, p.pos())
	}
	if h.target != nil {
		b.URLs.Append(h.target)
	} else {
		a.row.fault.Note(pipeline.FaultFieldMissing, -1)
		b.URLs.AppendNull()
	}
	a.addFields(block, p)
	a.row.fault.AddTo(b)
	return true
}

// wants reports whether records of the type are rows.
func (a *archive) wants(kind []byte) bool {
	if a.all {
		return true
	}
	for _, t := range a.types {
		if len(t) == len(kind) && bytes.EqualFold(kind, []byte(t)) {
			return true
		}
	}
	return false
}

func (a *archive) addFields(block []byte, p place) {
	h := &a.h
	mime := h.contentType
	if h.isHTTP() {
		h.parseHTTP(block)
		mime = h.mime
	}
	mime, charset := mediaType(mime)
	for _, value := range [...][]byte{
		h.kind, h.date, h.status, h.location, plainDigest(h.digest), mime, h.detected, charset, h.languages, h.truncated, h.length, h.ip, h.id,
	} {
		a.row.add(value)
	}
	a.row.number(p.offset, p.length > 0)
	a.row.number(p.length, p.length > 0)
}

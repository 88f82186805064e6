package schema

import (
	"fmt"

	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// Options configures a codec of records with a schema. Places in a record are named by JSON pointers as in
// [codec.NDJSONOptions]: the names of fields, the keys of maps, the numbers of elements.
type Options struct {
	// Registry has the schemas of records that begin with a header. Nil: Schema is that of all.
	Registry *schemaregistry.Options
	// Schema is the text of a schema, in place of a registry, with the schemas that it needs.
	Schema schemaregistry.Schema
	// Framed tells that records begin with the header although there is no registry: it is passed over.
	Framed bool
	// URL and Base point to the URL, and to what it is resolved against if it is given.
	URL, Base string
	// Carry lists the fields that go along.
	Carry []codec.CarriedField
}

// registryKey is where a configuration has [Options.Registry].
const registryKey = "registry"

// Validate returns every problem of o that does not need the schema, joined, each a [*pipeline.FieldError].
func (o Options) Validate() error {
	var p pipeline.Problems
	if o.Registry != nil {
		p.Join(pipeline.Under(registryKey, o.Registry.Validate()))
	}
	if (o.Registry == nil) == (o.Schema.Text == "") {
		p.Add("schema", "give either a registry or the file of a schema")
	}
	if o.Framed && o.Registry != nil {
		p.Add("framed", "records of a registry always begin with its header").Advise("take it out")
	}
	p.Join(o.places().Validate())
	return p.Err()
}

// places are those of the same records in JSON.
func (o Options) places() codec.NDJSONOptions {
	return codec.NDJSONOptions{URL: o.URL, Base: o.Base, Carry: o.Carry}
}

// Shape implements [codec.Shaped].
func (o Options) Shape() codec.Shape { return o.places().Shape() }

// Format is a format of schemas and of what they describe.
type Format struct {
	// Type is the name that registries have for it.
	Type string
	// Compile makes a schema ready to find what the pointers lead to, whose tokens are given.
	Compile func(s schemaregistry.Schema, pointers [][]string) (Compiled, error)
}

// Compiled is a schema that is ready. It is used by several goroutines at once.
type Compiled interface {
	// Reader returns what reads the record that follows its header, and how many bytes of that are still header. It
	// returns false when the record names something that the schema does not have.
	Reader(payload []byte) (r Reader, skip int, ok bool)
}

// Reader reads records of one type. It is used by several goroutines at once.
type Reader interface {
	// Read sets the values that the pointers lead to, in their order; all are zero before. It returns false for what is
	// not a record of its type, with the byte where it is not.
	Read(payload []byte, values []Value) (at int, ok bool)
	// AppendJSON appends a Complex value that Read has set. It returns false where that takes more than room bytes; what it
	// has appended then is of no use, and not much longer than room.
	AppendJSON(dst []byte, v *Value, room int) ([]byte, bool)
}

// New returns the codec, or what Validate has to say about o.
//
// The record is kept in Batch.Records. One without header, or that is not what its schema describes, has a null URL, null
// fields and FaultMalformed at the byte where; one whose schema the registry does not know, or that is of no use,
// FaultSchema. A URL that is missing, null or empty gives FaultFieldMissing, and one that is no text FaultFieldType, as
// does a field that is not of the type of its column; a field that is not there is null. A field whose JSON is too long, see
// [Appender.Begin], is null and gives FaultTooLarge.
//
// Fields become columns by what their schema says. Text, bytes, enums, decimals, UUIDs, dates and times can be a String;
// whole numbers and enums an Int64; numbers and decimals a Float64; timestamps and dates a Timestamp, and so can numbers
// and texts as Time of the field says; anything can be JSON.
func New(format Format, o Options) (codec.Factory, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	f := &factory{Shape: o.Shape(), options: o, framed: o.Framed || o.Registry != nil}
	add := func(pointer string) {
		tokens, _ := codec.ParsePointer(pointer) // validated above
		f.pointers = append(f.pointers, tokens)
	}
	add(o.URL)
	if o.Base != "" {
		add(o.Base)
	}
	for _, c := range o.Carry {
		add(c.Pointer)
	}
	if o.Registry == nil {
		compiled, err := bounded(format, o.Schema, f.pointers)
		if err != nil {
			return nil, pipeline.Under("schema", err)
		}
		f.only = compiled
		return f, nil
	}
	f.schemas = newCache(*o.Registry, func(s schemaregistry.Schema) (Compiled, error) {
		if s.Type != format.Type {
			return nil, fmt.Errorf("the schema is one of %s", s.Type)
		}
		return bounded(format, s, f.pointers)
	})
	return f, nil
}

// Open implements [codec.Opener].
func (f *factory) Open() error {
	if f.schemas == nil {
		return nil
	}
	_, err := f.schemas.client()
	return pipeline.Under(registryKey, err)
}

// factory is what all instances share.
type factory struct {
	codec.Shape
	options  Options
	framed   bool
	pointers [][]string
	only     Compiled // without a registry
	schemas  *cache   // of a registry
}

// New implements [codec.Factory].
func (f *factory) New() codec.Codec {
	return &records{factory: f, lookup: lookup{known: f.schemas, last: f.only}, values: make([]Value, len(f.pointers))}
}

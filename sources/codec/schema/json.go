package schema

import (
	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// NewJSON returns the codec of records that are JSON behind a header, whose schema is a JSON Schema. JSON says itself what
// it is: of the schema no more is asked than that the registry has it, and without a registry nothing; records are not
// validated. The rest is as in [codec.NewNDJSON].
func NewJSON(o Options) (codec.Factory, error) {
	inner, err := codec.NewNDJSON(o.places())
	if o.Registry == nil {
		if err == nil && o.Schema.Text != "" {
			err = pipeline.FieldErrorf("schema", "JSON needs none; give the registry, or nothing")
		}
		if err != nil {
			return nil, err
		}
		return &jsonFactory{inner, &factory{Shape: o.Shape()}}, nil
	}
	// The pointers are for inner; the other codec has but its schemas.
	shared, err := New(Format{Type: "JSON", Compile: func(schemaregistry.Schema, [][]string) (Compiled, error) { return anyJSON{}, nil }}, o)
	if err != nil {
		return nil, err
	}
	return &jsonFactory{inner, shared.(*factory)}, nil
}

// anyJSON is the schema of any JSON.
type anyJSON struct{}

// Reader implements [Compiled]. Nobody asks for it.
func (anyJSON) Reader([]byte) (Reader, int, bool) { return nil, 0, false }

type jsonFactory struct {
	codec.Factory
	shared *factory
}

// New implements [codec.Factory].
func (f *jsonFactory) New() codec.Codec {
	return &jsonRecords{f.Factory.New(), lookup{known: f.shared.schemas}, f.shared}
}

// Open implements [codec.Opener].
func (f *jsonFactory) Open() error { return f.shared.Open() }

// jsonRecords takes the headers off. It implements [codec.Resolver].
type jsonRecords struct {
	codec.Codec
	lookup
	shared *factory
}

// Decode implements [codec.Codec].
func (j *jsonRecords) Decode(b *pipeline.Batch, record []byte) bool {
	id, payload, ok := Header(record)
	fault, at := pipeline.FaultMalformed, 0
	if ok && !j.find(id) {
		ok, fault, at = false, pipeline.FaultSchema, 1
	}
	if !ok {
		b.Records.Append(record)
		return j.shared.Nulls(b, fault, at)
	}
	j.Codec.Decode(b, payload)
	row := b.Records.Len() - 1
	b.Records.Data = append(b.Records.Data[:len(b.Records.Data)-len(payload)], record...)
	b.Records.Ends[row] = int32(len(b.Records.Data))
	if n := len(b.Faults); n > 0 && int(b.Faults[n-1].Row) == row && b.Faults[n-1].Pos >= 0 {
		b.Faults[n-1].Pos += headerSize
	}
	return true
}

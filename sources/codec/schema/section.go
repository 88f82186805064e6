package schema

import (
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/sources/codec"
)

// NewKind returns the kind of a codec of records with a schema.
func NewKind(name, doc string, makeOptions func() codec.Options) codec.Kind {
	return codec.Kind{Name: name, Doc: doc, Only: "kafka", Why: "is for the records of a topic, and a file is read by lines; read it with source.kafka", New: makeOptions}
}

// JSONKind is the codec of JSON behind a header.
var JSONKind = NewKind("jsonschema", "A record of JSON behind the header of a schema registry.", func() codec.Options { return &JSONOptions{} })

// JSONOptions are the options of records in JSON, bound to a section. Of Schema and Framed nothing can be said there.
type JSONOptions struct{ Options }

// Section implements [codec.Options].
func (o *JSONOptions) Section() config.Section { return config.Section{Fields: o.Fields()} }

// Factory implements [codec.Options].
func (o *JSONOptions) Factory() (codec.Factory, error) { return NewJSON(o.Options) }

// Fields returns the fields of a section that all formats have.
func (o *Options) Fields() []config.Field {
	return []config.Field{
		{Name: registryKey, Doc: "The schema registry, which speaks Confluent's protocol. While it cannot be reached, records wait.", Value: config.Optional(&o.Registry, schemaregistry.Defaults, (*schemaregistry.Options).Section)},
		{Name: "url", Doc: "Pointer to the URL: names of fields, keys of maps, numbers of elements.", Value: config.Pointer(&o.URL, false), Example: "url: /url"},
		{Name: "base", Doc: "Pointer to what a relative URL is resolved against.", Value: config.Pointer(&o.Base, false)},
		{Name: "carry", Doc: "Other fields of the record, which become columns beside those of the URL.", Value: codec.CarriedFields(&o.Carry)},
	}
}

// FileSection returns the section of a format whose schema may be in a file: file is its key schema, and more are the keys that it
// alone has.
func (o *Options) FileSection(file config.Field, more ...config.Field) config.Section {
	fields := append(append(o.Fields(), file), more...)
	return config.Section{
		Fields: append(fields, config.Field{Name: "framed", Doc: "Whether records begin with a registry's header although there is no registry.", Value: config.Bool(&o.Framed)}),
		OneOf:  []string{registryKey, file.Name},
	}
}

package protobuf

import (
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/schema"
)

// Kind is the codec of Protobuf.
var Kind = schema.NewKind("protobuf", "A record in Protobuf's wire format, by a schema from a registry or a file.", func() codec.Options { return &Options{} })

// Section implements [codec.Options].
func (o *Options) Section() config.Section {
	return o.Options.FileSection(
		config.Field{Name: "schema", Doc: "File with the schema, where there is no registry; what it imports is looked for beside it.", Value: config.Text(&o.SchemaFile, "click.proto")},
		config.Field{Name: "message", Doc: "The message that records are, without a registry. Not needed where the file has but one.", Value: config.Text(&o.Message, "org.example.Click")},
	)
}

// Factory implements [codec.Options].
func (o *Options) Factory() (codec.Factory, error) {
	c := *o
	if c.Registry == nil {
		var err error
		if c.Schema, err = ReadFile(c.SchemaFile); err != nil {
			return nil, pipeline.FieldErrorf("schema", "%w", err)
		}
	}
	return New(c)
}

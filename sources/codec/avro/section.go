package avro

import (
	"os"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/schema"
)

// Kind is the codec of Avro.
var Kind = schema.NewKind("avro", "A record in Avro's binary encoding, by a schema from a registry or a file.", func() codec.Options { return &Options{} })

// Options are those of [New] bound to a section, which names the file of the schema in place of its text.
type Options struct {
	schema.Options
	// SchemaFile is what Factory reads the schema from, unless there is a registry.
	SchemaFile string
}

// Section implements [codec.Options].
func (o *Options) Section() config.Section {
	return o.Options.FileSection(config.Field{Name: "schema", Doc: "File with the schema, where there is no registry.", Value: config.Text(&o.SchemaFile, "click.avsc")})
}

// Factory implements [codec.Options].
func (o *Options) Factory() (codec.Factory, error) {
	c := o.Options
	if c.Registry == nil {
		text, err := os.ReadFile(o.SchemaFile)
		if err != nil {
			return nil, pipeline.FieldErrorf("schema", "%w", err)
		}
		c.Schema.Text = string(text)
	}
	return New(c)
}

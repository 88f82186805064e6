package wire

import (
	"os"

	"github.com/urlmill/urlmill/internal/registry"
	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/avro"
	"github.com/urlmill/urlmill/sources/codec/schema"
)

var avroCodec = CodecKind{
	Name: "avro",
	Configure: func(c *settings.Config) (func() (codec.Factory, error), bool) {
		s := c.Source.Codec.Avro
		return func() (codec.Factory, error) {
			o, err := schemaOptions(s)
			if err != nil {
				return nil, err
			}
			if s.Registry == nil {
				text, err := os.ReadFile(s.Schema)
				if err != nil {
					return nil, pipeline.FieldErrorf("schema", "%w", err)
				}
				o.Schema.Text = string(text)
			}
			return avro.New(o)
		}, s != nil
	},
}

var jsonSchemaCodec = CodecKind{
	Name: "jsonschema",
	Configure: func(c *settings.Config) (func() (codec.Factory, error), bool) {
		s := c.Source.Codec.JSONSchema
		return func() (codec.Factory, error) {
			o, err := schemaOptions(s)
			if err != nil {
				return nil, err
			}
			return schema.NewJSON(o)
		}, s != nil
	},
}

// schemaOptions returns the options without the schema itself.
func schemaOptions(s *settings.SchemaRecords) (schema.Options, error) {
	o := schema.Options{Framed: s.Framed, URL: s.URL, Base: s.Base}
	var err error
	if o.Carry, err = carriedFields(s.Carry); err != nil {
		return o, err
	}
	if s.Registry != nil {
		r := registryOptions(s.Registry)
		o.Registry = &r
	}
	return o, nil
}

func registryOptions(r *settings.Registry) registry.Options {
	return registry.Options{
		URLs: r.URLs, Username: r.Username, Password: r.Password.Reveal(), Token: r.Token.Reveal(), TLS: kafkaTLS(r.TLS), Timeout: r.Timeout,
	}
}

// carriedFields returns the fields at pointers.
func carriedFields(carry []settings.Carry) ([]codec.CarriedField, error) {
	var fields []codec.CarriedField
	for _, f := range carry {
		time, err := codec.ParseTimeFormat(f.Time)
		if err != nil {
			return nil, err
		}
		fields = append(fields, codec.CarriedField{Name: f.Name, Pointer: f.Pointer, Type: f.Type, Time: time})
	}
	return fields, nil
}

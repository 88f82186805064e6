//go:build !core

package wire

import (
	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/protobuf"
)

func init() { add("protobuf", func(r *Registry) { r.Codecs = append(r.Codecs, protobufCodec) }) }

var protobufCodec = CodecKind{
	Name: "protobuf",
	Configure: func(c *settings.Config) (func() (codec.Factory, error), bool) {
		s := c.Source.Codec.Protobuf
		return func() (codec.Factory, error) {
			o, err := schemaOptions(s)
			if err != nil {
				return nil, err
			}
			if s.Registry == nil {
				if o.Schema, err = protobuf.ReadFile(s.Schema); err != nil {
					return nil, pipeline.FieldErrorf("schema", "%w", err)
				}
			}
			return protobuf.New(protobuf.Options{Options: o, Message: s.Message})
		}, s != nil
	},
}

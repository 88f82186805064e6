package wire

import (
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/sources/codec"
)

// linesCodec is the codec when none is given.
var linesCodec = CodecKind{
	Name: "lines",
	Configure: func(c *config.Config) (func() (codec.Factory, error), bool) {
		if c.Source.Codec.NDJSON != nil {
			return nil, false
		}
		var options codec.LinesOptions
		if l := c.Source.Codec.Lines; l != nil {
			options = codec.LinesOptions{SkipEmpty: l.SkipEmpty, Trim: l.Trim}
		}
		return func() (codec.Factory, error) { return codec.NewLines(options), nil }, true
	},
}

var ndjsonCodec = CodecKind{
	Name: "ndjson",
	Configure: func(c *config.Config) (func() (codec.Factory, error), bool) {
		n := c.Source.Codec.NDJSON
		if n == nil {
			return nil, false
		}
		return func() (codec.Factory, error) {
			options := codec.NDJSONOptions{URL: n.URL, Base: n.Base, SkipEmpty: n.SkipEmpty}
			for _, f := range n.Carry {
				time, err := codec.ParseTimeFormat(f.Time)
				if err != nil {
					return nil, err
				}
				options.Carry = append(options.Carry, codec.CarriedField{Name: f.Name, Pointer: f.Pointer, Type: f.Type, Time: time})
			}
			return codec.NewNDJSON(options)
		}, true
	},
}

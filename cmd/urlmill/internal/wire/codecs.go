package wire

import (
	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/accesslog"
	"github.com/urlmill/urlmill/sources/codec/delimited"
	"github.com/urlmill/urlmill/sources/codec/parquet"
)

// linesCodec is the codec when none is given: it takes a section that has lines and no other codec, or nothing at all.
var linesCodec = CodecKind{
	Name: "lines",
	Configure: func(c *settings.Config) (func() (codec.Factory, error), bool) {
		if c.Source.Codec != (settings.Codec{Lines: c.Source.Codec.Lines}) {
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
	Configure: func(c *settings.Config) (func() (codec.Factory, error), bool) {
		n := c.Source.Codec.NDJSON
		if n == nil {
			return nil, false
		}
		return func() (codec.Factory, error) {
			options := codec.NDJSONOptions{URL: n.URL, Base: n.Base, Host: n.Host, Scheme: n.Scheme, SkipEmpty: n.SkipEmpty}
			var err error
			if options.Carry, err = carriedFields(n.Carry); err != nil {
				return nil, err
			}
			return codec.NewNDJSON(options)
		}, true
	},
}

var accessLogCodec = CodecKind{
	Name: "access_log",
	Configure: func(c *settings.Config) (func() (codec.Factory, error), bool) {
		a := c.Source.Codec.AccessLog
		if a == nil {
			return nil, false
		}
		if a.Format == "caddy" {
			return func() (codec.Factory, error) {
				if a.Base != "" || len(a.Fields) > 0 {
					return nil, pipeline.FieldErrorf("format", "caddy has the host and all fields in its records").Advise("take base and fields out")
				}
				options := codec.Caddy()
				options.Scheme = a.Scheme
				return codec.NewNDJSON(options)
			}, true
		}
		return func() (codec.Factory, error) {
			return accesslog.New(accesslog.Options{
				Format: a.Format, Nginx: a.Nginx, Apache: a.Apache, Base: a.Base, Scheme: a.Scheme, Fields: a.Fields,
			})
		}, true
	},
}

var parquetCodec = CodecKind{
	Name: "parquet",
	Configure: func(c *settings.Config) (func() (codec.Factory, error), bool) {
		p := c.Source.Codec.Parquet
		return func() (codec.Factory, error) {
			options := parquet.Options{URL: p.URL, Base: p.Base}
			var err error
			if options.Carry, err = carriedColumns(p.Carry); err != nil {
				return nil, err
			}
			return parquet.New(options)
		}, p != nil
	},
}

var delimitedCodec = CodecKind{
	Name: "delimited",
	Configure: func(c *settings.Config) (func() (codec.Factory, error), bool) {
		d := c.Source.Codec.Delimited
		if d == nil {
			return nil, false
		}
		return func() (codec.Factory, error) {
			options := delimited.Options{Separator: d.Separator[0], Columns: d.Columns, URL: d.URL, Base: d.Base}
			var err error
			if options.Carry, err = carriedColumns(d.Carry); err != nil {
				return nil, err
			}
			return delimited.New(options)
		}, true
	},
}

// carriedColumns returns the columns of an input that has names for them.
func carriedColumns(columns []settings.CarryColumn) ([]codec.CarriedColumn, error) {
	var carried []codec.CarriedColumn
	for _, c := range columns {
		time, err := codec.ParseTimeFormat(c.Time)
		if err != nil {
			return nil, err
		}
		carried = append(carried, codec.CarriedColumn{Name: c.Name, Column: c.Column, Type: c.Type, Time: time})
	}
	return carried, nil
}

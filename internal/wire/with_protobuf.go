//go:build !core

package wire

import "github.com/urlmill/urlmill/sources/codec/protobuf"

func init() { add("protobuf", func(r *Components) { r.Codecs = append(r.Codecs, protobuf.Kind) }) }

// Package rebuild makes URLs of their columns again, and proves that the columns are right.
package rebuild

import (
	"strconv"
	"strings"
)

// Text is a text or null, which differ: an empty query is one.
type Text struct {
	String string
	Valid  bool
}

// Parts are the columns that href is made of. Without a scheme there is no URL.
type Parts struct {
	Scheme, Userinfo, Host, Path, Query, Fragment Text
	Port                                          int32 // -1 for null
}

// AppendHref appends href to dst.
//
// https://url.spec.whatwg.org/#url-serializing
func (p *Parts) AppendHref(dst []byte) []byte { return p.AppendTail(p.AppendFront(dst)) }

// AppendFront appends what href has before its path.
func (p *Parts) AppendFront(dst []byte) []byte {
	dst = append(append(dst, p.Scheme.String...), ':')
	if !p.Host.Valid {
		if strings.HasPrefix(p.Path.String, "//") { // its first segment would be taken for a host
			dst = append(dst, "/."...)
		}
		return dst
	}
	dst = append(dst, "//"...)
	if p.Userinfo.Valid {
		dst = append(append(dst, p.Userinfo.String...), '@')
	}
	dst = append(dst, p.Host.String...)
	if p.Port >= 0 {
		dst = strconv.AppendInt(append(dst, ':'), int64(p.Port), 10)
	}
	return dst
}

// AppendTail appends what href has from its path on.
func (p *Parts) AppendTail(dst []byte) []byte {
	dst = append(dst, p.Path.String...)
	if p.Query.Valid {
		dst = append(append(dst, '?'), p.Query.String...)
	}
	if p.Fragment.Valid {
		dst = append(append(dst, '#'), p.Fragment.String...)
	}
	return dst
}

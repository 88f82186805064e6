package urlcols

import "strconv"

// Parts are the columns that href is made of. A nil slice is null, and an empty one is not.
type Parts struct {
	Scheme, Userinfo, Host, Path, Query, Fragment []byte
	Port                                          int32 // -1 for null
}

// AppendHref appends href to dst, or nothing for a row without a URL, which has no scheme.
//
// https://url.spec.whatwg.org/#url-serializing
func (p *Parts) AppendHref(dst []byte) []byte {
	if p.Scheme == nil {
		return dst
	}
	return p.AppendTail(p.AppendFront(dst))
}

// AppendTail appends what href has from its path on.
func (p *Parts) AppendTail(dst []byte) []byte {
	dst = append(dst, p.Path...)
	if p.Query != nil {
		dst = append(append(dst, '?'), p.Query...)
	}
	if p.Fragment != nil {
		dst = append(append(dst, '#'), p.Fragment...)
	}
	return dst
}

// AppendFront appends what href has before its path.
func (p *Parts) AppendFront(dst []byte) []byte {
	dst = append(append(dst, p.Scheme...), ':')
	if p.Host == nil {
		if len(p.Path) > 1 && string(p.Path[:2]) == "//" { // or its first segment would be taken for a host
			dst = append(dst, "/."...)
		}
		return dst
	}
	dst = append(dst, "//"...)
	if p.Userinfo != nil {
		dst = append(append(dst, p.Userinfo...), '@')
	}
	dst = append(dst, p.Host...)
	if p.Port >= 0 {
		dst = strconv.AppendInt(append(dst, ':'), int64(p.Port), 10)
	}
	return dst
}

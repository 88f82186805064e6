package urlcols

import (
	"bytes"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/charset"
	"github.com/urlmill/urlmill/urlcore/columns"
	"github.com/urlmill/urlmill/urlcore/form"
	"github.com/urlmill/urlmill/urlcore/percent"
)

// keptText is a column that has a text only where it cannot be rebuilt from other columns.
func keptText(name string, want columns.Mask, comment string, row func(s *state, dst []byte, i int) ([]byte, bool)) column {
	return column{
		name: name, typ: utf8Type, nullable: true, want: want, comment: comment, extra: true,
		build: func(s *state) *array.Data {
			return s.derive(s.batch.Len(), func(dst []byte, i int) ([]byte, bool) { return row(s, dst, i) }).array(s, utf8Type)
		},
	}
}

// compactColumns lists the columns that the profile compact has beside parts of the URL. Without them, what url, origin,
// public_suffix and params hold could not be told from the parts.
func compactColumns(opts Options) []column {
	return []column{
		{
			name: "kept_url", typ: utf8Type, nullable: true, extra: true, build: func(s *state) *array.Data { return s.keptURLs(false) },
			want:    columns.Href | columns.Path | columns.Query | columns.Fragment,
			comment: "the URL as read, where it is neither href nor ends in its path, query and fragment",
		},
		{
			name: "kept_front", typ: utf8Type, nullable: true, extra: true, build: func(s *state) *array.Data { return s.keptURLs(true) },
			want:    columns.Href | columns.Path | columns.Query | columns.Fragment,
			comment: "the URL as read up to its path, where only that is not as in href",
		},
		keptText("userinfo", columns.Href, "username[:password]; null for a URL without",
			func(s *state, dst []byte, i int) ([]byte, bool) {
				if !s.cols.Href.IsValid(i) {
					return dst, false
				}
				userinfo, ok := Userinfo(s.cols.Href.At(i))
				return append(dst, userinfo...), ok
			}),
		keptText("kept_origin", columns.Href|columns.Scheme, "the origin, where it is that of another URL: of blob:",
			func(s *state, dst []byte, i int) ([]byte, bool) {
				if string(s.cols.Scheme.At(i)) != "blob" {
					return dst, false
				}
				u, err := urlcore.Parse(string(s.cols.Href.At(i)))
				if err != nil || u.Origin() == "null" {
					return dst, false
				}
				return append(dst, u.Origin()...), true
			}),
		keptText("kept_public_suffix", columns.RegistrableDomain|columns.PublicSuffix,
			"the public suffix, where registrable_domain has none: the host is one itself",
			func(s *state, dst []byte, i int) ([]byte, bool) {
				if !s.cols.PublicSuffix.IsValid(i) || s.cols.RegistrableDomain.IsValid(i) {
					return dst, false
				}
				return append(dst, s.cols.PublicSuffix.At(i)...), true
			}),
		{
			name: "kept_params", typ: paramsTypeOf(opts), nullable: true, want: columns.Query, extra: true, build: (*state).keptParams,
			comment: "the parameters of a query that other decoders may take another way: it has escapes that are not UTF-8, are of no byte, or are of the byte 0",
		},
	}
}

// keptURLs builds the column of the URLs as read that are not href, or of what stands before their paths. A URL is in one of
// the two at most. The URL of a row without href is in the first.
func (s *state) keptURLs(fronts bool) *array.Data {
	urls, cols := &s.batch.URLs, &s.cols
	if urls.Len() == 0 {
		return s.allNull(utf8Type)
	}
	var text []byte
	return s.derive(urls.Len(), func(dst []byte, i int) ([]byte, bool) {
		if !urls.Valid[i] {
			return dst, false
		}
		url, href := urls.At(i), cols.Href.At(i)
		if cols.Href.IsValid(i) && bytes.Equal(url, href) {
			return dst, false // nine of ten, which need not become UTF-8: href is
		}
		if !utf8.Valid(url) {
			text = charset.AppendUTF8(text[:0], url)
			url = text
		}
		front, same := url, false
		if path := cols.Path.At(i); cols.Href.IsValid(i) && bytes.HasPrefix(path, []byte("/")) {
			tail := len(path)
			for _, part := range [...]*columns.Text{&cols.Query, &cols.Fragment} {
				if part.IsValid(i) {
					tail += 1 + len(part.At(i))
				}
			}
			front, same = bytes.CutSuffix(url, href[len(href)-tail:])
		}
		return append(dst, front...), same == fronts
	}).array(s, utf8Type)
}

// Userinfo returns what stands before the host of href, and false if nothing does. It is a part of href.
func Userinfo(href []byte) ([]byte, bool) {
	if bytes.IndexByte(href, '@') < 0 {
		return nil, false
	}
	_, rest, _ := bytes.Cut(href, []byte(":"))
	authority, ok := bytes.CutPrefix(rest, []byte("//"))
	if !ok {
		return nil, false
	}
	if end := bytes.IndexAny(authority, "/?#"); end >= 0 { // they are escaped in what is looked for
		authority = authority[:end]
	}
	userinfo, _, ok := bytes.Cut(authority, []byte("@"))
	return userinfo, ok
}

// keptParams builds the column of the parameters of queries that decoders do not agree about.
func (s *state) keptParams() *array.Data {
	query, n := &s.cols.Query, s.batch.Len()
	var pairs []form.Pair
	offsets, bits, nulls := s.scratch.takeInts(n+1), s.scratch.takeBytes((n+7)/8), n
	offsets[0] = 0
	for i := range n {
		if query.IsValid(i) && !decodesAlike(query.At(i)) {
			pairs = form.AppendParse(pairs, query.At(i))
			bits[i/8] |= 1 << (i % 8)
			nulls--
		}
		offsets[i+1] = int32(len(pairs))
	}
	keys := s.derive(len(pairs), func(dst []byte, k int) ([]byte, bool) { return append(dst, pairs[k].Name...), true })
	values := s.derive(len(pairs), func(dst []byte, k int) ([]byte, bool) { return append(dst, pairs[k].Value...), true })
	return s.pairs(s.plan.paramsType(), s.buffer(bits), nulls, offsets,
		s.varData(utf8Type, nil, 0, keys.offsets, keys.data), s.varData(utf8Type, nil, 0, values.offsets, values.data))
}

// decodesAlike reports whether every run of escapes in a query, which is ASCII, is UTF-8 without the byte 0. Decoders replace,
// refuse or keep what is not.
func decodesAlike(query []byte) bool {
	for {
		at := bytes.IndexByte(query, '%')
		if at < 0 {
			return true
		}
		query = query[at:]
		var buf [48]byte // enough for most runs
		run := buf[:0]
		for len(query) > 0 && query[0] == '%' {
			if len(query) < 3 {
				return false
			}
			high, ok1 := percent.Unhex(query[1])
			low, ok2 := percent.Unhex(query[2])
			if !ok1 || !ok2 || high|low == 0 {
				return false
			}
			run, query = append(run, high<<4|low), query[3:]
		}
		if !utf8.Valid(run) {
			return false
		}
	}
}

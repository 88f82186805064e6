package generate

import "strconv"

// add appends strings.
func add(dst []byte, parts ...string) []byte {
	for _, p := range parts {
		dst = append(dst, p...)
	}
	return dst
}

// tweak changes how a page's URL is written without making it another page.
type tweak uint8

const (
	upperHost tweak = 1 << iota
	defaultPort
	dotSegment
	otherFragment
	moreTracking
)

// hexDigits also serve as the digits of other identifiers.
const (
	hexDigits    = "0123456789abcdef"
	idAlphabet   = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	base36       = "0123456789abcdefghijklmnopqrstuvwxyz"
	idDigits     = 7
	idBits       = 36 // 2^36 < 36^7
	idMultiplier = 0x9e3779b97f4a7c15
)

// appendPage appends the http or https URL of a page: record number n decides which.
func (m *model) appendPage(dst []byte, r *rng, n uint64, t tweak) []byte {
	if m.crawl {
		return m.appendCrawled(dst, r, n, t)
	}
	secure := !r.percent(12)
	host := m.hosts.draw(r)
	dst = appendOrigin(dst, secure, host, t)
	// The pages of a host are few and known by number, the popular ones first.
	x := float64(r.below(1<<16)) / (1 << 16)
	page := pageSeed(host, int(300*x*x*x))
	dst = m.appendPath(dst, &page)
	dst = m.appendQuery(dst, r, t)
	return appendFragment(dst, r, 5, t)
}

// pageSeed returns what page number i of a host is made from.
func pageSeed(host string, i int) rng {
	h := uint64(14695981039346656037)
	for k := 0; k < len(host); k++ {
		h = (h ^ uint64(host[k])) * 1099511628211
	}
	return newRNG(mix(h), uint64(i))
}

func appendOrigin(dst []byte, secure bool, host string, t tweak) []byte {
	if secure {
		dst = append(dst, "https://"...)
	} else {
		dst = append(dst, "http://"...)
	}
	start := len(dst)
	dst = append(dst, host...)
	if t&upperHost != 0 {
		for i := start; i < len(dst); i++ {
			if c := dst[i]; c >= 'a' && c <= 'z' && i%3 != 0 {
				dst[i] = c - 'a' + 'A'
			}
		}
	}
	switch {
	case t&defaultPort == 0:
	case secure:
		dst = append(dst, ":443"...)
	default:
		dst = append(dst, ":80"...)
	}
	if t&dotSegment != 0 {
		dst = append(dst, "/x/.."...)
	}
	return dst
}

// appendPath appends a path that begins with a slash.
func (m *model) appendPath(dst []byte, r *rng) []byte {
	dst = append(dst, '/')
	style := r.below(100)
	if style < 10 {
		return dst
	}
	dst = append(dst, m.sections.draw(r)...)
	if style < 16 {
		return append(dst, '/')
	}
	dst = append(dst, '/')
	switch {
	case style < 45:
		dst = appendSlug(dst, r, r.between(2, 7))
	case style < 60:
		dst = add(dst, pick(r, words), "/")
		dst = appendSlug(dst, r, r.between(2, 6))
	case style < 75:
		dst = add(dst, pick(r, words), "/")
		dst = strconv.AppendInt(dst, int64(r.between(1, 9999999)), 10)
	case style < 85:
		dst = append(dst, "2026/"...)
		dst = append(dst, '0', '1'+byte(r.below(9)), '/')
		dst = appendSlug(dst, r, r.between(3, 9))
	case style < 93:
		dst = appendChars(dst, r, idAlphabet, 11)
	default:
		for range r.between(1, 4) {
			dst = add(dst, pick(r, words), "/")
		}
		dst = appendChars(dst, r, hexDigits, 8)
	}
	return append(dst, m.extensions.draw(r)...)
}

func appendSlug(dst []byte, r *rng, n int) []byte {
	for i := range n {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = append(dst, pick(r, words)...)
	}
	return dst
}

// appendChars appends n characters of an alphabet.
func appendChars(dst []byte, r *rng, alphabet string, n int) []byte {
	for ; n > 0; n -= 8 {
		x := r.next()
		for range min(n, 8) {
			dst = append(dst, alphabet[x>>56*uint64(len(alphabet))>>8])
			x <<= 8
		}
	}
	return dst
}

// appendQuery appends a query to every second page or so, of ordinary parameters, of trackers, or of both.
func (m *model) appendQuery(dst []byte, r *rng, t tweak) []byte {
	separator := byte('?')
	if r.below(100) < m.queries {
		for range 1 + m.counts.draw(r) {
			dst = append(dst, separator)
			separator = '&'
			dst = m.appendParameter(dst, r)
		}
	}
	if r.below(100) < m.trackers || t&moreTracking != 0 {
		dst = append(dst, separator)
		dst = appendTracking(dst, r)
	}
	return dst
}

// appendParameter appends one parameter of ASCII letters and digits, mostly.
func (m *model) appendParameter(dst []byte, r *rng) []byte {
	dst = append(dst, m.parameters.draw(r)...)
	if r.percent(2) {
		return dst // a name alone
	}
	dst = append(dst, '=')
	switch kind := r.below(100); {
	case kind < 38:
		return strconv.AppendInt(dst, int64(r.next()>>(40+r.below(20))), 10)
	case kind < 62:
		return append(dst, pick(r, words)...)
	case kind < 76:
		return appendSlug(dst, r, 2)
	case kind < 84:
		return appendChars(dst, r, hexDigits, 8*r.between(1, 4))
	case kind < 90:
		return appendChars(dst, r, idAlphabet, r.between(8, 64))
	case kind < 94:
		return append(dst, '2', '0', '2', '6', '-', '0', '1'+byte(r.below(9)), '-', '1', '0'+byte(r.below(10)))
	case kind < 97:
		return add(dst, pick(r, words), "%20", pick(r, words))
	}
	return dst // an empty value
}

// appendTracking appends the parameters that campaigns and click counters add.
func appendTracking(dst []byte, r *rng) []byte {
	switch kind := r.below(100); {
	case kind < 58:
		dst = add(dst, "utm_source=", pick(r, utmSources), "&utm_medium=", pick(r, utmMediums))
		if kind < 45 {
			dst = add(dst, "&utm_campaign=", pick(r, utmCampaigns))
		}
		if kind < 12 {
			dst = add(dst, "&utm_content=", pick(r, words))
		}
		if kind < 6 {
			dst = add(dst, "&utm_term=", pick(r, words), "+", pick(r, words))
		}
		return dst
	case kind < 73:
		return appendChars(append(dst, "gclid="...), r, idAlphabet, r.between(50, 90))
	case kind < 89:
		return appendChars(append(dst, "fbclid=IwAR"...), r, idAlphabet, 57)
	case kind < 93:
		return appendChars(append(dst, "msclkid="...), r, hexDigits, 32)
	case kind < 95:
		return appendChars(append(dst, "ttclid=E.C.P."...), r, idAlphabet, 60)
	case kind < 97:
		dst = appendChars(append(dst, "mc_cid="...), r, hexDigits, 10)
		return appendChars(append(dst, "&mc_eid="...), r, hexDigits, 10)
	case kind < 99:
		return appendChars(append(dst, "yclid="...), r, hexDigits[:10], 19)
	}
	return appendChars(append(dst, "igshid="...), r, idAlphabet, 16)
}

// appendFragment appends a fragment in so many of 100 cases.
func appendFragment(dst []byte, r *rng, percent int, t tweak) []byte {
	there := r.below(100) < percent
	word := pick(r, words)
	switch {
	case t&otherFragment != 0:
		return add(dst, "#another-", word)
	case there:
		return add(dst, "#", word)
	}
	return dst
}

// appendCrawled appends the URL of a crawled page. Its number is in it, so that no two are the same.
func (m *model) appendCrawled(dst []byte, r *rng, n uint64, t tweak) []byte {
	secure := !r.percent(25)
	style := r.below(100)
	var digits [idDigits]byte
	id := string(appendID(digits[:0], n))
	if style < 20 { // the root of a host of its own
		var name [64]byte
		host := add(name[:0], "www.", pick(r, syllables), id, ".", m.suffixes.draw(r))
		dst = append(appendOrigin(dst, secure, string(host), t), '/')
		return m.crawledTail(dst, r, t, '?')
	}
	dst = append(appendOrigin(dst, secure, m.hosts.draw(r), t), '/')
	separator := byte('?')
	switch {
	case style < 22:
		dst = add(dst, pick(r, words), "?id=", id)
		separator = '&'
	case style < 37:
		dst = add(dst, id, m.extensions.draw(r))
	case style < 60:
		dst = add(dst, pick(r, words), "/", id, m.extensions.draw(r))
	default:
		dst = add(dst, m.sections.draw(r), "/")
		dst = add(appendSlug(dst, r, r.between(1, 4)), "-", id, m.extensions.draw(r))
	}
	return m.crawledTail(dst, r, t, separator)
}

func (m *model) crawledTail(dst []byte, r *rng, t tweak, separator byte) []byte {
	if t&moreTracking != 0 {
		dst = appendTracking(append(dst, separator), r)
	}
	return appendFragment(dst, r, 0, t)
}

// appendID appends the number of a record as seven letters and digits that differ from those of any other of 2^36
// records.
func appendID(dst []byte, n uint64) []byte {
	x := n * idMultiplier & (1<<idBits - 1)
	for range idDigits {
		dst = append(dst, base36[x%36])
		x /= 36
	}
	return dst
}

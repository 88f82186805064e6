package generate

import (
	"strconv"

	"golang.org/x/net/idna"
)

// hosts is a population of hosts, from the most popular to the least.
type hosts struct {
	names []string
	rank  alias
}

// newHosts makes n hosts whose popularity follows Zipf's law with the given exponent.
func newHosts(seed uint64, n int, exponent float64) hosts {
	suffix, sub := newSampler("suffixes"), newSampler("subdomains")
	h := hosts{names: make([]string, n), rank: newAlias(zipf(n, exponent))}
	var all []byte
	ends := make([]int, n)
	for i := range ends {
		r := newRNG(seed, uint64(i))
		all = appendName(append(all, sub.draw(&r)...), &r)
		all = add(all, ".", suffix.draw(&r))
		ends[i] = len(all)
	}
	text, start := string(all), 0 // one piece of memory for all
	for i, end := range ends {
		h.names[i], start = text[start:end], end
	}
	return h
}

func (h *hosts) draw(r *rng) string { return h.names[h.rank.draw(r)] }

// appendName appends the label of a made-up name, such as velotek or nora-shop24.
func appendName(dst []byte, r *rng) []byte {
	for range r.between(2, 4) {
		dst = append(dst, pick(r, syllables)...)
	}
	switch {
	case r.percent(9):
		dst = add(dst, "-", pick(r, words))
	case r.percent(12):
		dst = append(dst, pick(r, words)...)
	case r.percent(5):
		dst = strconv.AppendInt(dst, int64(r.between(1, 365)), 10)
	}
	return dst
}

// idn is an internationalized host in both forms.
type idn struct{ unicode, ascii string }

// newIDNs makes hosts with international labels, some under international top-level domains.
func newIDNs(seed uint64, n int) ([]idn, error) {
	// As the URL Standard does: non-transitional, so that ß stays, and without length checks.
	profile := idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))
	tlds := []string{"de", "com", "fr", "jp", "net", "org", "рф", "中国", "한국", "ελ", "இந்தியா", "co.uk", "github.io"}
	list := make([]idn, n)
	for i := range list {
		r := newRNG(seed, uint64(i))
		label := pick(&r, international)
		rightToLeft := label[0] >= 0xd7 && label[0] <= 0xd8 // Hebrew and Arabic, which do not mix with words
		if r.percent(30) && !rightToLeft {
			label += "-" + pick(&r, words)
		} else if r.percent(30) {
			label += strconv.Itoa(r.between(1, 99))
		}
		list[i].unicode = label + "." + pick(&r, tlds)
		if r.percent(30) && !rightToLeft {
			list[i].unicode = "www." + list[i].unicode
		}
		ascii, err := profile.ToASCII(list[i].unicode)
		if err != nil {
			return nil, err
		}
		list[i].ascii = ascii
	}
	return list, nil
}

package privacy

import (
	"bytes"

	"github.com/urlmill/urlmill/pipeline/enrich/address"
)

// longestAddress is the length of the longest text of an IPv6 address.
const longestAddress = 45

// address4 finds an IPv4 address from i on, and address6 an IPv6 address around the digit or the colon at i: in records alone, of which
// nobody knows which part is an address. They return its end, 0 for none.
func (r *redactor) address4(i int) int {
	if i > 0 && r.v[i-1] == '.' {
		return 0
	}
	end := i
	for end < len(r.v) && end-i <= len("255.255.255.255") && (r.v[end]-'0' <= 9 || r.v[end] == '.') {
		end++
	}
	for end > i && r.v[end-1] == '.' {
		end--
	}
	if !r.ends(end) {
		return 0
	}
	return r.replaceAddress(i, end)
}

func (r *redactor) address6(i int) int {
	ofAddress := func(c byte) bool { return c-'0' <= 9 || c|0x20 >= 'a' && c|0x20 <= 'f' || c == ':' || c == '.' }
	from := i
	for from > 0 && i-from < longestAddress && ofAddress(r.v[from-1]) {
		from--
	}
	to := i
	for to < len(r.v) && to-from <= longestAddress && ofAddress(r.v[to]) {
		to++
	}
	if !r.starts(from) || !r.ends(to) || bytes.Count(r.v[from:to], []byte(":")) < 2 {
		return 0
	}
	return r.replaceAddress(from, to)
}

// replaceAddress removes the address v[from:to], if it is one.
func (r *redactor) replaceAddress(from, to int) int {
	start := len(r.put)
	put, ok := r.appendAddress(r.put, r.v[from:to])
	if !ok {
		return 0
	}
	r.put = put
	r.remove(span{from, to, r.policy.other(ruleAddress), [2]int{start, len(r.put)}})
	return to
}

// appendAddress appends what the policy makes of an address without its port, which may tell clients behind one address apart, and reports whether text is one.
func (r *redactor) appendAddress(dst, text []byte) ([]byte, bool) {
	a, ok := address.Parse(text)
	if !ok {
		return dst, false
	}
	o := r.policy.address
	if o.Hash {
		r.canonical = a.AppendTo(r.canonical[:0])
		return r.appendHash(dst, r.canonical), true
	}
	keep := o.IPv6
	if a.Is4() {
		keep = o.IPv4
	}
	network, err := a.Prefix(keep)
	if err != nil {
		return dst, false
	}
	return network.Addr().AppendTo(dst), true
}

// appendAddresses appends a field with addresses: one, or a list of them with commas, each perhaps with brackets and a port. What is none
// is masked, such as the name of a host; "-" and "unknown", as proxies write for none, stay.
func (r *redactor) appendAddresses(dst, field []byte) []byte {
	for more := true; more; {
		var item []byte
		item, field, more = bytes.Cut(field, []byte(","))
		trimmed := bytes.TrimLeft(item, " ")
		dst = append(dst, item[:len(item)-len(trimmed)]...)
		text := bytes.TrimRight(trimmed, " ")
		out, ok := r.appendAddress(dst, text)
		switch {
		case ok:
			r.counts[r.policy.other(ruleAddress)]++
			dst = out
		case len(text) == 0 || string(text) == "-" || string(text) == "unknown":
			dst = append(dst, text...)
		default:
			r.counts[r.policy.other(ruleAddress)]++
			dst = append(dst, mask...)
		}
		if more {
			dst = append(dst, ',')
		}
	}
	return dst
}

package address

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/urlmill/urlmill/config"
)

// Ranges are addresses of an operator. They are immutable; nil has none.
type Ranges struct {
	spans []span // sorted, none reaches into the next
}

type span struct{ from, to netip.Addr }

// Has reports whether an address is in the ranges.
func (r *Ranges) Has(addr netip.Addr) bool {
	i, found := slices.BinarySearchFunc(r.spans, addr, func(s span, a netip.Addr) int { return s.from.Compare(a) })
	return found || i > 0 && r.spans[i-1].to.Compare(addr) >= 0
}

// MaxRangesFile is how large a file of ranges may be. A range takes 48 bytes, and its text three at least.
const MaxRangesFile = 4 << 20

// ReadRanges returns the ranges in files: JSON, in which every text that is a range counts, such as {"prefixes": [{"ipv4Prefix": …}]}, or
// lines, of which the first field that is a range counts, with # for comments and a first line that may be names of columns.
func ReadRanges(paths []string) (*Ranges, error) {
	r := new(Ranges)
	for _, path := range paths {
		data, err := config.ReadFile(path, MaxRangesFile)
		if err != nil {
			return nil, err
		}
		before := len(r.spans)
		if err := r.parse(data); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if len(r.spans) == before {
			return nil, fmt.Errorf(`%s has no ranges; want {"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}]}, or a range on each line`, path)
		}
	}
	slices.SortFunc(r.spans, func(a, b span) int { return a.from.Compare(b.from) })
	merged := r.spans[:0]
	for _, s := range r.spans {
		if n := len(merged); n > 0 && s.from.Compare(merged[n-1].to) <= 0 {
			if merged[n-1].to.Compare(s.to) < 0 {
				merged[n-1].to = s.to
			}
			continue
		}
		merged = append(merged, s)
	}
	r.spans = slices.Clip(merged)
	return r, nil
}

func (r *Ranges) parse(data []byte) error {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') && !bytes.HasPrefix(trimmed, []byte("[::")) {
		// Token by token, so that values that are no ranges take no memory.
		d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		if err := r.walk("", d); err != nil {
			return err
		}
		if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
			return errors.New("more stands behind the JSON value")
		}
		return nil
	}
	number, header := 0, true // the first line may be names of columns
	for line := range strings.Lines(string(data)) {
		number++
		line, _, _ = strings.Cut(line, "#")
		fields := strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(",; \t\r\n\"", c) })
		if len(fields) == 0 {
			continue
		}
		if err := errors.New("no range"); !slices.ContainsFunc(fields, func(f string) bool { err = r.add(f); return err == nil }) && !header {
			return fmt.Errorf("line %d: %q: %w", number, strings.TrimSpace(line), err)
		}
		header = false
	}
	return nil
}

// walk adds all ranges of the JSON value that comes next, whose nesting jsontext bounds. What is called a prefix has to be one.
func (r *Ranges) walk(key string, d *jsontext.Decoder) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case '{', '[':
		for kind := d.PeekKind(); kind != '}' && kind != ']'; kind = d.PeekKind() {
			inner := key
			if token.Kind() == '{' {
				name, err := d.ReadToken()
				if err != nil {
					return err
				}
				inner = name.String()
			}
			if err := r.walk(inner, d); err != nil {
				return err
			}
		}
		_, err := d.ReadToken()
		return err
	case '"':
		text := token.String()
		if err := r.add(text); err != nil && strings.Contains(strings.ToLower(key), "prefix") {
			return fmt.Errorf("%s %q: %w", key, text, err)
		}
	}
	return nil
}

// add adds a range, or an address.
func (r *Ranges) add(text string) error {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		addr, addrErr := netip.ParseAddr(text)
		if addrErr != nil || addr.Zone() != "" {
			return errors.New("want a range such as 192.0.2.0/24 or 2001:db8::/32")
		}
		prefix = netip.PrefixFrom(addr, addr.BitLen())
	}
	if prefix.Bits() == 0 {
		return errors.New("covers every address")
	}
	from := prefix.Masked().Addr()
	r.spans = append(r.spans, span{from, last(from, prefix.Bits())})
	return nil
}

// last returns the last address of a range.
func last(from netip.Addr, bits int) netip.Addr {
	raw := from.AsSlice()
	for i := bits; i < 8*len(raw); i++ {
		raw[i/8] |= 0x80 >> (i % 8)
	}
	addr, _ := netip.AddrFromSlice(raw)
	return addr
}

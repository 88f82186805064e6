package psl

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Section tells which part of the Public Suffix List holds the rule that decided a lookup.
type Section uint8

const (
	// Unlisted is reported where no rule matches and the default rule "*" applies.
	Unlisted Section = iota
	// ICANN is the section of the suffixes delegated by ICANN or a registry.
	ICANN
	// Private is the section of the suffixes that owners of domains had added, such as github.io.
	Private
)

// String returns "unlisted", "icann" or "private".
func (s Section) String() string {
	switch s {
	case ICANN:
		return "icann"
	case Private:
		return "private"
	default:
		return "unlisted"
	}
}

// flags say what the list holds for one name.
type flags uint8

const (
	ruleICANN flags = 1 << iota
	rulePrivate
	wildICANN // the list has "*." in front of this name
	wildPrivate
	exceptICANN // the list has "!" in front of this name
	exceptPrivate
	hasChildren // the table has longer names that end in this one

	anyRule   = ruleICANN | rulePrivate
	anyWild   = wildICANN | wildPrivate
	anyExcept = exceptICANN | exceptPrivate

	onlyICANN   = ruleICANN | wildICANN | exceptICANN | hasChildren
	allSections = onlyICANN | rulePrivate | wildPrivate | exceptPrivate
)

// section of the rules in f, of which ICANN's go first.
func (f flags) section() Section {
	if f&(ruleICANN|wildICANN|exceptICANN) != 0 {
		return ICANN
	}
	return Private
}

// A node is a name of the list, or the parent of one: a label and the node of the name to its right.
type node struct {
	tail   uint64 // last eight bytes of the label, the first of them lowest; shorter ones as they are
	parent uint32 // index into List.nodes; 0 is the root
	offset uint32 // of the label in List.text, when it is longer than tail
	length uint8  // of the label
	flags  flags
}

// A List is a Public Suffix List ready for lookups. It is immutable and safe for concurrent use.
//
// The zero value holds no rule: every last label is a public suffix.
type List struct {
	text  []byte // the labels longer than eight bytes
	nodes []node // nodes[0] is the root, the name without labels
	// slots is an open-addressing hash table of a power of two of entries, at most half of them used:
	// 0 when free, else a tag of hash bits above the index of a node.
	slots []uint32
	shift uint8 // a hash is shifted right by this much to give a slot
	info  Info
}

const (
	indexBits = 20 // of a slot, for the node; the rest is the tag
	indexMask = 1<<indexBits - 1
	maxNodes  = 1 << indexBits
)

// Lookup returns where in host the public suffix and the registrable domain begin, as byte offsets; both reach to
// the end of host, trailing dot included. suffixStart is -1 when host has no public suffix, domainStart is -1
// when it has no registrable domain.
//
// See the package's documentation for the form that host must have. Lookup does not keep host and
// allocates nothing.
func (l *List) Lookup(host []byte) (suffixStart, domainStart int, section Section) {
	return l.lookup(host, allSections)
}

// LookupICANN is [List.Lookup] with the rules of the ICANN section alone, so that "a.github.io" has the
// registrable domain "github.io".
func (l *List) LookupICANN(host []byte) (suffixStart, domainStart int, section Section) {
	return l.lookup(host, onlyICANN)
}

// LookupString is [List.Lookup] for a string.
func (l *List) LookupString(host string) (suffixStart, domainStart int, section Section) {
	// lookup only reads, so the string's bytes can be lent to it.
	return l.lookup(unsafe.Slice(unsafe.StringData(host), len(host)), allSections)
}

// PublicSuffix returns the public suffix of host, as a part of it, and the section it is from. The suffix is
// "" when there is none.
func (l *List) PublicSuffix(host string) (suffix string, section Section) {
	start, _, section := l.LookupString(host)
	if start < 0 {
		return "", Unlisted
	}
	return host[start:], section
}

// RegistrableDomain returns the registrable domain of host, as a part of it, and whether it has one.
func (l *List) RegistrableDomain(host string) (domain string, ok bool) {
	_, start, _ := l.LookupString(host)
	if start < 0 {
		return "", false
	}
	return host[start:], true
}

// lookup walks the labels of host from the last one. Of the rules it sees those in mask.
func (l *List) lookup(host []byte, mask flags) (suffixStart, domainStart int, section Section) {
	end := len(host)
	if end > 0 && host[end-1] == '.' {
		end--
	}
	start, tail := lastLabel(host, end)
	if start == end {
		return -1, -1, Unlisted
	}
	suffixStart = start // by the default rule
	here := flags(0)
	if len(l.nodes) > 0 {
		here = l.nodes[0].flags & mask
	}
	for parent := uint32(0); ; {
		if here&anyWild != 0 {
			suffixStart, section = start, (here & anyWild).section()
		}
		if here&hasChildren == 0 {
			break
		}
		child := l.find(parent, host[start:end], tail)
		if child == 0 {
			break
		}
		here = l.nodes[child].flags & mask
		if here&anyExcept != 0 {
			suffixStart, section = end+1, (here & anyExcept).section()
			break
		}
		if here&anyRule != 0 {
			suffixStart, section = start, (here & anyRule).section()
		}
		if start == 0 || here&(hasChildren|anyWild) == 0 {
			break
		}
		parent, end = child, start-1
		if start, tail = lastLabel(host, end); start == end {
			break
		}
	}
	if suffixStart == 0 || host[0] == '.' {
		return suffixStart, -1, section
	}
	if suffixStart-1 != end { // else the label before the suffix is the one last looked at
		end = suffixStart - 1
		start, _ = lastLabel(host, end)
	}
	if start == end {
		return suffixStart, -1, section
	}
	return suffixStart, start, section
}

// find returns the node of label under parent, or 0. The label is not empty and tail is that of [lastLabel].
func (l *List) find(parent uint32, label []byte, tail uint64) uint32 {
	h := hash(parent, label, tail)
	mask := uint32(len(l.slots) - 1)
	for i := uint32(h >> (l.shift & 63)); ; i++ {
		slot := l.slots[i&mask]
		if slot == 0 {
			return 0
		}
		if (slot^uint32(h))>>indexBits != 0 {
			continue
		}
		n := &l.nodes[slot&indexMask]
		if n.tail == tail && n.parent == parent && int(n.length) == len(label) &&
			(len(label) <= 8 || string(l.text[n.offset:n.offset+uint32(n.length)]) == string(label)) {
			return slot & indexMask
		}
	}
}

// hash mixes the parent and the label. The upper bits choose the slot, bits 20 to 31 are the tag.
func hash(parent uint32, label []byte, tail uint64) uint64 {
	const k0, k1 = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93 // odd, with bits of no pattern
	seed := uint64(parent)*k1 + k0
	for rest := label; len(rest) > 8; rest = rest[:len(rest)-8] {
		seed = (bits.RotateLeft64(seed, 29) ^ head(rest)) * k0
	}
	upper, lower := bits.Mul64(tail^k1, seed|1)
	return upper ^ lower
}

// head returns up to eight bytes of rest, which is longer than eight, from the front. Words of a label may overlap.
func head(rest []byte) uint64 {
	if len(rest) >= 16 {
		return binary.LittleEndian.Uint64(rest[len(rest)-16:])
	}
	return binary.LittleEndian.Uint64(rest)
}

// lastLabel returns where the label that ends before end begins, and its last eight bytes, the first of
// them lowest; of a shorter label all of it.
func lastLabel(host []byte, end int) (start int, tail uint64) {
	word := wordBefore(host, end)
	if dots := dotMask(word); dots != 0 {
		n := bits.LeadingZeros64(dots) >> 3 // bytes after the last dot
		return end - n, word >> 1 >> (63 - 8*n)
	}
	if end <= 8 {
		return 0, word >> (8 * (8 - end))
	}
	at := end - 8
	for {
		if dots := dotMask(wordBefore(host, at)); dots != 0 {
			return at - bits.LeadingZeros64(dots)>>3, word
		}
		if at <= 8 {
			return 0, word
		}
		at -= 8
	}
}

// wordBefore returns the eight bytes before end, the last of them highest. Where there are fewer the
// lower bytes are zero.
func wordBefore(host []byte, end int) uint64 {
	if end >= 8 {
		return binary.LittleEndian.Uint64(host[end-8 : end])
	}
	if len(host) >= 8 {
		return binary.LittleEndian.Uint64(host) << 1 << (63 - 8*end)
	}
	var word uint64
	for i := range end {
		word |= uint64(host[i]) << (8 * (8 - end + i))
	}
	return word
}

// dotMask has the highest bit of each byte set that is a dot in word, and no other bit.
func dotMask(word uint64) uint64 {
	const low7, high, dots = 0x7F7F7F7F7F7F7F7F, 0x8080808080808080, 0x2E2E2E2E2E2E2E2E
	x := word ^ dots
	return ^((x&low7 + low7) | x) & high
}

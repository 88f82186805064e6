package psl

import (
	"math/bits"
	"strings"
)

// A builder collects rules into a List.
type builder struct {
	text  []byte // labels longer than eight bytes
	nodes []node
	// slots is the hash table, doubled as the nodes become more.
	slots []uint32
	shift uint8
	rules [3]int // by Section
}

// newBuilder returns a builder for about n rules.
func newBuilder(n int) *builder {
	b := &builder{nodes: make([]node, 1, n+n/8+1)}
	b.rehash(max(64, 2*cap(b.nodes)))
	return b
}

// add adds a name made of valid labels, with the given flags. It reports whether there was room. The name without
// labels is the root.
func (b *builder) add(name string, f flags) bool {
	at := uint32(0)
	for name != "" {
		dot := strings.LastIndexByte(name, '.')
		child, ok := b.child(at, []byte(name[dot+1:]))
		if !ok {
			return false
		}
		b.nodes[at].flags |= hasChildren
		at, name = child, name[:max(dot, 0)]
	}
	b.nodes[at].flags |= f
	b.rules[f.section()]++
	return true
}

// child returns the node of label under parent, which it makes when there is none yet. It reports whether
// there was room.
func (b *builder) child(parent uint32, label []byte) (uint32, bool) {
	_, tail := lastLabel(label, len(label))
	if found := b.view().find(parent, label, tail); found != 0 {
		return found, true
	}
	if len(b.nodes) == maxNodes {
		return 0, false
	}
	b.nodes = append(b.nodes, node{tail: tail, parent: parent, offset: uint32(len(b.text)), length: uint8(len(label))})
	if len(label) > 8 {
		b.text = append(b.text, label...)
	}
	if 2*len(b.nodes) > len(b.slots) {
		b.rehash(2 * len(b.slots))
	} else {
		b.insert(uint32(len(b.nodes)-1), hash(parent, label, tail))
	}
	return uint32(len(b.nodes) - 1), true
}

// rehash makes the table anew with n slots or the next power of two.
func (b *builder) rehash(n int) {
	size := bits.Len(uint(n - 1))
	b.slots = make([]uint32, 1<<size)
	b.shift = uint8(64 - size)
	for i := 1; i < len(b.nodes); i++ {
		n := &b.nodes[i]
		label := make([]byte, n.length)
		if n.length > 8 {
			copy(label, b.text[n.offset:])
		}
		b.insert(uint32(i), hash(n.parent, label, n.tail))
	}
}

// insert puts a node that is not in the table yet into its first free slot.
func (b *builder) insert(index uint32, h uint64) {
	mask := uint32(len(b.slots) - 1)
	at := uint32(h>>b.shift) & mask
	for b.slots[at] != 0 {
		at = (at + 1) & mask
	}
	b.slots[at] = uint32(h)&^indexMask | index
}

// view returns a list of what was collected so far. It shares the builder's memory.
func (b *builder) view() *List {
	return &List{text: b.text, nodes: b.nodes, slots: b.slots, shift: b.shift}
}

package address

import (
	"encoding/binary"
	"net/netip"
)

// tree is the search tree of a file, as MaxMind's format has it (https://maxmind.github.io/MaxMind-DB/#binary-search-tree-section). For
// the first 16 bits of an address of IPv4 it has a table.
type tree struct {
	nodes []byte
	count uint32
	size  uint32 // bytes of a node
	six   bool   // it has addresses of IPv6
	top   []uint32
}

// separator is how many bytes stand between the nodes and the data.
const separator = 16

// newTree returns the tree at the start of a file, false if the file has not so many nodes.
func newTree(file []byte, count, recordSize, version uint) (tree, bool) {
	t := tree{nodes: file, count: uint32(count), size: uint32(recordSize / 4), six: version == 6}
	if uint64(count)*uint64(t.size)+separator > uint64(len(file)) || t.size < 6 || t.size > 8 {
		return t, false
	}
	start := uint32(0)
	if t.six { // addresses of IPv4 stand behind 96 zeros
		start = t.walk(t.walk(0, 0, 64), 0, 32)
	}
	t.top = make([]uint32, 1<<16)
	for i := range t.top {
		t.top[i] = t.walk(start, uint64(i)<<48, 16)
	}
	return t, true
}

// walk returns where the highest n bits lead to from a node: another one, or what is no node.
func (t *tree) walk(node uint32, bits uint64, n int) uint32 {
	for ; n > 0 && node < t.count; n-- {
		b := t.nodes[int(node)*int(t.size):][:t.size]
		right := bits>>63 != 0
		switch {
		case t.size == 6 && right:
			node = uint32(b[3])<<16 | uint32(b[4])<<8 | uint32(b[5])
		case t.size == 6:
			node = uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
		case t.size == 7 && right:
			node = binary.BigEndian.Uint32(b[3:]) & (1<<28 - 1)
		case t.size == 7:
			node = uint32(b[3]>>4)<<24 | uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
		case right:
			node = binary.BigEndian.Uint32(b[4:])
		default:
			node = binary.BigEndian.Uint32(b)
		}
		bits <<= 1
	}
	return node
}

// find returns the offset of the record of an address in the data, false if there is none.
func (t *tree) find(addr netip.Addr) (uint32, bool) {
	var node uint32
	switch {
	case addr.Is4():
		a := addr.As4()
		v := binary.BigEndian.Uint32(a[:])
		node = t.walk(t.top[v>>16], uint64(v)<<48, 16)
	case !t.six:
		return 0, false
	default:
		a := addr.As16()
		node = t.walk(t.walk(0, binary.BigEndian.Uint64(a[:8]), 64), binary.BigEndian.Uint64(a[8:]), 64)
	}
	if node < t.count || node-t.count < separator {
		return 0, false
	}
	return node - t.count - separator, true
}

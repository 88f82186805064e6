package psl

// Irregular calls visit for every end of a host, as its last label and the one before it, for which the public
// suffix may be another one than the last label; label is empty where that is so for every label before tld. For
// all other hosts of two labels and more, none of these two empty, the public suffix is the last label. final tells
// that the two labels are the public suffix of every host that ends in them.
//
// It lets a program that looks up many hosts build a filter for the regular ones. The strings are valid during the call.
func (l *List) Irregular(visit func(label, tld string, final bool)) {
	for i := range l.nodes {
		n := &l.nodes[i]
		switch {
		case i == 0:
		case n.parent == 0:
			if n.flags&anyWild != 0 {
				visit("", l.label(n), false)
			}
		case l.nodes[n.parent].parent == 0:
			final := n.flags&anyRule != 0 && n.flags&(anyWild|anyExcept|hasChildren) == 0
			visit(l.label(n), l.label(&l.nodes[n.parent]), final)
		}
	}
}

// label returns the label of n.
func (l *List) label(n *node) string {
	if n.length > 8 {
		return string(l.text[n.offset : n.offset+uint32(n.length)])
	}
	var b [8]byte
	for i := range n.length {
		b[i] = byte(n.tail >> (8 * i))
	}
	return string(b[:n.length])
}

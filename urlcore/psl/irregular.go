package psl

// Ending is an end of hosts of which the public suffix is not just the last label. Third and Label may be empty.
type Ending struct {
	Third, Label, TLD string // the last three labels, the last one in TLD
	// Suffix tells that the public suffix of hosts that end so is Label.TLD, unless there is an Ending with that, and
	// with Third, which says nothing but that it may be another one. Third is empty here.
	Suffix bool
}

// Irregular calls visit for every end of a host for which the public suffix may be another one than the last label: a
// TLD alone for which it may be so whatever stands before it, a Label and TLD, and ends of three labels below
// those with Suffix set. For all other hosts of two labels and more, none of these two empty, the public suffix
// is the last label.
//
// It lets a program that looks up many hosts build a filter for the regular ones. The strings are valid during the call.
func (l *List) Irregular(visit func(Ending)) {
	for i := 1; i < len(l.nodes); i++ {
		n := &l.nodes[i]
		if n.parent == 0 {
			if n.flags&anyWild != 0 {
				visit(Ending{TLD: l.label(n)})
			}
			continue
		}
		parent := &l.nodes[n.parent]
		if parent.parent == 0 {
			visit(Ending{Label: l.label(n), TLD: l.label(parent), Suffix: n.isPlainRule()})
			continue
		}
		if top := &l.nodes[parent.parent]; top.parent == 0 && parent.isPlainRule() {
			visit(Ending{Third: l.label(n), Label: l.label(parent), TLD: l.label(top)})
		}
	}
}

// isPlainRule reports whether n is a rule itself and has neither a wildcard below it nor an exception.
func (n *node) isPlainRule() bool { return n.flags&anyRule != 0 && n.flags&(anyWild|anyExcept) == 0 }

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

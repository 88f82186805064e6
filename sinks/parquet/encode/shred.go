package encode

import "github.com/apache/arrow/go/v15/arrow/bitutil"

// Levels are those of the Dremel paper as the format's documentation has them: the definition level of an entry counts
// the optional and repeated nodes on its path that are there, the repetition level says at which list it goes on. They
// are added in runs, as they come out of bitmaps and offsets.

// shred adds levels and values of the rows from:to.
func (l *leaf) shred(from, to int) error {
	return l.nodes(0, from, to, 0, 0)
}

// nodes adds the values from:to of the node at depth, counted as its parent counts. The first entry has the repetition
// level first, those of the other values begin with rest.
func (l *leaf) nodes(depth, from, to int, first, rest byte) error {
	n, v := &l.path[depth], &l.views[depth]
	from, to = from+v.offset, to+v.offset
	if v.valid == nil {
		return l.present(depth, from, to, first, rest)
	}
	if !n.nullable {
		if bitutil.CountSetBits(v.valid, from, to-from) != to-from {
			return l.errNull(n)
		}
		return l.present(depth, from, to, first, rest)
	}
	for from < to {
		end, valid := nextRun(v.valid, from, to)
		if valid {
			if err := l.present(depth, from, end, first, rest); err != nil {
				return err
			}
		} else {
			l.missing(n.def-1, end-from, first, rest)
		}
		from, first = end, rest
	}
	return nil
}

// missing adds count entries without a value.
func (l *leaf) missing(def byte, count int, first, rest byte) {
	l.def.add(def, count)
	l.repeats(count, first, rest)
}

// repeats counts entries and adds their repetition levels.
func (l *leaf) repeats(count int, first, rest byte) {
	l.entries += count
	if l.maxRep > 0 {
		l.rep.add(first, 1)
		l.rep.add(rest, count-1)
	}
}

// present adds the values from:to of a node, counted from the start of its buffers, which are all there.
func (l *leaf) present(depth, from, to int, first, rest byte) error {
	n, v := &l.path[depth], &l.views[depth]
	switch n.kind {
	case leafNode:
		if from == to {
			return nil
		}
		if l.maxDef > 0 {
			l.def.add(n.def, to-from)
		}
		l.repeats(to-from, first, rest)
		l.values(from, to)
		return nil
	case structNode:
		return l.nodes(depth+1, from, to, first, rest)
	}
	if shift, ok := l.dense(depth + 1); ok {
		l.denseLists(n, v, from, to, first, rest, shift)
		return nil
	}
	for i := from; i < to; i++ {
		start, end := v.span(i)
		if start == end {
			l.missing(n.def, 1, first, rest)
		} else if err := l.nodes(depth+1, start, end, first, n.rep); err != nil {
			return err
		}
		first = rest
	}
	return nil
}

// dense tells whether the nodes from depth on are neither lists nor have nulls, so that an element of the list above
// is a value. Its position in the leaf's buffers is greater by shift.
func (l *leaf) dense(depth int) (shift int, ok bool) {
	for i := depth; i < len(l.path); i++ {
		if l.views[i].valid != nil || l.path[i].kind == listNode {
			return 0, false
		}
		shift += l.views[i].offset
	}
	return shift, true
}

// denseLists adds lists whose elements are dense. Their values stand together.
func (l *leaf) denseLists(n *node, v *view, from, to int, first, rest byte, shift int) {
	if from == to {
		return
	}
	before := v.start(from)
	begin := before
	run := 0 // elements of lists that are not empty
	for i := from; i < to; i++ {
		end := v.start(i + 1)
		count := end - before
		before = end
		l.rep.add(first, 1)
		if count > 0 {
			run += count
			l.rep.add(n.rep, count-1)
		} else {
			l.def.add(l.maxDef, run)
			l.def.add(n.def, 1)
			l.entries += run + 1
			run = 0
		}
		first = rest
	}
	l.def.add(l.maxDef, run)
	l.entries += run
	l.values(begin+shift, before+shift)
}

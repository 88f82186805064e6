package encode

import (
	"encoding/binary"

	"github.com/apache/arrow/go/v15/arrow/bitutil"
)

// Levels are those of the Dremel paper as the format's documentation has them: the definition level of an entry counts
// the optional and repeated nodes on its path that are there, the repetition level says at which list it goes on. They
// are added in runs, as they come out of bitmaps and offsets.
//
// The general way is nodes, present and missing, which call each other from node to node for any nesting. Two shapes are
// most of what is written, and have a way without a call for each value: nullable texts of a column (nullableTexts), and
// lists of a column whose elements are never null (denseLists). Both add the same levels as the general way.

// shred adds levels and values of the rows from:to.
func (l *leaf) shred(from, to int) error {
	return l.nodes(0, from, to, 0, 0)
}

// nodes adds the values from:to of the node at depth, counted as its parent counts. The first entry has the repetition
// level first, and the first entry of every further value has rest: an element of a list continues the list, but for the
// first, which continues whatever the list itself is in.
func (l *leaf) nodes(depth, from, to int, first, rest byte) error {
	n, v := &l.path[depth], &l.views[depth]
	from, to = from+v.offset, to+v.offset
	if v.valid == nil {
		return l.present(depth, from, to, first, rest)
	}
	// The fast ways write the levels 0 and 1 as constants, which holds for columns of the record alone.
	if depth == 0 && n.nullable {
		if n.kind == leafNode && l.source == sourceBytes && v.offsets != nil {
			l.nullableTexts(v, from, to)
			return nil
		}
		if shift, ok := l.dense(1); ok && n.kind == listNode {
			l.denseLists(n, v, from, to, shift)
			return nil
		}
	}
	if !n.nullable {
		// Only these values count, not all of the array: below a null, builders leave nulls in required children, and
		// such a stretch is never asked for.
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

// present adds the values from:to of a node, none of which is null. They count from the start of its buffers.
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
	if shift, ok := l.dense(depth + 1); ok && depth == 0 {
		l.denseLists(n, v, from, to, shift)
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

// dense reports whether the nodes from depth on are neither lists nor have nulls, so that each element of the list above
// is one value of the leaf. The position of an element in the leaf's buffers is greater by shift.
func (l *leaf) dense(depth int) (shift int, ok bool) {
	for i := depth; i < len(l.path); i++ {
		if l.views[i].valid != nil || l.path[i].kind == listNode {
			return 0, false
		}
		shift += l.views[i].offset
	}
	return shift, true
}

// denseLists adds lists of a column, some of which may be null, whose elements are dense.
//
// It goes on in blocks of 64 lists, each of which takes the cheapest of three ways. Smaller blocks pay the choice more
// often; in larger ones a single long list sends more of the short ones the slow way.
func (l *leaf) denseLists(n *node, v *view, from, to, shift int) {
	var defs shortDefs
	l.fillShortDefs(n, &defs)
	for from < to {
		end := min(to, from+64)
		switch {
		case v.start(from) == v.start(end):
			l.emptyLists(n, v, from, end)
		case v.offsets != nil && l.def.width <= 2 && areShort(v, from, end):
			l.shortLists(&defs, v, from, end)
			l.values(v.start(from)+shift, v.start(end)+shift)
		default:
			l.anyLists(n, v, from, end, shift)
		}
		from = end
	}
}

// emptyLists adds lists without an element, some of which may be null.
func (l *leaf) emptyLists(n *node, v *view, from, to int) {
	l.rep.add(0, to-from)
	l.entries += to - from
	for from < to {
		end, def := to, n.def
		if v.valid != nil {
			var valid bool
			if end, valid = nextRun(v.valid, from, to); !valid {
				def--
			}
		}
		l.def.add(def, end-from)
		from = end
	}
}

// anyLists adds lists one after the other.
func (l *leaf) anyLists(n *node, v *view, from, to, shift int) {
	for i := from; i < to; i++ {
		start, end := v.span(i)
		def := n.def
		if v.valid != nil && v.valid[i/8]>>(i%8)&1 == 0 {
			def, end = def-1, start // the offsets of a null may span elements, which are not part of the column
		}
		if start == end {
			l.missing(def, 1, 0, 0)
			continue
		}
		l.def.add(l.maxDef, end-start)
		l.entries += end - start
		l.rep.add(0, 1)
		l.rep.add(1, end-start-1)
		l.values(start+shift, end+shift)
	}
}

// shortList is the greatest number of elements of a list whose levels are made with the same few operations as those of
// any other, without a branch that would be mispredicted as often as lengths differ.
const shortList = 16

// shortDefs are the definition levels of a list, packed, by the number of its elements. A list without any has one level,
// its own.
type shortDefs [shortList + 1]uint64

// fillShortDefs makes the table for lists of node n. shortLists has room for levels of two bits: where they are wider,
// denseLists does not use the table.
func (l *leaf) fillShortDefs(n *node, defs *shortDefs) {
	defs[0] = uint64(n.def)
	all := uint64(0)
	for i := range shortList {
		all = all<<l.def.width | uint64(l.maxDef)
		defs[i+1] = all
	}
}

// areShort reports whether all lists are short and no null hides elements.
func areShort(v *view, from, to int) bool {
	offsets := v.offsets[from : to+1]
	long, hidden := int32(0), int32(0)
	prev := offsets[0]
	for i, o := range offsets[1:] {
		count := o - prev
		prev = o
		// Collected without a branch: a list that is too long leaves the sign bit, a null with elements their number.
		long |= shortList - count
		if v.valid != nil {
			hidden |= count & (int32(v.valid[(from+i)/8]>>((from+i)%8)&1) - 1)
		}
	}
	return long >= 0 && hidden == 0
}

// shortLists adds the levels of short lists, for which areShort holds. Their values are the caller's to add.
//
// Both kinds of levels are collected in a word each. Before a list, fewer than 32 repetition levels wait and fewer than few
// definition levels; a list adds at most 16 of each, of one bit and of two: 48 and 62 bits.
func (l *leaf) shortLists(defs *shortDefs, v *view, from, to int) {
	const few = 16 // definition levels, of two bits at most, are written at a time
	width := l.def.width
	offsets := v.offsets[from : to+1]
	allDef := defs[few]
	var rep, def uint64
	var reps, levels uint
	prev := offsets[0]
	for i, o := range offsets[1:] {
		count := uint(o-prev) & 31 // changes nothing; the compiler then knows that the shifts below are in range
		prev = o
		pattern := defs[min(count, shortList)]
		if v.valid != nil {
			pattern -= uint64(v.valid[(from+i)/8]>>((from+i)%8)&1) ^ 1 // a null has no elements here: its level is one less
		}
		entries := max(count, 1)
		l.entries += int(entries)
		rep |= (1<<entries - 2) << reps // a zero for the beginning of the list, and a one for each further element
		if reps += entries; reps >= 32 {
			l.rep.chunk(rep&(1<<32-1), 32, 0)
			rep >>= 32
			reps -= 32
		}
		def |= pattern << (levels * width)
		if levels += entries; levels >= few {
			l.def.chunk(def&(1<<(few*width)-1), few, allDef)
			def >>= few * width
			levels -= few
		}
	}
	l.rep.bits(rep, reps)
	l.def.bits(def, levels)
}

// nullableTexts adds texts of a column, some of which are null, 64 at a time where both kinds are mixed.
func (l *leaf) nullableTexts(v *view, from, to int) {
	for from < to {
		// A word of the bitmap is read where it begins at a whole byte; the rest goes by runs.
		if from%8 != 0 || from+64 > to {
			end, valid := nextRun(v.valid, from, min(to, from+64))
			l.run(valid, from, end)
			from = end
			continue
		}
		word := binary.LittleEndian.Uint64(v.valid[from/8:])
		end := from + 64
		switch {
		case word == 0:
			l.run(false, from, end)
		case word == ^uint64(0) || !l.mixedTexts(v, from, word):
			for at := from; at < end; {
				stop, valid := nextRun(v.valid, at, end)
				l.run(valid, at, stop)
				at = stop
			}
		}
		from = end
	}
}

// run adds texts of which all or none are null.
func (l *leaf) run(valid bool, from, to int) {
	l.entries += to - from
	if !valid {
		l.def.add(0, to-from)
		return
	}
	l.def.add(1, to-from)
	l.values(from, to)
}

// mixedTexts adds the 64 texts that begin at from. A bit of word is set for each that is not null. It returns false, and has
// added nothing, when a null hides bytes.
//
// Where no null has bytes, the texts of the block are one copy, and the word is the definition levels as they stand: a
// column that is a nullable leaf has the levels 0 and 1.
func (l *leaf) mixedTexts(v *view, from int, word uint64) bool {
	l.lens = int32Pool.grow(l.lens, 64)
	n := len(l.lens)
	lens := l.lens[n : n+64]
	offsets := v.offsets[from : from+65]
	k, hidden := 0, int32(0)
	prev := offsets[0]
	for i, o := range offsets[1:] {
		there := int(word >> i & 1)
		lens[k&63] = o - prev // for a null it is overwritten by the next one; the mask saves the check of bounds
		hidden |= (o - prev) & int32(there-1)
		prev = o
		k += there
	}
	if hidden != 0 {
		return false // l.lens has not become longer yet
	}
	l.lens = l.lens[:n+k]
	l.data = bytePool.appendTo(l.data, v.data[offsets[0]:offsets[64]])
	l.def.bits(word&0xffffffff, 32)
	l.def.bits(word>>32, 32)
	l.entries += 64
	return true
}

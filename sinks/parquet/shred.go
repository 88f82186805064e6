package parquet

import (
	"fmt"

	"github.com/urlmill/urlmill/sinks/internal/rowbuf"
)

// leaf is a column of the file: a leaf of the schema, with the columns that lead to it.
type leaf struct {
	name   string           // dotted path, as in the file
	path   []*rowbuf.Column // from the top-level column to the leaf itself
	maxDef int16
	maxRep int16

	// The shredded form of a range of rows: the levels of all their entries, empty where the maximum is
	// zero, and the indices of their values in the last column of path.
	def, rep []int16
	index    []int32
	// entries counts the entries of all ranges of a row group.
	entries int64
}

// leavesOf returns the leaves below the last column of path, in the order of the file.
func leavesOf(path []*rowbuf.Column) []*leaf {
	c := path[len(path)-1]
	switch c.Kind {
	case rowbuf.List:
		return leavesOf(join(path, c.Children[0]))
	case rowbuf.Struct:
		var leaves []*leaf
		for _, child := range c.Children {
			leaves = append(leaves, leavesOf(join(path, child))...)
		}
		return leaves
	}
	l := &leaf{path: path}
	for _, c := range path {
		if c.Field.Nullable {
			l.maxDef++
		}
		if c.Kind == rowbuf.List {
			l.maxDef++
			l.maxRep++
		}
	}
	return []*leaf{l}
}

func join(path []*rowbuf.Column, c *rowbuf.Column) []*rowbuf.Column {
	return append(path[:len(path):len(path)], c)
}

// values returns the column that holds the leaf's values.
func (l *leaf) values() *rowbuf.Column { return l.path[len(l.path)-1] }

// shred sets def, rep and index for the rows from:to. The levels are those of the Dremel paper as the format's
// documentation has them: the definition level of an entry counts the optional and repeated nodes on its path
// that are there, the repetition level says at which list the entry goes on.
func (l *leaf) shred(from, to int) error {
	l.def, l.rep, l.index = l.def[:0], l.rep[:0], l.index[:0]
	var err error
	if len(l.path) == 1 {
		err = l.shredFlat(from, to)
	} else {
		for row := from; row < to && err == nil; row++ {
			err = l.shredNested(0, row, 0, 0, 0)
		}
	}
	l.entries += max(int64(len(l.def)), int64(len(l.index)))
	return err
}

func (l *leaf) shredFlat(from, to int) error {
	c := l.path[0]
	for i := from; i < to; i++ {
		switch {
		case !c.Field.Nullable:
			l.index = append(l.index, int32(i))
		case c.Valid[i]:
			l.def = append(l.def, 1)
			l.index = append(l.index, int32(i))
		default:
			l.def = append(l.def, 0)
		}
	}
	return nil
}

// shredNested adds the entries of value i of the column at depth. def counts what is there above it; rep is
// the level at which its first entry repeats, and lists the number of lists above it.
func (l *leaf) shredNested(depth, i int, def, rep, lists int16) error {
	c := l.path[depth]
	switch {
	case c.Field.Nullable && !c.Valid[i]:
		l.add(def, rep)
		return nil
	case c.Field.Nullable:
		def++
	case c.Inside && !c.Valid[i]:
		return fmt.Errorf("column %s has a null at %s, and its schema says that it has none", l.name, c.Field.Name)
	}
	switch c.Kind {
	case rowbuf.Struct:
		return l.shredNested(depth+1, i, def, rep, lists)
	case rowbuf.List:
		start, end := int(c.Offsets[i]), int(c.Offsets[i+1])
		if start == end {
			l.add(def, rep)
			return nil
		}
		for j := start; j < end; j++ {
			if err := l.shredNested(depth+1, j, def+1, rep, lists+1); err != nil {
				return err
			}
			rep = lists + 1
		}
		return nil
	}
	l.add(def, rep)
	l.index = append(l.index, int32(i))
	return nil
}

// add adds an entry's levels, where the leaf has such levels.
func (l *leaf) add(def, rep int16) {
	if l.maxDef > 0 {
		l.def = append(l.def, def)
	}
	if l.maxRep > 0 {
		l.rep = append(l.rep, rep)
	}
}

package encode

// The page index (PageIndex.md): for each chunk where its pages are, and what lies between which bounds.

// Orders of the bounds of pages.
const (
	boundsUnordered  = 0
	boundsAscending  = 1
	boundsDescending = 2
)

// appendColumnIndex appends the column index of a chunk. There is none, and it returns false, when a page with values
// has no bounds.
func (l *leaf) appendColumnIndex(t *thrift) bool {
	g := &l.group
	if l.order == unordered || g.unbounded {
		return false
	}
	t.element()
	t.list(1, compactTrue, len(g.pages))
	for i := range g.pages {
		b := byte(compactTrue)
		if g.pages[i].hasValue {
			b = compactFalse
		}
		t.buf = append(t.buf, b)
	}
	t.list(2, compactBinary, len(g.pages))
	for i := range g.pages {
		t.rawBytes(g.bound(g.pages[i].lo))
	}
	t.list(3, compactBinary, len(g.pages))
	for i := range g.pages {
		t.rawBytes(g.bound(g.pages[i].hi))
	}
	t.i32(4, l.boundsOrder())
	t.list(5, compactI64, len(g.pages))
	for i := range g.pages {
		t.varint(g.pages[i].nulls)
	}
	t.end()
	return true
}

func (g *group) bound(s slice) []byte { return g.bounds[s.start:s.end] }

// boundsOrder returns whether the bounds of the pages with values rise, both of them, or fall, or neither.
func (l *leaf) boundsOrder() int32 {
	g := &l.group
	up, down := true, true
	var prev *page
	for i := range g.pages {
		p := &g.pages[i]
		if !p.hasValue {
			continue
		}
		if prev != nil {
			lo := l.compare(g.bound(prev.lo), g.bound(p.lo))
			hi := l.compare(g.bound(prev.hi), g.bound(p.hi))
			up = up && lo <= 0 && hi <= 0
			down = down && lo >= 0 && hi >= 0
		}
		prev = p
	}
	switch {
	case up:
		return boundsAscending
	case down:
		return boundsDescending
	}
	return boundsUnordered
}

// appendOffsetIndex appends the offset index of a chunk whose first data page is at pos.
func (g *group) appendOffsetIndex(t *thrift, pos int64) {
	t.element()
	t.list(1, compactStruct, len(g.pages))
	row := int64(0)
	for i := range g.pages {
		p := &g.pages[i]
		t.element()
		t.i64(1, pos+p.offset)
		t.i32(2, p.size)
		t.i64(3, row)
		t.end()
		row += int64(p.rows)
	}
	t.end()
}

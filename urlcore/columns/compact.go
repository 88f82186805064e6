package columns

import "slices"

// Compact removes the rows whose entry in keep is false, in place. len(keep) has to be Rows.
func (c *Columns) Compact(keep []bool) {
	for i := range textColumns {
		switch col := &textColumns[i]; {
		case c.want&col.mask == 0:
		case c.isDictionary(col.mask):
			c.dictionary(col.mask).compact(keep)
		default:
			col.get(c).compact(keep)
		}
	}
	if c.want&HasUsername != 0 {
		c.HasUsername.compact(keep)
	}
	if c.want&Port != 0 {
		c.Port.compact(keep)
	}
	if c.want&Params != 0 {
		c.Params.compact(keep)
	}
	rows := 0
	c.Invalid = 0
	for i, err := range c.Errors {
		if !keep[i] {
			continue
		}
		if err.Code != 0 {
			c.Invalid++
		}
		c.Errors[rows] = err
		rows++
	}
	c.Errors, c.Rows = c.Errors[:rows], rows
}

func (v *Validity) compact(keep []bool) {
	n := compactBits(v.Valid, keep)
	v.Valid, v.rows, v.Nulls = v.Valid[:(n+7)/8], n, n
	for i := range n {
		if v.IsValid(i) {
			v.Nulls--
		}
	}
}

func (b *Bits) compact(keep []bool) {
	n := compactBits(b.Bits, keep)
	b.Bits = b.Bits[:(n+7)/8]
	b.Validity.compact(keep)
}

// compactBits moves the bits of the rows that are kept to the front, clears those behind them in the last
// byte, and returns how many there are. A bit is never written before it was read.
func compactBits(bits []byte, keep []bool) int {
	n := 0
	for i, k := range keep {
		if k {
			setBit(bits, n, bits[i/8]>>(i%8)&1)
			n++
		}
	}
	for i := n; i%8 != 0; i++ {
		setBit(bits, i, 0)
	}
	return n
}

func setBit(bits []byte, i int, bit byte) {
	bits[i/8] = bits[i/8]&^(1<<(i%8)) | bit<<(i%8)
}

func (c *Ints) compact(keep []bool) {
	c.Values = compactSlice(c.Values, keep)
	c.Validity.compact(keep)
}

// compactSlice moves the values of the rows that are kept to the front.
func compactSlice[T any](values []T, keep []bool) []T {
	n := 0
	for i, v := range values {
		if keep[i] {
			values[n] = v
			n++
		}
	}
	return values[:n]
}

func (t *Text) compact(keep []bool) {
	t.Data, t.Offsets = compactValues(t.Data, t.Offsets, keep)
	t.Validity.compact(keep)
}

// compactValues moves the values of the rows that are kept to the front of data.
func compactValues(data []byte, offsets []int32, keep []bool) ([]byte, []int32) {
	n, end := 0, int32(0)
	start := offsets[0]
	for i, k := range keep {
		next := offsets[i+1]
		if k {
			end += int32(copy(data[end:], data[start:next]))
			n++
			offsets[n] = end
		}
		start = next
	}
	return data[:end], offsets[:n+1]
}

func (p *ParamLists) compact(keep []bool) {
	entries := slices.Grow(p.keepEntries[:0], p.Keys.rows)[:p.Keys.rows]
	clear(entries)
	p.keepEntries = entries
	for i, k := range keep {
		for e := p.Offsets[i]; e < p.Offsets[i+1]; e++ {
			entries[e] = k
		}
	}
	p.Keys.compact(entries)
	p.Values.compact(entries)
	n, end := 0, int32(0)
	start := p.Offsets[0]
	for i, k := range keep {
		next := p.Offsets[i+1]
		if k {
			end += next - start
			n++
			p.Offsets[n] = end
		}
		start = next
	}
	p.Offsets = p.Offsets[:n+1]
	p.Validity.compact(keep)
}

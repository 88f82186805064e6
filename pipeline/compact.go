package pipeline

// Compact removes the records whose entry in keep is false, in place, together with their faults. First and
// Next stay. len(keep) has to be Len.
func (b *Batch) Compact(keep []bool) {
	b.URLs.compact(keep)
	b.Bases.compact(keep)
	b.Records.compact(keep)
	b.Keys.compact(keep)
	b.Headers.compact(keep)
	for i := range b.Carried {
		v := &b.Carried[i]
		v.Text.compact(keep)
		v.Ints = compact(v.Ints, keep)
		v.Floats = compact(v.Floats, keep)
		v.Bools = compact(v.Bools, keep)
		v.Valid = compact(v.Valid, keep)
	}
	b.compactFaults(keep)
	b.Timestamps = compact(b.Timestamps, keep)
	b.Offsets = compact(b.Offsets, keep)
	b.Origins = compact(b.Origins, keep)
}

// compact keeps the values whose entry in keep is true; an absent column stays absent.
func compact[T any](values []T, keep []bool) []T {
	n := 0
	for i, v := range values {
		if keep[i] {
			values[n] = v
			n++
		}
	}
	return values[:n]
}

func (c *Bytes) compact(keep []bool) {
	n, start, end := 0, int32(0), int32(0)
	for i, next := range c.Ends {
		if keep[i] {
			end += int32(copy(c.Data[end:], c.Data[start:next]))
			c.Ends[n] = end
			n++
		}
		start = next
	}
	c.Data, c.Ends = c.Data[:end], c.Ends[:n]
}

func (c *NullBytes) compact(keep []bool) {
	c.Bytes.compact(keep)
	c.Valid = compact(c.Valid, keep)
}

func (h *Headers) compact(keep []bool) {
	if len(h.Ends) == 0 {
		return
	}
	entries := make([]bool, h.Keys.Len())
	n, start, end := 0, int32(0), int32(0)
	for i, next := range h.Ends {
		for e := start; e < next; e++ {
			entries[e] = keep[i]
		}
		if keep[i] {
			end += next - start
			h.Ends[n] = end
			n++
		}
		start = next
	}
	h.Ends = h.Ends[:n]
	h.Keys.compact(entries)
	h.Values.compact(entries)
}

func (b *Batch) compactFaults(keep []bool) {
	n, row, kept := 0, int32(0), int32(0) // kept counts the rows before row that are kept
	for _, f := range b.Faults {
		for ; row < f.Row; row++ {
			if keep[row] {
				kept++
			}
		}
		if keep[f.Row] {
			f.Row = kept
			b.Faults[n] = f
			n++
		}
	}
	b.Faults = b.Faults[:n]
}

package recordbatch

// Record is one record. Its bytes belong to the [Reader] that returned it and are valid until the reader's next
// batch, that is until the next call of Next or Reset.
type Record struct {
	Offset    int64
	Timestamp int64  // milliseconds since 1970 UTC, -1 for none
	Key       []byte // nil for null
	Value     []byte // nil for null

	headers    []byte // well-formed
	numHeaders int
}

// NumHeaders returns the number of headers.
func (r *Record) NumHeaders() int { return r.numHeaders }

// Headers returns a reader of the record's headers, valid as long as the record.
func (r *Record) Headers() Headers { return Headers{rest: r.headers, left: r.numHeaders} }

// Headers reads the headers of one record.
type Headers struct {
	Key   []byte
	Value []byte // nil for null

	rest []byte
	left int
}

// Next sets Key and Value to those of the next header, and returns false if there is none.
func (h *Headers) Next() bool {
	if h.left == 0 {
		return false
	}
	c := cursor{b: h.rest}
	h.Key, h.Value = c.bytes(), c.bytes()
	h.rest = c.b
	h.left--
	return true
}

// cursor takes fields off the front of b. The first that is not there sets bad, and all fields after it are
// zero.
type cursor struct {
	b   []byte
	bad bool
}

// varint takes a zigzag variable-length integer.
func (c *cursor) varint() int64 {
	if len(c.b) > 0 && c.b[0] < 0x80 {
		u := c.b[0]
		c.b = c.b[1:]
		return int64(u>>1) ^ -int64(u&1)
	}
	return c.longVarint()
}

func (c *cursor) longVarint() int64 {
	var u uint64
	for i, v := range c.b {
		if i == 10 || i == 9 && v > 1 {
			break // more than 64 bits
		}
		u |= uint64(v&0x7f) << (7 * i)
		if v < 0x80 {
			c.b = c.b[i+1:]
			return int64(u>>1) ^ -int64(u&1)
		}
	}
	c.fail()
	return 0
}

// bytes takes a byte string with its length before it, nil if the length is negative.
func (c *cursor) bytes() []byte {
	n := c.varint()
	if n < 0 || c.bad {
		return nil
	}
	if n > int64(len(c.b)) {
		c.fail()
		return nil
	}
	v := c.b[:n:n]
	c.b = c.b[n:]
	return v
}

func (c *cursor) fail() { c.b, c.bad = nil, true }

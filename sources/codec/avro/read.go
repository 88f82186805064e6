package avro

import (
	"encoding/binary"
	"math"

	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/schema"
)

// reader implements [schema.Compiled] and [schema.Reader].
type reader struct{ root *node }

// Reader implements [schema.Compiled].
func (r *reader) Reader([]byte) (schema.Reader, int, bool) { return r, 0, true }

// Read implements [schema.Reader].
func (r *reader) Read(payload []byte, values []schema.Value) (at int, ok bool) {
	s := scanner{data: payload, values: values}
	if !s.value(r.root, 0) {
		return s.pos, false
	}
	return s.pos, s.pos == len(payload)
}

// scanner goes over a record once.
type scanner struct {
	data   []byte
	pos    int // next byte; that of what is malformed after a method has returned false
	values []schema.Value
	most   int // bytes of JSON
}

// long reads a number.
//
// Source: https://avro.apache.org/docs/1.12.0/specification/#binary-encoding
func (s *scanner) long() (int64, bool) {
	if s.pos < len(s.data) && s.data[s.pos] < 0x80 { // most are short
		u := uint64(s.data[s.pos])
		s.pos++
		return int64(u>>1) ^ -int64(u&1), true
	}
	u, n := binary.Uvarint(s.data[s.pos:])
	if n <= 0 {
		return 0, false
	}
	s.pos += n
	return int64(u>>1) ^ -int64(u&1), true
}

// take reads n bytes.
func (s *scanner) take(n int) ([]byte, bool) {
	if n < 0 || n > len(s.data)-s.pos {
		return nil, false
	}
	b := s.data[s.pos : s.pos+n : s.pos+n]
	s.pos += n
	return b, true
}

// bytes reads a length and that many bytes.
func (s *scanner) bytes() ([]byte, bool) {
	start := s.pos
	n, ok := s.long()
	if !ok || n < 0 || n > int64(len(s.data)-s.pos) {
		s.pos = start
		return nil, false
	}
	return s.take(int(n))
}

// value reads a value and keeps what is wanted of it.
func (s *scanner) value(n *node, depth int) bool {
	switch {
	case depth > maxNesting:
		return false
	case n.op == opRecord:
		start := s.pos
		for _, child := range n.next {
			if !s.value(child, depth+1) {
				return false
			}
		}
		s.complex(n, start)
		return true
	case n.op == opUnion:
		start := s.pos
		branch, ok := s.long()
		if !ok || branch < 0 || branch >= int64(len(n.next)) {
			s.pos = start
			return false
		}
		return s.value(n.next[branch], depth+1)
	case n.op == opArray || n.op == opMap:
		start := s.pos
		ok := s.blocks(n, depth)
		s.complex(n, start)
		return ok
	case len(n.slots) == 0:
		return s.skip(n)
	default:
		var v schema.Value
		ok := s.scalar(n, &v)
		for _, slot := range n.slots {
			s.values[slot] = v
		}
		return ok
	}
}

// complex keeps a value that only JSON can show, which began at start.
func (s *scanner) complex(n *node, start int) {
	for _, slot := range n.slots {
		s.values[slot] = schema.Value{Kind: schema.Complex, At: start, Data: s.data[start:s.pos], Node: n}
	}
}

// skip reads a scalar that nobody wants.
func (s *scanner) skip(n *node) (ok bool) {
	switch n.op {
	case opNull:
		return true
	case opBool:
		if s.pos == len(s.data) || s.data[s.pos] > 1 {
			return false
		}
		s.pos++
		return true
	case opInt:
		_, ok = s.long()
	case opEnum:
		start := s.pos
		var i int64
		if i, ok = s.long(); ok && (i < 0 || i >= int64(len(n.symbols))) {
			s.pos, ok = start, false
		}
	case opFloat:
		_, ok = s.take(4)
	case opDouble:
		_, ok = s.take(8)
	case opFixed:
		_, ok = s.take(n.size)
	default:
		_, ok = s.bytes()
	}
	return ok
}

// maxDecimal bounds how many bytes are taken for a number.
const maxDecimal = 128

// scalar reads a scalar.
func (s *scanner) scalar(n *node, v *schema.Value) bool {
	start := s.pos
	v.At = start
	switch n.op {
	case opNull:
		v.Kind = schema.Null
		return true
	case opInt:
		number, ok := s.long()
		v.Kind, v.Num = schema.Int, number
		return ok && n.time(v)
	case opString:
		data, ok := s.bytes()
		v.Kind, v.Data = schema.Text, data
		return ok
	case opBytes, opFixed:
		var ok bool
		if n.op == opFixed {
			v.Data, ok = s.take(n.size)
		} else {
			v.Data, ok = s.bytes()
		}
		v.Kind = schema.Bytes
		if n.logical == decimal && len(v.Data) <= maxDecimal {
			v.Kind, v.Scale = schema.Decimal, n.scale
		} else if n.logical == uuid {
			v.Kind = schema.UUID
		}
		return ok
	case opFloat:
		data, ok := s.take(4)
		if ok {
			v.Kind, v.Float = schema.Float, float64(math.Float32frombits(binary.LittleEndian.Uint32(data)))
		}
		return ok
	case opDouble:
		data, ok := s.take(8)
		if ok {
			v.Kind, v.Float = schema.Float, math.Float64frombits(binary.LittleEndian.Uint64(data))
		}
		return ok
	case opBool:
		if !s.skip(n) {
			return false
		}
		v.Kind, v.Num = schema.Bool, int64(s.data[start])
		return true
	default: // an enum
		if !s.skip(n) {
			return false
		}
		s.pos = start
		v.Num, _ = s.long()
		v.Kind, v.Symbol = schema.Enum, n.symbols[v.Num]
		return true
	}
}

// time makes a number what it means. It returns false for a time that microseconds cannot say.
func (n *node) time(v *schema.Value) (ok bool) {
	switch n.logical {
	case date:
		v.Kind = schema.Date
	case clockMillis:
		v.Kind, v.Num = schema.Clock, v.Num*1000
	case clockMicros:
		v.Kind = schema.Clock
	case instantMillis:
		v.Kind = schema.Instant
		v.Num, ok = schema.Micros(v.Num, codec.EpochMillis)
		return ok
	case instantMicros:
		v.Kind = schema.Instant
	case instantNanos:
		v.Kind = schema.Instant
		v.Num, _ = schema.Micros(v.Num, codec.EpochNanos)
	}
	return true
}

// block reads the start of a block of an array or a map: the number of its items and, where the writer has told it, that
// of its bytes, else -1.
func (s *scanner) block() (count, size int64, ok bool) {
	start := s.pos
	size = -1
	if count, ok = s.long(); ok && count < 0 {
		if size, ok = s.long(); ok {
			count = -count
			ok = count > 0 && size >= 0 && size <= int64(len(s.data)-s.pos)
		}
	}
	if !ok {
		s.pos = start
	}
	return count, size, ok
}

// maxEmpty bounds the number of items that take no bytes, of which a few bytes could else say that there are any number.
const maxEmpty = 1024

// blocks reads an array or a map.
func (s *scanner) blocks(n *node, depth int) bool {
	item := n.next[0]
	for index := int64(0); ; {
		at := s.pos
		count, size, ok := s.block()
		if !ok || n.op == opArray && item.empty && count > maxEmpty-index {
			s.pos = at
			return false
		}
		if count == 0 {
			return true
		}
		if size >= 0 && len(n.within) == 0 {
			s.pos += int(size)
			continue
		}
		for range count {
			if !s.item(n, index, depth) {
				return false
			}
			index++
		}
	}
}

// item reads an item of an array, or a key of a map with its value.
func (s *scanner) item(n *node, index int64, depth int) bool {
	item := n.next[0]
	if n.op == opMap {
		key, ok := s.bytes()
		if !ok {
			return false
		}
		for i := range n.picks {
			if p := &n.picks[i]; p.key == string(key) {
				for _, slot := range p.node.within { // of a key that was there before
					s.values[slot] = schema.Value{}
				}
				item = p.node
			}
		}
		return s.value(item, depth+1)
	}
	for i := range n.picks {
		if p := &n.picks[i]; int64(p.index) == index {
			item = p.node
		}
	}
	return s.value(item, depth+1)
}

// AppendJSON implements [schema.Reader]: records and maps are objects, arrays are arrays, of a union it is the branch.
func (r *reader) AppendJSON(dst []byte, v *schema.Value, room int) ([]byte, bool) {
	s := scanner{data: v.Data, most: len(dst) + room}
	dst = s.json(dst, v.Node.(*node))
	return dst, len(dst) <= s.most
}

// json appends the next value, which has been read before. It ends early when dst is longer than s.most, which it makes
// negative where a value does not fit.
func (s *scanner) json(dst []byte, n *node) []byte {
	switch n.op {
	case opRecord:
		dst = append(dst, '{')
		for i, child := range n.next {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(schema.AppendString(dst, n.names[i]), ':')
			if dst = s.json(dst, child); len(dst) > s.most {
				return dst
			}
		}
		return append(dst, '}')
	case opUnion:
		branch, _ := s.long()
		return s.json(dst, n.next[branch])
	case opArray, opMap:
		brackets := [...]byte{'[', ']'}
		if n.op == opMap {
			brackets = [...]byte{'{', '}'}
		}
		dst = append(dst, brackets[0])
		for first := true; ; {
			count, _, _ := s.block()
			if count == 0 {
				return append(dst, brackets[1])
			}
			for range count {
				if !first {
					dst = append(dst, ',')
				}
				first = false
				if n.op == opMap {
					key, _ := s.bytes()
					dst = append(schema.AppendString(dst, key), ':')
				}
				if dst = s.json(dst, n.next[0]); len(dst) > s.most {
					return dst
				}
			}
		}
	default:
		var v schema.Value
		s.scalar(n, &v)
		if !v.Fits(s.most - len(dst)) {
			s.most = -1
			return dst
		}
		return v.AppendJSON(dst)
	}
}

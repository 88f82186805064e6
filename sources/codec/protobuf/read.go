package protobuf

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/schema"
)

// reader implements [schema.Reader].
type reader struct {
	desc     protoreflect.MessageDescriptor
	pointers [][]string
	root     *message
	whole    []int // values that are all of the record
	counters int
}

// Read implements [schema.Reader].
func (r *reader) Read(payload []byte, values []schema.Value) (at int, ok bool) {
	s := scanner{data: payload, end: len(payload), values: values}
	if r.counters > len(s.counts) {
		s.more = make([]int64, r.counters)
	}
	for _, slot := range r.whole {
		values[slot] = s.complex(slot, 0)
	}
	ok = s.message(r.root, 0)
	return s.pos, ok
}

// scanner goes over a record once.
type scanner struct {
	data     []byte
	pos, end int // the next byte, and where the message ends; pos is where the record is malformed after a method returned false
	values   []schema.Value
	counts   [16]int64 // elements of lists so far
	more     []int64   // the same where there are more of them
}

// maxNesting bounds how deep messages are read.
const maxNesting = 100

// complex returns a value that only JSON can show.
func (s *scanner) complex(slot, at int) schema.Value {
	return schema.Value{Kind: schema.Complex, At: at, Num: int64(slot), Data: s.data}
}

// varint reads a number.
func (s *scanner) varint() (uint64, bool) {
	if s.pos < s.end && s.data[s.pos] < 0x80 { // most are short
		s.pos++
		return uint64(s.data[s.pos-1]), true
	}
	u, n := binary.Uvarint(s.data[s.pos:s.end])
	if n <= 0 {
		return 0, false
	}
	s.pos += n
	return u, true
}

// size reads a length, of bytes that are there.
func (s *scanner) size() (int, bool) {
	start := s.pos
	n, ok := s.varint()
	if !ok || n > uint64(s.end-s.pos) {
		s.pos = start
		return 0, false
	}
	return int(n), true
}

// message reads the fields up to s.end.
//
// Source: https://protobuf.dev/programming-guides/encoding/
func (s *scanner) message(m *message, depth int) bool {
	if depth > maxNesting {
		return false
	}
	for _, d := range m.defaults {
		if s.values[d.slot].Kind == schema.Missing {
			s.values[d.slot] = d.value
			s.values[d.slot].At = s.pos
		}
	}
	for s.pos < s.end {
		start := s.pos
		tag, ok := s.varint()
		number, wire := protowire.Number(tag>>3), protowire.Type(tag&7)
		if !ok || tag>>3 < 1 || tag>>3 > uint64(protowire.MaxValidNumber) || wire == protowire.EndGroupType {
			s.pos = start
			return false
		}
		if f := m.find(number); f != nil {
			ok = s.field(f, wire, depth)
		} else {
			ok = s.skip(number, wire)
		}
		if !ok {
			return false
		}
	}
	return true
}

// find returns the field with that number, nil where nothing is wanted of it.
func (m *message) find(number protowire.Number) *field {
	if number < maxDense {
		if int(number) < len(m.byNumber) {
			return m.byNumber[number]
		}
		return nil
	}
	for _, f := range m.fields {
		if f.number == number {
			return f
		}
	}
	return nil
}

// skip reads over a value.
func (s *scanner) skip(number protowire.Number, wire protowire.Type) bool {
	switch wire {
	case protowire.VarintType:
		_, ok := s.varint()
		return ok
	case protowire.BytesType:
		n, ok := s.size()
		s.pos += n
		return ok
	default:
		n := protowire.ConsumeFieldValue(number, wire, s.data[s.pos:s.end])
		if n < 0 {
			return false
		}
		s.pos += n
		return true
	}
}

// field reads the value of a field of which something is wanted. One of another wire type than the field's is none of it.
func (s *scanner) field(f *field, wire protowire.Type, depth int) bool {
	expected := f.wire
	packed := f.repeated && wire == protowire.BytesType && expected != protowire.BytesType && expected != protowire.StartGroupType
	if wire != expected && !packed {
		return s.skip(f.number, wire)
	}
	for _, slot := range f.others {
		s.values[slot] = schema.Value{}
	}
	if f.repeated || f.keyed {
		for _, slot := range f.slots {
			s.values[slot] = s.complex(slot, s.pos)
		}
	}
	switch {
	case packed:
		n, ok := s.size()
		if !ok {
			return false
		}
		outer := s.end
		s.end = s.pos + n
		for s.pos < s.end {
			if !s.element(f, expected, depth) {
				return false
			}
		}
		s.end = outer
		return true
	case f.repeated:
		return s.element(f, wire, depth)
	case f.keyed:
		return s.entry(f, depth)
	default:
		return s.value(f, wire, depth)
	}
}

// element reads an element of a list.
func (s *scanner) element(f *field, wire protowire.Type, depth int) bool {
	counts := s.more
	if counts == nil {
		counts = s.counts[:]
	}
	index := counts[f.counter]
	counts[f.counter]++
	for i := range f.picks {
		if p := &f.picks[i]; p.index == index {
			return s.value(p.field, wire, depth)
		}
	}
	return s.skip(f.number, wire)
}

// entry reads an entry of a map: a message with the key as field 1 and the value as field 2.
func (s *scanner) entry(f *field, depth int) bool {
	n, ok := s.size()
	if !ok {
		return false
	}
	outer := s.end
	s.end = s.pos + n
	start := s.pos
	keys, values := f.parts[0], f.parts[1]
	key := keys.initial()
	valueAt := -1 // the last value counts
	for s.pos < s.end {
		tag, ok := s.varint()
		if !ok || tag>>3 < 1 || tag>>3 > uint64(protowire.MaxValidNumber) {
			return false
		}
		number, wire := protowire.Number(tag>>3), protowire.Type(tag&7)
		if number == 1 && wire == keys.wire {
			if !s.scalar(keys, &key) {
				return false
			}
			continue
		}
		if number == 2 && wire == values.wire {
			valueAt = s.pos
		}
		if !s.skip(number, wire) {
			return false
		}
	}
	end := s.pos
	for i := range f.picks {
		if p := &f.picks[i]; matches(&key, p.key) {
			for _, slot := range p.field.within {
				s.values[slot] = schema.Value{} // of an entry with the same key
			}
			if !s.entryValue(p.field, start, valueAt, depth) {
				return false
			}
		}
	}
	s.pos, s.end = end, outer
	return true
}

// entryValue reads the value of an entry at valueAt, the default where that is negative.
func (s *scanner) entryValue(f *field, start, valueAt, depth int) bool {
	if valueAt >= 0 {
		s.pos = valueAt
		return s.value(f, f.wire, depth)
	}
	if f.desc.Message() == nil {
		for _, slot := range f.slots {
			s.values[slot] = f.initial()
			s.values[slot].At = start
		}
	}
	return true
}

// matches reports whether a key of a map is written so.
func matches(key *schema.Value, text string) bool {
	if key.Kind == schema.Text {
		return string(key.Data) == text
	}
	var buf [24]byte
	return string(key.AppendJSON(buf[:0])) == text
}

// value reads a single value.
func (s *scanner) value(f *field, wire protowire.Type, depth int) bool {
	if f.inner == nil {
		var v schema.Value
		ok := s.scalar(f, &v)
		for _, slot := range f.slots {
			s.values[slot] = v
		}
		return ok
	}
	start := s.pos
	outer := s.end
	var after int
	if wire == protowire.StartGroupType {
		content, n := protowire.ConsumeGroup(f.number, s.data[s.pos:s.end])
		if n < 0 {
			return false
		}
		s.end, after = s.pos+len(content), s.pos+n
	} else {
		n, ok := s.size()
		if !ok {
			return false
		}
		s.end, after = s.pos+n, s.pos+n
	}
	if len(f.slots) > 0 && !s.whole(f, start) {
		return false
	}
	if !s.message(f.inner, depth+1) {
		return false
	}
	s.pos, s.end = after, outer
	return true
}

// whole keeps a message as a value.
func (s *scanner) whole(f *field, start int) bool {
	var v schema.Value
	if f.special == none {
		for _, slot := range f.slots {
			s.values[slot] = s.complex(slot, start)
		}
		return true
	}
	v, ok := readSpecial(f, s.data[s.pos:s.end])
	v.At = start
	for _, slot := range f.slots {
		s.values[slot] = v
	}
	return ok
}

// scalar reads a value that is no message.
func (s *scanner) scalar(f *field, v *schema.Value) bool {
	v.At = s.pos
	switch f.wire {
	case protowire.BytesType:
		n, ok := s.size()
		if !ok {
			return false
		}
		v.Kind, v.Data = schema.Text, s.data[s.pos:s.pos+n:s.pos+n]
		if f.kind == protoreflect.BytesKind {
			v.Kind = schema.Bytes
		}
		s.pos += n
		return true
	case protowire.VarintType:
		u, ok := s.varint()
		f.number64(u, v)
		return ok
	case protowire.Fixed32Type:
		if s.end-s.pos < 4 {
			return false
		}
		f.number64(uint64(binary.LittleEndian.Uint32(s.data[s.pos:])), v)
		s.pos += 4
	default:
		if s.end-s.pos < 8 {
			return false
		}
		f.number64(binary.LittleEndian.Uint64(s.data[s.pos:]), v)
		s.pos += 8
	}
	return true
}

// number64 sets v to what the bits of u mean.
func (f *field) number64(u uint64, v *schema.Value) {
	at := v.At
	v.Kind, v.Num = schema.Int, int64(u)
	switch f.kind {
	case protoreflect.BoolKind:
		v.Kind, v.Num = schema.Bool, 0
		if u != 0 {
			v.Num = 1
		}
	case protoreflect.Sint32Kind:
		v.Num = protowire.DecodeZigZag(u & math.MaxUint32)
	case protoreflect.Sint64Kind:
		v.Num = protowire.DecodeZigZag(u)
	case protoreflect.FloatKind:
		v.Kind, v.Float = schema.Float, float64(math.Float32frombits(uint32(u)))
	case protoreflect.DoubleKind:
		v.Kind, v.Float = schema.Float, math.Float64frombits(u)
	case protoreflect.Int32Kind, protoreflect.Sfixed32Kind:
		v.Num = int64(int32(u))
	case protoreflect.Uint32Kind:
		v.Num = int64(uint32(u))
	case protoreflect.EnumKind:
		*v = f.enum(int64(int32(u)))
		v.At = at
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		if v.Num < 0 {
			v.Kind = schema.Uint
		}
	}
}

// wireType returns how a value of the field is written, alone.
func wireType(d protoreflect.FieldDescriptor) protowire.Type {
	switch d.Kind() {
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return protowire.BytesType
	case protoreflect.GroupKind:
		return protowire.StartGroupType
	case protoreflect.FloatKind, protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind:
		return protowire.Fixed32Type
	case protoreflect.DoubleKind, protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind:
		return protowire.Fixed64Type
	default:
		return protowire.VarintType
	}
}

// readSpecial reads a message that stands for something else.
func readSpecial(f *field, data []byte) (v schema.Value, ok bool) {
	var parts [3]schema.Value
	for i, part := range f.parts {
		if part != nil {
			parts[i] = part.initial()
		}
	}
	s := scanner{data: data, end: len(data)}
	for s.pos < s.end {
		tag, ok := s.varint()
		number, wire := protowire.Number(tag>>3), protowire.Type(tag&7)
		if !ok || tag>>3 < 1 || tag>>3 > uint64(protowire.MaxValidNumber) {
			return v, false
		}
		if number > 3 || f.parts[number-1] == nil || wire != f.parts[number-1].wire {
			ok = s.skip(number, wire)
		} else {
			ok = s.scalar(f.parts[number-1], &parts[number-1])
		}
		if !ok {
			return v, false
		}
	}
	switch f.special {
	case instant:
		seconds, fits := schema.Micros(parts[0].Num, codec.EpochSeconds)
		return schema.Value{Kind: schema.Instant, Num: seconds + parts[1].Num/1000}, fits
	case duration:
		return schema.Value{Kind: schema.Float, Float: float64(parts[0].Num) + float64(parts[1].Num)/1e9}, true
	case decimal:
		const maxDecimal, maxScale = 128, 1000
		scale := parts[2].Num
		return schema.Value{Kind: schema.Decimal, Data: parts[0].Data, Scale: int32(scale)}, len(parts[0].Data) <= maxDecimal && scale >= 0 && scale <= maxScale
	default:
		return parts[0], true
	}
}

package encode

import "encoding/binary"

// thrift appends structures in Thrift's compact protocol
// (github.com/apache/thrift, doc/specs/thrift-compact-protocol.md) to buf. It writes what the Parquet format needs and
// checks nothing: field numbers have to rise within a structure.
type thrift struct {
	buf   []byte
	last  int16   // number of the last field of the open structure
	outer []int16 // those of the structures around it
}

// Types of the compact protocol. A boolean field has its value for a type.
const (
	compactTrue   = 1
	compactFalse  = 2
	compactI16    = 4
	compactI32    = 5
	compactI64    = 6
	compactBinary = 8
	compactList   = 9
	compactStruct = 12
)

func (t *thrift) reset(buf []byte) { t.buf, t.last, t.outer = buf, 0, t.outer[:0] }

func (t *thrift) field(id int16, typ byte) {
	if delta := id - t.last; delta > 0 && delta <= 15 {
		t.buf = append(t.buf, byte(delta)<<4|typ)
	} else {
		t.buf = append(t.buf, typ)
		t.varint(int64(id))
	}
	t.last = id
}

// varint appends a number in zigzag form.
func (t *thrift) varint(v int64) { t.buf = binary.AppendUvarint(t.buf, uint64(v<<1)^uint64(v>>63)) }

func (t *thrift) i16(id int16, v int16) {
	t.field(id, compactI16)
	t.varint(int64(v))
}

func (t *thrift) i32(id int16, v int32) {
	t.field(id, compactI32)
	t.varint(int64(v))
}

func (t *thrift) i64(id int16, v int64) {
	t.field(id, compactI64)
	t.varint(v)
}

func (t *thrift) bool(id int16, v bool) {
	if v {
		t.field(id, compactTrue)
	} else {
		t.field(id, compactFalse)
	}
}

func (t *thrift) bytes(id int16, v []byte) {
	t.field(id, compactBinary)
	t.rawBytes(v)
}

func (t *thrift) string(id int16, v string) {
	t.field(id, compactBinary)
	t.rawString(v)
}

// rawBytes appends an element of a list.
func (t *thrift) rawBytes(v []byte) {
	t.buf = binary.AppendUvarint(t.buf, uint64(len(v)))
	t.buf = append(t.buf, v...)
}

func (t *thrift) rawString(v string) {
	t.buf = binary.AppendUvarint(t.buf, uint64(len(v)))
	t.buf = append(t.buf, v...)
}

// list begins a list of n elements, which are appended after it.
func (t *thrift) list(id int16, elem byte, n int) {
	t.field(id, compactList)
	if n < 15 {
		t.buf = append(t.buf, byte(n)<<4|elem)
		return
	}
	t.buf = append(t.buf, 0xf0|elem)
	t.buf = binary.AppendUvarint(t.buf, uint64(n))
}

// begin begins a structure that is a field.
func (t *thrift) begin(id int16) {
	t.field(id, compactStruct)
	t.element()
}

// element begins a structure that is an element of a list, or the outermost.
func (t *thrift) element() {
	t.outer = append(t.outer, t.last)
	t.last = 0
}

// end ends the structure begun last.
func (t *thrift) end() {
	t.buf = append(t.buf, 0)
	t.last = t.outer[len(t.outer)-1]
	t.outer = t.outer[:len(t.outer)-1]
}

// empty is a field that is a structure without fields, as the members of unions often are.
func (t *thrift) empty(id int16) {
	t.begin(id)
	t.end()
}

package ipcread

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	flatbuffers "github.com/google/flatbuffers/go"
)

// The kinds of messages.
//
// https://github.com/apache/arrow/blob/main/format/Message.fbs
const (
	kindSchema     = 1
	kindDictionary = 2
	kindRecords    = 3
)

// typeUnion is the kind of a field that is a union.
const typeUnion = 14

// maxNesting is how deep the fields of a schema may nest.
const maxNesting = 64

// message is what the metadata of a message says.
type message struct {
	limit   int64
	body    int64
	buffers []span // of a record batch or a dictionary
	codec   int8   // -1 if the buffers are not compressed
}

// span is a buffer within a body.
type span struct{ offset, length int64 }

// table is a table of flatbuffers. Reading a field from outside the bytes panics, which parse recovers.
type table struct{ flatbuffers.Table }

// field returns the position of a field, 0 where there is none.
func (t table) field(i int) flatbuffers.UOffsetT {
	o := t.Offset(flatbuffers.VOffsetT(4 + 2*i))
	if o == 0 {
		return 0
	}
	return t.Pos + flatbuffers.UOffsetT(o)
}

// table returns a field that is a table.
func (t table) table(i int) (table, bool) {
	at := t.field(i)
	if at == 0 {
		return table{}, false
	}
	return table{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(at)}}, true
}

// vector returns the position of a vector's elements of so many bytes, and their number, which has been compared with the
// bytes that are there.
func (t table) vector(i, size int) (at flatbuffers.UOffsetT, n int, err error) {
	o := t.Offset(flatbuffers.VOffsetT(4 + 2*i))
	if o == 0 {
		return 0, 0, nil
	}
	at, n = t.Vector(flatbuffers.UOffsetT(o)), t.VectorLen(flatbuffers.UOffsetT(o))
	if n < 0 || int64(at)+int64(n)*int64(size) > int64(len(t.Bytes)) {
		return 0, 0, fmt.Errorf("%w: a list of %d in metadata of %d bytes", errMalformed, n, len(t.Bytes))
	}
	return at, n, nil
}

func (t table) int64(i int) int64 {
	if at := t.field(i); at != 0 {
		return t.GetInt64(at)
	}
	return 0
}

func (t table) byte(i int) byte {
	if at := t.field(i); at != 0 {
		return t.GetByte(at)
	}
	return 0
}

func rootOf(data []byte) table {
	return table{flatbuffers.Table{Bytes: data, Pos: flatbuffers.GetUOffsetT(data)}}
}

// parse reads the metadata of a message, and compares what it claims with its bytes.
func parse(meta []byte, limit int64) (m message, err error) {
	defer recovered(&err)
	t := rootOf(meta)
	m = message{limit: limit, codec: -1, body: t.int64(3)}
	if m.body < 0 {
		return m, fmt.Errorf("%w: a body of %d bytes", errMalformed, m.body)
	}
	if m.body > limit {
		return m, tooLarge(m.body, limit)
	}
	kind := t.byte(1)
	header, ok := t.table(2)
	if !ok {
		return m, fmt.Errorf("%w: a message without a header", errMalformed)
	}
	switch kind {
	case kindSchema:
		return m, checkSchema(header)
	case kindDictionary:
		batch, ok := header.table(1)
		if !ok {
			return m, fmt.Errorf("%w: a dictionary without values", errMalformed)
		}
		return m, m.batch(batch)
	case kindRecords:
		return m, m.batch(header)
	}
	return m, fmt.Errorf("%w: a message of kind %d", errMalformed, kind)
}

// batch reads a record batch.
func (m *message) batch(t table) error {
	if n := t.int64(0); n < 0 || n > math.MaxInt32 {
		return fmt.Errorf("%w: a record batch of %d rows", errMalformed, n)
	}
	at, n, err := t.vector(1, 16)
	if err != nil {
		return err
	}
	for i := range n {
		node := at + flatbuffers.UOffsetT(16*i)
		if rows, nulls := t.GetInt64(node), t.GetInt64(node+8); rows < 0 || rows > math.MaxInt32 || nulls < 0 || nulls > rows {
			return fmt.Errorf("%w: a column of %d rows, %d of them null", errMalformed, rows, nulls)
		}
	}
	if at, n, err = t.vector(2, 16); err != nil {
		return err
	}
	m.buffers = make([]span, n)
	for i := range m.buffers {
		b := at + flatbuffers.UOffsetT(16*i)
		m.buffers[i] = span{t.GetInt64(b), t.GetInt64(b + 8)}
	}
	if c, ok := t.table(3); ok {
		m.codec = 0
		if at := c.field(0); at != 0 {
			m.codec = c.GetInt8(at)
		}
	}
	at, n, err = t.vector(4, 8)
	for i := range n {
		if k := t.GetInt64(at + flatbuffers.UOffsetT(8*i)); k < 0 || k > int64(len(m.buffers)) {
			return fmt.Errorf("%w: a column of %d buffers", errMalformed, k)
		}
	}
	return err
}

// ratio is what LZ4 and zstd compress by at most.
var ratio = [2]int64{256, 1 << 16}

// checkBody compares the buffers with a body of so many bytes, of which read reads some, and what they decompress to with the
// limit.
func (m *message) checkBody(read func(p []byte, at int64) error, size int64) error {
	total := size
	for i, b := range m.buffers {
		if b.offset < 0 || b.length < 0 || b.offset > size || b.length > size-b.offset {
			return fmt.Errorf("%w: buffer %d has the bytes %d to %d of a body of %d", errMalformed, i, b.offset, b.offset+b.length, size)
		}
		n := b.length
		if m.codec >= 0 && b.length > 0 {
			if m.codec > 1 || b.length < 8 {
				return fmt.Errorf("%w: buffer %d of %d bytes, compressed as %d", errMalformed, i, b.length, m.codec)
			}
			var head [8]byte
			if err := read(head[:], b.offset); err != nil {
				return err
			}
			if n = int64(binary.LittleEndian.Uint64(head[:])); n == -1 {
				n = b.length - 8
			}
			if n < 0 || n/ratio[m.codec] > b.length {
				return fmt.Errorf("%w: buffer %d of %d bytes is said to decompress to %d", errMalformed, i, b.length, n)
			}
		}
		// Buffers may overlap, and each is copied.
		if total += n; total > m.limit {
			return tooLarge(total, m.limit)
		}
	}
	return nil
}

// checkSchema goes over all fields. Tables may be used several times in flatbuffers, so that a few bytes can be fields without
// number: what there is to see may be a small multiple of the bytes.
func checkSchema(t table) error {
	budget := 4*len(t.Bytes) + 1024
	if err := checkMetadata(t, 2, &budget); err != nil {
		return err
	}
	return checkFields(t, 1, 0, &budget)
}

// errShared is the error of metadata that says more than its bytes can.
var errShared = errors.New("it is malformed: its metadata uses the same bytes again and again")

func checkFields(t table, i, depth int, budget *int) error {
	if depth > maxNesting {
		return fmt.Errorf("%w: its columns are nested more than %d deep", errMalformed, maxNesting)
	}
	at, n, err := t.vector(i, 4)
	if err != nil {
		return err
	}
	for k := range n {
		f := table{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(at + flatbuffers.UOffsetT(4*k))}}
		*budget -= 8
		if name := f.field(0); name != 0 { // the library reads the rest of a field without a name as well
			*budget -= len(f.ByteVector(name))
		}
		if *budget < 0 {
			return errShared
		}
		if err := checkMetadata(f, 6, budget); err != nil {
			return err
		}
		if typ, ok := f.table(3); ok && f.byte(2) == typeUnion {
			if _, _, err := typ.vector(1, 4); err != nil { // the numbers of its types
				return err
			}
		}
		if err := checkFields(f, 5, depth+1, budget); err != nil {
			return err
		}
	}
	return nil
}

// checkMetadata goes over keys and values.
func checkMetadata(t table, i int, budget *int) error {
	at, n, err := t.vector(i, 4)
	if err != nil {
		return err
	}
	for k := range n {
		kv := table{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(at + flatbuffers.UOffsetT(4*k))}}
		*budget -= 8
		for text := range 2 {
			if at := kv.field(text); at != 0 {
				*budget -= len(kv.ByteVector(at))
			}
		}
		if *budget < 0 {
			return errShared
		}
	}
	return nil
}

// parseFooter reads the footer of a file: where its dictionaries and records are.
func parseFooter(data []byte, limit, size int64) (dictionaries, records []block, err error) {
	defer recovered(&err)
	t := rootOf(data)
	schema, ok := t.table(1)
	if !ok {
		return nil, nil, fmt.Errorf("%w: there is no schema", errMalformed)
	}
	if err := checkSchema(schema); err != nil {
		return nil, nil, err
	}
	if dictionaries, err = blocks(t, 2, limit, size); err != nil {
		return nil, nil, err
	}
	records, err = blocks(t, 3, limit, size)
	return dictionaries, records, err
}

func blocks(t table, i int, limit, size int64) ([]block, error) {
	at, n, err := t.vector(i, 24)
	if err != nil {
		return nil, err
	}
	all := make([]block, n)
	for k := range all {
		p := at + flatbuffers.UOffsetT(24*k)
		b := block{t.GetInt64(p), int64(t.GetInt32(p + 8)), t.GetInt64(p + 16)}
		if b.offset < 0 || b.meta < 0 || b.body < 0 || b.offset > size || b.meta > size-b.offset || b.body > size-b.offset-b.meta {
			return nil, fmt.Errorf("%w: message %d is at byte %d, of %d and %d bytes, in a file of %d",
				errMalformed, k, b.offset, b.meta, b.body, size)
		}
		if b.meta+b.body > limit {
			return nil, tooLarge(b.meta+b.body, limit)
		}
		all[k] = b
	}
	return all, nil
}

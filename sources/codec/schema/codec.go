package schema

import (
	"context"
	"encoding/binary"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// headerSize is that of the header without what Protobuf adds.
const headerSize = 5

// Header takes the header off a record. It returns false where there is none.
func Header(record []byte) (id uint32, payload []byte, ok bool) {
	if len(record) < headerSize || record[0] != 0 {
		return 0, nil, false
	}
	return binary.BigEndian.Uint32(record[1:]), record[headerSize:], true
}

// records implements [codec.Codec].
type records struct {
	*factory
	lookup
	values []Value
	fault  codec.FirstFault // of the current record
	append Appender
}

// Decode implements [codec.Codec].
func (c *records) Decode(b *pipeline.Batch, record []byte) bool {
	b.Records.Append(record)
	payload := record
	if c.framed {
		id, rest, ok := Header(record)
		if !ok {
			return c.Nulls(b, pipeline.FaultMalformed, 0)
		}
		if !c.find(id) {
			return c.Nulls(b, pipeline.FaultSchema, 1)
		}
		payload = rest
	}
	r, skip, ok := c.last.Reader(payload)
	if !ok {
		return c.Nulls(b, pipeline.FaultSchema, len(record)-len(payload))
	}
	payload = payload[skip:]
	start := len(record) - len(payload)
	clear(c.values)
	if at, ok := r.Read(payload, c.values); !ok {
		return c.Nulls(b, pipeline.FaultMalformed, start+at)
	}
	c.row(b, start, r)
	return true
}

// row adds the values, whose positions begin at start.
func (c *records) row(b *pipeline.Batch, start int, r Reader) {
	c.fault.Reset()
	values := c.values
	c.appendURL(&b.URLs, &values[0], start)
	if !b.URLs.Valid[len(b.URLs.Valid)-1] {
		c.fault.Note(pipeline.FaultFieldMissing, -1)
	}
	values = values[1:]
	if c.HasBase() {
		c.appendURL(&b.Bases, &values[0], start)
		values = values[1:]
	}
	c.append.Begin(b.MaxBytes, len(b.Records.At(b.Records.Len()-1)))
	for i := range values {
		if code := c.append.Append(&b.Carried[i], &values[i], c.options.Carry[i].Time, r); code != 0 {
			c.fault.Note(code, int64(start+values[i].At))
		}
	}
	c.fault.AddTo(b)
	clear(c.values) // they alias the record
	c.append.Release()
}

// appendURL appends a URL; an empty one is missing, since Protobuf does not tell the two apart.
func (c *records) appendURL(dst *pipeline.NullBytes, v *Value, start int) {
	switch {
	case (v.Kind == Text || v.Kind == Bytes) && len(v.Data) > 0:
		dst.Append(v.Data)
		return
	case v.Kind > Null && v.Kind != Text && v.Kind != Bytes:
		c.fault.Note(pipeline.FaultFieldType, int64(start+v.At))
	}
	dst.AppendNull()
}

// lookup finds the schemas of records. It implements [codec.Resolver].
type lookup struct {
	known  *cache   // of a registry, nil without
	last   Compiled // the schema of the last record, or of all
	lastID uint32   // its number in the registry
}

// find sets c.last to the schema with that number.
func (c *lookup) find(id uint32) bool {
	if c.known == nil || c.last != nil && c.lastID == id {
		return true
	}
	c.look(id)
	return c.last != nil && c.lastID == id
}

// look keeps the schema with that number, if there is one, and reports whether that is known.
func (c *lookup) look(id uint32) (known bool) {
	compiled, known := c.known.get(id)
	if compiled != nil {
		c.last, c.lastID = compiled, id
	}
	return known
}

// Resolved implements [codec.Resolver]. A schema that it finds stays for Decode, whatever becomes of the cache.
func (c *lookup) Resolved(record []byte) bool {
	id, _, ok := Header(record)
	if !ok || c.known == nil || c.last != nil && c.lastID == id {
		return true
	}
	return c.look(id)
}

// Resolve implements [codec.Resolver].
func (c *lookup) Resolve(ctx context.Context, record []byte) error {
	id, _, ok := Header(record)
	if !ok || c.known == nil {
		return nil
	}
	compiled, err := c.known.resolve(ctx, id)
	if compiled != nil {
		c.last, c.lastID = compiled, id
	}
	return err
}

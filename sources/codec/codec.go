// Package codec takes records apart: it finds the URL, its base URL and the fields to carry along in a
// message of Kafka or in a record of a file.
package codec

import "github.com/urlmill/urlmill/pipeline"

// Codec takes one kind of record apart. An implementation may keep scratch memory: every lane has its own.
type Codec interface {
	// Decode appends exactly one entry for record to URLs and, where the codec fills them, to Bases,
	// Records and every column of Carried, and a Fault when the record could not be taken apart
	// completely. It never fails: what cannot be read becomes null with a fault. It touches no other
	// column of b, and does not keep record.
	//
	// The result false says that record holds no row, such as an empty line where the options say to
	// skip those: b is then as it was, and the source goes on to the next position.
	Decode(b *pipeline.Batch, record []byte) bool
	// DecodeNull does the same for a record without a value, a tombstone: its URL is null and its fault
	// is FaultNull. It always adds a row.
	DecodeNull(b *pipeline.Batch)
	// Prepare makes b ready for this codec: it sets the fields of Carried and adds no rows. It costs next
	// to nothing on a batch that is ready already, so that sources call it after every Reset.
	Prepare(b *pipeline.Batch)
}

// Factory describes a configured codec and makes one instance of it for every lane.
type Factory interface {
	New() Codec
	// Fields lists the carried fields in their order in Batch.Carried.
	Fields() []pipeline.Field
	// HasBase reports whether the codec fills Batch.Bases.
	HasBase() bool
	// KeepsRecords reports whether the codec fills Batch.Records, because the record is more than its URL.
	KeepsRecords() bool
}

// DecodeCorrupt adds the row of bytes that could not be read as records: that of a null, with the bytes in the place of the record,
// or of the URL where records are not kept, and FaultCorrupt.
func DecodeCorrupt(c Codec, b *pipeline.Batch, entry []byte) {
	c.DecodeNull(b)
	row := b.URLs.Len() - 1
	column := &b.URLs
	if b.Records.Len() > 0 {
		column = &b.Records
	}
	column.Data = append(column.Data, entry...)
	column.Ends[row], column.Valid[row] = int32(len(column.Data)), true
	if n := len(b.Faults); n > 0 && int(b.Faults[n-1].Row) == row {
		b.Faults = b.Faults[:n-1] // the codec's own for a null; a row has one fault
	}
	addFault(b, pipeline.Fault{Code: pipeline.FaultCorrupt, Pos: -1})
}

// DecodeCut decodes the start of a record that was longer than the source's limit and was cut there. The row is
// always there, and its fault is FaultTooLarge at the position of the cut: what the codec itself found wrong
// with it may be but a consequence of the cut.
func DecodeCut(c Codec, b *pipeline.Batch, record []byte) {
	if !c.Decode(b, record) {
		c.DecodeNull(b)
	}
	if n := len(b.Faults); n > 0 && int(b.Faults[n-1].Row) == b.URLs.Len()-1 {
		b.Faults = b.Faults[:n-1]
	}
	addFault(b, pipeline.Fault{Code: pipeline.FaultTooLarge, Pos: int64(len(record))})
}

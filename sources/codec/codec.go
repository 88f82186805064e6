// Package codec takes records apart: it finds the URL, its base URL and the fields to carry along in a Kafka
// message value or in a line of a file.
package codec

import "github.com/urlmill/urlmill/pipeline"

// Codec takes one kind of record apart. An implementation may keep scratch memory: every lane has its own.
type Codec interface {
	// Decode appends exactly one entry for record to URLs and, where the codec fills them, to Bases,
	// Records and every column of Carried, and a Fault when the record could not be taken apart
	// completely. It never fails: what cannot be read becomes null with a fault. It touches no other
	// column of b, and does not keep record.
	Decode(b *pipeline.Batch, record []byte)
	// DecodeNull does the same for a record without a value, a tombstone: its URL is null and its fault
	// is FaultNull.
	DecodeNull(b *pipeline.Batch)
	// Prepare makes b ready for this codec: it sets the fields of Carried and adds no rows.
	Prepare(b *pipeline.Batch)
}

// Factory describes a configured codec and makes one instance of it for every lane.
type Factory interface {
	New() Codec
	// Fields lists the carried fields in their order in Batch.Carried.
	Fields() []pipeline.Field
	// HasBase tells whether the codec fills Batch.Bases.
	HasBase() bool
	// KeepsRecords tells whether the codec fills Batch.Records, because the record is more than its URL.
	KeepsRecords() bool
}

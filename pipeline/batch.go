package pipeline

import "math"

// Bytes is a column of byte strings, back to back: value i is Data[Ends[i-1]:Ends[i]].
type Bytes struct {
	Data []byte
	Ends []int32
}

// Len returns the number of values.
func (c *Bytes) Len() int { return len(c.Ends) }

// At returns value i, which aliases c.Data and is valid until c changes.
func (c *Bytes) At(i int) []byte {
	start := int32(0)
	if i > 0 {
		start = c.Ends[i-1]
	}
	end := c.Ends[i]
	return c.Data[start:end:end]
}

// Append adds a copy of v. The column never holds more than [MaxBatchBytes] bytes: sources end a batch before
// that.
func (c *Bytes) Append(v []byte) {
	c.Data = append(c.Data, v...)
	c.Ends = append(c.Ends, int32(len(c.Data)))
}

// End closes the value whose bytes the caller has just appended to Data.
func (c *Bytes) End() { c.Ends = append(c.Ends, int32(len(c.Data))) }

// Reset empties the column and keeps its memory.
func (c *Bytes) Reset() { c.Data, c.Ends = c.Data[:0], c.Ends[:0] }

func (c *Bytes) memory() int { return cap(c.Data) + 4*cap(c.Ends) }

// NullBytes is a column of byte strings that may be null. A null value has no bytes.
type NullBytes struct {
	Bytes
	Valid []bool
}

// Append adds a copy of v.
func (c *NullBytes) Append(v []byte) {
	c.Bytes.Append(v)
	c.Valid = append(c.Valid, true)
}

func (c *NullBytes) memory() int { return c.Bytes.memory() + cap(c.Valid) }

// AppendNull adds a null.
func (c *NullBytes) AppendNull() {
	c.End()
	c.Valid = append(c.Valid, false)
}

// Reset empties the column and keeps its memory.
func (c *NullBytes) Reset() {
	c.Bytes.Reset()
	c.Valid = c.Valid[:0]
}

// Headers is a column of lists of key and value: row i has the entries Ends[i-1]:Ends[i] of Keys and Values.
type Headers struct {
	Keys   Bytes
	Values NullBytes
	Ends   []int32
}

// EndRow closes the list of the row whose entries the caller has just appended to Keys and Values.
func (h *Headers) EndRow() { h.Ends = append(h.Ends, int32(h.Keys.Len())) }

// Reset empties the column and keeps its memory.
func (h *Headers) Reset() {
	h.Keys.Reset()
	h.Values.Reset()
	h.Ends = h.Ends[:0]
}

// FieldType is the type of a carried field.
type FieldType uint8

const (
	String    FieldType = iota // String is UTF-8 text.
	Int64                      // Int64 is a signed 64-bit integer.
	Float64                    // Float64 is an IEEE 754 double.
	Bool                       // Bool is true or false.
	Timestamp                  // Timestamp is in microseconds since 1970 UTC.
	JSON                       // JSON is the text of any JSON value, as it stood in the record.
)

var fieldTypeNames = [...]string{"string", "int64", "float64", "bool", "timestamp", "json"}

// String returns the name that a configuration has for the type.
func (t FieldType) String() string {
	if int(t) < len(fieldTypeNames) {
		return fieldTypeNames[t]
	}
	return "unknown"
}

// FieldTypes returns all types, JSON as the last. The caller owns the slice.
func FieldTypes() []FieldType { return []FieldType{String, Int64, Float64, Bool, Timestamp, JSON} }

// Field describes a carried field: a part of the input record that goes along with its URL.
type Field struct {
	Name string
	Type FieldType
}

// Values is the column of a carried field. Valid has one entry a row, and of the others the one that
// fits the type has: Text for String and JSON, Ints for Int64 and Timestamp, Floats, Bools.
// A null has a zero value there.
type Values struct {
	Field  Field
	Valid  []bool
	Text   Bytes
	Ints   []int64
	Floats []float64
	Bools  []bool
}

// Reset empties the column and keeps its field and its memory.
func (v *Values) Reset() {
	v.Valid = v.Valid[:0]
	v.Text.Reset()
	v.Ints, v.Floats, v.Bools = v.Ints[:0], v.Floats[:0], v.Bools[:0]
}

// AppendNull adds a null.
func (v *Values) AppendNull() {
	v.Valid = append(v.Valid, false)
	switch v.Field.Type {
	case String, JSON:
		v.Text.End()
	case Int64, Timestamp:
		v.Ints = append(v.Ints, 0)
	case Float64:
		v.Floats = append(v.Floats, 0)
	case Bool:
		v.Bools = append(v.Bools, false)
	}
}

// FaultCode says why a record could not be decoded. Its names are stable; they stand in the column
// url_error.
type FaultCode uint8

const (
	FaultMalformed    FaultCode = iota + 1 // FaultMalformed: the record is not in the codec's format.
	FaultFieldMissing                      // FaultFieldMissing: the record has no URL field.
	FaultFieldType                         // FaultFieldType: the URL or its base is no text.
	FaultNull                              // FaultNull: the record has no value, a tombstone.
	FaultTooLarge                          // FaultTooLarge: the record is longer than the limit and was cut there, or is too long as JSON.
	FaultCorrupt                           // FaultCorrupt: the source could not read the record, or several; the row has the bytes as received.
	FaultSchema                            // FaultSchema: the schema of the record is not known, or not one that the codec can use.
	FaultCarried                           // FaultCarried: a carried field is not of its type, and is null. The URL is there.
	numFaults
)

var faultNames = [numFaults]string{"", "record-malformed", "record-field-missing", "record-field-type", "record-null", "record-too-large", "record-corrupt", "record-schema", "field-type"}

func (c FaultCode) String() string { return faultNames[c] }

// Fault is the error of a record that its codec could not decode completely.
type Fault struct {
	Row   int32
	Code  FaultCode
	Field uint16 // index in Batch.Carried, for FaultCarried
	Pos   int64  // byte position in the record, -1 when there is none
}

// MaxBatchBytes bounds the bytes of any one column of a batch, so that 32-bit ends suffice.
//
// What is made of a column is larger: ill-formed bytes become three as text, and nine in a serialized URL, which is 64 MiB long at
// most. The greatest batch_bytes, 64 MiB, and a record of the greatest max_record_bytes, 128 MiB, leave room for that; and
// the greatest batch_rows for as many names of files of 4 KiB.
const MaxBatchBytes = math.MaxInt32

// Batch is a run of records of one lane, column by column. A source fills it in Lane.Next; it is valid until
// the next Next with the same batch, and its memory is reused. Every column has either one entry a record or,
// where the source does not have such a thing, none at all.
type Batch struct {
	// MaxRows and MaxBytes (of any column, and of URLs with their bases) bound what Next fills in.
	// One record may go beyond MaxBytes, so that a record larger than it gets through. Set by the caller.
	MaxRows, MaxBytes int

	// Lane is where the records came from.
	Lane LaneID
	// First and Next are the span of positions covered; Next is where reading goes on. Positions may
	// have holes.
	First, Next int64
	// Of is the identity of what the positions are of, as in [Mark]; empty for a source without.
	Of string

	// Origin is the lane that the records were in before they became dead letters, and Origins their positions there, in a batch that
	// has them again. Of a lane that reads one file after the other it is the file, in the session of the lane, and the number in it. Columns that say where a record comes from have these instead of Lane and Offsets; Origins is empty elsewhere.
	Origin  LaneID
	Origins []int64

	// URLs holds the URL text of every record as it was read, null for a record that has none.
	URLs NullBytes
	// Bases holds the base URL of every record; empty for a source without.
	Bases NullBytes
	// Records holds every record as received, null for a tombstone; empty where the record is the URL.
	Records NullBytes

	Offsets    []int64   // position of every record
	Timestamps []int64   // microseconds since 1970 UTC; empty for a source without
	Keys       NullBytes // Kafka message keys; empty for a source without
	Headers    Headers   // Kafka message headers; Ends is empty for a source without
	Carried    []Values  // carried fields; their Field is set once by the source
	Faults     []Fault   // ascending by Row, at most one a row
}

// Len returns the number of records.
func (b *Batch) Len() int { return len(b.Offsets) }

// Raw returns record i as received and false for a tombstone. It aliases the batch.
func (b *Batch) Raw(i int) ([]byte, bool) {
	if b.Records.Len() > 0 {
		return b.Records.At(i), b.Records.Valid[i]
	}
	return b.URLs.At(i), b.URLs.Valid[i]
}

// size returns the bytes of the records.
func (b *Batch) size() int64 {
	if b.Records.Len() > 0 {
		return int64(len(b.Records.Data))
	}
	return int64(len(b.URLs.Data))
}

// From returns the lane that the records came from at first, and their positions in it. These alias the batch.
func (b *Batch) From() (LaneID, []int64) {
	if len(b.Origins) > 0 {
		return b.Origin, b.Origins
	}
	return b.Lane, b.Offsets
}

// Memory returns the bytes that the batch holds, used or not.
func (b *Batch) Memory() int64 {
	n := b.URLs.memory() + b.Bases.memory() + b.Records.memory() + b.Keys.memory()
	n += b.Headers.Keys.memory() + b.Headers.Values.memory() + 4*cap(b.Headers.Ends)
	n += 8*(cap(b.Offsets)+cap(b.Origins)+cap(b.Timestamps)) + 24*cap(b.Faults)
	for i := range b.Carried {
		v := &b.Carried[i]
		n += cap(v.Valid) + cap(v.Bools) + v.Text.memory() + 8*(cap(v.Ints)+cap(v.Floats))
	}
	return int64(n)
}

// Full reports whether the batch has reached MaxRows or MaxBytes.
func (b *Batch) Full() bool {
	if b.Len() >= b.MaxRows || max(len(b.Records.Data), len(b.URLs.Data)+len(b.Bases.Data), len(b.Keys.Data),
		len(b.Headers.Keys.Data), len(b.Headers.Values.Data)) >= b.MaxBytes {
		return true
	}
	for i := range b.Carried {
		if len(b.Carried[i].Text.Data) >= b.MaxBytes {
			return true
		}
	}
	return false
}

// Reset empties every column and keeps the memory, the limits, and the fields of Carried.
func (b *Batch) Reset() {
	b.First, b.Next, b.Of = 0, 0, ""
	b.URLs.Reset()
	b.Bases.Reset()
	b.Records.Reset()
	b.Offsets, b.Origins, b.Timestamps, b.Faults = b.Offsets[:0], b.Origins[:0], b.Timestamps[:0], b.Faults[:0]
	b.Keys.Reset()
	b.Headers.Reset()
	for i := range b.Carried {
		b.Carried[i].Reset()
	}
}

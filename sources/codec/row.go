package codec

import (
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/urlcore/charset"
)

// What the codecs have in common for a row: its columns, its nulls and its fault.

// Shape is what the rows of a codec have. Factories and codecs embed it for the methods that need to know no more.
type Shape struct {
	fields           []pipeline.Field
	hasBase, records bool
}

// NewShape returns the shape of rows with those carried fields, and with or without entries in Bases and Records.
func NewShape(fields []pipeline.Field, hasBase, records bool) Shape {
	return Shape{fields, hasBase, records}
}

// Fields implements [Factory].
func (s *Shape) Fields() []pipeline.Field { return s.fields }

// HasBase implements [Factory].
func (s *Shape) HasBase() bool { return s.hasBase }

// KeepsRecords implements [Factory].
func (s *Shape) KeepsRecords() bool { return s.records }

// Prepare implements [Codec].
func (s *Shape) Prepare(b *pipeline.Batch) {
	if len(b.Carried) != len(s.fields) {
		b.Carried = make([]pipeline.Values, len(s.fields))
	}
	for i, f := range s.fields {
		b.Carried[i].Field = f
	}
}

// DecodeNull implements [Codec].
func (s *Shape) DecodeNull(b *pipeline.Batch) {
	if s.records {
		b.Records.AppendNull()
	}
	s.Nulls(b, pipeline.FaultNull, -1)
}

// Nulls adds a row without anything to every column but Records, and its fault. It returns true, as Decode does for a row.
func (s *Shape) Nulls(b *pipeline.Batch, code pipeline.FaultCode, pos int) bool {
	b.URLs.AppendNull()
	if s.hasBase {
		b.Bases.AppendNull()
	}
	for i := range b.Carried {
		b.Carried[i].AppendNull()
	}
	addFault(b, pipeline.Fault{Code: code, Pos: int64(pos)})
	return true
}

// addFault sets the fault of the row that was added to URLs last.
func addFault(b *pipeline.Batch, f pipeline.Fault) {
	f.Row = int32(b.URLs.Len() - 1)
	b.Faults = append(b.Faults, f)
}

// FirstFault keeps the first fault of a record that may have several. One of a carried field gives way to any other.
type FirstFault struct {
	fault pipeline.Fault // of code 0: none
}

// Reset forgets the fault of the record before.
func (f *FirstFault) Reset() { f.fault.Code = 0 }

// Note keeps the fault unless there is one already. pos is a byte position in the record, -1 for none.
func (f *FirstFault) Note(code pipeline.FaultCode, pos int64) {
	if f.fault.Code == 0 || f.fault.Code == pipeline.FaultCarried {
		f.fault = pipeline.Fault{Code: code, Pos: pos}
	}
}

// NoteField keeps the fault of a carried field, by its index, unless there is one already.
func (f *FirstFault) NoteField(field int, pos int64) {
	if f.fault.Code == 0 {
		f.fault = pipeline.Fault{Code: pipeline.FaultCarried, Field: uint16(field), Pos: pos}
	}
}

// AddTo sets the fault, if there is one, of the row that was added to URLs last.
func (f *FirstFault) AddTo(b *pipeline.Batch) {
	if f.fault.Code != 0 {
		addFault(b, f.fault)
	}
}

// AppendScalar appends what text means to a column of any type but Bool and JSON, without its validity. It returns false,
// and appends nothing, for what is not of the type. Times are in that format.
func AppendScalar(dst *pipeline.Values, text []byte, format TimeFormat) (ok bool) {
	var n int64
	switch dst.Field.Type {
	case pipeline.Float64:
		f, ok := ParseFloat(text)
		if ok {
			dst.Floats = append(dst.Floats, f)
		}
		return ok
	case pipeline.Int64:
		n, ok = ParseInt(text)
	case pipeline.Timestamp:
		if format == RFC3339 {
			n, ok = ParseRFC3339(text)
		} else {
			n, ok = ParseEpoch(text, format)
		}
	default:
		dst.Text.Data = charset.AppendUTF8(dst.Text.Data, text)
		dst.Text.End()
		return true
	}
	if ok {
		dst.Ints = append(dst.Ints, n)
	}
	return ok
}

// TrimReturn returns record without one carriage return at its end.
func TrimReturn(record []byte) []byte {
	if n := len(record); n > 0 && record[n-1] == '\r' {
		return record[:n-1]
	}
	return record
}

package codec

import "github.com/urlmill/urlmill/pipeline"

// What the codecs have in common for a row: its columns, its nulls and its fault.

// PrepareCarried gives b the columns of the fields, as [Codec.Prepare] has to.
func PrepareCarried(b *pipeline.Batch, fields []pipeline.Field) {
	if len(b.Carried) != len(fields) {
		b.Carried = make([]pipeline.Values, len(fields))
	}
	for i, f := range fields {
		b.Carried[i].Field = f
	}
}

// AppendNulls adds a row without anything to every column but Records; to Bases only for a codec that fills them.
func AppendNulls(b *pipeline.Batch, hasBase bool) {
	b.URLs.AppendNull()
	if hasBase {
		b.Bases.AppendNull()
	}
	for i := range b.Carried {
		b.Carried[i].AppendNull()
	}
}

// AddFault sets the fault of the row that was added to URLs last. pos is a byte position in the record, -1 for none.
func AddFault(b *pipeline.Batch, code pipeline.FaultCode, pos int64) {
	b.Faults = append(b.Faults, pipeline.Fault{Row: int32(b.URLs.Len() - 1), Code: code, Pos: pos})
}

// FirstFault keeps the first fault of a record that may have several.
type FirstFault struct {
	code pipeline.FaultCode // 0: none
	pos  int64
}

// Reset forgets the fault of the record before.
func (f *FirstFault) Reset() { f.code = 0 }

// Note keeps the fault unless there is one already.
func (f *FirstFault) Note(code pipeline.FaultCode, pos int64) {
	if f.code == 0 {
		f.code, f.pos = code, pos
	}
}

// AddTo sets the fault, if there is one, of the row that was added to URLs last.
func (f *FirstFault) AddTo(b *pipeline.Batch) {
	if f.code != 0 {
		AddFault(b, f.code, f.pos)
	}
}

// AppendNumber appends text to a column of Int64 or Float64, without its validity. It returns false, and appends
// nothing, for what is no such number.
func AppendNumber(dst *pipeline.Values, text []byte) bool {
	if dst.Field.Type == pipeline.Int64 {
		n, ok := ParseInt(text)
		if ok {
			dst.Ints = append(dst.Ints, n)
		}
		return ok
	}
	n, ok := ParseFloat(text)
	if ok {
		dst.Floats = append(dst.Floats, n)
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

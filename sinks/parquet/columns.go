package parquet

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"

	"github.com/urlmill/urlmill/sinks/internal/rowbuf"
)

// scratch holds the values of a page in the form that arrow's column writers take them. They are valid until
// the next page; the bytes that they point to are the row buffer's.
type scratch struct {
	bytes  []parquet.ByteArray
	fixed  []parquet.FixedLenByteArray
	int32s []int32
	int64s []int64
	f32s   []float32
	f64s   []float64
	bools  []bool
}

// writeValues writes the shredded rows of l to cw, all in one batch.
func (s *scratch) writeValues(cw file.ColumnChunkWriter, l *leaf) error {
	c := l.values()
	// Arrow tells "no levels" from "no entries" by nil.
	def, rep := l.def, l.rep
	if l.maxDef == 0 {
		def = nil
	}
	if l.maxRep == 0 {
		rep = nil
	}
	var err error
	switch cw := cw.(type) {
	case *file.ByteArrayColumnChunkWriter:
		s.bytes = s.bytes[:0]
		for _, i := range l.index {
			s.bytes = append(s.bytes, c.Data[c.Offsets[i]:c.Offsets[i+1]])
		}
		_, err = cw.WriteBatch(orNil(s.bytes), def, rep)
	case *file.FixedLenByteArrayColumnChunkWriter:
		s.fixed = s.fixed[:0]
		for _, i := range l.index {
			s.fixed = append(s.fixed, c.Data[int(i)*c.Width:int(i+1)*c.Width])
		}
		_, err = cw.WriteBatch(orNil(s.fixed), def, rep)
	case *file.Int32ColumnChunkWriter:
		s.int32s = appendInt32s(s.int32s[:0], c, l.index)
		_, err = cw.WriteBatch(orNil(s.int32s), def, rep)
	case *file.Int64ColumnChunkWriter:
		s.int64s = appendInt64s(s.int64s[:0], c, l.index)
		_, err = cw.WriteBatch(orNil(s.int64s), def, rep)
	case *file.Float32ColumnChunkWriter:
		s.f32s = gather(s.f32s[:0], arrow.Float32Traits.CastFromBytes(c.Data), l.index)
		_, err = cw.WriteBatch(orNil(s.f32s), def, rep)
	case *file.Float64ColumnChunkWriter:
		s.f64s = gather(s.f64s[:0], arrow.Float64Traits.CastFromBytes(c.Data), l.index)
		_, err = cw.WriteBatch(orNil(s.f64s), def, rep)
	case *file.BooleanColumnChunkWriter:
		s.bools = gather(s.bools[:0], c.Bools, l.index)
		_, err = cw.WriteBatch(orNil(s.bools), def, rep)
	default:
		err = fmt.Errorf("no encoder for %T", cw)
	}
	return err
}

// orNil turns an empty slice into nil, which is how arrow is told that all entries are null.
func orNil[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}

func gather[T any](dst, values []T, index []int32) []T {
	for _, i := range index {
		dst = append(dst, values[i])
	}
	return dst
}

// appendInt32s widens integers of up to 32 bits as the format wants them: signed ones keep their value,
// unsigned ones their bits.
func appendInt32s(dst []int32, c *rowbuf.Column, index []int32) []int32 {
	switch c.Field.Type.ID() {
	case arrow.INT8:
		for _, i := range index {
			dst = append(dst, int32(int8(c.Data[i])))
		}
	case arrow.UINT8:
		for _, i := range index {
			dst = append(dst, int32(c.Data[i]))
		}
	case arrow.INT16:
		for _, i := range index {
			dst = append(dst, int32(int16(binary.NativeEndian.Uint16(c.Data[2*i:]))))
		}
	case arrow.UINT16:
		for _, i := range index {
			dst = append(dst, int32(binary.NativeEndian.Uint16(c.Data[2*i:])))
		}
	default:
		dst = gather(dst, arrow.Int32Traits.CastFromBytes(c.Data), index)
	}
	return dst
}

func appendInt64s(dst []int64, c *rowbuf.Column, index []int32) []int64 {
	dst = gather(dst, arrow.Int64Traits.CastFromBytes(c.Data), index)
	if ts, ok := c.Field.Type.(*arrow.TimestampType); ok && ts.Unit == arrow.Second {
		for i := range dst {
			dst[i] *= 1000
		}
	}
	return dst
}

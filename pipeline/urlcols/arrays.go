package urlcols

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/internal/take"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/urlcore/charset"
	"github.com/urlmill/urlmill/urlcore/columns"
)

// The arrays alias the buffers of the columns and of the batch; only offsets with a leading zero, bitmaps and
// constant columns are made anew, in scratch.

// scratch lends int32 and byte slices that live until its reset.
type scratch struct {
	ints  take.Scratch[int32]
	bytes take.Scratch[byte]
}

func (s *scratch) reset() {
	s.ints.Reset()
	s.bytes.Reset()
}

// takeInts returns a slice of length n whose contents are undefined.
func (s *scratch) takeInts(n int) []int32 { return s.ints.Take(n) }

// takeBytes returns a slice of n zero bytes.
func (s *scratch) takeBytes(n int) []byte {
	b := s.bytes.Take(n)
	clear(b)
	return b
}

// offsets puts a zero in front of ends.
func (s *scratch) offsets(ends []int32) []int32 {
	offsets := s.takeInts(len(ends) + 1)
	offsets[0] = 0
	copy(offsets[1:], ends)
	return offsets
}

// bitmap packs valid and counts its nulls. Without nulls there is no bitmap.
func (s *scratch) bitmap(valid []bool) ([]byte, int) {
	nulls := 0
	for _, v := range valid {
		if !v {
			nulls++
		}
	}
	if nulls == 0 {
		return nil, 0
	}
	bits := s.takeBytes((len(valid) + 7) / 8)
	for i, v := range valid {
		if v {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return bits, nulls
}

// validBuffer returns the bitmap, nil when nothing is null.
func (s *state) validBuffer(v *columns.Validity) *memory.Buffer {
	if v.Nulls == 0 {
		return nil
	}
	return s.maybe(v.Valid)
}

func (s *state) varData(t arrow.DataType, valid *memory.Buffer, nulls int, offsets []int32, data []byte) *array.Data {
	return s.data(t, len(offsets)-1, nulls, valid, s.ints32(offsets), s.buffer(data))
}

func (s *state) text(t *columns.Text) *array.Data {
	return s.varData(utf8Type, s.validBuffer(&t.Validity), t.Nulls, t.Offsets, t.Data)
}

// nullBytes builds an array of an optional column of the batch; all null where the source has none.
func (s *state) nullBytes(t arrow.DataType, c *pipeline.NullBytes) *array.Data {
	if c.Len() == 0 {
		return s.allNull(t)
	}
	return s.values(t, c)
}

// values is nullBytes for a column that the source has.
func (s *state) values(t arrow.DataType, c *pipeline.NullBytes) *array.Data {
	valid, nulls := s.scratch.bitmap(c.Valid)
	return s.varData(t, s.maybe(valid), nulls, s.scratch.offsets(c.Ends), c.Data)
}

func (s *state) allNull(t arrow.DataType) *array.Data {
	return array.MakeArrayOfNull(memory.DefaultAllocator, t, s.batch.Len()).Data().(*array.Data)
}

func (s *state) hasUsername() *array.Data {
	c := &s.cols.HasUsername
	return s.data(boolType, s.batch.Len(), c.Nulls, s.validBuffer(&c.Validity), s.buffer(c.Bits))
}

func (s *state) port() *array.Data {
	c := &s.cols.Port
	return s.data(int32Type, s.batch.Len(), c.Nulls, s.validBuffer(&c.Validity), s.ints32(c.Values))
}

func (s *state) params() *array.Data {
	p := &s.cols.Params
	return s.pairs(s.plan.paramsType(), s.validBuffer(&p.Validity), p.Nulls, p.Offsets, s.text(&p.Keys), s.text(&p.Values))
}

// pairs builds a list of structs of key and value, or a map.
func (s *state) pairs(t arrow.DataType, valid *memory.Buffer, nulls int, offsets []int32, keys, values *array.Data) *array.Data {
	entries := s.nested(t.(arrow.ListLikeType).Elem(), keys.Len(), 0, []*memory.Buffer{nil}, keys, values)
	return s.nested(t, len(offsets)-1, nulls, []*memory.Buffer{valid, s.ints32(offsets)}, entries)
}

func (s *state) headers() *array.Data {
	h := &s.batch.Headers
	if len(h.Ends) == 0 {
		return s.allNull(headersType)
	}
	keys, starts := s.utf8(&h.Keys)
	return s.pairs(headersType, nil, 0, s.scratch.offsets(h.Ends),
		s.varData(utf8Type, nil, 0, starts, keys), s.values(binaryType, &h.Values))
}

func (s *state) offset() *array.Data {
	_, offsets := s.batch.From()
	return s.data(int64Type, len(offsets), 0, nil, s.ints64(offsets))
}

func (s *state) timestamp() *array.Data {
	if len(s.batch.Timestamps) == 0 {
		return s.allNull(timestampType)
	}
	return s.data(timestampType, s.batch.Len(), 0, nil, s.ints64(s.batch.Timestamps))
}

func (s *state) key() *array.Data { return s.nullBytes(binaryType, &s.batch.Keys) }

func (s *state) rawRecord() *array.Data { return s.nullBytes(binaryType, &s.batch.Records) }

func (s *state) partition() *array.Data {
	lane, _ := s.batch.From()
	values := s.scratch.takeInts(s.batch.Len())
	for i := range values {
		values[i] = lane.Partition
	}
	return s.data(int32Type, len(values), 0, nil, s.ints32(values))
}

// stream builds the constant column of the lane's stream. The name of a file need not be UTF-8.
func (s *state) stream() *array.Data {
	lane, _ := s.batch.From()
	start := len(s.texts)
	s.texts = charset.AppendUTF8(s.texts, []byte(lane.Stream))
	name := s.texts[start:]
	n := s.batch.Len()
	offsets := s.scratch.takeInts(n + 1)
	data := s.scratch.takeBytes(n * len(name))
	offsets[0] = 0
	for i := range n {
		copy(data[i*len(name):], name)
		offsets[i+1] = int32((i + 1) * len(name))
	}
	return s.varData(utf8Type, nil, 0, offsets, data)
}

func (s *state) errorCode() *array.Data {
	names := s.plan.errorNames
	bits := s.scratch.takeBytes((len(s.errs) + 7) / 8)
	offsets := s.scratch.takeInts(len(s.errs) + 1)
	size := 0
	for _, e := range s.errs {
		size += len(names[e.code])
	}
	data := s.scratch.takeBytes(size)
	offsets[0] = 0
	nulls := len(s.errs)
	for i, e := range s.errs {
		offsets[i+1] = offsets[i]
		if e.code != 0 {
			offsets[i+1] += int32(copy(data[offsets[i]:], names[e.code]))
			bits[i/8] |= 1 << (i % 8)
			nulls--
		}
	}
	return s.varData(utf8Type, s.buffer(bits), nulls, offsets, data)
}

func (s *state) errorPos() *array.Data {
	bits := s.scratch.takeBytes((len(s.errs) + 7) / 8)
	values := s.scratch.takeInts(len(s.errs))
	nulls := len(s.errs)
	for i, e := range s.errs {
		values[i] = 0
		if e.code != 0 && e.pos >= 0 {
			values[i] = int32(e.pos)
			bits[i/8] |= 1 << (i % 8)
			nulls--
		}
	}
	return s.data(int32Type, len(values), nulls, s.buffer(bits), s.ints32(values))
}

// fieldError builds the column of carried fields that are null because they are not of their type.
func (s *state) fieldError() *array.Data {
	n := s.batch.Len()
	bits := s.scratch.takeBytes((n + 7) / 8)
	offsets := s.scratch.takeInts(n + 1)
	clear(offsets)
	nulls, start, next := n, len(s.texts), 0
	for _, f := range s.batch.Faults {
		if f.Code != pipeline.FaultCarried {
			continue
		}
		for ; next <= int(f.Row); next++ {
			offsets[next] = int32(len(s.texts) - start)
		}
		s.texts = append(s.texts, s.plan.errorNames[numErrors+int(f.Field)]...)
		bits[f.Row/8] |= 1 << (f.Row % 8)
		nulls--
	}
	for ; next <= n; next++ {
		offsets[next] = int32(len(s.texts) - start)
	}
	return s.varData(utf8Type, s.buffer(bits), nulls, offsets, s.texts[start:len(s.texts):len(s.texts)])
}

func (s *state) carried(i int) *array.Data {
	v := s.guard.Carried(&s.batch.Carried[i])
	bits, nulls := s.scratch.bitmap(v.Valid)
	valid := s.maybe(bits)
	n := len(v.Valid)
	switch v.Field.Type {
	case pipeline.Int64:
		return s.data(int64Type, n, nulls, valid, s.ints64(v.Ints))
	case pipeline.Timestamp:
		return s.data(timestampType, n, nulls, valid, s.ints64(v.Ints))
	case pipeline.Float64:
		return s.data(arrow.PrimitiveTypes.Float64, n, nulls, valid, s.buffer(arrow.Float64Traits.CastToBytes(v.Floats)))
	case pipeline.Bool:
		packed := s.scratch.takeBytes((n + 7) / 8)
		for i, b := range v.Bools {
			if b {
				packed[i/8] |= 1 << (i % 8)
			}
		}
		return s.data(boolType, n, nulls, valid, s.buffer(packed))
	default:
		data, offsets := s.utf8(&v.Text)
		return s.varData(utf8Type, valid, nulls, offsets, data)
	}
}

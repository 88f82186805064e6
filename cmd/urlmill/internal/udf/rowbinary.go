package udf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/held"
)

// rows is a conversation in RowBinary.
type rows struct {
	f    *Function
	in   *bufio.Reader
	w    io.Writer
	urls texts
	base texts
	out  []byte
}

func (f *Function) serveRows(r io.Reader, w io.Writer) error {
	s := &rows{f: f, w: w}
	if f.opts.ChunkHeader {
		s.in = bufio.NewReaderSize(r, readSize)
	} else {
		s.in = bufio.NewReaderSize(held.Before(r, s.answer), readSize)
	}
	for {
		n := uint64(batchRows) // without headers the input is one block
		if f.opts.ChunkHeader {
			var err error
			if n, err = readHeader(s.in); err != nil {
				return endOf(err)
			}
		}
		for ; n > 0; n-- {
			if err := s.row(); err != nil {
				if errors.Is(err, io.EOF) && !f.opts.ChunkHeader {
					return s.answer()
				}
				return errors.Join(s.answer(), held.Cut(err))
			}
			if n == 1 && f.opts.ChunkHeader {
				if err := s.ended(); err != nil {
					return err // and no answer: the rows before have been something else
				}
			}
			if s.urls.rows() >= batchRows || len(s.urls.data)+len(s.base.data) >= batchBytes {
				if err := s.answer(); err != nil {
					return err
				}
			}
		}
		if err := s.answer(); err != nil {
			return err
		}
	}
}

// ended checks that a block ends with its last row, as far as it can be told without waiting: behind it is the header of the next
// block, or nothing. ClickHouse writes the arguments with the types that the query has, not those of the definition: a column of
// Nullable(String) has a byte before every text, which is an empty text where it is not expected. What is read then are rows
// as well, but others, and only at the end of the block there is something left.
func (s *rows) ended() error {
	rest, err := s.in.Peek(min(s.in.Buffered(), 20))
	if err != nil {
		return err
	}
	for i, b := range rest {
		if b == '\n' && i > 0 {
			return nil
		}
		if b < '0' || b > '9' {
			return errTypes
		}
	}
	return nil
}

var errTypes = errors.New("the block does not end with its rows: the arguments are of other types than in the definition. " +
	"Print it with --nullable for Nullable(String), or with --format ArrowStream for String and Nullable(String); call it with toString(…) for the rest")

// endOf is nil for an end where one may be.
func endOf(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// row reads a row. It returns io.EOF where the input ends before it, and io.ErrUnexpectedEOF where it ends in it.
func (s *rows) row() error {
	if err := s.text(&s.urls); err != nil {
		return err
	}
	if !s.f.opts.Base {
		return nil
	}
	err := s.text(&s.base)
	if err == nil {
		return nil
	}
	s.urls.drop()
	return held.Cut(err)
}

// text reads a value into t, which is as it was after an error.
//
// A read may answer the rows that are complete, and forget them: t may be empty after it. So the length comes first, and the
// row is added when all of it is there.
func (s *rows) text(t *texts) error {
	if s.f.opts.Nullable {
		flag, err := s.in.ReadByte()
		if err != nil {
			return err
		}
		switch flag {
		case 0:
		case 1:
			t.add(nil, false)
			return nil
		default:
			return fmt.Errorf("a value begins with %d, neither 0 nor 1: the arguments are not Nullable(String); leave --nullable out, or call the function with toNullable(…)", flag)
		}
	}
	n, err := binary.ReadUvarint(s.in)
	switch {
	case errors.Is(err, io.EOF) && s.f.opts.Nullable:
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	case n > MaxText:
		return fmt.Errorf("a text of %d bytes: the arguments are not what the function's definition says (String, send_chunk_header, Nullable)", n)
	}
	text, err := held.Read(s.in, int(n))
	if err != nil {
		return held.Cut(err)
	}
	t.add(text, true)
	return nil
}

// answer writes the columns of the rows that are complete. A URL whose base is not there yet stays.
func (s *rows) answer() error {
	n := s.urls.rows()
	if s.f.opts.Base {
		n = s.base.rows()
	}
	if n == 0 {
		return nil
	}
	urls := s.urls.take(n)
	defer urls.Release()
	var bases arrow.Array
	if s.f.opts.Base {
		bases = s.base.take(n)
		defer bases.Release()
	}
	rec, err := s.f.processor.Parse(urls, bases)
	if err != nil {
		return err
	}
	values := make([]appender, len(s.f.columns))
	for j, c := range s.f.columns {
		values[j] = c.bind(rec.Column(j))
	}
	s.out = s.out[:0]
	for i := range n {
		for _, value := range values {
			s.out = value(s.out, i)
		}
	}
	rec.Release()
	s.urls.forget(n)
	s.base.forget(n)
	_, err = s.w.Write(s.out)
	if cap(s.out) > 4*batchBytes {
		s.out = nil // one large block does not hold its memory for ever
	}
	return err
}

// texts are the values of an argument that are not answered.
type texts struct {
	data  []byte
	ends  []int32 // of values, the first being the start of the first
	valid []bool
}

func (t *texts) rows() int { return len(t.valid) }

func (t *texts) add(text []byte, valid bool) {
	if len(t.ends) == 0 {
		t.ends = append(t.ends, 0)
	}
	t.data = append(t.data, text...)
	t.ends = append(t.ends, int32(len(t.data)))
	t.valid = append(t.valid, valid)
}

// drop takes the last value away.
func (t *texts) drop() {
	n := t.rows() - 1
	t.data, t.ends, t.valid = t.data[:t.ends[n]], t.ends[:n+1], t.valid[:n]
}

// take returns the first n values, in the memory of t, which must not be changed before they are released.
func (t *texts) take(n int) arrow.Array {
	nulls := 0
	var bits *memory.Buffer
	if slices.Contains(t.valid[:n], false) {
		bits = memory.NewBufferBytes(make([]byte, bitutil.BytesForBits(int64(n))))
		for i, valid := range t.valid[:n] {
			if valid {
				bitutil.SetBit(bits.Bytes(), i)
			} else {
				nulls++
			}
		}
	}
	data := array.NewData(arrow.BinaryTypes.Binary, n, []*memory.Buffer{
		bits, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(t.ends[:n+1])), memory.NewBufferBytes(t.data),
	}, nil, nulls, 0)
	defer data.Release()
	return array.NewBinaryData(data)
}

// forget takes the first n values away.
func (t *texts) forget(n int) {
	if n == 0 || t.rows() == 0 {
		return
	}
	if t.rows() == n {
		t.data, t.ends, t.valid = t.data[:0], t.ends[:0], t.valid[:0]
		return
	}
	rest := *t
	*t = texts{}
	for i := n; i < rest.rows(); i++ {
		t.add(rest.data[rest.ends[i]:rest.ends[i+1]], rest.valid[i])
	}
}

package udf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/held"
)

const (
	// stepRows and stepBytes are about how many rows are parsed together.
	stepRows  = 4 << 10
	stepBytes = 512 << 10
	// maxName bounds the name and the type of an argument in Native, and maxRows the rows of a block.
	maxName = 1 << 20
	maxRows = 16 << 20
)

// native is a conversation in Native. A block is the number of its columns and that of its rows, and for each column its name, its
// type, and its values: texts with their length before them, and where they may be null a byte for each row before all of them.
//
// Rows are parsed as they are read, so few at a time that they stay in the processor's cache, and answered by one block.
type native struct {
	f     *Function
	in    *bufio.Reader
	w     io.Writer
	urls  texts
	base  texts
	parts parts
	head  []byte
}

func (f *Function) serveNative(r io.Reader, w io.Writer) error {
	s := &native{f: f, in: bufio.NewReaderSize(r, readSize), w: w}
	for {
		if f.opts.ChunkHeader {
			if _, err := readHeader(s.in); err != nil {
				return endOf(err)
			}
		} else if _, err := s.in.Peek(1); err != nil {
			return endOf(err)
		}
		rows, err := s.block()
		if err != nil {
			return held.Cut(err)
		}
		if err := s.answer(rows); err != nil {
			return err
		}
	}
}

// block reads a block and makes the parts of its answer. It returns the number of its rows.
func (s *native) block() (int, error) {
	columns, err := binary.ReadUvarint(s.in)
	if err != nil {
		return 0, err
	}
	want := 1
	if s.f.opts.Base {
		want = 2
	}
	if columns != uint64(want) {
		return 0, fmt.Errorf("the block has %d columns, want %d: is the function's format Native, and does its definition have the arguments of the command (--base makes the second one the base URL)?", columns, want)
	}
	n, err := binary.ReadUvarint(s.in)
	if err != nil {
		return 0, err
	}
	if n > maxRows {
		return 0, fmt.Errorf("a block of %d rows; the most is %d: is the function's format Native?", n, maxRows)
	}
	rows := int(n)
	s.parts.clear(s.f.columns)
	if !s.f.opts.Base {
		return rows, s.column(&s.urls, rows, func(int) error { return s.parse(s.urls.take(s.urls.rows()), nil) })
	}
	// All URLs come before the first base.
	var urls arrow.Array
	if err := s.column(&s.urls, rows, nil); err != nil {
		return 0, err
	}
	if rows > 0 {
		urls = s.urls.take(rows)
		defer urls.Release()
	}
	return rows, s.column(&s.base, rows, func(from int) error {
		n := s.base.rows()
		return s.parse(array.NewSlice(urls, int64(from), int64(from+n)), s.base.take(n))
	})
}

// column reads a column into t, and calls some for the rows of t, from one of the block on, as often as there are enough. Without
// some t gets all rows.
func (s *native) column(t *texts, rows int, some func(from int) error) error {
	t.clear()
	nulls, err := s.typed(rows)
	if err != nil {
		return err
	}
	for from := 0; from < rows; {
		upTo, size := rows-from, math.MaxInt32
		if some != nil {
			upTo, size = min(upTo, stepRows), stepBytes
		}
		if err := s.texts(t, upTo, size); err != nil {
			return err
		}
		n := t.rows()
		if nulls != nil {
			for i, null := range nulls[from : from+n] {
				t.valid[i] = null == 0
			}
		}
		if some != nil {
			if err := some(from); err != nil {
				return err
			}
			t.clear()
		}
		from += n
	}
	return nil
}

// typed reads the name and the type of a column, and which of its rows are null; nil for a type that has no nulls.
func (s *native) typed(rows int) (nulls []byte, err error) {
	var kind string
	for range 2 {
		n, err := binary.ReadUvarint(s.in)
		if err != nil {
			return nil, err
		}
		if n > maxName {
			return nil, fmt.Errorf("the name or the type of a column has %d bytes: is the function's format Native?", n)
		}
		word, err := held.Read(s.in, int(n))
		if err != nil {
			return nil, err
		}
		kind = string(word)
	}
	switch kind {
	case "String":
		return nil, nil
	case "Nullable(String)":
		nulls, err = held.Read(s.in, rows)
		return append([]byte{}, nulls...), err
	}
	return nil, fmt.Errorf("an argument is of type %.100s, not String or Nullable(String): call the function with toString(…)", kind)
}

// texts reads values until t has so many rows, or about so many bytes: those that are in the buffer without asking for each byte, one that
// is cut by its end by itself.
func (s *native) texts(t *texts, rows, size int) error {
	for t.rows() < rows && len(t.data) < size {
		window, err := s.in.Peek(max(1, s.in.Buffered()))
		if err != nil {
			return err
		}
		used := t.addTexts(window, rows, size)
		if _, err := s.in.Discard(used); err != nil {
			return err
		}
		if used > 0 {
			continue
		}
		n, err := binary.ReadUvarint(s.in)
		if err != nil {
			return err
		}
		if n > MaxText {
			return fmt.Errorf("a text of %d bytes; the most is %d", n, MaxText)
		}
		text, err := held.Read(s.in, int(n))
		if err != nil {
			return err
		}
		if len(t.data)+len(text) > math.MaxInt32 {
			return errors.New("a block of more than 2 GiB of texts: make max_block_size smaller")
		}
		t.add(text, true)
	}
	return nil
}

// parse appends the columns of some rows to the answer. It releases the arrays.
func (s *native) parse(urls, bases arrow.Array) error {
	defer urls.Release()
	if bases != nil {
		defer bases.Release()
	}
	rec, err := s.f.processor.Parse(urls, bases)
	if err != nil {
		return err
	}
	defer rec.Release()
	parts := s.parts
	for j, c := range s.f.columns {
		c.all.add(parts, rec.Column(j))
		parts = parts[c.all.parts:]
	}
	return nil
}

// answer writes the block with the result.
func (s *native) answer(rows int) error {
	s.head = append(s.head[:0], 1)
	s.head = binary.AppendUvarint(s.head, uint64(rows))
	s.head = appendText(s.head, ResultName)
	s.head = appendText(s.head, s.f.ReturnType())
	_, err := s.w.Write(s.head)
	for _, part := range s.parts {
		if err == nil {
			_, err = s.w.Write(part)
		}
	}
	return err
}

// addTexts adds the texts that are whole in a window, until there are so many rows or about so many bytes, and returns the bytes that they
// have there.
func (t *texts) addTexts(window []byte, rows, size int) int {
	if len(t.ends) == 0 {
		t.ends = append(t.ends, 0)
	}
	at, used := len(t.data), 0
	data := slices.Grow(t.data, min(len(window), math.MaxInt32-at)+few)
	data = data[:cap(data)]
	for len(t.ends) <= rows && at < size {
		n, k := binary.Uvarint(window[used:])
		if k <= 0 || n > uint64(len(window)-used-k) || at+int(n) > math.MaxInt32 {
			break
		}
		copyText(data[at:], window[used+k:], int(n))
		at += int(n)
		used += k + int(n)
		t.ends = append(t.ends, int32(at))
	}
	t.data = data[:at]
	for t.rows() < len(t.ends)-1 {
		t.valid = append(t.valid, true)
	}
	return used
}

func (t *texts) clear() {
	if cap(t.data) > 4*batchBytes {
		t.data = nil
	}
	t.data, t.ends, t.valid = t.data[:0], t.ends[:0], t.valid[:0]
}

package udf

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/held"
	"github.com/urlmill/urlmill/internal/ipcread"
	"github.com/urlmill/urlmill/sinks/arrowipc"
)

// magic begins an Arrow file, with two bytes of padding, and ends it.
const magic = "ARROW1"

// maxFooter bounds the footer of a file, which has some dozen bytes for every record batch.
const maxFooter = 64 << 20

// ResultName is the name of the column of the answer in Arrow's formats: the function's return_name.
const ResultName = "result"

func (f *Function) serveArrow(r io.Reader, w io.Writer) error {
	in := bufio.NewReaderSize(r, readSize)
	out := bufio.NewWriterSize(w, readSize)
	for {
		if f.opts.ChunkHeader {
			if _, err := readHeader(in); err != nil {
				return endOf(err)
			}
		} else if _, err := in.Peek(1); err != nil {
			return endOf(err)
		}
		block := f.stream
		if f.opts.Format == Arrow {
			block = f.file
		}
		if err := block(in, out); err != nil {
			return errors.Join(held.Cut(err), out.Flush())
		}
	}
}

// stream answers the record batches of a stream, each when it is read.
func (f *Function) stream(in *bufio.Reader, out *bufio.Writer) error {
	schema := f.arrowSchema()
	w := ipc.NewWriter(out, ipc.WithSchema(schema)) // not closed: see the package's comment
	batches := 0
	err := f.batches(in, func(rec arrow.Record) error {
		batches++
		if err := w.Write(rec); err != nil {
			return err
		}
		return out.Flush()
	})
	if err == nil && batches == 0 {
		// Whoever sends a block without rows gets one; only that needs the end.
		if err = w.Close(); err == nil {
			err = out.Flush()
		}
	}
	return err
}

// file answers a file, whose batches are read in their order, so that nothing has to be known of what comes later.
func (f *Function) file(in *bufio.Reader, out *bufio.Writer) error {
	var head [8]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return err
	}
	if string(head[:len(magic)]) != magic {
		return fmt.Errorf("%q is not the start of an Arrow file: is the function's format Arrow, or ArrowStream?", head)
	}
	w, err := ipc.NewFileWriter(arrowipc.Forward(out), ipc.WithSchema(f.arrowSchema()))
	if err != nil {
		return err
	}
	if err := f.batches(in, w.Write); err != nil {
		return err
	}
	if err := skipFooter(in); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return out.Flush()
}

// skipFooter reads what a file has behind its batches: a footer, its length in four bytes, and the magic. The end is
// where the length is that of what was read.
func skipFooter(in *bufio.Reader) error {
	var last []byte
	for n := 0; n < maxFooter; n++ {
		b, err := in.ReadByte()
		if err != nil {
			return err
		}
		if last = append(last, b); len(last) > 4+len(magic) {
			last = last[1:]
		}
		if b == magic[len(magic)-1] && bytes.HasSuffix(last, []byte(magic)) && len(last) == 4+len(magic) {
			if int64(binary.LittleEndian.Uint32(last)) == int64(n+1-4-len(magic)) {
				return nil
			}
		}
	}
	return errors.New("the Arrow file has no end")
}

// batches has each called for the answer to every record batch of a stream, and reads no byte behind the stream.
func (f *Function) batches(in *bufio.Reader, each func(arrow.Record) error) error {
	r, err := ipcread.NewReader(in)
	if err != nil {
		return err
	}
	defer r.Release()
	want := 1
	if f.opts.Base {
		want = 2
	}
	if n := len(r.Schema().Fields()); n != want {
		return fmt.Errorf("the function has %d arguments, want %d (--base makes the second one the base URL)", n, want)
	}
	for r.Next() {
		answer, err := f.answer(r.Record())
		if err != nil {
			return err
		}
		err = each(answer)
		answer.Release()
		if err != nil {
			return err
		}
	}
	if err := r.Err(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// arrowSchema is the schema of an answer: one column, a struct if there are several columns.
func (f *Function) arrowSchema() *arrow.Schema {
	fields := f.processor.URLSchema().Fields()
	if len(fields) == 1 {
		return arrow.NewSchema([]arrow.Field{{Name: ResultName, Type: fields[0].Type, Nullable: fields[0].Nullable}}, nil)
	}
	return arrow.NewSchema([]arrow.Field{{Name: ResultName, Type: arrow.StructOf(fields...)}}, nil)
}

// answer returns the answer to a record batch. The caller releases it.
func (f *Function) answer(rec arrow.Record) (arrow.Record, error) {
	var bases arrow.Array
	if f.opts.Base {
		bases = rec.Column(1)
	}
	parsed, err := f.processor.Parse(rec.Column(0), bases)
	if err != nil {
		return nil, err
	}
	defer parsed.Release()
	schema := f.arrowSchema()
	if parsed.NumCols() == 1 {
		return array.NewRecord(schema, parsed.Columns(), parsed.NumRows()), nil
	}
	children := make([]arrow.ArrayData, parsed.NumCols())
	for j, c := range parsed.Columns() {
		children[j] = c.Data()
	}
	data := array.NewData(schema.Field(0).Type, int(parsed.NumRows()), []*memory.Buffer{nil}, children, 0, 0)
	defer data.Release()
	result := array.NewStructData(data)
	defer result.Release()
	return array.NewRecord(schema, []arrow.Array{result}, parsed.NumRows()), nil
}

// Package pqread opens Parquet files of unknown origin and reads their pages, with parquet-go. The library allocates what a
// file claims: the lengths of lists in the footer, the sizes of pages in their headers, the lengths of runs within them. So
// everything that goes into it has been compared with the bytes that are there, and with a limit, before.
package pqread

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/urlmill/urlmill/internal/decoded"
)

// tooLarge returns the error for what would take n bytes.
func tooLarge(n, limit int64) error { return decoded.TooLarge(n, limit, "pages or row groups") }

// maxSchemaNesting is how deep the groups of a schema may nest. The library's work for a column grows with its depth.
const maxSchemaNesting = 100

// tailSize is the length of the footer's length and the magic behind it.
const tailSize = 8

// readBuffer is how much of a column is read at a time, in bytes.
const readBuffer = 64 << 10

// File is an open Parquet file. Its pages are those of [File.Pages]; those that the library would read come without the
// checks of this package, and are not decompressed.
type File struct {
	*parquet.File
	r     io.ReaderAt
	size  int64
	limit int64
}

// Open reads the footer of a file of the given size. Page indexes and bloom filters are not read.
func Open(r io.ReaderAt, size int64) (_ *File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the file is damaged: %v", p)
		}
	}()
	f := &File{r: r, size: size, limit: decoded.Limit()}
	footer, err := f.footer()
	if err != nil {
		return nil, err
	}
	codecs, err := f.checkFooter(footer)
	if err != nil {
		return nil, fmt.Errorf("the footer cannot be read: %w", err)
	}
	f.File, err = parquet.OpenFile(overlay{r, size - tailSize - int64(len(footer)), footer}, size,
		parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(readBuffer))
	if err != nil {
		return nil, err
	}
	for _, g := range f.Metadata().RowGroups {
		for i := range g.Columns {
			if len(codecs) == 0 {
				return nil, errors.New("the footer is damaged: a column does not say how it is compressed")
			}
			g.Columns[i].MetaData.Codec, codecs = codecs[0], codecs[1:]
		}
	}
	return f, nil
}

// footer reads the bytes of the footer.
func (f *File) footer() ([]byte, error) {
	var tail [tailSize]byte
	if f.size < 4+tailSize {
		return nil, fmt.Errorf("%d bytes are no Parquet file", f.size)
	}
	if _, err := f.r.ReadAt(tail[:], f.size-tailSize); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch string(tail[4:]) {
	case "PAR1":
	case "PARE":
		return nil, errors.New("the footer is encrypted, which is not read")
	default:
		return nil, fmt.Errorf("the file ends with %q instead of \"PAR1\": it is no Parquet file, or it is cut off", tail[4:])
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	if length > f.size-tailSize-4 {
		return nil, fmt.Errorf("a footer of %d bytes in a file of %d", length, f.size)
	}
	if length > f.limit {
		return nil, tooLarge(length, f.limit)
	}
	footer := make([]byte, length)
	_, err := io.ReadFull(io.NewSectionReader(f.r, f.size-tailSize-length, length), footer)
	return footer, err
}

// The paths of the footer's fields that matter here.
const (
	pathSchema   = 0x02
	pathChildren = 0x0205
	pathGroups   = 0x04
	pathChunks   = 0x0401
	pathCodec    = 0x04010304
)

// checkFooter goes over a footer, and returns the codecs of its column chunks. In the footer it replaces them, as the library
// gets pages that are decompressed.
func (f *File) checkFooter(footer []byte) (codecs []format.CompressionCodec, err error) {
	cost := int64(len(footer))
	var tree nesting
	w := walker{data: footer, element: tree.element}
	w.list = func(path uint64, n int) error {
		if cost += int64(n) * int64(sizeOf(path)); cost > f.limit {
			return tooLarge(cost, f.limit)
		}
		return nil
	}
	w.number = func(path uint64, v int64, at int) error {
		switch path {
		case pathChildren:
			tree.children = v
		case pathCodec:
			codecs = append(codecs, format.CompressionCodec(v))
			if v >= 0 && v < 64 { // it has one byte, as all codecs that there are
				footer[at] = byte(format.Uncompressed)
			}
		}
		return nil
	}
	_, err = w.walk()
	return codecs, err
}

// sizeOf returns about how many bytes the library takes for an element of a list of the footer, which may have but one byte
// there.
func sizeOf(path uint64) uintptr {
	switch path {
	case pathSchema:
		return unsafe.Sizeof(format.SchemaElement{}) + unsafe.Sizeof(parquet.Column{})
	case pathGroups:
		return unsafe.Sizeof(format.RowGroup{}) + unsafe.Sizeof(parquet.FileRowGroup{})
	case pathChunks:
		return unsafe.Sizeof(format.ColumnChunk{}) + unsafe.Sizeof(parquet.FileColumnChunk{}) +
			unsafe.Sizeof(parquet.FileColumnIndex{}) + unsafe.Sizeof(parquet.FileOffsetIndex{})
	}
	return 64
}

// nesting follows how deep the groups of a schema nest, whose elements are in depth-first order.
type nesting struct {
	children int64   // of the element being read
	open     []int64 // children that are still to come, of each group around the next element
}

// element ends an element.
func (t *nesting) element(path uint64) error {
	if path != pathSchema {
		return nil
	}
	if n := len(t.open); n > 0 {
		t.open[n-1]--
	}
	if t.children > 0 {
		t.open = append(t.open, t.children)
	}
	t.children = 0
	for n := len(t.open); n > 0 && t.open[n-1] == 0; n-- {
		t.open = t.open[:n-1]
	}
	if len(t.open) > maxSchemaNesting {
		return fmt.Errorf("%w: its schema is nested more than %d deep", errMalformed, maxSchemaNesting)
	}
	return nil
}

// overlay is a file with another footer.
type overlay struct {
	io.ReaderAt
	at     int64
	footer []byte
}

// ReadAt implements [io.ReaderAt]. The library reads the footer alone, or what lies around it.
func (o overlay) ReadAt(p []byte, offset int64) (int, error) {
	if offset >= o.at && offset+int64(len(p)) <= o.at+int64(len(o.footer)) {
		return copy(p, o.footer[offset-o.at:]), nil
	}
	return o.ReaderAt.ReadAt(p, offset)
}

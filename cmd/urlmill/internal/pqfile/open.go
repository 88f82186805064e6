// Package pqfile looks into Parquet files: what their footers say, and whether that is true. It reads by parquet-go, which
// has nothing to do with the code that writes our files.
package pqfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/places"
	"github.com/urlmill/urlmill/internal/pqread"
)

// File is an open Parquet file.
type File struct {
	f    places.File
	size int64
	pq   *pqread.File
	// optional has what parquet-go cannot tell from a zero.
	optional footer
}

// footer is the part of the format's FileMetaData that says which fields are there at all.
type footer struct {
	RowGroups []footerGroup `thrift:"4,required"`
}

type footerGroup struct {
	Columns []footerChunk `thrift:"1,required"`
}

type footerChunk struct {
	MetaData footerColumn `thrift:"3,optional"`
}

type footerColumn struct {
	Statistics *Statistics `thrift:"12,optional"`
}

// Statistics are those of the format (parquet.thrift), with nil for what is absent. The values are as PLAIN encodes
// them, without the length.
type Statistics struct {
	NullCount     *int64 `thrift:"3,optional"`
	DistinctCount *int64 `thrift:"4,optional"`
	MaxValue      []byte `thrift:"5,optional"`
	MinValue      []byte `thrift:"6,optional"`
	MaxExact      *bool  `thrift:"7,optional"`
	MinExact      *bool  `thrift:"8,optional"`
}

// Open opens a file of this machine and reads its footer. Page indexes and bloom filters are read when they are asked for.
func Open(path string) (*File, error) {
	f, err := places.Places{}.OpenFile(context.Background(), path)
	if err != nil {
		return nil, err
	}
	return New(f)
}

// New reads the footer of an open file, which it closes when there is an error.
func New(f places.File) (_ *File, err error) {
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	if !f.Regular() {
		return nil, fmt.Errorf("%s: a Parquet file has to be a file on disk, since its footer is at the end", f.Name())
	}
	p := &File{f: f, size: f.Size()}
	if err := p.readFooter(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return p, nil
}

// Close closes the file.
func (f *File) Close() error { return f.f.Close() }

// tailSize is the length of the footer and the magic bytes behind it.
const tailSize = 8

func (f *File) readFooter() (err error) {
	defer guard(&err)
	f.pq, err = pqread.Open(f.f, f.size)
	if err != nil {
		return err
	}
	// The length has been compared with the size of the file, and the footer checked.
	tail, err := f.section(f.size-tailSize, tailSize)
	if err != nil {
		return err
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	text, err := f.section(f.size-tailSize-length, length)
	if err != nil {
		return err
	}
	var protocol thrift.CompactProtocol
	return thrift.NewDecoder(protocol.NewReaderFromBytes(text)).Decode(&f.optional)
}

// statistics returns those of a chunk, nil if there are none.
func (f *File) statistics(group, column int) *Statistics {
	if group >= len(f.optional.RowGroups) || column >= len(f.optional.RowGroups[group].Columns) {
		return nil
	}
	return f.optional.RowGroups[group].Columns[column].MetaData.Statistics
}

// guard turns a panic, which damaged files may cause in a decoder, into an error.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = errors.Join(*err, fmt.Errorf("the file cannot be decoded: %v", p))
	}
}

// section reads a part of the file.
func (f *File) section(offset, length int64) ([]byte, error) {
	if offset < 0 || length < 0 || offset > f.size-length {
		return nil, fmt.Errorf("bytes %d to %d of a file of %d", offset, offset+length, f.size)
	}
	data := make([]byte, length)
	_, err := f.f.ReadAt(data, offset)
	return data, err
}

// decode decodes what is at an offset, such as an index of a chunk, into v.
func (f *File) decode(offset int64, length int32, v any) (err error) {
	defer guard(&err)
	data, err := f.section(offset, int64(length))
	if err != nil {
		return err
	}
	if _, err := pqread.CheckThrift(data); err != nil {
		return err
	}
	return thrift.Unmarshal(new(thrift.CompactProtocol), data, v)
}

// maxBloomHeader is how long the header of a bloom filter may be. It has some twenty bytes.
const maxBloomHeader = 1 << 10

// bloomFilter returns the bloom filter of a chunk, in memory, nil if there is none or it is of a kind that nobody
// knows.
func (f *File) bloomFilter(chunk *parquet.FileColumnChunk, meta *format.ColumnMetaData) (filter *parquet.FileBloomFilter, err error) {
	defer guard(&err)
	if meta.BloomFilterOffset == 0 {
		return nil, nil
	}
	head, err := f.section(meta.BloomFilterOffset, max(0, min(maxBloomHeader, f.size-meta.BloomFilterOffset)))
	if err != nil {
		return nil, err
	}
	if _, err := pqread.CheckThrift(head); err != nil {
		return nil, err
	}
	if meta.BloomFilterLength == 0 {
		return chunk.BloomFilterFrom(f.f)
	}
	data, err := f.section(meta.BloomFilterOffset, int64(meta.BloomFilterLength))
	if err != nil {
		return nil, err
	}
	return chunk.BloomFilterFrom(window{bytes.NewReader(data), meta.BloomFilterOffset})
}

// window is a part of a file in memory, which begins at base.
type window struct {
	*bytes.Reader
	base int64
}

func (w window) ReadAt(p []byte, offset int64) (int, error) { return w.Reader.ReadAt(p, offset-w.base) }

package pqfile

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/urlmill/urlmill/internal/pqread"
)

// Page is what the header of a page says. Counts that it does not tell are -1.
type Page struct {
	Offset       int64 // of the header, in the file
	HeaderBytes  int64
	Compressed   int64 // bytes without the header
	Uncompressed int64
	Dictionary   bool
	Version      int // of a data page, 1 or 2
	Encoding     format.Encoding
	Values       int64 // nulls included
	Nulls, Rows  int64
	Checksum     *uint32 // CRC-32 of the bytes in the file, if there is one
}

// pageHeader is the format's PageHeader with a checksum that can be absent.
type pageHeader struct {
	Type                 format.PageType                          `thrift:"1,required"`
	UncompressedPageSize int32                                    `thrift:"2,required"`
	CompressedPageSize   int32                                    `thrift:"3,required"`
	CRC                  *int32                                   `thrift:"4,optional"`
	DataPageHeader       thrift.Null[format.DataPageHeader]       `thrift:"5,optional"`
	DictionaryPageHeader thrift.Null[format.DictionaryPageHeader] `thrift:"7,optional"`
	DataPageHeaderV2     thrift.Null[format.DataPageHeaderV2]     `thrift:"8,optional"`
}

// pages calls each for the pages of a chunk in their order, with the bytes of the page if data is set. The bytes are
// valid until each returns. An error is one of the chunk.
func (f *File) pages(meta *format.ColumnMetaData, data bool, each func(Page, []byte) error) error {
	start := meta.DataPageOffset
	if meta.DictionaryPageOffset > 0 {
		start = min(start, meta.DictionaryPageOffset)
	}
	end := start + meta.TotalCompressedSize
	if start < 4 || meta.TotalCompressedSize < 0 || end > f.size {
		return fmt.Errorf("its pages are said to be at bytes %d to %d of a file of %d", start, end, f.size)
	}
	var bytes []byte
	for at, values := start, int64(0); values < meta.NumValues || at < end; {
		p, err := f.page(at, end)
		if err != nil {
			return fmt.Errorf("page at byte %d: %w", at, err)
		}
		if !p.Dictionary {
			values += p.Values
		}
		at += p.HeaderBytes
		if data {
			if int64(cap(bytes)) < p.Compressed {
				bytes = make([]byte, p.Compressed)
			}
			bytes = bytes[:p.Compressed]
			if _, err := f.f.ReadAt(bytes, at); err != nil {
				return err
			}
		}
		if err := each(p, bytes); err != nil {
			return err
		}
		at += p.Compressed
	}
	return nil
}

// checkSum compares the checksum of a page, if it has one, with its bytes.
func (p Page) checkSum(data []byte) error {
	if sum := crc32.ChecksumIEEE(data); p.Checksum != nil && *p.Checksum != sum {
		return fmt.Errorf("page at byte %d: its checksum is %08x, that of its bytes %08x: they are damaged", p.Offset, *p.Checksum, sum)
	}
	return nil
}

// page reads the header at a position of a chunk that ends at end.
func (f *File) page(at, end int64) (p Page, err error) {
	defer guard(&err)
	var h pageHeader
	var read int
	for size := int64(1 << 10); ; size *= 16 {
		buf := make([]byte, min(size, end-at))
		if _, err := f.f.ReadAt(buf, at); err != nil {
			return p, err
		}
		n, err := pqread.CheckThrift(buf)
		if err == nil {
			read, err = n, thrift.Unmarshal(new(thrift.CompactProtocol), buf[:n], &h)
			if err == nil {
				break
			}
		}
		if int64(len(buf)) == end-at || !errors.Is(err, io.ErrUnexpectedEOF) {
			return p, fmt.Errorf("no page header: %w", err)
		}
	}
	p = Page{
		Offset: at, HeaderBytes: int64(read), Compressed: int64(h.CompressedPageSize), Uncompressed: int64(h.UncompressedPageSize),
		Nulls: -1, Rows: -1,
	}
	if p.Compressed < 0 || p.Uncompressed < 0 || p.Compressed > end-at-p.HeaderBytes {
		return p, fmt.Errorf("it is said to have %d bytes (%d uncompressed), and %d are left in its chunk",
			p.Compressed, p.Uncompressed, end-at-p.HeaderBytes)
	}
	if h.CRC != nil {
		sum := uint32(*h.CRC)
		p.Checksum = &sum
	}
	switch h.Type {
	case format.DictionaryPage:
		p.Dictionary, p.Encoding, p.Values = true, h.DictionaryPageHeader.V.Encoding, int64(h.DictionaryPageHeader.V.NumValues)
	case format.DataPage:
		p.Version, p.Encoding, p.Values = 1, h.DataPageHeader.V.Encoding, int64(h.DataPageHeader.V.NumValues)
	case format.DataPageV2:
		v2 := h.DataPageHeaderV2.V
		p.Version, p.Encoding, p.Values = 2, v2.Encoding, int64(v2.NumValues)
		p.Nulls, p.Rows = int64(v2.NumNulls), int64(v2.NumRows)
	default:
		return p, fmt.Errorf("a page of the type %v, which nobody writes", h.Type)
	}
	return p, nil
}

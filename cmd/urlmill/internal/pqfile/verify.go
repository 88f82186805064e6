package pqfile

import (
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Verify finds damage in the row groups that hold the first rows, all of them if rows is negative, without decoding values: every page has to have its checksum or, without one, to decompress to
// the size that its header says. Some decoders end the process at what it would find.
func (f *File) Verify(rows int64) (err error) {
	defer guard(&err)
	var scratch []byte
	before := int64(0)
	for g := range f.pq.Metadata().RowGroups {
		if rows >= 0 && before >= rows {
			return nil
		}
		before += f.pq.Metadata().RowGroups[g].NumRows
		columns := f.pq.Metadata().RowGroups[g].Columns
		for c := range columns {
			meta := &columns[c].MetaData
			err := f.pages(meta, true, func(p Page, data []byte) error {
				if p.Checksum != nil {
					return p.checkSum(data)
				}
				scratch, err = p.decompress(scratch, data, meta.Codec)
				return err
			})
			if err != nil {
				return fmt.Errorf("row group %d: column %s: %w", g, strings.Join(meta.PathInSchema, "."), err)
			}
		}
	}
	return nil
}

// decompress returns the values of a page, in the memory of dst if that is large enough.
func (p Page) decompress(dst, data []byte, codec format.CompressionCodec) ([]byte, error) {
	levels := p.levelBytes
	if levels > int64(len(data)) || levels > p.Uncompressed {
		return dst, fmt.Errorf("page at byte %d: %d bytes of levels in a page of %d", p.Offset, levels, len(data))
	}
	if p.plain || codec == format.Uncompressed || p.Uncompressed == levels {
		return dst, nil
	}
	dst, err := parquet.LookupCompressionCodec(codec).Decode(dst[:0], data[levels:])
	if err == nil && int64(len(dst)) != p.Uncompressed-levels {
		err = fmt.Errorf("%d bytes instead of %d", len(dst), p.Uncompressed-levels)
	}
	if err != nil {
		return dst, fmt.Errorf("page at byte %d: it does not decompress: %w", p.Offset, err)
	}
	return dst, nil
}

package pqread

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Pages reads the pages of a column chunk. It implements [parquet.Pages], and belongs to one goroutine at a time. A page may
// be used until it is released.
type Pages struct {
	lib *parquet.FilePages
	s   stream
}

// Pages returns the pages of a column chunk by the numbers of its row group and its column. It is called by one goroutine of
// a file at a time.
func (f *File) Pages(group, column int) *Pages {
	chunk := f.RowGroups()[group].ColumnChunks()[column].(*parquet.FileColumnChunk)
	meta := &f.Metadata().RowGroups[group].Columns[column].MetaData
	node := chunk.Node().(*parquet.Column)
	start := meta.DataPageOffset
	if meta.DictionaryPageOffset != 0 {
		start = meta.DictionaryPageOffset
	}
	p := &Pages{s: stream{
		limit: f.limit, codec: meta.Codec, at: start,
		repeated: node.MaxRepetitionLevel(), optional: node.MaxDefinitionLevel(), kind: node.Type().Kind(),
		buffers: pool.Get().(*buffers),
	}}
	if p.s.kind == parquet.FixedLenByteArray {
		p.s.length = node.Type().Length()
	}
	if start >= 0 {
		p.s.left = max(0, min(meta.TotalCompressedSize, f.size-start))
	}
	p.s.in.Reset(io.NewSectionReader(f.r, start, p.s.left))
	// What the library reads is longer than what the file has, and begins with the first page in any case.
	size := meta.TotalCompressedSize
	meta.TotalCompressedSize = math.MaxInt64 - max(0, start)
	p.lib = chunk.PagesFrom(&p.s)
	meta.TotalCompressedSize = size
	return p
}

// ReadPage implements [parquet.PageReader].
func (p *Pages) ReadPage() (parquet.Page, error) {
	for {
		page, err := p.lib.ReadPage()
		if err != nil {
			return nil, err
		}
		skip := p.s.skip
		if skip == 0 {
			return page, nil
		}
		rows := page.NumRows()
		p.s.skip = max(0, skip-rows)
		if skip >= rows {
			parquet.Release(page)
			continue
		}
		rest := page.Slice(skip, rows)
		parquet.Release(page)
		return rest, nil
	}
}

// SeekToRow implements [parquet.RowSeeker], for a column without lists, before its first page is read.
func (p *Pages) SeekToRow(row int64) error {
	if p.s.repeated > 0 || p.s.begun {
		return errors.New("rows can be skipped at the start of a column without lists alone")
	}
	p.s.skip = row
	return nil
}

// Close implements [io.Closer].
func (p *Pages) Close() error {
	b := p.s.buffers
	if b == nil {
		return nil
	}
	p.s.buffers = nil
	err := p.lib.Close()
	b.in.Reset(nil)
	if cap(b.body)+cap(b.plain) <= maxKept && b.in.Size() == readBuffer {
		pool.Put(b)
	}
	return err
}

// buffers are what reading a column chunk takes. They go back to the pool when it is closed, unless a large page has made
// them larger than maxKept.
type buffers struct {
	in    *bufio.Reader
	body  []byte // of a page, as in the file
	plain []byte // decompressed
	head  []byte // of a page for the library
}

const maxKept = 4 << 20

var pool = sync.Pool{New: func() any { return &buffers{in: bufio.NewReaderSize(nil, readBuffer)} }}

// stream is a column chunk as the library reads it: the same pages, checked and decompressed, with headers that say so.
type stream struct {
	*buffers
	limit              int64
	codec              format.CompressionCodec
	repeated, optional int // the highest levels
	kind               parquet.Kind
	length             int // of a value of fixed length

	at    int64  // of the next byte, in the file
	left  int64  // bytes of the chunk
	rest  []byte // what the library has not read of what was made for it
	start int64  // of the page being read, in the file
	now   header // of that page
	// pending says that the body of that page has not been read.
	pending bool
	skip    int64 // rows that are left out
	begun   bool
}

// ReadAt implements [io.ReaderAt] for the library, which reads from the start to the end. It returns the header of a page and
// its body each by itself, fewer bytes than there is room for: so a body is decompressed to where the library wants it.
func (s *stream) ReadAt(p []byte, _ int64) (int, error) {
	for len(s.rest) == 0 {
		if !s.pending {
			if err := s.page(); err != nil {
				return 0, err
			}
			break
		}
		s.pending = false
		n := int(s.now.size(s.codec))
		direct := n <= len(p)
		dst := p[:min(n, len(p))]
		if !direct {
			s.plain = grow(s.plain, n)
			dst = s.plain
		}
		if err := s.read(&s.now, dst); err != nil {
			return 0, fmt.Errorf("page at byte %d: %w", s.start, err)
		}
		if direct && n > 0 {
			return n, nil
		}
		s.rest = dst
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// page reads the next page that is not skipped.
func (s *stream) page() error {
	s.begun = true
	for {
		at := s.at
		h, err := s.header()
		if err == nil && h.data() && s.repeated == 0 && s.skip > 0 && s.skip >= h.values {
			s.skip -= h.values
			err = s.discard(h.compressed)
			if err == nil {
				continue
			}
		}
		if errors.Is(err, io.EOF) {
			return err
		}
		if err != nil {
			return fmt.Errorf("page at byte %d: %w", at, err)
		}
		s.head = h.append(s.head[:0], h.size(s.codec))
		s.rest, s.start, s.now, s.pending = s.head, at, h, true
		return nil
	}
}

func (s *stream) discard(n int64) error {
	d, err := s.in.Discard(int(n))
	s.at, s.left = s.at+int64(d), s.left-int64(d)
	return noEOF(err)
}

// header is what the header of a page says.
type header struct {
	typ                      format.PageType
	uncompressed, compressed int64
	sum                      int64 // CRC-32 of the bytes in the file
	summed                   bool  // there is one
	values, nulls, rows      int64
	encoding                 format.Encoding
	repLevels, defLevels     int64 // version 1: their encodings; version 2: their bytes
	plain                    bool  // of version 2, not compressed
}

// data reports whether it is of a data page.
func (h *header) data() bool { return h.typ == format.DataPage || h.typ == format.DataPageV2 }

// field takes an integer of the format's PageHeader.
func (h *header) field(path uint64, v int64, _ int) error {
	switch path {
	case 0x01:
		h.typ = format.PageType(v)
	case 0x02:
		h.uncompressed = v
	case 0x03:
		h.compressed = v
	case 0x04:
		h.sum, h.summed = v, true
	case 0x0501, 0x0701, 0x0801:
		h.values = v
	case 0x0502, 0x0702, 0x0804:
		h.encoding = format.Encoding(v)
	case 0x0503, 0x0805:
		h.defLevels = v
	case 0x0504, 0x0806:
		h.repLevels = v
	case 0x0802:
		h.nulls = v
	case 0x0803:
		h.rows = v
	}
	if v < math.MinInt32 || v > math.MaxInt32 {
		return fmt.Errorf("%w: %d has more than 32 bits", errMalformed, v)
	}
	return nil
}

// The sizes of headers: how much is looked at first, and at most. Only the bounds of long values make them long.
const (
	firstLook     = 256
	maxPageHeader = 16 << 20
)

// header reads the header of the next page. The error is io.EOF after the last page.
func (s *stream) header() (header, error) {
	for look := firstLook; ; look *= 8 {
		if look > s.in.Size() {
			s.in = bufio.NewReaderSize(s.in, look)
		}
		data, err := s.in.Peek(look)
		if len(data) == 0 {
			return header{}, err
		}
		var h header
		w := walker{data: data, number: h.field}
		w.flag = func(path uint64, v bool) { h.plain = h.plain || path == 0x0807 && !v }
		n, bad := w.walk()
		switch {
		case bad == nil:
			_, _ = s.in.Discard(n) // they are there
			s.at, s.left = s.at+int64(n), s.left-int64(n)
			return h, s.check(&h)
		case !errors.Is(bad, errShort) || err != nil || look > maxPageHeader:
			return h, fmt.Errorf("no header of a page: %w", bad)
		}
	}
}

// check compares what a header says with what there is and with the limit.
func (s *stream) check(h *header) error {
	for _, n := range []int64{h.uncompressed, h.compressed, h.values, h.nulls, h.rows, h.repLevels, h.defLevels} {
		if n < 0 {
			return fmt.Errorf("its header is damaged: %d for a count", n)
		}
	}
	if h.compressed > s.left {
		return fmt.Errorf("it is said to have %d bytes, and %d are left in its column chunk", h.compressed, s.left)
	}
	if need := h.uncompressed + h.values*s.perValue(h); need > s.limit {
		return tooLarge(need, s.limit)
	}
	compressed, full := h.compressed, h.uncompressed
	if h.typ == format.DataPageV2 {
		levels := min(h.repLevels+h.defLevels, compressed, full)
		compressed, full = compressed-levels, full-levels
	}
	if most := ratio[s.codec]; most > 0 && !h.plain && full > most*compressed+ratioSlack {
		return fmt.Errorf("its header says that %d bytes decompress to %d, which %s cannot do", compressed, full, s.codec)
	}
	if h.typ == format.DataPageV2 && h.repLevels+h.defLevels > min(h.compressed, h.uncompressed) {
		return fmt.Errorf("its levels are said to have %d bytes, and all of it %d", h.repLevels+h.defLevels, h.compressed)
	}
	return nil
}

// perValue returns how many bytes of memory a value of a page takes beside its own: its levels, its offset or index, and
// itself where it is not read in place.
func (s *stream) perValue(h *header) int64 {
	n := int64(4)
	switch s.kind {
	case parquet.Int64, parquet.Double:
		n = 8
	case parquet.Int96:
		n = 12
	case parquet.FixedLenByteArray:
		if h.encoding != format.Plain {
			n = max(n, int64(s.length))
		}
	}
	if isDictionary(h.encoding) && h.data() {
		n = 4
	}
	if s.optional > 0 {
		n++
	}
	if s.repeated > 0 {
		n++
	}
	return n
}

// size returns how many bytes the page has when it is decompressed.
func (h *header) size(codec format.CompressionCodec) int64 {
	if codec == format.Uncompressed || h.plain {
		return h.compressed
	}
	return h.uncompressed
}

// read reads what follows a header into dst, which has the size of the page.
func (s *stream) read(h *header, dst []byte) error {
	body := dst
	compressed := s.codec != format.Uncompressed && !h.plain
	if compressed {
		s.body = grow(s.body, int(h.compressed))
		body = s.body
	}
	n, err := io.ReadFull(s.in, body)
	s.at, s.left = s.at+int64(n), s.left-int64(n)
	if err != nil {
		return noEOF(err)
	}
	if h.summed {
		if sum := crc32.ChecksumIEEE(body); uint32(h.sum) != sum {
			return fmt.Errorf("its checksum is %08x, that of its bytes %08x: they are damaged", uint32(h.sum), sum)
		}
	}
	if compressed {
		if err := s.decompress(h, dst, body); err != nil {
			return err
		}
	}
	return s.checkBody(h, dst)
}

// append appends the header of the same page with n bytes that are not compressed.
func (h *header) append(dst []byte, n int64) []byte {
	dst = field(dst, 1, int64(h.typ))
	dst = field(dst, 1, n)
	dst = field(dst, 1, n)
	switch h.typ {
	case format.DataPage:
		dst = append(dst, 2<<4|typeStruct) // 5
		dst = field(dst, 1, h.values)
		dst = field(dst, 1, int64(h.encoding))
		dst = field(dst, 1, h.defLevels)
		dst = field(dst, 1, h.repLevels)
		dst = append(dst, 0)
	case format.DictionaryPage:
		dst = append(dst, 4<<4|typeStruct) // 7
		dst = field(dst, 1, h.values)
		dst = field(dst, 1, int64(h.encoding))
		dst = append(dst, 0)
	case format.DataPageV2:
		dst = append(dst, 5<<4|typeStruct) // 8
		dst = field(dst, 1, h.values)
		dst = field(dst, 1, h.nulls)
		dst = field(dst, 1, h.rows)
		dst = field(dst, 1, int64(h.encoding))
		dst = field(dst, 1, h.defLevels)
		dst = field(dst, 1, h.repLevels)
		dst = append(dst, 1<<4|typeFalse) // is_compressed
		dst = append(dst, 0)
	}
	return append(dst, 0)
}

// field appends a field with a 32-bit integer.
func field(dst []byte, delta byte, v int64) []byte {
	return binary.AppendUvarint(append(dst, delta<<4|typeI32), uint64(v<<1^v>>63))
}

// grow returns a slice of n bytes, b where it is large enough.
func grow(b []byte, n int) []byte { return slices.Grow(b[:0], n)[:n] }

// noEOF makes of the end of the input in the middle of something the error that it is.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

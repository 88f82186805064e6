package pqread

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// errLonger is the error of a page that decompresses to more than its header says.
var errLonger = errors.New("it decompresses to more bytes than its header says")

// decompress decompresses the bytes of a page into dst, which is as large as the header says that they become. No more memory
// is taken for them.
func (s *stream) decompress(h *header, dst, body []byte) error {
	levels := 0
	if h.typ == format.DataPageV2 {
		levels = int(h.repLevels + h.defLevels) // which are never compressed, and which both have room for
		copy(dst, body[:levels])
	}
	n, err := 0, error(nil)
	if len(body) > levels {
		n, err = inflate(s.codec, dst[levels:], body[levels:])
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.codec, err)
	}
	if levels+n < len(dst) {
		return fmt.Errorf("%s: it decompresses to %d bytes, and its header says %d", s.codec, levels+n, len(dst))
	}
	return nil
}

// ratio is what a codec compresses by at most. What a header claims beyond that is not allocated.
var ratio = map[format.CompressionCodec]int64{format.Snappy: 64, format.Gzip: 1032, format.Lz4Raw: 256, format.Zstd: 1 << 16}

const ratioSlack = 1 << 10

// inflate decompresses src into dst, and returns how many bytes it has.
func inflate(codec format.CompressionCodec, dst, src []byte) (int, error) {
	switch codec {
	case format.Snappy:
		n, err := snappy.DecodedLen(src)
		if err != nil {
			return 0, err
		}
		if n > len(dst) {
			return 0, errLonger
		}
		_, err = snappy.Decode(dst, src)
		return n, err
	case format.Zstd:
		d := zstds.Get().(*zstd.Decoder)
		defer zstds.Put(d)
		// It never grows. The capacity behind dst, which is the same page's, spares the decoder the checks of every copy.
		out, err := d.DecodeAll(src, dst[:0])
		if len(out) > len(dst) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			return len(dst), errLonger
		}
		return len(out), err
	case format.Lz4Raw:
		return lz4.UncompressBlock(src, dst)
	case format.Gzip:
		z := gzips.Get().(*gzip.Reader)
		defer gzips.Put(z)
		if err := z.Reset(bytes.NewReader(src)); err != nil {
			return 0, err
		}
		return readAll(z, dst)
	case format.Brotli:
		return readAll(brotli.NewReader(bytes.NewReader(src)), dst)
	}
	return 0, errors.New("pages of this codec are not read")
}

// zstds has decoders that write no further than their destination reaches.
var zstds = sync.Pool{New: func() any {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err) // the options are right
	}
	return d
}}

var gzips = sync.Pool{New: func() any { return new(gzip.Reader) }}

// readAll reads all of r, which has to fit dst.
func readAll(r io.Reader, dst []byte) (int, error) {
	n, err := io.ReadFull(r, dst)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) && n < len(dst) {
		return n, nil
	}
	if err != nil {
		return n, err
	}
	var one [1]byte
	switch k, err := io.ReadFull(r, one[:]); {
	case k > 0:
		return n, errLonger
	case errors.Is(err, io.EOF):
		return n, nil
	default:
		return n, err
	}
}

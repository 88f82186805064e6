package encode

import (
	"bytes"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codec is a compression. The values are those of the format.
type Codec int32

// The supported compressions.
const (
	None   Codec = 0
	Snappy Codec = 1
	Gzip   Codec = 2
	Zstd   Codec = 6
	LZ4    Codec = 7 // LZ4_RAW: blocks without frames
)

// compressor compresses pages. It is used by one goroutine at a time. Compressors are shared by all writers: there are
// no more of them than goroutines that compress at the same time, while there may be thousands of open files.
type compressor interface {
	// compress appends the compressed form of src to dst, whose memory comes from bytePool.
	compress(dst, src []byte) ([]byte, error)
}

type codecKey struct {
	codec Codec
	level int
}

var compressors sync.Map // codecKey to *sync.Pool of compressor

// compressorsOf returns the pool of a codec.
func compressorsOf(c Codec, level int) *sync.Pool {
	p, _ := compressors.LoadOrStore(codecKey{c, level}, new(sync.Pool))
	return p.(*sync.Pool)
}

func newCompressor(c Codec, level int) (compressor, error) {
	switch c {
	case Snappy:
		return snappyCompressor{}, nil
	case Gzip:
		w, err := gzip.NewWriterLevel(nil, level)
		return &gzipCompressor{w: w}, err
	case LZ4:
		return new(lz4Compressor), nil
	default:
		// Pages have checksums of their own.
		w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)),
			zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true), zstd.WithAllLitEntropyCompression(true))
		return zstdCompressor{w}, err
	}
}

type zstdCompressor struct{ w *zstd.Encoder }

func (c zstdCompressor) compress(dst, src []byte) ([]byte, error) {
	// With room for the worst case EncodeAll appends within dst, whose memory then stays that of the pool.
	dst = bytePool.grow(dst, c.w.MaxEncodedSize(len(src)))
	return c.w.EncodeAll(src, dst), nil
}

type snappyCompressor struct{}

func (snappyCompressor) compress(dst, src []byte) ([]byte, error) {
	n := s2.MaxEncodedLen(len(src))
	dst = bytePool.grow(dst, n)
	out := s2.EncodeSnappy(dst[len(dst):len(dst)+n], src)
	return dst[:len(dst)+len(out)], nil
}

type lz4Compressor struct{ c lz4.Compressor }

func (c *lz4Compressor) compress(dst, src []byte) ([]byte, error) {
	size := lz4.CompressBlockBound(len(src)) // with which there is nothing that cannot be compressed
	dst = bytePool.grow(dst, size)
	n, err := c.c.CompressBlock(src, dst[len(dst):len(dst)+size])
	return dst[:len(dst)+n], err
}

type gzipCompressor struct {
	w   *gzip.Writer
	buf bytes.Buffer
}

func (c *gzipCompressor) compress(dst, src []byte) ([]byte, error) {
	c.buf.Reset()
	c.w.Reset(&c.buf)
	if _, err := c.w.Write(src); err != nil {
		return dst, err
	}
	if err := c.w.Close(); err != nil {
		return dst, err
	}
	return bytePool.appendTo(dst, c.buf.Bytes()), nil
}

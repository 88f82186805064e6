package recordbatch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codecs, as they stand in the attributes of batches.
const (
	codecGzip = 1 + iota
	codecSnappy
	codecLZ4
	codecZstd
)

// The frame that Kafka's Java client puts around snappy blocks: this, two version numbers of 4 bytes each, then
// blocks with their 32-bit length before them.
var snappyFrame = []byte("\x82SNAPPY\x00")

const snappyFrameHeader = 16

// Decompressor undoes the compression of batches. It may be used concurrently.
type Decompressor struct {
	limit int // decompressed bytes of one batch
	zstd  *zstd.Decoder
	gzip  sync.Pool // *gzip.Reader
	lz4   sync.Pool // *lz4.Reader
	// buffers are lent to readers, of which most of a thousand have nothing to read.
	buffers sync.Pool // *[]byte
}

// NewDecompressor returns a decompressor that refuses batches of more than limit bytes. Close it after use.
func NewDecompressor(limit int) (*Decompressor, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(uint64(limit)), zstd.WithDecoderConcurrency(0))
	if err != nil {
		return nil, err
	}
	return &Decompressor{
		limit: limit,
		zstd:  z,
		gzip:  sync.Pool{New: func() any { return new(gzip.Reader) }},
		lz4:   sync.Pool{New: func() any { return lz4.NewReader(nil) }},

		buffers: sync.Pool{New: func() any { return new([]byte) }},
	}, nil
}

// Close frees what the decompressor holds.
func (d *Decompressor) Close() { d.zstd.Close() }

// Append appends the decompressed bytes of src to dst.
func (d *Decompressor) Append(dst []byte, codec uint16, src []byte) ([]byte, error) {
	switch codec {
	case codecGzip:
		return d.appendGzip(dst, src)
	case codecSnappy:
		return d.appendSnappy(dst, src)
	case codecLZ4:
		return d.appendLZ4(dst, src)
	case codecZstd:
		out, err := d.zstd.DecodeAll(src, dst)
		if errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded) || len(out)-len(dst) > d.limit {
			return nil, d.tooLarge()
		}
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
		return out, nil
	}
	return nil, fmt.Errorf("compression codec %d is unknown", codec)
}

func (d *Decompressor) tooLarge() error {
	return fmt.Errorf("a batch of more than %d bytes decompressed", d.limit)
}

func (d *Decompressor) appendGzip(dst, src []byte) ([]byte, error) {
	r := d.gzip.Get().(*gzip.Reader)
	defer d.gzip.Put(r)
	if err := r.Reset(bytes.NewReader(src)); err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	out, err := d.appendAll(dst, r)
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	return out, nil
}

func (d *Decompressor) appendLZ4(dst, src []byte) ([]byte, error) {
	r := d.lz4.Get().(*lz4.Reader)
	defer d.lz4.Put(r)
	r.Reset(bytes.NewReader(src))
	out, err := d.appendAll(dst, r)
	if err != nil {
		return nil, fmt.Errorf("lz4: %w", err)
	}
	return out, nil
}

// appendAll appends what is left in r, as far as the limit.
func (d *Decompressor) appendAll(dst []byte, r io.Reader) ([]byte, error) {
	start := len(dst)
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if len(dst)-start > d.limit {
			return nil, d.tooLarge()
		}
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (d *Decompressor) appendSnappy(dst, src []byte) ([]byte, error) {
	if !bytes.HasPrefix(src, snappyFrame) {
		return d.appendBlock(dst, src, d.limit)
	}
	if len(src) < snappyFrameHeader {
		return nil, errors.New("snappy: a frame that ends in its header")
	}
	start := len(dst)
	for src = src[snappyFrameHeader:]; len(src) > 0; {
		if len(src) < 4 {
			return nil, errors.New("snappy: a frame that ends in a block's length")
		}
		n := binary.BigEndian.Uint32(src)
		if src = src[4:]; uint64(n) > uint64(len(src)) {
			return nil, errors.New("snappy: a frame that ends in a block")
		}
		var err error
		if dst, err = d.appendBlock(dst, src[:n], d.limit-(len(dst)-start)); err != nil {
			return nil, err
		}
		src = src[n:]
	}
	return dst, nil
}

func (d *Decompressor) appendBlock(dst, src []byte, limit int) ([]byte, error) {
	n, err := s2.DecodedLen(src)
	if err != nil {
		return nil, fmt.Errorf("snappy: %w", err)
	}
	if n > limit {
		return nil, d.tooLarge()
	}
	start := len(dst)
	for cap(dst)-start < n {
		dst = append(dst[:cap(dst)], 0)
	}
	// Decode writes from the start of the slice that it is given and uses no more than its capacity.
	if _, err := s2.Decode(dst[start:start+n], src); err != nil {
		return nil, fmt.Errorf("snappy: %w", err)
	}
	return dst[:start+n], nil
}

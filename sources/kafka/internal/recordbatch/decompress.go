package recordbatch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
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
	limit int           // decompressed bytes of one batch
	zstd  *zstd.Decoder // of what is within the limit by its headers, whatever window these ask for
	long  *zstd.Decoder // of what may be beyond: it stops at the limit
	gzip  sync.Pool     // *gzip.Reader
	lz4   sync.Pool     // *lz4.Reader
	// buffers are lent to readers, of which most of a thousand have nothing to read.
	buffers sync.Pool // *[]byte
}

// NewDecompressor returns a decompressor that refuses batches of more than limit bytes. Close it after use.
func NewDecompressor(limit int) (*Decompressor, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0))
	if err != nil {
		return nil, err
	}
	long, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(uint64(limit)), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return &Decompressor{
		limit: limit,
		zstd:  z,
		long:  long,
		gzip:  sync.Pool{New: func() any { return new(gzip.Reader) }},
		lz4:   sync.Pool{New: func() any { return lz4.NewReader(nil) }},

		buffers: sync.Pool{New: func() any { return new([]byte) }},
	}, nil
}

// Close frees what the decompressor holds.
func (d *Decompressor) Close() {
	d.zstd.Close()
	d.long.Close()
}

// ErrTooLarge is the kind of error of a batch that decompresses to more than the limit.
var ErrTooLarge = errors.New("a batch is too large when it is decompressed")

// errFull says that there is more than the capacity of a buffer has room for.
var errFull = errors.New("the buffer is full")

// decodedSize returns what src decompresses to at most, as its headers have it, 0 where its format does not tell; and whether
// it is as much as that.
func decodedSize(codec uint16, src []byte) (size uint64, exact bool) {
	switch codec {
	case codecSnappy:
		n, err := snappySize(src)
		return uint64(n), err == nil
	case codecZstd:
		return zstdSize(src)
	}
	return 0, false
}

// zstdSize is decodedSize for zstd: frames that do not tell their size are as large as their blocks may be. What is
// malformed could be anything.
//
// Source: RFC 8878, sections 3.1.1 and 3.1.2.
func zstdSize(src []byte) (size uint64, exact bool) {
	const anything, last, checksum = math.MaxUint32, 1, 4
	exact = true
	for len(src) > 0 {
		var h zstd.Header
		if h.Decode(src) != nil || h.Skippable || h.HeaderSize > len(src) {
			return anything, false
		}
		src = src[h.HeaderSize:]
		blocks := uint64(0)
		for header := uint32(0); header&last == 0; {
			if len(src) < 3 {
				return anything, false
			}
			header = uint32(src[0]) | uint32(src[1])<<8 | uint32(src[2])<<16
			n, skip := uint64(header>>3), int(header>>3)
			switch header >> 1 & 3 {
			case 1: // one byte, n times
				skip = 1
			case 2: // compressed
				n = min(h.WindowSize, 128<<10)
			}
			if src = src[3:]; skip > len(src) {
				return anything, false
			}
			blocks, src = blocks+n, src[skip:]
		}
		if h.HasCheckSum {
			src = src[min(checksum, len(src)):]
		}
		if h.HasFCS {
			blocks = h.FrameContentSize
		}
		size, exact = min(size+min(blocks, anything), anything), exact && h.HasFCS
	}
	return size, exact
}

// Append appends the decompressed bytes of src to dst. Its capacity is to be what decodedSize returns, or the limit where that is
// less. The error is errFull where decodedSize does not tell and there are more bytes than there is capacity, and of kind
// [ErrTooLarge] where there are more than the limit.
func (d *Decompressor) Append(dst []byte, codec uint16, src []byte) ([]byte, error) {
	switch codec {
	case codecGzip:
		return d.appendGzip(dst, src)
	case codecSnappy:
		return d.appendSnappy(dst, src)
	case codecLZ4:
		return d.appendLZ4(dst, src)
	}
	z := d.zstd
	if size, _ := zstdSize(src); size > uint64(d.limit) {
		z = d.long
	}
	out, err := z.DecodeAll(src, dst)
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return nil, d.tooLarge()
	}
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return out, nil
}

func (d *Decompressor) tooLarge() error {
	return fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, d.limit)
}

// full returns the error of what does not fit into dst.
func (d *Decompressor) full(dst []byte) error {
	if cap(dst)-len(dst) >= d.limit {
		return d.tooLarge()
	}
	return errFull
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

// appendAll appends what is left in r.
func (d *Decompressor) appendAll(dst []byte, r io.Reader) ([]byte, error) {
	start := dst
	var more [1]byte // whether there is any when dst is full
	for {
		to := dst[len(dst):cap(dst)]
		isFull := len(to) == 0
		if isFull {
			to = more[:]
		}
		n, err := r.Read(to)
		switch {
		case isFull && n > 0:
			return nil, d.full(start)
		case !isFull:
			dst = dst[:len(dst)+n]
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
	n, err := snappySize(src)
	switch {
	case err != nil:
		return nil, err
	case n > cap(dst)-len(dst):
		return nil, d.full(dst)
	}
	err = snappyBlocks(src, func(block []byte) error {
		size, err := s2.DecodedLen(block)
		if err != nil {
			return err
		}
		start := len(dst)
		// Decode writes from the start of the slice that it is given and uses no more than its capacity.
		_, err = s2.Decode(dst[start:start+size], block)
		dst = dst[:start+size]
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("snappy: %w", err)
	}
	return dst, nil
}

// snappySize returns what src says that it decompresses to, which is no more than the largest number for what is larger.
func snappySize(src []byte) (size int, err error) {
	err = snappyBlocks(src, func(block []byte) error {
		n, err := s2.DecodedLen(block)
		size += min(n, math.MaxInt-size)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("snappy: %w", err)
	}
	return size, nil
}

// snappyBlocks calls each with the blocks of src, until that returns an error.
func snappyBlocks(src []byte, each func(block []byte) error) error {
	if !bytes.HasPrefix(src, snappyFrame) {
		return each(src)
	}
	if len(src) < snappyFrameHeader {
		return errors.New("a frame that ends in its header")
	}
	for src = src[snappyFrameHeader:]; len(src) > 0; {
		if len(src) < 4 {
			return errors.New("a frame that ends in a block's length")
		}
		n := binary.BigEndian.Uint32(src)
		if src = src[4:]; uint64(n) > uint64(len(src)) {
			return errors.New("a frame that ends in a block")
		}
		if err := each(src[:n]); err != nil {
			return err
		}
		src = src[n:]
	}
	return nil
}

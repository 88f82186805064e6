package gunzip

import (
	"bufio"
	"errors"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

const (
	window = 32 << 10 // how far back a copy may reach
	// room is how much is decoded at a time. What is decoded lies behind the window that it refers to.
	room     = 128 << 10
	mostText = 512         // of a name or a comment, with its end
	slack    = 3 + 258 + 8 // what the loop over symbols writes at most before it looks whether there is room
)

// state is what comes next in the input.
type state uint8

const (
	header state = iota // of a member
	block               // the header of a block
	stored              // bytes of a block without compression
	symbols
	trailer
)

// Reader reads the members of a gzip file, one behind the other, as [gzip.Reader] does, and returns its errors. It is used by one
// goroutine. It reads from its input no further than it has to when it returns an error.
type Reader struct {
	in  *bufio.Reader
	src []byte // what in has buffered
	pos int    // of src, before which all bytes are in bits or done with

	bits uint64 // of the input, the next one lowest; those above the first nb are zero or those that come then
	nb   uint
	pad  uint  // how many of bits are zeros that are not in the input, which has ended with end
	end  error // of in

	state state
	last  bool // block
	left  int  // bytes of a stored block

	out  []byte
	r, w int // out[r:w] has been decoded and not been returned
	from int // of out, where what copies may refer to begins
	crc  uint32
	size uint32
	err  error // what Read returns behind the last byte

	decoder
}

// NewReader reads the header of the first member.
func NewReader(in *bufio.Reader) (*Reader, error) {
	d := &Reader{in: in, out: make([]byte, window+room+slack)}
	d.step()
	if d.err != nil {
		return nil, d.err
	}
	return d, nil
}

// Read implements [io.Reader].
func (d *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for d.r == d.w {
		if d.err != nil {
			return 0, d.err
		}
		d.step()
	}
	n := copy(p, d.out[d.r:d.w])
	d.r += n
	return n, nil
}

// step decodes until there is something to return, or the next state. All that was decoded has been returned.
func (d *Reader) step() {
	if d.w > len(d.out)-slack-room/2 {
		keep := min(window, d.w-d.from)
		copy(d.out, d.out[d.w-keep:d.w])
		d.r, d.w, d.from = keep, keep, 0
	}
	before := d.w
	switch d.state {
	case header:
		d.header()
	case block:
		d.block()
	case stored:
		d.copy()
	case symbols:
		d.symbols()
	case trailer:
		d.trailer()
	}
	d.crc = crc32.Update(d.crc, crc32.IEEETable, d.out[before:d.w])
	d.size += uint32(d.w - before)
	if d.err == nil && d.pad > d.nb {
		d.fail(noEOF(d.end))
	}
	if d.w > before || d.err != nil {
		d.unread()
	}
}

// fail keeps the first error.
func (d *Reader) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// noEOF makes of the end of the input in the middle of something the error that it is.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// corrupt says that the input is no deflate stream.
func (d *Reader) corrupt() { d.fail(flate.CorruptInputError(d.offset + int64(d.pos))) }

// unread gives whole bytes back to the input, as far as they are still in its buffer.
func (d *Reader) unread() {
	if n := int(d.nb / 8); d.pad == 0 && n <= d.pos {
		d.pos -= n
		d.nb %= 8
		d.bits &= 1<<d.nb - 1
	}
	d.discard()
}

// discard tells the input what has been read.
func (d *Reader) discard() {
	_, _ = d.in.Discard(d.pos) // it is buffered
	d.offset += int64(d.pos)
	d.src, d.pos = d.src[d.pos:], 0
}

// fill reads until there are 56 bits or more. Behind the end of the input are zeros.
func (d *Reader) fill() {
	for d.nb < 56 {
		if d.pos == len(d.src) {
			d.discard()
			if d.end == nil {
				_, d.end = d.in.Peek(1)
			}
			if d.end != nil {
				d.nb += 8
				d.pad += 8
				continue
			}
			d.src, _ = d.in.Peek(d.in.Buffered())
		}
		d.bits |= uint64(d.src[d.pos]) << d.nb
		d.pos++
		d.nb += 8
	}
}

// take returns the next n bits, at most 32.
func (d *Reader) take(n uint) uint32 {
	if d.nb < n {
		d.fill()
	}
	v := uint32(d.bits & (1<<n - 1))
	d.bits >>= n
	d.nb -= n
	return v
}

// header reads the header of a member.
//
// Source: RFC 1952, section 2.3
func (d *Reader) header() {
	const (
		hasSum = 1 << (iota + 1)
		hasExtra
		hasName
		hasComment
	)
	if d.fill(); d.pad >= d.nb {
		d.fail(d.end) // io.EOF behind the last member
		return
	}
	var sum uint32
	next := func() byte {
		b := [1]byte{byte(d.take(8))}
		sum = crc32.Update(sum, crc32.IEEETable, b[:])
		return b[0]
	}
	first, second, method, flags := next(), next(), next(), next()
	if d.pad > d.nb {
		return
	}
	if first != 0x1f || second != 0x8b || method != 8 || flags>>5 != 0 {
		d.fail(gzip.ErrHeader)
		return
	}
	for range 6 { // time, extra flags, system
		next()
	}
	if flags&hasExtra != 0 {
		for n := int(next()) | int(next())<<8; n > 0 && d.pad <= d.nb; n-- {
			next()
		}
	}
	for _, text := range []byte{hasName, hasComment} {
		for n := 1; flags&text != 0 && d.pad <= d.nb && next() != 0; n++ {
			if n == mostText {
				d.fail(gzip.ErrHeader)
				return
			}
		}
	}
	if flags&hasSum != 0 {
		if want := uint16(sum); uint16(d.take(16)) != want && d.pad <= d.nb {
			d.fail(gzip.ErrHeader)
			return
		}
	}
	d.state, d.from, d.crc, d.size, d.last = block, d.w, 0, 0, false
}

// trailer reads what follows the last block.
func (d *Reader) trailer() {
	d.take(d.nb % 8)
	crc, size := d.take(32), d.take(32)
	if d.pad > d.nb {
		return
	}
	if crc != d.crc || size != d.size {
		d.fail(gzip.ErrChecksum)
		return
	}
	d.state = header
}

// block reads the header of a block.
//
// Source: RFC 1951, section 3.2.3
func (d *Reader) block() {
	if d.last {
		d.state = trailer
		return
	}
	d.last = d.take(1) == 1
	switch d.take(2) {
	case 0:
		d.take(d.nb % 8)
		n := d.take(16)
		if d.take(16) != ^n&0xffff {
			d.corruptUnlessEnded()
			return
		}
		d.left, d.state = int(n), stored
	case 1:
		d.useFixed()
		d.state = symbols
	case 2:
		if !d.readTables() {
			d.corruptUnlessEnded()
			return
		}
		d.state = symbols
	default:
		d.corruptUnlessEnded()
	}
}

// corruptUnlessEnded is corrupt where the bits that are wrong are those of the input.
func (d *Reader) corruptUnlessEnded() {
	if d.pad <= d.nb {
		d.corrupt()
	}
}

// copy takes bytes as they are.
func (d *Reader) copy() {
	for d.left > 0 && d.nb >= 8+d.pad {
		d.out[d.w] = byte(d.take(8))
		d.w++
		d.left--
	}
	if d.left == 0 {
		d.state = block
		return
	}
	if d.pos == len(d.src) {
		if d.fill(); d.nb == d.pad {
			d.fail(noEOF(d.end))
		}
		return
	}
	d.bits = 0 // also above its first nb
	n := copy(d.out[d.w:min(len(d.out), d.w+d.left)], d.src[d.pos:])
	d.pos += n
	d.w += n
	d.left -= n
}

package file

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/urlmill/urlmill/sources/codec"
)

const (
	// keptBytes is how much of a damaged member is looked through once more for the member behind it: its decoder may have read on
	// into that before it noticed.
	keptBytes = 1 << 20
	// peekBytes is how much of a member is looked at to find out what its content begins with.
	peekBytes = 8 << 10
	// maxDictionary bounds the dictionary that a zstd file may begin with.
	maxDictionary = 8 << 20
)

// rewinder reads a file, and some of what it has just read once more.
type rewinder struct {
	r    io.Reader
	kept []byte // the last bytes that were read from r
	end  int64  // position behind them
	at   int64  // next byte
	err  error  // of r
	// credit is how many bytes may be read once more: no more in all than there are, whatever a file is made of.
	credit int64
}

// Read implements [io.Reader].
func (w *rewinder) Read(p []byte) (int, error) {
	if again := w.end - w.at; again > 0 {
		n := copy(p, w.kept[int64(len(w.kept))-again:])
		w.at += int64(n)
		return n, nil
	}
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.r.Read(p)
	if len(w.kept)+n > 2*keptBytes {
		w.kept = w.kept[:copy(w.kept, w.kept[max(0, len(w.kept)-keptBytes):])]
	}
	w.kept = append(w.kept, p[:n]...)
	w.end += int64(n)
	w.credit += int64(n)
	w.at, w.err = w.end, err
	return n, err
}

// back makes a byte the next one, or the first behind it that can be read once more.
func (w *rewinder) back(to int64) {
	w.at = max(to, w.end-min(int64(len(w.kept)), w.credit))
	w.credit -= w.end - w.at
}

// packing is a compression whose files consist of members.
type packing interface {
	// magic is what members begin with.
	magic() []byte
	// reset begins with the member that r is at. Reading ends with io.EOF behind it, and nothing is read from r that belongs to the next.
	reset(r *bufio.Reader) error
	io.Reader
	// begins reports whether data, the start of what may be a member, has a content that begins so.
	begins(data []byte, opening string) bool
	close()
}

// memberwise reads the content of a file member by member. A damaged one ends where another one begins whose content begins as it should.
type memberwise struct {
	packing
	src     *rewinder
	in      *bufio.Reader
	opening string
	start   int64 // of the current member
	open    bool
	past    bool // one has been read
}

// here returns the position of the next byte in the file.
func (m *memberwise) here() int64 { return m.src.at - int64(m.in.Buffered()) }

// Read implements [codec.Content].
func (m *memberwise) Read(p []byte) (int, error) {
	if !m.open {
		switch err := m.begin(); {
		case err == io.EOF: //nolint:errorlint // behind the last member, as begin returns it
			return 0, err
		case err != nil:
			return 0, m.damaged(err)
		}
	}
	n, err := m.packing.Read(p)
	switch {
	case n > 0 || err == nil:
		return n, nil // an error comes again
	case err == io.EOF: //nolint:errorlint // a wrapped one is another
		m.open, m.past = false, true
		return 0, &codec.MemberEnd{Start: m.start, End: m.here()}
	default:
		return 0, m.damaged(err)
	}
}

// begin begins with the next member.
func (m *memberwise) begin() error {
	for {
		m.start = m.here()
		head, err := m.in.Peek(len(m.magic()))
		switch {
		case len(head) == 0:
			return err
		case head[0] == 0: // as gzip allows behind a member
			_, _ = m.in.Discard(1)
		case isSkippable(head):
			if err := skipFrame(m.in); err != nil {
				return err
			}
		case !bytes.Equal(head, m.magic()):
			return errors.New("here is no member")
		default:
			m.open = true
			return m.reset(m.in)
		}
	}
}

// isSkippable reports whether a frame of zstd without content begins here.
func isSkippable(head []byte) bool {
	return len(head) == 4 && head[0]&0xf0 == 0x50 && string(head[1:]) == "\x2a\x4d\x18"
}

// damaged returns what became of a member that could not be read because of err: its end, where another one follows, or an error that
// ends the file.
func (m *memberwise) damaged(err error) error {
	if m.src.err != nil && m.src.err != io.EOF { //nolint:errorlint // as the file or the store returned it
		return m.src.err
	}
	if !m.past && errors.As(err, new(*errWindow)) { // of all members, most likely
		return err
	}
	m.open = false
	short := errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
	m.src.back(m.start + 1)
	m.in.Reset(m.src)
	found := m.find()
	switch {
	case m.src.err != nil && m.src.err != io.EOF: //nolint:errorlint // as above
		return m.src.err
	case !found && short:
		return io.ErrUnexpectedEOF
	}
	return &codec.MemberEnd{Start: m.start, End: m.here(), Damage: err}
}

// find goes on to the next member, or to the end of the file.
func (m *memberwise) find() bool {
	magic := m.magic()
	for {
		data, err := m.in.Peek(peekBytes)
		i := bytes.Index(data, magic)
		switch {
		case i == 0 && m.begins(data, m.opening):
			return true
		case i == 0:
			i = 1
		case i < 0 && err != nil:
			_, _ = m.in.Discard(len(data))
			return false
		case i < 0:
			i = len(data) - len(magic) + 1
		}
		_, _ = m.in.Discard(i)
	}
}

// Close implements [io.Closer].
func (m *memberwise) Close() error {
	m.packing.close()
	return nil
}

// openMemberwise returns what reads the content of a file whose members begin so, and the name of its format; nil for a format without
// members.
func openMemberwise(src *rewinder, in *bufio.Reader, opening string, window int) (m *memberwise, name string, err error) {
	dictionary, err := readDictionary(in)
	if err != nil {
		return nil, "zstd", err
	}
	f, err := recognise(in)
	for err == nil && f != nil && f.skip {
		if err = skipFrame(in); err == nil {
			f, err = recognise(in)
		}
	}
	if err != nil || f == nil {
		return nil, "text", err
	}
	m = &memberwise{src: src, in: in, opening: opening}
	switch f.name {
	case "gzip":
		m.packing = &gzipMembers{}
	case "zstd":
		if m.packing, err = newZstdMembers(dictionary, window); err != nil {
			return nil, f.name, err
		}
	default:
		return nil, f.name, nil
	}
	return m, f.name, nil
}

// gzipMembers reads members of gzip (RFC 1952).
type gzipMembers struct{ z, probe gzip.Reader }

func (*gzipMembers) magic() []byte { return []byte("\x1f\x8b\x08") }

func (g *gzipMembers) reset(r *bufio.Reader) error {
	err := g.z.Reset(r)
	g.z.Multistream(false)
	return err
}

func (g *gzipMembers) Read(p []byte) (int, error) { return g.z.Read(p) }

func (g *gzipMembers) begins(data []byte, opening string) bool {
	return g.probe.Reset(bytes.NewReader(data)) == nil && beginsWith(&g.probe, opening)
}

func (*gzipMembers) close() {}

func beginsWith(r io.Reader, opening string) bool {
	head := make([]byte, len(opening))
	_, err := io.ReadFull(r, head)
	return err == nil && string(head) == opening
}

// zstdMembers reads frames of zstd (RFC 8878).
type zstdMembers struct {
	z, probe *zstd.Decoder
	window   int
	frame    frameReader
}

func newZstdMembers(dictionary []byte, window int) (*zstdMembers, error) {
	options := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(uint64(window)), zstd.WithDecoderLowmem(true)}
	if dictionary != nil {
		options = append(options, zstd.WithDecoderDicts(dictionary))
	}
	z, err := zstd.NewReader(nil, options...)
	if err != nil {
		return nil, err
	}
	probe, err := zstd.NewReader(nil, options...)
	if err != nil {
		return nil, err
	}
	return &zstdMembers{z: z, probe: probe, window: window}, nil
}

func (*zstdMembers) magic() []byte { return []byte("\x28\xb5\x2f\xfd") }

func (z *zstdMembers) reset(r *bufio.Reader) error {
	z.frame = frameReader{r: r}
	return windowError(z.z.Reset(&z.frame), z.window)
}

func (z *zstdMembers) Read(p []byte) (int, error) {
	n, err := z.z.Read(p)
	if err == io.EOF && n == 0 && !z.frame.done() { //nolint:errorlint // the decoder's own end
		err = io.ErrUnexpectedEOF
	}
	return n, windowError(err, z.window)
}

func (z *zstdMembers) begins(data []byte, opening string) bool {
	return z.probe.Reset(bytes.NewReader(data)) == nil && beginsWith(z.probe, opening)
}

func (z *zstdMembers) close() {
	z.z.Close()
	z.probe.Close()
}

// frameReader returns the bytes of one frame, and none behind it.
type frameReader struct {
	r        *bufio.Reader
	left     int // bytes up to what says how it goes on
	state    frameState
	checksum bool
}

type frameState uint8

const (
	frameHeader frameState = iota
	blockHeader
	lastBlock
	frameEnd
)

func (f *frameReader) done() bool { return f.state == frameEnd && f.left == 0 }

// Read implements [io.Reader].
func (f *frameReader) Read(p []byte) (int, error) {
	for f.left == 0 {
		if f.state == frameEnd {
			return 0, io.EOF
		}
		if err := f.next(); err != nil {
			return 0, noEOF(err)
		}
	}
	n, err := f.r.Read(p[:min(len(p), f.left)])
	f.left -= n
	return n, noEOF(err)
}

// next finds out how many bytes come up to the next header of a block, with that.
func (f *frameReader) next() error {
	switch f.state {
	case frameHeader:
		head, err := f.r.Peek(zstd.HeaderMaxSize)
		var h zstd.Header
		if e := h.Decode(head); e != nil {
			if err == nil {
				err = e
			}
			return err
		}
		f.left, f.checksum, f.state = h.HeaderSize, h.HasCheckSum, blockHeader
	case blockHeader:
		head, err := f.r.Peek(3)
		if err != nil {
			return err
		}
		// Last_Block, Block_Type, Block_Size: RFC 8878, 3.1.1.2.
		h := uint32(head[0]) | uint32(head[1])<<8 | uint32(head[2])<<16
		f.left = 3 + int(h>>3)
		if h>>1&3 == 1 { // RLE: a byte that is repeated
			f.left = 3 + 1
		}
		if h&1 == 1 {
			f.state = lastBlock
		}
	case lastBlock:
		if f.state = frameEnd; f.checksum {
			f.left = 4
		}
	}
	return nil
}

// dictionaryMagic begins the frame with the dictionary that all others of a .warc.zst file are compressed with.
//
// Source: https://iipc.github.io/warc-specifications/specifications/warc-zstd/
const dictionaryMagic = "\x5d\x2a\x4d\x18"

// readDictionary returns the dictionary that a file begins with, nil for none.
func readDictionary(in *bufio.Reader) ([]byte, error) {
	head, err := in.Peek(8)
	if err != nil || string(head[:4]) != dictionaryMagic {
		return nil, nil // what else it is comes out later
	}
	size := binary.LittleEndian.Uint32(head[4:])
	if size > maxDictionary {
		return nil, fmt.Errorf("its dictionary claims %d bytes, and at most %d are read", size, maxDictionary)
	}
	_, _ = in.Discard(len(head))
	var b bytes.Buffer
	if n, err := io.CopyN(&b, in, int64(size)); err != nil {
		return nil, fmt.Errorf("dictionary of %d bytes, of which %d are there: %w", size, n, noEOF(err))
	}
	dictionary := b.Bytes()
	if !bytes.HasPrefix(dictionary, []byte("\x28\xb5\x2f\xfd")) {
		return dictionary, nil
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDictionary))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.DecodeAll(dictionary, nil)
}

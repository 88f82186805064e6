package file

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// membersFrom is from which size on a file may be decompressed by several goroutines.
	membersFrom = 1 << 20
	// pieceSize is how much content is given to one of them at a time, unless a member is larger, and mostPiece the most that it may be.
	pieceSize = 512 << 10
	mostPiece = 8 << 20
)

// members decompresses the members of a gzip file, or the frames of a zstd file, side by side, and returns their content in order. It
// does so for members that say where they end before they are decompressed, and that are small. From the first other or damaged one on,
// the ordinary decoder reads the rest: content and errors are those that it alone would have. It is used by one goroutine.
type members struct {
	format *format
	window int
	decode func(p *piece) bool
	end    func()

	r      *bufio.Reader // the feeder's, until it has ended
	most   int           // decoded bytes of a piece
	pieces chan *piece   // in order
	free   chan *piece
	quit   func()
	ended  chan struct{} // closed by quit
	all    sync.WaitGroup
	err    error  // of reading, behind tail
	tail   []byte // read by the feeder, and of no piece

	cur   *piece
	rest  []byte // of its content
	plain io.Reader
	left  *left // that plain reads
}

// piece is some whole members. good and content are set before ready is closed.
type piece struct {
	raw     []byte
	size    int // of the content, at most
	ready   chan struct{}
	content []byte
	good    bool
}

// errNoCut is the error of a member that is left to the ordinary decoder.
var errNoCut = errors.New("a member that is not decompressed beside others")

// newMembers returns a reader of the content of r, nil if r does not begin with a member that can be decompressed beside others.
// It takes up to twice the memory of a window.
func newMembers(r *bufio.Reader, f *format, window int) *members {
	n := runtime.GOMAXPROCS(0)
	most := min(mostPiece, window/(n+2))
	if n == 1 || f.cut == nil || f.cut(r, nil, most) != nil {
		return nil
	}
	m := &members{format: f, window: window, r: r, most: most, pieces: make(chan *piece, n), free: make(chan *piece, n+2), ended: make(chan struct{})}
	m.quit = sync.OnceFunc(func() { close(m.ended) })
	m.decode, m.end = f.decoder(n, window)
	for range cap(m.free) {
		m.free <- new(piece)
	}
	m.all.Go(m.feed)
	return m
}

// feed cuts r into pieces. There are two more than are decompressed at a time: the one that is being cut, and that which Read has.
func (m *members) feed() {
	defer close(m.pieces)
	for m.err == nil {
		var p *piece
		select {
		case p = <-m.free:
		case <-m.ended:
			return
		}
		p.raw, p.size, p.ready = p.raw[:0], 0, make(chan struct{})
		whole := 0 // bytes of whole members
		for m.err == nil && p.size < min(pieceSize, m.most) && len(p.raw) < m.most {
			if m.err = m.format.cut(m.r, p, m.most); m.err == nil {
				whole = len(p.raw)
			}
		}
		m.tail = append(m.tail, p.raw[whole:]...)
		if p.raw = p.raw[:whole]; whole == 0 {
			return
		}
		select {
		case m.pieces <- p:
		case <-m.ended:
			m.tail = append(p.raw, m.tail...)
			return
		}
		m.all.Go(func() {
			defer close(p.ready)
			p.good = m.decode(p)
		})
	}
}

// Read implements io.Reader.
func (m *members) Read(to []byte) (int, error) {
	for len(m.rest) == 0 {
		if m.plain != nil {
			return m.plain.Read(to)
		}
		if m.cur != nil {
			m.free <- m.cur
			m.cur = nil
		}
		p := <-m.pieces
		if p != nil {
			<-p.ready
		}
		if p == nil || !p.good {
			if err := m.goOn(p); err != nil {
				return 0, err
			}
			continue
		}
		m.cur, m.rest = p, p.content
	}
	n := copy(to, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// goOn has the ordinary decoder read p and what is behind it.
func (m *members) goOn(p *piece) error {
	m.quit()
	m.left = &left{r: m.r}
	for ; p != nil; p = <-m.pieces {
		m.left.raw = append(m.left.raw, p.raw)
	}
	m.all.Wait()
	m.left.raw = append(m.left.raw, m.tail)
	switch m.err {
	case nil, errNoCut, io.EOF, io.ErrUnexpectedEOF: //nolint:errorlint // the file says how it ends; errors of a store may wrap these
	default:
		m.left.err = m.err
	}
	m.left.b = bufio.NewReaderSize(m.left, readBuffer)
	if _, err := m.left.b.Peek(1); err != nil {
		return err
	}
	plain, err := m.format.open(m.left.b, m.window)
	if err == nil {
		m.plain = plain
	}
	return err
}

// unused returns how many bytes were read, and have not come to the decoder that has met an error.
func (m *members) unused() int {
	if m.left == nil {
		return 0
	}
	return m.left.b.Buffered() + m.left.len()
}

// Close implements [io.Closer].
func (m *members) Close() error {
	m.quit()
	m.all.Wait()
	m.end()
	if c, ok := m.plain.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// left is what was read and not used, an error of reading if there was one, and else the rest of a file.
type left struct {
	raw [][]byte
	err error
	r   *bufio.Reader
	b   *bufio.Reader // which reads it
}

func (l *left) len() (n int) {
	for _, raw := range l.raw {
		n += len(raw)
	}
	return n
}

// Read implements io.Reader.
func (l *left) Read(p []byte) (int, error) {
	for len(l.raw) > 0 {
		if n := copy(p, l.raw[0]); n > 0 {
			l.raw[0] = l.raw[0][n:]
			return n, nil
		}
		l.raw = l.raw[1:]
	}
	if l.err != nil {
		return 0, l.err
	}
	return l.r.Read(p)
}

// more appends the next n bytes to the piece.
func (p *piece) more(r io.Reader, n int) error {
	at := len(p.raw)
	p.raw = append(p.raw, make([]byte, n)...)
	got, err := io.ReadFull(r, p.raw[at:])
	p.raw = p.raw[:at+got]
	return err
}

// A member of bgzip (the SAM specification, 4.1) says in its header how long it is, and has at most 64 KiB.
const (
	bgzipHead = 18
	bgzipMost = 64 << 10
)

// cutGzip appends the next member to p, if its header says where it ends. Without p it only looks.
func cutGzip(r *bufio.Reader, p *piece, most int) error {
	head, err := r.Peek(bgzipHead)
	if err != nil {
		return err
	}
	if string(head[:4]) != "\x1f\x8b\x08\x04" || string(head[10:16]) != "\x06\x00BC\x02\x00" || most < bgzipMost {
		return errNoCut
	}
	n := int(binary.LittleEndian.Uint16(head[16:])) + 1
	switch {
	case n < bgzipHead+8:
		return errNoCut
	case p == nil:
		return nil
	}
	if err := p.more(r, n); err != nil {
		return err
	}
	p.size += int(min(binary.LittleEndian.Uint32(p.raw[len(p.raw)-4:]), bgzipMost))
	return nil
}

// gzipDecoder decompresses whole members.
func gzipDecoder(int, int) (decode func(*piece) bool, end func()) {
	var readers sync.Pool
	return func(p *piece) bool {
		z, _ := readers.Get().(*gzip.Reader)
		if z == nil {
			z = new(gzip.Reader)
		}
		defer readers.Put(z)
		if z.Reset(bytes.NewReader(p.raw)) != nil {
			return false
		}
		if cap(p.content) < p.size {
			p.content = make([]byte, p.size)
		}
		p.content = p.content[:p.size]
		if _, err := io.ReadFull(z, p.content); err != nil {
			return false
		}
		var more [1]byte
		n, err := z.Read(more[:])
		return n == 0 && err == io.EOF //nolint:errorlint // a wrapped io.EOF is none
	}, func() {}
}

const (
	// zstdHead is how long the head of a frame and of its first block is, at most.
	zstdHead = zstd.HeaderMaxSize
	// zstdBlock is how large a block is, at most.
	zstdBlock = 128 << 10
	// The types of blocks (RFC 8878, 3.1.1.2.2).
	zstdRLE, zstdReserved = 1, 3
)

// cutZstd appends the next frame to p: the blocks of a frame say how long they are. Without p it only looks at the head.
func cutZstd(r *bufio.Reader, p *piece, most int) error {
	head, err := r.Peek(zstdHead)
	if len(head) == 0 {
		return err
	}
	var h zstd.Header
	if h.Decode(head) != nil || h.HasFCS && h.FrameContentSize > uint64(most) || int64(h.SkippableSize) > int64(most) {
		return errNoCut
	}
	if p == nil {
		return nil
	}
	if h.Skippable {
		return p.more(r, h.HeaderSize+int(h.SkippableSize))
	}
	if err := p.more(r, h.HeaderSize); err != nil {
		return err
	}
	size := 0
	for last := false; !last; size += zstdBlock {
		if len(p.raw) > most || size > most {
			return errNoCut
		}
		if err := p.more(r, 3); err != nil {
			return err
		}
		b := p.raw[len(p.raw)-3:]
		block := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
		n := block >> 3
		switch block >> 1 & 3 {
		case zstdRLE:
			n = 1
		case zstdReserved:
			return errNoCut
		}
		if last = block&1 == 1; last && h.HasCheckSum {
			n += 4
		}
		if err := p.more(r, n); err != nil {
			return err
		}
	}
	if h.HasFCS {
		size = int(h.FrameContentSize)
	}
	p.size += size
	return nil
}

// zstdDecoder decompresses whole frames.
func zstdDecoder(n, window int) (decode func(*piece) bool, end func()) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(n), zstd.WithDecoderMaxWindow(uint64(window)), zstd.WithDecoderMaxMemory(4*mostPiece))
	if err != nil {
		return func(*piece) bool { return false }, func() {}
	}
	return func(p *piece) bool {
		var err error
		p.content, err = d.DecodeAll(p.raw, p.content[:0])
		return err == nil
	}, d.Close
}

package file

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/framing"
)

const (
	// readBuffer is how much is read from a file at a time.
	readBuffer = 128 << 10
	// chunkSize is how much content a reading goroutine hands over at a time, and chunks how many it may be
	// ahead.
	chunkSize = 256 << 10
	chunks    = 3
)

// errStopped ends reading because of a drain.
var errStopped = errors.New("stopped")

// chunk is a piece of the content, and what comes behind it: nil, the end of a member, or the end of all.
type chunk struct {
	data  []byte
	err   error
	read  snapshot // what it was made of, and all before it
	plain bool     // it is as it is stored
}

// snapshot is how much of a file has been read, as it is stored.
type snapshot struct {
	n   int64
	sum xxh3.Uint128
}

// stream reads, decompresses and hands over one file in a goroutine of its own: a file that waits, such as standard
// input, does not block a drain then, and decompression gets a processor of its own.
type stream struct {
	in    input
	drain <-chan struct{}

	filled chan chunk
	empty  chan []byte
	closed chan struct{}
	gone   sync.WaitGroup

	rest, whole []byte // of the current chunk
	err         error  // that ended the content, and is what Read returns behind the last chunk
	read        *atomic.Int64
	snapshot    snapshot // of the current chunk, and all before it
	last        byte     // of the current chunk
	window      int      // of a decoder, at most
	opening     string   // what the content of members begins with; "" if members are of no interest
	plain       bool     // of the current chunk
	// The goroutine writes these before it sends the chunk with the error.
	format string
	offset int64 // where in the file the decompressor is
	// position returns what offset becomes.
	position func() int64
	taken    int64 // bytes read from the file
	// opened is what the file was like when it was opened. It is written before the first chunk is sent.
	opened mark
}

// newStream starts to read in. The bytes read from the file are added to read. stdin is read for the path "-". ctx ends what
// is done before that. A decoder may have a window of so many bytes. With opening the content is that of members that begin so, and
// their ends show.
func newStream(ctx context.Context, in input, stdin io.Reader, drain <-chan struct{}, read *atomic.Int64, window int, opening string) *stream {
	s := &stream{
		in: in, drain: drain, read: read, format: "text", window: window, opening: opening,
		filled: make(chan chunk, chunks), empty: make(chan []byte, chunks), closed: make(chan struct{}),
	}
	for range chunks {
		s.empty <- make([]byte, chunkSize)
	}
	s.gone.Go(func() { s.run(ctx, stdin) })
	return s
}

// close ends the goroutine and waits for it, unless it may be waiting for input that never comes: then it ends with
// its next byte.
func (s *stream) close() {
	close(s.closed)
	if !s.in.stream {
		s.gone.Wait()
	}
}

// await waits until Read has something to return: content, or the error that it ends with. It returns the cause of ctx when that
// ends before; reading may go on with another then.
func (s *stream) await(ctx context.Context) error {
	if s.poll() {
		return nil
	}
	select {
	case c := <-s.filled:
		s.take(c)
	case <-s.drain:
		s.err = errStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// poll reports whether Read has something to return, and takes the next chunk for that if one is there.
func (s *stream) poll() bool {
	if len(s.rest) > 0 || s.err != nil {
		return true
	}
	if s.whole != nil {
		s.empty <- s.whole[:cap(s.whole)]
		s.whole = nil
	}
	select {
	case c := <-s.filled:
		s.take(c)
		return true
	default:
		return false
	}
}

// take makes c the current chunk, or its error that of the content.
func (s *stream) take(c chunk) {
	if s.err = c.err; s.ended() || c.err == nil || isMemberEnd(c.err) {
		s.snapshot = c.read
	}
	if len(c.data) > 0 {
		s.rest, s.whole, s.last, s.plain = c.data, c.data, c.data[len(c.data)-1], c.plain
	}
}

func isMemberEnd(err error) bool {
	_, ok := err.(*codec.MemberEnd) //nolint:errorlint // as members returns it
	return ok
}

// Plain implements [codec.Content].
func (s *stream) Plain() bool { return s.plain }

// ended reports whether all of the content has been taken.
func (s *stream) ended() bool {
	return s.err == io.EOF //nolint:errorlint // a wrapped io.EOF does not end it in good order
}

// Read implements io.Reader. It does not wait: where it would have to, the error is [framing.ErrAgain]. It is errStopped once a
// drain was met in await and nothing is left that has been read already: what came from a pipe cannot be read again.
func (s *stream) Read(p []byte) (int, error) {
	if !s.poll() {
		return 0, framing.ErrAgain
	}
	if len(s.rest) == 0 {
		err := s.err
		if isMemberEnd(err) {
			s.err = nil
		}
		return 0, err
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// run is the goroutine.
func (s *stream) run(ctx context.Context, stdin io.Reader) {
	read, err := s.copy(ctx, stdin)
	select {
	case s.filled <- chunk{err: err, read: read}:
	case <-s.closed:
	}
}

// copy hands the content over and returns what it ended with: io.EOF, errStopped, or an error of reading.
func (s *stream) copy(ctx context.Context, stdin io.Reader) (read snapshot, err error) {
	counted := &counter{r: stdin, n: s.read}
	size := s.in.size
	switch {
	case s.in.body != nil:
		counted.r = s.in.body
		defer s.in.body.Close()
	case s.in.path != Stdin:
		f, err := os.Open(s.in.path)
		if err != nil {
			return read, err
		}
		defer f.Close()
		info, err := s.in.confirm(ctx, f)
		if err != nil {
			return read, err
		}
		counted.r, size = f, max(size, info.Size())
		if s.in.matched {
			s.opened, counted.sum = newMark(info, s.in.real), xxh3.New()
		}
	}
	s.position = func() int64 { return 0 }
	defer func() { s.taken = counted.here; s.offset = s.position() }()
	content, plain, err := s.open(counted, !s.in.stream && size >= membersFrom)
	if err != nil {
		return read, noEOF(err)
	}
	if c, ok := content.(io.Closer); ok {
		defer c.Close()
	}
	for err == nil {
		err = s.next(content, plain, counted)
	}
	if err == io.EOF && plain && counted.here < size { //nolint:errorlint // as in Lines
		err = errShrunk
	}
	return counted.snapshot(), err
}

// open returns the content of a file, and whether that is as it is stored. beside says that members may be decompressed beside each
// other, which those that show are not.
func (s *stream) open(file io.Reader, beside bool) (content io.Reader, plain bool, err error) {
	src := &rewinder{r: file}
	if s.opening != "" {
		file = src
	}
	buffered := bufio.NewReaderSize(file, readBuffer)
	s.position = func() int64 { return s.taken - int64(buffered.Buffered()) }
	if s.opening != "" {
		m, name, err := openMemberwise(src, buffered, s.opening, s.window)
		if s.format = name; m != nil {
			s.position = m.here
			return m, false, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
	content, s.format, err = decompress(buffered, s.window, beside && s.opening == "")
	if m, ok := content.(*members); ok {
		s.position = func() int64 { return s.taken - int64(buffered.Buffered()) - int64(m.unused()) }
	}
	return content, s.format == "text", err
}

// next hands one chunk over.
func (s *stream) next(content io.Reader, plain bool, counted *counter) error {
	var buf []byte
	select {
	case buf = <-s.empty:
	case <-s.drain:
		return errStopped
	case <-s.closed:
		return errStopped
	}
	n, err := content.Read(buf)
	for s.opening != "" && !plain && err == nil && n < chunkSize/2 { // small members would be chunks of their own, and their ends others
		var more int
		more, err = content.Read(buf[n:])
		n += more
	}
	if ended := isMemberEnd(err); n > 0 || ended {
		c := chunk{data: buf[:n], read: counted.snapshot(), plain: plain}
		if ended {
			c.err, err = err, nil
		}
		select {
		case s.filled <- c:
		case <-s.closed:
			return errStopped
		}
	}
	if n == 0 {
		s.empty <- buf
	}
	return err
}

// counter counts what is read.
type counter struct {
	r    io.Reader
	n    *atomic.Int64 // of all files, for the progress
	mu   sync.Mutex    // a snapshot may be taken while another goroutine reads ahead
	here int64         // of this one
	sum  *xxh3.Hasher  // of it, nil if nobody wants to know
}

func (c *counter) snapshot() snapshot {
	if c.sum == nil {
		return snapshot{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return snapshot{c.here, c.sum.Sum128()}
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.here += int64(n)
	if c.sum != nil {
		_, _ = c.sum.Write(p[:n])
	}
	return n, err
}

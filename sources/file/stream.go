package file

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
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

// chunk is a piece of the content, or the end of it.
type chunk struct {
	data []byte
	err  error
}

// stream reads, decompresses and hands over one file in a goroutine of its own: a file that waits, such as standard
// input, does not block a drain then, and decompression gets a processor of its own.
type stream struct {
	in    input
	drain <-chan struct{}
	// ctx is that of the Next that is reading.
	ctx context.Context

	filled chan chunk
	empty  chan []byte
	closed chan struct{}
	ended  sync.WaitGroup

	rest, whole []byte // of the current chunk
	read        *atomic.Int64
	// The goroutine writes these before it sends the chunk with the error.
	format string
	offset int64 // where in the file the decompressor is
	taken  int64 // bytes read from the file
}

// newStream starts to read in. The bytes read from the file are added to read. stdin is read for the path "-".
func newStream(in input, stdin io.Reader, drain <-chan struct{}, read *atomic.Int64) *stream {
	s := &stream{
		in: in, drain: drain, read: read, format: "text",
		filled: make(chan chunk, chunks), empty: make(chan []byte, chunks), closed: make(chan struct{}),
	}
	for range chunks {
		s.empty <- make([]byte, chunkSize)
	}
	s.ended.Go(func() { s.run(stdin) })
	return s
}

// close ends the goroutine and waits for it, unless it may be waiting for input that never comes: then it ends with
// its next byte.
func (s *stream) close() {
	close(s.closed)
	if !s.in.stream {
		s.ended.Wait()
	}
}

// Read implements io.Reader. It returns errStopped once a drain has begun and nothing is left that has been read
// already: what came from a pipe cannot be read again.
func (s *stream) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.whole != nil {
			s.empty <- s.whole[:cap(s.whole)]
			s.whole = nil
		}
		c, err := s.receive()
		if err != nil {
			return 0, err
		}
		if c.err != nil {
			return 0, c.err
		}
		s.rest, s.whole = c.data, c.data
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *stream) receive() (chunk, error) {
	select {
	case c := <-s.filled:
		return c, nil
	default:
	}
	select {
	case c := <-s.filled:
		return c, nil
	case <-s.drain:
		return chunk{}, errStopped
	case <-s.ctx.Done():
		return chunk{}, context.Cause(s.ctx)
	}
}

// waits tells whether Read would have to wait.
func (s *stream) waits() bool { return len(s.rest) == 0 && len(s.filled) == 0 }

// run is the goroutine.
func (s *stream) run(stdin io.Reader) {
	err := s.copy(stdin)
	select {
	case s.filled <- chunk{err: err}:
	case <-s.closed:
	}
}

// copy hands the content over and returns what it ended with: io.EOF, errStopped, or an error of reading.
func (s *stream) copy(stdin io.Reader) (err error) {
	file := stdin
	if s.in.path != Stdin {
		f, err := os.Open(s.in.path)
		if err != nil {
			return err
		}
		defer f.Close()
		file = f
	}
	counted := &counter{r: file, n: s.read}
	buffered := bufio.NewReaderSize(counted, readBuffer)
	defer func() { s.taken, s.offset = counted.here, counted.here-int64(buffered.Buffered()) }()
	content, format, err := decompress(buffered)
	s.format = format
	if err != nil {
		return noEOF(err)
	}
	if c, ok := content.(io.Closer); ok {
		defer c.Close()
	}
	for {
		if err := s.next(content); err != nil {
			return err
		}
	}
}

// next hands one chunk over.
func (s *stream) next(content io.Reader) error {
	var buf []byte
	select {
	case buf = <-s.empty:
	case <-s.drain:
		return errStopped
	case <-s.closed:
		return errStopped
	}
	n, err := content.Read(buf)
	if n > 0 {
		select {
		case s.filled <- chunk{data: buf[:n]}:
		case <-s.closed:
			return errStopped
		}
	} else {
		s.empty <- buf
	}
	return err
}

// counter counts what is read.
type counter struct {
	r    io.Reader
	n    *atomic.Int64 // of all files, for the progress
	here int64         // of this one
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.here += int64(n)
	c.n.Add(int64(n))
	return n, err
}

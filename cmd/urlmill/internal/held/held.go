// Package held is output that is held back while there is more to read without waiting: a host may send one request and
// wait, or thousands at once, and every answer comes as soon as it has to and not in a write of its own.
package held

import (
	"bufio"
	"errors"
	"io"
)

// Size is from how many bytes on nothing is held back any longer.
const Size = 256 << 10

// Output holds back what is to be written to W.
type Output struct {
	W io.Writer
	// Data is what was not written yet. Whoever writes appends to it, and calls Flush when it is Full.
	Data []byte
}

// Full reports whether Data is large enough to be written.
func (o *Output) Full() bool { return len(o.Data) >= Size }

// Flush writes Data and empties it. A Data that has grown far beyond what is held back does not keep its memory.
func (o *Output) Flush() error {
	if len(o.Data) == 0 {
		return nil
	}
	_, err := o.W.Write(o.Data)
	if o.Data = o.Data[:0]; cap(o.Data) > 4*Size {
		o.Data = nil
	}
	return err
}

// Before returns a reader of r that calls Flush before every read, which may have to wait. It belongs below the buffer that
// requests are read from. An error of Flush is that of the read.
func (o *Output) Before(r io.Reader) io.Reader { return Before(r, o.Flush) }

// Before returns a reader of r that calls flush before every read.
func Before(r io.Reader, flush func() error) io.Reader { return &flushing{r, flush} }

type flushing struct {
	r     io.Reader
	flush func() error
}

func (f *flushing) Read(p []byte) (int, error) {
	if err := f.flush(); err != nil {
		return 0, err
	}
	return f.r.Read(p)
}

// Serve calls next, which reads a message and appends the answer to Data, until it returns io.EOF or fails. What was answered is
// written in either case.
func (o *Output) Serve(next func() error) error {
	for {
		err := next()
		if err == nil && o.Full() {
			err = o.Flush()
		}
		if errors.Is(err, io.EOF) {
			return o.Flush()
		}
		if err != nil {
			return errors.Join(o.Flush(), err)
		}
	}
}

// Read returns the next n bytes of in. They are valid until the next read.
func Read(in *bufio.Reader, n int) ([]byte, error) {
	if n <= in.Size() {
		b, err := in.Peek(n)
		if err != nil {
			return nil, err
		}
		_, err = in.Discard(n)
		return b, err
	}
	long := make([]byte, n)
	_, err := io.ReadFull(in, long)
	return long, err
}

// Cut returns the error of an input that ends within a message.
func Cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

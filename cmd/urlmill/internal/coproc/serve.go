package coproc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/held"
	"github.com/urlmill/urlmill/pipeline"
)

const (
	// MaxLine is the longest message that is answered.
	MaxLine = 64 << 20
	// readSize is what is read at once.
	readSize = 256 << 10
)

// Serve answers the messages of r on w until r ends. A message above [MaxLine] is skipped and answered by
// record-too-large. It returns the error of w, of r other than io.EOF, or of the framing, behind which nothing can be
// understood; the messages before it are answered.
func Serve(r io.Reader, w io.Writer, f Framing) error { return serveUpTo(r, w, f, MaxLine) }

// serveUpTo is Serve with another limit.
func serveUpTo(r io.Reader, w io.Writer, framing Framing, maxLine int) error {
	s := &server{out: held.Output{W: w}, maxLine: maxLine, framing: framing}
	s.in = bufio.NewReaderSize(s.out.Before(r), readSize)
	return s.out.Serve(s.next)
}

// server is the state of one connection.
type server struct {
	maxLine int
	framing Framing

	in       *bufio.Reader
	out      held.Output // answers that are not written yet
	answerer answerer
	message  []byte // scratch: a line that in has not the room for, or the answer to a frame
}

// next answers the next message.
func (s *server) next() error {
	if cap(s.message) > 4*readSize {
		s.message = nil // one long message does not hold its memory for ever
	}
	if s.framing == Lines {
		return s.line()
	}
	err := s.frame()
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("framing %s: %w", s.framing, err)
	}
	return err
}

// line answers the next line. The last one may be without a line end.
func (s *server) line() error {
	line, err := s.in.ReadSlice('\n')
	s.message = s.message[:0]
	for errors.Is(err, bufio.ErrBufferFull) && len(s.message) <= s.maxLine {
		s.message = append(s.message, line...)
		line, err = s.in.ReadSlice('\n')
	}
	if len(s.message) > 0 {
		s.message = append(s.message, line...)
		line = s.message
	}
	line, ended := bytes.CutSuffix(line, []byte{'\n'})
	switch {
	case len(line) > s.maxLine:
		// The answer is not held back until the end of the line: it goes out before the next read.
		s.out.Data = appendError(s.out.Data, pipeline.FaultTooLarge.String(), s.maxLine)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = s.in.ReadSlice('\n')
		}
	case ended || len(line) > 0:
		s.out.Data = s.answerer.append(s.out.Data, bytes.TrimSuffix(line, []byte{'\r'}))
	}
	return err
}

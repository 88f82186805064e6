package coproc

import (
	"bytes"
	"errors"
	"io"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/held"
	"github.com/urlmill/urlmill/pipeline"
)

const (
	// MaxLine is the longest line that is answered.
	MaxLine = 64 << 20
	// readSize is what is read at once.
	readSize = 256 << 10
)

// Serve answers the lines of r on w until r ends. It returns the error of w, or of r other than io.EOF.
func Serve(r io.Reader, w io.Writer) error { return serveLines(r, w, MaxLine) }

// serveLines is Serve with another limit.
func serveLines(r io.Reader, w io.Writer, maxLine int) error {
	s := server{out: held.Output{W: w}, maxLine: maxLine, in: make([]byte, 0, readSize)}
	for {
		if err := s.lines(); err != nil {
			return err
		}
		if err := s.out.Flush(); err != nil {
			return err
		}
		s.makeRoom()
		n, err := r.Read(s.in[len(s.in):cap(s.in)])
		s.in = s.in[:len(s.in)+n]
		switch {
		case errors.Is(err, io.EOF):
			return s.end()
		case err != nil:
			return errors.Join(s.end(), err)
		}
	}
}

// server is the state of one connection.
type server struct {
	maxLine int

	in  []byte      // what was read and is not answered yet, from start on
	out held.Output // answers that are not written yet

	start   int  // of the first line that is not answered
	scanned int  // up to here there is no line end
	skip    bool // within a line that was too long and is answered already

	answerer answerer
}

// lines answers all complete lines.
func (s *server) lines() error {
	for {
		n := bytes.IndexByte(s.in[s.scanned:], '\n')
		if n < 0 {
			s.scanned = len(s.in)
			return nil
		}
		end := s.scanned + n
		if !s.skip {
			s.answer(s.in[s.start:end])
		}
		s.skip = false
		s.start, s.scanned = end+1, end+1
		if s.out.Full() {
			if err := s.out.Flush(); err != nil {
				return err
			}
		}
	}
}

// makeRoom moves the incomplete line to the start of the buffer and sees to it that there is room behind it.
func (s *server) makeRoom() {
	if s.skip {
		s.start = len(s.in)
	}
	if s.start > 0 {
		n := copy(s.in, s.in[s.start:])
		s.in, s.start, s.scanned = s.in[:n], 0, n
	}
	if len(s.in) > s.maxLine {
		s.out.Data = appendError(s.out.Data, pipeline.FaultTooLarge.String(), s.maxLine)
		s.skip, s.in, s.scanned = true, s.in[:0], 0
	}
	switch {
	case len(s.in) == 0 && cap(s.in) > 4*readSize:
		s.in = make([]byte, 0, readSize) // one long line does not hold its memory for ever
	case cap(s.in)-len(s.in) < readSize/2:
		s.in = append(make([]byte, 0, 2*cap(s.in)), s.in...)
	}
}

// end answers a last line without a line end.
func (s *server) end() error {
	if err := s.lines(); err != nil {
		return err
	}
	if rest := s.in[s.start:]; len(rest) > 0 && !s.skip {
		s.answer(rest)
	}
	return s.out.Flush()
}

func (s *server) answer(line []byte) {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	s.out.Data = s.answerer.append(s.out.Data, line)
}

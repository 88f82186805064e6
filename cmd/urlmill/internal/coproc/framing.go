package coproc

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/held"
	"github.com/urlmill/urlmill/pipeline"
)

// Framing is how requests and answers are told apart.
type Framing string

// The framings. Under Lines a message is a line; the others put its length in bytes before it, so that it may hold line
// ends, and is read without looking at it.
const (
	Lines     Framing = "lines"
	Uint32    Framing = "uint32"    // the length as a 32 bit number, most significant byte first
	Netstring Framing = "netstring" // the length in digits and a colon before it, a comma behind it
)

// Framings are the names of all framings, the default first.
var Framings = []string{string(Lines), string(Uint32), string(Netstring)}

// frame answers the next message. io.EOF is the end where one may be.
func (s *server) frame() error {
	n, err := s.length()
	if err != nil {
		return err
	}
	if n > int64(s.maxLine) {
		if _, err := io.CopyN(io.Discard, s.in, n); err != nil {
			return held.Cut(err)
		}
		s.message = appendError(s.message[:0], pipeline.FaultTooLarge.String(), s.maxLine)
	} else {
		request, err := held.Read(s.in, int(n))
		if err != nil {
			return held.Cut(err)
		}
		s.message = s.answerer.append(s.message[:0], request)
	}
	if s.framing == Netstring {
		if b, err := s.in.ReadByte(); err != nil {
			return held.Cut(err)
		} else if b != ',' {
			return fmt.Errorf("%q where the comma behind a message has to be", b)
		}
	}
	s.appendFrame(s.message[:len(s.message)-1]) // without its line end
	return nil
}

// length reads what stands before a message.
func (s *server) length() (int64, error) {
	if s.framing == Uint32 {
		var b [4]byte
		_, err := io.ReadFull(s.in, b[:])
		return int64(binary.BigEndian.Uint32(b[:])), err
	}
	var n int64
	for digits := 0; ; digits++ {
		b, err := s.in.ReadByte()
		switch {
		case err != nil && digits > 0:
			return 0, held.Cut(err)
		case err != nil:
			return 0, err
		case b == ':' && digits > 0:
			return n, nil
		case b < '0' || b > '9' || digits > 10 || digits == 1 && n == 0:
			return 0, fmt.Errorf("%q in the length of a message", b)
		}
		n = 10*n + int64(b-'0')
	}
}

// appendFrame adds an answer to those that are held back.
func (s *server) appendFrame(answer []byte) {
	if s.framing == Uint32 {
		s.out.Data = binary.BigEndian.AppendUint32(s.out.Data, uint32(len(answer)))
		s.out.Data = append(s.out.Data, answer...)
		return
	}
	s.out.Data = append(strconv.AppendInt(s.out.Data, int64(len(answer)), 10), ':')
	s.out.Data = append(append(s.out.Data, answer...), ',')
}

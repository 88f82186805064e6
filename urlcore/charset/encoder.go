package charset

import (
	"strconv"
	"unicode/utf8"
)

// ErrorMode says what an encoder does with a code point that its encoding lacks.
type ErrorMode uint8

const (
	// Fatal makes it an error.
	Fatal ErrorMode = iota
	// HTML writes a decimal character reference, such as &#9731;, as HTML forms do. References that were in
	// the text already look the same.
	HTML
)

// Encoder encodes a stream of text that comes in chunks, which may split the UTF-8 of a character. It keeps
// the state of ISO-2022-JP; the other encodings have none. It is not for concurrent use.
type Encoder struct {
	mode ErrorMode
	s    encoderState
	// pend is the unfinished character at the end of the last chunk.
	pend  [utf8.UTFMax]byte
	npend int
	// read is how many bytes of the stream were encoded.
	read int64
}

// NewEncoder returns an encoder for e at the start of a stream, or an [*Error] of CodeNoEncoder for
// UTF-16BE, UTF-16LE and replacement.
func (e *Encoding) NewEncoder(mode ErrorMode) (*Encoder, error) {
	if e.Output() != e {
		return nil, &Error{Code: CodeNoEncoder, Encoding: e}
	}
	enc := new(Encoder)
	enc.init(e, mode)
	return enc, nil
}

func (enc *Encoder) init(e *Encoding, mode ErrorMode) {
	*enc = Encoder{mode: mode}
	enc.s.init(e)
}

// Encoding returns the encoding that enc encodes to.
func (enc *Encoder) Encoding() *Encoding { return enc.s.enc }

// Reset drops what is pending: the next call begins a stream.
func (enc *Encoder) Reset() { enc.init(enc.s.enc, enc.mode) }

// AppendEncode encodes the next chunk of the stream, src, UTF-8 text in which every maximal ill-formed part
// counts as U+FFFD, and appends the bytes to dst. With stream set the stream goes on; without it what is
// pending is finished, the encoding's initial state is restored and the next call begins a new stream.
//
// Only the mode [Fatal] has an error, an [*Error] of CodeUnencodable; dst is unchanged then and the encoder
// is reset. The result is dst's memory and so the caller's; src is not kept.
func (enc *Encoder) AppendEncode(dst, src []byte, stream bool) ([]byte, error) {
	out := dst
	for enc.npend > 0 && len(src) > 0 {
		// Complete the pending character byte by byte: at most three, since more cannot be pending.
		pend := append(enc.pend[:enc.npend:enc.npend], src[0])
		if isUnfinished(pend) {
			enc.npend = copy(enc.pend[:], pend)
			src = src[1:]
			continue
		}
		c, n := nextRune(pend)
		if n == len(pend) {
			src = src[1:]
		}
		enc.npend = 0
		var err error
		if out, err = enc.put(out, c, n); err != nil {
			return dst, err
		}
	}
	out, n, err := enc.run(out, src, stream)
	if err != nil {
		return dst, err
	}
	if stream {
		if n < len(src) {
			enc.npend = copy(enc.pend[:], src[n:])
		}
		return out, nil
	}
	if enc.npend > 0 {
		if out, err = enc.put(out, utf8.RuneError, enc.npend); err != nil {
			return dst, err
		}
	}
	out = enc.s.finish(out)
	enc.Reset()
	return out, nil
}

// run encodes src, less an unfinished character at its end if the stream goes on, and returns how much that
// is.
func (enc *Encoder) run(dst, src []byte, stream bool) ([]byte, int, error) {
	i := 0
	for i < len(src) {
		if n := enc.s.span(src[i:]); n > 0 {
			dst = append(dst, src[i:i+n]...)
			i += n
			enc.read += int64(n)
			continue
		}
		if stream && isUnfinished(src[i:]) {
			break
		}
		c, n := nextRune(src[i:])
		var err error
		if dst, err = enc.put(dst, c, n); err != nil {
			return dst, i, err
		}
		i += n
	}
	return dst, i, nil
}

// put encodes one code point, which took n bytes of the stream.
func (enc *Encoder) put(dst []byte, c rune, n int) ([]byte, error) {
	dst, bad := enc.s.append(dst, c)
	if bad != encoded {
		if enc.mode == Fatal {
			err := &Error{Code: CodeUnencodable, Encoding: enc.s.enc, Pos: enc.read, Rune: bad}
			enc.Reset()
			return dst, err
		}
		// ISO-2022-JP has left its two-byte state by now, and in the others these stand for themselves.
		dst = append(dst, '&', '#')
		dst = strconv.AppendInt(dst, int64(bad), 10)
		dst = append(dst, ';')
	}
	enc.read += int64(n)
	return dst, nil
}

// nextRune returns the first code point of src, which is not empty, and its length; U+FFFD for a maximal
// ill-formed part.
func nextRune(src []byte) (rune, int) {
	c, n := utf8.DecodeRune(src)
	if c == utf8.RuneError && n == 1 {
		n = illFormedPart(src)
	}
	return c, n
}

// isUnfinished reports whether all of src, which is not empty, is the beginning of a character, and not yet
// the whole of it.
func isUnfinished(src []byte) bool {
	need, _, _ := utf8Lead(src[0])
	return len(src) <= need && illFormedPart(src) == len(src)
}

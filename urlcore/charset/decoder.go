package charset

import "unicode/utf8"

// Options say how a [Decoder] works. The zero value is what most callers want.
type Options struct {
	// Fatal makes ill-formed bytes an error instead of U+FFFD.
	Fatal bool
	// IgnoreBOM keeps the byte order mark at the start of a stream as U+FEFF. Without it one mark of the
	// decoder's own encoding is removed there; that of another encoding is data in any case.
	IgnoreBOM bool
}

// Decoder decodes a stream that comes in chunks, which may split characters and escape sequences anywhere.
// It is the TextDecoder of the standard (section 7.2). It is not for concurrent use.
type Decoder struct {
	options Options
	m       machine
	// fresh is set before anything was put out, when a byte order mark may still come.
	fresh bool
	// open says that the last call was not the end of its stream.
	open bool
	// rest is what an error in the fatal mode left unread in an open stream.
	rest []byte
	// read is how many bytes of the stream were given to the machine, and start where those that are
	// pending begin.
	read, start int64
}

// NewDecoder returns a decoder for e at the start of a stream.
func (e *Encoding) NewDecoder(options Options) *Decoder {
	d := &Decoder{options: options, m: machine{enc: e}}
	d.Reset()
	return d
}

// NewTextDecoder returns a decoder for the encoding that label names. It fails with an [*Error] of
// CodeUnknownLabel for other text, and for the labels of the replacement encoding, as the standard's
// TextDecoder constructor does.
func NewTextDecoder(label string, options Options) (*Decoder, error) {
	e, ok := Lookup(label)
	if !ok || e == Replacement {
		return nil, &Error{Code: CodeUnknownLabel, Label: label}
	}
	return e.NewDecoder(options), nil
}

// Encoding returns the encoding that d decodes.
func (d *Decoder) Encoding() *Encoding { return d.m.enc }

// Reset drops what is pending: the next call begins a stream.
func (d *Decoder) Reset() {
	d.m.init(d.m.enc)
	d.rest = d.rest[:0]
	d.open = false
	d.read, d.start = 0, 0
	d.fresh = false
	switch d.m.enc.family {
	case utf8Family, utf16BEFamily, utf16LEFamily:
		d.fresh = !d.options.IgnoreBOM
	}
}

// AppendDecode decodes the next chunk of the stream, src, and appends it to dst as UTF-8. With stream set
// ("do not flush") the stream goes on: an unfinished character at the end of src is kept for the next call.
// Without it the stream ends here: what is unfinished is an error, and the next call begins a new stream.
//
// An error is one U+FFFD or, in the fatal mode, returned as an [*Error] of CodeIllFormed; dst is unchanged
// then and what src held before the error is lost. The decoder remains usable: a stream that has ended
// begins anew, an open one goes on after the ill-formed bytes, for which the rest of src is kept.
//
// The result is dst's memory and so the caller's; src is not kept.
func (d *Decoder) AppendDecode(dst, src []byte, stream bool) ([]byte, error) {
	if !d.open {
		d.Reset()
	}
	d.open = stream
	fresh := d.fresh
	out := dst
	if len(d.rest) > 0 {
		var n int
		var err error
		if out, n, err = d.run(out, d.rest, false); err != nil {
			d.keep(fresh, d.rest[n:], src)
			return dst, err
		}
		d.rest = d.rest[:0]
	}
	out, n, err := d.run(out, src, !stream)
	if err != nil {
		d.keep(fresh, d.rest, src[n:])
		return dst, err
	}
	return out, nil
}

// keep prepares for going on after an error: what was put out before it does not count, so that a byte order
// mark may still come, and what follows it is stored: the end of d.rest, and unread bytes of the chunk.
func (d *Decoder) keep(fresh bool, rest, unread []byte) {
	if d.open {
		d.fresh = fresh
		d.rest = append(rest, unread...)
	}
}

// run decodes src and appends the text to dst. With end set it also flushes. It returns how much of src it
// has read: all of it, unless an error stopped it.
func (d *Decoder) run(dst, src []byte, end bool) ([]byte, int, error) {
	m := &d.m
	i := 0
	for {
		b := endOfQueue
		switch {
		case m.nback > 0:
			m.nback--
			b = int(m.back[m.nback])
			d.mark(1 + m.nback)
		case i < len(src):
			if n := d.span(src[i:]); n > 0 {
				dst = append(dst, src[i:i+n]...)
				i += n
				d.read += int64(n)
				continue
			}
			d.mark(0)
			b = int(src[i])
			i++
			d.read++
		case !end:
			return dst, i, nil
		default:
			d.mark(0)
		}
		switch token := m.step(b); token {
		case tokenContinue:
		case tokenFinished:
			return dst, len(src), nil
		case tokenError:
			if d.options.Fatal {
				return dst, i, &Error{Code: CodeIllFormed, Encoding: m.enc, Pos: d.start}
			}
			dst = d.put(dst, utf8.RuneError)
		default:
			dst = d.put(dst, token)
		}
	}
}

// mark notes where a character begins, if none is pending; back is how many bytes of what was read are yet
// to be read again.
func (d *Decoder) mark(back int) {
	if !d.m.pending() {
		d.start = d.read - int64(back)
	}
}

// span returns how many bytes of src can be copied as they are.
func (d *Decoder) span(src []byte) int {
	if d.m.pending() || d.fresh && src[0] == bomUTF8[0] {
		return 0
	}
	n := d.m.span(src)
	if n > 0 {
		d.fresh = false
	}
	return n
}

// put appends a code point, unless it is the byte order mark of the stream, and the one that may come with it.
func (d *Decoder) put(dst []byte, c rune) []byte {
	isBOM := d.fresh && c == 0xFEFF
	d.fresh = false
	if isBOM {
		return dst
	}
	dst = utf8.AppendRune(dst, c)
	if d.m.extra != 0 {
		dst = utf8.AppendRune(dst, d.m.extra)
		d.m.extra = 0
	}
	return dst
}

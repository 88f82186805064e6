package file

import (
	"context"
	"errors"
	"io"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/framing"
)

// checkEvery is after how many lines that are no rows Next looks whether it is to stop.
const checkEvery = 4096

// lane reads one file.
type lane struct {
	source *Source
	in     input
	drain  <-chan struct{}
	codec  codec.Codec
	stream *stream
	lines  codec.Records

	at   int64 // position of the next line
	from int64 // position of the first line that is wanted

	over bool // all records have been returned

	mark mark   // of what has been returned
	of   string // its text
}

// ID implements [pipeline.Lane].
func (l *lane) ID() pipeline.LaneID { return l.in.id }

// Start implements [pipeline.Lane]. The lines before next are read over by the first Next.
func (l *lane) Start(ctx context.Context, next int64) error {
	if l.in.done {
		return nil
	}
	l.from = max(next, 0)
	l.codec = l.source.codec.New()
	framer, frames := l.codec.(codec.Framer)
	opening := ""
	if frames {
		opening = framer.Opening()
	}
	l.stream = newStream(ctx, l.in, l.source.o.Stdin, l.drain, &l.source.read, windowLimit(l.source.o.Parallel), opening)
	if frames {
		l.lines = framer.Frame(l.stream, l.source.o.MaxRecordBytes)
		return nil
	}
	var r io.Reader = l.stream
	if e, ok := l.source.codec.(codec.Enveloped); ok && e.Envelope() != "" {
		r = framing.NewElements(r, e.Envelope())
	}
	l.lines = framing.NewLines(r, l.source.o.MaxRecordBytes)
	return nil
}

// Acknowledge implements [pipeline.Lane]. A file keeps no position of its own; the sink does.
func (l *lane) Acknowledge(context.Context, int64) error { return nil }

// Wait implements [pipeline.Waiter]: from a pipe or a terminal it waits for a whole line.
func (l *lane) Wait(ctx context.Context) {
	if l.stream == nil {
		return
	}
	for l.in.stream && !l.lines.Ready() {
		if l.stream.await(ctx) != nil {
			return // Next meets the end of ctx again
		}
		l.lines.Fill()
	}
}

// again waits for more to read when err is [framing.ErrAgain], and returns nil then. Otherwise it returns what reading ends with.
func (l *lane) again(ctx context.Context, err error) error {
	if err == framing.ErrAgain { //nolint:errorlint // as the stream returns it
		return l.stream.await(ctx)
	}
	return err
}

// Next implements [pipeline.Lane]. From a pipe or a terminal it returns the lines that have arrived rather than wait
// for more. A drain ends a file at once, and a pipe after what has been read from it, whole lines only.
func (l *lane) Next(ctx context.Context, b *pipeline.Batch) error {
	if l.in.done {
		return io.EOF
	}
	err := l.next(ctx, b)
	if err == nil && l.in.matched {
		b.Of = l.identity()
	}
	return err
}

// identity returns what the positions are of that have been returned so far: [pipeline.Mark.Of].
func (l *lane) identity() string {
	m := l.stream.opened
	m.n, m.sum = l.stream.snapshot.n, l.stream.snapshot.sum
	m.ended = l.stream.ended() && len(l.lines.Rest()) == 0
	m.open = m.ended && l.stream.last != '\n'
	if m != l.mark {
		l.mark, l.of = m, string(m.append(nil))
	}
	return l.of
}

func (l *lane) next(ctx context.Context, b *pipeline.Batch) error {
	b.Reset()
	l.codec.Prepare(b)
	b.Lane = l.ID()
	if err := l.skip(ctx); err != nil {
		return l.end(ctx, err)
	}
	b.First, b.Next = l.at, l.at
	if err := l.stopped(ctx); err != nil {
		return err
	}
	for {
		if l.in.stream && b.Len() > 0 && !l.arrived() {
			return nil
		}
		record, cut, err := l.lines.Next()
		if err != nil {
			if err = l.again(ctx, err); err == nil {
				continue
			}
			l.over = errors.Is(err, io.EOF)
			if b.Next > b.First {
				return nil // the error comes again
			}
			return l.end(ctx, err)
		}
		l.add(b, record, cut)
		if b.Full() {
			return nil
		}
		if l.at%checkEvery == 0 && l.stopped(ctx) != nil {
			return nil
		}
	}
}

// add adds a line to the batch.
func (l *lane) add(b *pipeline.Batch, record []byte, cut bool) {
	row := true
	if cut {
		codec.DecodeCut(l.codec, b, record)
	} else {
		row = l.codec.Decode(b, record)
	}
	if row {
		b.Offsets = append(b.Offsets, l.at)
	}
	if l.at == 0 {
		l.checkHeader()
	}
	l.at++
	b.Next = l.at
}

// checkHeader warns of columns that the first line lacks. It is no error: other files may have them.
func (l *lane) checkHeader() {
	if headed, ok := l.codec.(codec.Headed); ok {
		if err := headed.CheckHeader(); err != nil {
			l.source.log.Warn("the header lacks columns", "path", l.in.path, "error", err)
		}
	}
}

// skip reads over the lines before the first that is wanted.
func (l *lane) skip(ctx context.Context) error {
	observer, observes := l.codec.(codec.Observer)
	for l.at < l.from {
		if l.at%checkEvery == 0 {
			if err := l.stopped(ctx); err != nil {
				return err
			}
		}
		record, _, err := l.lines.Next()
		if err != nil {
			if err = l.again(ctx, err); err == nil {
				continue
			}
			if errors.Is(err, io.EOF) {
				return &TooShortError{Path: l.in.path, Next: l.from, Records: l.at}
			}
			return err
		}
		if observes {
			observer.Observe(record)
			if l.at == 0 {
				l.checkHeader()
			}
		}
		l.at++
	}
	return nil
}

// stopped returns the error to return when reading is to stop. A pipe stops when what has been read from it is used
// up, which the stream knows.
func (l *lane) stopped(ctx context.Context) error {
	drain := l.drain
	if l.in.stream {
		drain = nil
	}
	return pipeline.Stopped(ctx, drain)
}

// arrived reports whether a whole line is there, taking in what is.
func (l *lane) arrived() bool {
	for !l.lines.Ready() {
		if !l.stream.poll() {
			return false
		}
		l.lines.Fill()
	}
	return true
}

// end returns the error that the lane ends with for one that reading ended with.
func (l *lane) end(ctx context.Context, err error) error {
	var short *TooShortError
	var changed *ChangedError
	switch {
	case errors.Is(err, errStopped):
		return io.EOF
	case errors.Is(err, io.EOF), errors.As(err, &short), errors.As(err, &changed), ctx.Err() != nil:
		return err
	}
	offset := l.stream.snapshot.n
	if l.stream.err != nil { // else the codec has failed, and the stream's goroutine may go on
		offset = l.stream.offset
	}
	return &ReadError{
		Path: l.in.path, Format: l.stream.format, Offset: offset, Size: l.in.size,
		Record: l.at, Rest: len(l.lines.Rest()), Err: err,
	}
}

// finished reports whether Next has returned the last record.
func (l *lane) finished() bool { return l.over }

// close lets go of the file.
func (l *lane) close() {
	if l.stream != nil {
		l.stream.close()
	}
}

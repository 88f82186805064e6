package bucket

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/urlmill/urlmill/internal/objstore"
)

// Download is a call for bytes of an object.
type Download struct {
	Call
	Off, N int64 // as of [objstore.Store]
	// Check returns [objstore.ErrChanged] if the answer is about another content than was asked for; nil where servers compare it.
	Check func(http.Header) error
	// Sum returns the checksum that the answer has of a whole object, and what computes it; nil for none.
	Sum func(http.Header) (want []byte, sum hash.Hash)
	// Skip takes all bytes of an object where a part was asked for, and leaves out those before the part.
	Skip bool
	// Alone reports whether an answer with a code is about this object alone.
	Alone func(code string) bool
}

// Open makes a call for bytes, and returns them as they arrive. Its errors are those of [objstore.Store].
func (q *Requests) Open(ctx context.Context, d Download) (io.ReadCloser, error) {
	whole := d.Off == 0 && d.N < 0
	d.Header = d.Header.Clone()
	switch {
	case d.N >= 0:
		d.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", d.Off, d.Off+d.N-1))
	case d.Off > 0:
		d.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.Off))
	}
	s, err := repeat(ctx, q, d.Call, func(ctx context.Context, c Call) (*stream, error) { return q.stream(ctx, c, whole || d.Skip) })
	var answer *StatusError
	switch {
	case errors.As(err, &answer) && answer.Status == http.StatusPreconditionFailed:
		return nil, objstore.ErrChanged
	case answer != nil && d.Alone(answer.Code) && !answer.skewed():
		return nil, fmt.Errorf("%w: %w", objstore.ErrUnreadable, err)
	case err != nil:
		return nil, err
	}
	if d.Check != nil {
		if err := d.Check(s.header); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	if whole {
		s.want, s.sum = d.Sum(s.header)
	}
	if !whole && !s.part {
		return s.skip(d.Off, d.N)
	}
	return s, nil
}

// skip returns a part of all bytes. One within is not worth all that is before it.
func (s *stream) skip(off, n int64) (io.ReadCloser, error) {
	if off > 0 && n >= 0 {
		return nil, errors.Join(errWhole, s.Close())
	}
	if _, err := io.CopyN(io.Discard, s, off); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if n < 0 {
		return s, nil
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(s, n), s}, nil
}

// Checksum asks for the checksum of a whole object, as of [objstore.Summer].
func (q *Requests) Checksum(ctx context.Context, d Download) (want []byte, sum hash.Hash, err error) {
	d.Method = http.MethodHead
	a, err := q.Do(ctx, d.Call)
	if err != nil {
		return nil, nil, err
	}
	want, sum = d.Sum(a.Header)
	return want, sum, nil
}

// errWhole is the error of a server that cannot send a part of an object.
var errWhole = errors.New("the server does not send a part of an object where one is asked for")

// stream makes one attempt of a call up to the first byte.
func (q *Requests) stream(ctx context.Context, c Call, whole bool) (*stream, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &stream{cancel: cancel, limit: q.Timeout}
	s.timer = time.AfterFunc(q.Timeout, func() { cancel(context.DeadlineExceeded) })
	resp, err := q.send(ctx, c)
	if err != nil {
		s.end()
		return nil, noCancel(ctx, err)
	}
	s.header, s.body, s.part = resp.Header, resp.Body, resp.StatusCode == http.StatusPartialContent
	if !whole && !s.part {
		return nil, errors.Join(errWhole, s.Close())
	}
	s.timer.Stop()
	return s, nil
}

// noCancel returns the cause of a request that was canceled.
func noCancel(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) {
		return context.Cause(ctx)
	}
	return err
}

// stream is a body that arrives. Its context ends with it, or when no byte has come for as long as an attempt may take.
type stream struct {
	header http.Header
	body   io.ReadCloser
	part   bool // it is the part that was asked for
	cancel context.CancelCauseFunc
	timer  *time.Timer
	limit  time.Duration
	want   []byte
	sum    hash.Hash // nil: nothing is compared
}

func (s *stream) Read(p []byte) (int, error) {
	s.timer.Reset(s.limit)
	n, err := s.body.Read(p)
	s.timer.Stop() // the reader may take its time
	if s.sum != nil {
		_, _ = s.sum.Write(p[:n])
		if err == io.EOF && !slices.Equal(s.sum.Sum(nil), s.want) {
			err = errSum
		}
	}
	return n, err
}

// errSum is the error of bytes that are not those that the store has.
var errSum = errors.New("the bytes have another checksum than the store says")

func (s *stream) end() {
	s.timer.Stop()
	s.cancel(nil)
}

// Close implements [io.Closer].
func (s *stream) Close() error {
	s.end()
	return s.body.Close()
}

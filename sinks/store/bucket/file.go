package bucket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/urlmill/urlmill/sinks/store"
)

const firstBuffer = 64 << 10

// file implements [store.File].
type file struct {
	store  *Store
	name   string
	upload string          // identifier
	ctx    context.Context // of Begin, since Write has none
	cancel context.CancelFunc

	buf    []byte // of the part that is being filled
	parts  int
	sum    store.Checksum
	size   int64
	memory atomic.Int64 // bytes in buf and on their way
	over   bool         // finished or discarded

	group sync.WaitGroup // of parts on their way
	mu    sync.Mutex
	sent  []Part // in the order of their numbers
	err   error
}

// Begin implements [store.Files].
func (s *Store) Begin(ctx context.Context, name string) (store.File, error) {
	if err := check(name); err != nil {
		return nil, err
	}
	run := s.Run()
	if run == "" {
		return nil, errors.New("the store was not prepared for writing")
	}
	s.refresh(ctx)
	id, err := s.createUpload(ctx, run, name)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.open++
	s.mu.Unlock()
	f := &file{store: s, name: name, upload: id, sum: store.NewChecksum()}
	f.ctx, f.cancel = context.WithCancel(ctx)
	return f, nil
}

func (s *Store) createUpload(ctx context.Context, run, name string) (string, error) {
	id, again, err := s.client.Begin(ctx, run, name)
	if again {
		s.mu.Lock()
		s.orphans = true
		s.mu.Unlock()
	}
	return id, err
}

// Size implements [store.File].
func (f *file) Size() int64 { return f.size }

// Memory implements [store.File]. It may be called at any time.
func (f *file) Memory() int64 { return f.memory.Load() }

// Flush implements [store.File]. It writes nothing: what is not a whole part has to wait for more.
func (f *file) Flush() error { return f.Err() }

// Err implements [store.File].
func (f *file) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// fail keeps the first error.
func (f *file) fail(err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = fmt.Errorf("%w. Nothing of this file was committed", err)
	}
	return f.err
}

// Write implements [store.File].
func (f *file) Write(p []byte) (int, error) {
	if err := f.Err(); err != nil {
		return 0, err
	}
	if f.over {
		return 0, f.fail(fmt.Errorf("writing to %s: %w", f.store.URL(f.name), fs.ErrClosed))
	}
	_, _ = f.sum.Write(p)
	written := 0
	for written < len(p) {
		n := min(len(p)-written, f.room())
		f.buf = append(f.buf, p[written:written+n]...)
		written += n
		f.size += int64(n)
		if int64(len(f.buf)) == f.store.opts.PartSize {
			if err := f.send(); err != nil {
				return written, err
			}
		}
	}
	return written, nil
}

// room makes room in the buffer and returns how many bytes there are of it. The buffer of a small file stays small.
func (f *file) room() int {
	if len(f.buf) == cap(f.buf) {
		size := min(max(firstBuffer, 2*cap(f.buf)), int(f.store.opts.PartSize))
		old := f.buf
		f.buf = append(f.store.buffer(size), old...)
		f.memory.Add(int64(cap(f.buf) - cap(old)))
	}
	return cap(f.buf) - len(f.buf)
}

// buffer returns an empty buffer of a capacity.
func (s *Store) buffer(size int) []byte {
	if int64(size) == s.opts.PartSize {
		if b, ok := s.shared.buffers.Get().(*[]byte); ok {
			return (*b)[:0]
		}
	}
	return make([]byte, 0, size)
}

// release takes a buffer back. Only whole ones are worth keeping.
func (s *Store) release(b []byte) {
	if int64(cap(b)) == s.opts.PartSize {
		s.shared.buffers.Put(&b)
	}
}

// send starts sending the part in the buffer, as soon as another one has arrived if there are too many on their way. It waits
// for that until the context of the file ends.
func (f *file) send() error {
	if v := f.store.service; f.parts == v.MaxParts {
		return f.fail(fmt.Errorf("%s has %d parts of %d bytes, and %s allows no more: lower the sink's roll.bytes, or raise part_size in its section %s",
			f.store.URL(f.name), f.parts, f.store.opts.PartSize, v.Name, v.Section))
	}
	select {
	case f.store.shared.slots <- struct{}{}:
	case <-f.ctx.Done(): // the buffer is given back when the file is discarded
		return f.fail(fmt.Errorf("writing to %s: %w", f.store.URL(f.name), context.Cause(f.ctx)))
	}
	f.parts++
	number, content := int32(f.parts), f.buf
	f.buf = nil
	f.mu.Lock()
	f.sent = append(f.sent, Part{})
	f.mu.Unlock()
	f.group.Go(func() {
		defer func() {
			f.memory.Add(-int64(cap(content)))
			f.store.release(content)
			<-f.store.shared.slots
		}()
		part, err := f.sendPart(number, content)
		if err != nil {
			_ = f.fail(err)
			return
		}
		f.mu.Lock()
		f.sent[number-1] = part
		f.mu.Unlock()
	})
	return nil
}

func (f *file) sendPart(number int32, content []byte) (Part, error) {
	if err := f.Err(); err != nil {
		return Part{}, err
	}
	part, err := f.store.client.Send(f.ctx, f.name, f.upload, number, content)
	if errors.Is(err, ErrNoUpload) {
		return Part{}, f.store.gone(f.upload, f.name)
	}
	return part, err
}

// Finish implements [store.File].
func (f *file) Finish() (store.Pending, error) {
	if f.over {
		return store.Pending{}, f.fail(fmt.Errorf("finishing %s: it is finished: %w", f.store.URL(f.name), fs.ErrClosed))
	}
	if f.Err() == nil && (len(f.buf) > 0 || f.parts == 0 && !f.store.service.NoEmptyParts) {
		_ = f.send() // its error stays
	}
	f.group.Wait()
	if err := f.Err(); err != nil {
		return store.Pending{}, err
	}
	f.end()
	f.store.mu.Lock()
	defer f.store.mu.Unlock()
	f.store.finished[f.upload] = f.sent
	return store.Pending{Name: f.name, Token: f.upload, Bytes: f.size, Checksum: f.sum.String()}, nil
}

// end lets go of everything.
func (f *file) end() {
	f.over = true
	f.cancel()
	f.memory.Add(-int64(cap(f.buf)))
	f.store.release(f.buf)
	f.buf = nil
	f.store.mu.Lock()
	defer f.store.mu.Unlock()
	f.store.open--
}

// Discard implements [store.File].
func (f *file) Discard() error {
	if f.over {
		return nil
	}
	ctx := context.WithoutCancel(f.ctx)
	f.cancel()
	f.group.Wait() // a part that arrives later than the end of the upload would stay
	f.end()
	return f.store.client.Abort(ctx, f.name, f.upload)
}

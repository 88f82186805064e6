package iceberg

import (
	"errors"
	"io"

	"github.com/urlmill/urlmill/sinks/store"
)

// seeker is an object as readers of Parquet want it.
type seeker struct {
	store.Object
	at *int64
}

func (s seeker) Read(p []byte) (int, error) {
	n, err := s.ReadAt(p, *s.at)
	*s.at += int64(n)
	return n, err
}

func (s seeker) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += *s.at
	case io.SeekEnd:
		offset += s.Size()
	}
	if offset < 0 {
		return 0, errors.New("a position before the start")
	}
	*s.at = offset
	return offset, nil
}

// Close leaves the object open: it is its owner's.
func (seeker) Close() error { return nil }

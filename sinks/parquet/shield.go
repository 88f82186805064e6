package parquet

import (
	"bytes"
	"io"
)

// shield stands between arrow's writer and a file. Arrow v15 loses the errors of its sink in several places
// and panics in another, so it never sees one: the shield keeps the first error for us to ask for, and drops
// what is written after it.
type shield struct {
	w   io.Writer
	n   int64 // bytes written
	err error
	// footer, if not nil, takes what is written instead of w.
	footer *bytes.Buffer
}

func (s *shield) Write(p []byte) (int, error) {
	switch {
	case s.footer != nil:
		s.footer.Write(p)
	case s.err == nil:
		var n int
		n, s.err = s.w.Write(p)
		s.n += int64(n)
	}
	return len(p), nil
}

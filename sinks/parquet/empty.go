package parquet

import (
	"io"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/sinks/internal/filesink"
)

// WriteEmpty writes a file without rows, which the sink never makes. Path may be empty.
func WriteEmpty(w io.Writer, s *arrow.Schema, opts Options) error {
	if opts.Path == "" {
		opts.Path = "."
	}
	if err := opts.Validate(); err != nil {
		return err
	}
	opts = opts.withDefaults()
	f := &format{opts: &opts}
	if err := f.Check(s); err != nil {
		return err
	}
	e, err := f.NewEncoder(w, s)
	if err != nil {
		if e != nil {
			e.Discard()
		}
		return err
	}
	return e.Finish(filesink.Provenance{})
}

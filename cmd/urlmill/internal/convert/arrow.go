package convert

import (
	"cmp"
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/places"
	"github.com/urlmill/urlmill/internal/ipcread"
	"github.com/urlmill/urlmill/sinks/parquet"
)

func openArrow(f places.File) (decoder, error) {
	r, err := ipcread.NewFileReader(f, f.Size())
	if err != nil {
		return decoder{}, err
	}
	read := 0
	next := func() (arrow.Record, error) {
		if read == r.NumRecords() {
			return nil, io.EOF
		}
		read++
		return r.Record(read - 1) // the reader's until the next one
	}
	return decoder{r.Schema(), next, r.Close}, nil
}

func openArrowStream(in io.Reader) (decoder, error) {
	r, err := ipcread.NewReader(in)
	if err != nil {
		return decoder{}, err
	}
	next := func() (arrow.Record, error) {
		if !r.Next() {
			return nil, cmp.Or(r.Err(), io.EOF)
		}
		return r.Record(), nil
	}
	return decoder{r.Schema(), next, func() error {
		r.Release()
		return nil
	}}, nil
}

// openParquet returns a decoder of the chosen columns, in the order of the file.
func openParquet(f places.File, columns []string) (decoder, error) {
	r, err := parquet.NewReader(f, f.Size())
	if err != nil {
		return decoder{}, err
	}
	chosen, err := newProjection(r.Schema(), columns)
	if err != nil {
		return decoder{}, errors.Join(err, r.Close())
	}
	r.Select(chosen.has)
	md := r.Lasting(len(columns) == 0)
	return decoder{arrow.NewSchema(r.Schema().Fields(), &md), r.Next, r.Close}, nil
}

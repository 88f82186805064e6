package main

/*
#include "border.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/pipeline/processor"
)

// inputError is an error of the host's stream.
type inputError struct {
	code C.int
	text string
}

func (e *inputError) Error() string { return e.text }

// stream makes structs of the batches of the host's stream.
type stream struct {
	mu sync.Mutex
	*shared
	in *C.struct_ArrowArrayStream // in the private data of the stream that is ours

	records bool           // the batches are record batches, and not arrays of URLs
	width   int            // columns of the record batches
	urlType arrow.DataType // of the arrays, or of the column
	base    arrow.DataType // of the column with bases, nil without
	columns *processor.Arrangement
	given   *C.struct_ArrowSchema // of the input, for the first schema that is asked for; nil where no column goes along

	current *input // what pending is of; nil where that is empty
	urls    arrow.Array
	bases   arrow.Array
	pending []window // rows of urls that have not come out yet
}

// open looks at the schema of in. The caller closes the stream.
func open(p *shared, in *C.struct_ArrowArrayStream) (*stream, error) {
	s := &stream{shared: p, in: in}
	schema, err := s.inputSchema()
	if err != nil {
		return nil, err
	}
	if err := s.look(schema); err != nil {
		C.urlmill_free_schema(schema)
		return nil, err
	}
	if len(s.columns.Carried) > 0 {
		s.given = schema
	} else {
		C.urlmill_free_schema(schema)
	}
	p.refs.Add(1)
	return s, nil
}

// look finds out what there is to do with batches of that schema.
func (s *stream) look(schema *C.struct_ArrowSchema) (err error) {
	s.urlType = typeOf(schema)
	if schema.format == nil || C.GoString(schema.format) != "+s" {
		if !processor.IsText(s.urlType) {
			return fmt.Errorf("urlmill: URLs of type %s; they are utf8, large_utf8, utf8_view, one of their binary kin, or a dictionary of one", s.urlType)
		}
		s.columns = &processor.Arrangement{Base: -1, Schema: s.processor.URLSchema()}
		return nil
	}
	s.records, s.width = true, int(schema.n_children)
	l := s.last.Load()
	if l == nil || !l.fits(schema) {
		if l, err = arrange(s.processor, schema); err != nil {
			return err
		}
		s.last.Store(l)
	}
	s.columns = l.columns
	s.urlType = l.columnsOfInput[s.columns.URL].Type
	if s.columns.Base >= 0 {
		s.base = l.columnsOfInput[s.columns.Base].Type
	}
	return nil
}

// inputSchema returns the schema of the input, which the caller frees with urlmill_free_schema.
func (s *stream) inputSchema() (*C.struct_ArrowSchema, error) {
	asked := C.urlmill_ask_schema(s.in)
	switch {
	case asked.lacking != 0:
		return nil, errMemory
	case asked.code != 0:
		return nil, s.inputFault(asked.code)
	}
	if err := checkSchema(asked.schema); err != nil {
		C.urlmill_free_schema(asked.schema)
		return nil, err
	}
	return asked.schema, nil
}

// inputFault returns the error that the input has just reported.
func (s *stream) inputFault(code C.int) error {
	if text := C.urlmill_get_last_error(s.in); text != nil {
		return &inputError{code, C.GoString(text)}
	}
	return &inputError{code, fmt.Sprintf("urlmill: the input failed with error %d", int(code))}
}

// schema makes *out the schema of the stream.
func (s *stream) schema(out *C.struct_ArrowSchema) (err error) {
	given := s.given
	s.given = nil
	if given == nil && len(s.columns.Carried) > 0 {
		if given, err = s.inputSchema(); err != nil {
			return err
		}
	}
	if given != nil {
		defer C.urlmill_free_schema(given)
		if int(given.n_children) != s.width {
			return broken("the stream had a schema with %d children, and has one with %d now", s.width, int(given.n_children))
		}
	}
	return newSchema(s.model, given, s.columns.Carried, moved, out)
}

// next makes *out the next batch, and leaves it released at the end.
func (s *stream) next(out *C.struct_ArrowArray) error {
	if len(s.pending) == 0 {
		if ok, err := s.pull(); err != nil || !ok {
			return err
		}
	}
	for {
		w := s.pending[0]
		if rest := w.length - s.rows; s.rows > 0 && rest > 0 {
			w.length = s.rows
			s.pending[0] = window{w.offset + s.rows, rest}
		} else {
			s.pending = s.pending[1:]
		}
		err := s.export(w, out)
		if errors.Is(err, processor.ErrTooLarge) && w.length > 1 {
			half := w.length / 2
			s.pending = append([]window{{w.offset, half}, {w.offset + half, w.length - half}}, s.pending...)
			continue
		}
		if err != nil || len(s.pending) == 0 {
			s.drop()
		}
		return err
	}
}

// pull takes a batch from the input. It returns false at the end.
func (s *stream) pull() (bool, error) {
	pulled := C.urlmill_pull(s.in)
	switch {
	case pulled.lacking != 0:
		return false, errMemory
	case pulled.code != 0:
		return false, s.inputFault(pulled.code)
	case pulled.array == nil:
		return false, nil
	}
	s.current = newInput(pulled.array)
	if err := s.take(s.current); err != nil {
		s.drop()
		return false, err
	}
	return true, nil
}

// take finds the columns of a batch.
func (s *stream) take(in *input) (err error) {
	root := in.root
	rows := window{int(root.offset), int(root.length)}
	if err := checkArray(root); err != nil {
		return err
	}
	s.pending = append(s.pending[:0], window{0, rows.length})
	if !s.records {
		s.urls, err = in.urls(s.urlType, root, rows)
		return err
	}
	if root.null_count != 0 && root.n_buffers > 0 && unsafe.Slice(root.buffers, 1)[0] != nil {
		return errors.New("urlmill: a struct of the input is null; a record batch has no nulls but in its columns")
	}
	if err := checkBatch(root, s.width); err != nil {
		return err
	}
	columns := unsafe.Slice(root.children, root.n_children)
	if s.urls, err = in.urls(s.urlType, columns[s.columns.URL], below(columns[s.columns.URL], rows)); err != nil || s.base == nil {
		return err
	}
	if s.bases, err = in.textArray(s.base, columns[s.columns.Base], below(columns[s.columns.Base], rows)); err != nil {
		return broken("the bases: %w", err)
	}
	return nil
}

// urls is textArray for the URLs.
func (in *input) urls(t arrow.DataType, a *C.struct_ArrowArray, w window) (arrow.Array, error) {
	urls, err := in.textArray(t, a, w)
	if err != nil {
		return nil, broken("the URLs: %w", err)
	}
	return urls, nil
}

// below returns the rows of a child that rows of its struct have.
func below(child *C.struct_ArrowArray, rows window) window {
	return window{int(child.offset) + rows.offset, rows.length}
}

// export makes *out of some rows of the batch.
func (s *stream) export(w window, out *C.struct_ArrowArray) error {
	urls, bases := s.urls, s.bases
	if w.length != urls.Len() {
		urls = array.NewSlice(urls, int64(w.offset), int64(w.offset+w.length))
		defer urls.Release()
		if bases != nil {
			bases = array.NewSlice(bases, int64(w.offset), int64(w.offset+w.length))
			defer bases.Release()
		}
	}
	along := s.along(w)
	if isSmall(urls) || s.out.Load() >= int64(runtime.GOMAXPROCS(0)) {
		s.loans.copied()
		return named(s.view(urls, bases, func(columns []arrow.ArrayData) error {
			var l *lent
			if len(along) > 0 {
				l = s.lend(nil, s.current)
			}
			return l.export(columns, w.length, along, out)
		}))
	}
	record, err := s.shared.parse(urls, bases)
	if err != nil {
		return named(err)
	}
	columns := make([]arrow.ArrayData, record.NumCols())
	for i, c := range record.Columns() {
		columns[i] = c.Data()
	}
	return s.lend(record, s.current).export(columns, w.length, along, out)
}

// What becomes of few URLs is copied for the host: that takes less than to lend it and to be told of its end. So is what is held
// beside as many batches as there are CPUs: it would keep a workspace of its own, several times as large.
const (
	smallRows  = 1024
	smallBytes = 64 << 10
)

// isSmall is whether what becomes of URLs is to be copied for what there is of them.
func isSmall(urls arrow.Array) bool {
	n := urls.Len()
	if n > smallRows {
		return false
	}
	text, ok := urls.(array.BinaryLike)
	return !ok || n == 0 || text.ValueOffset64(n-1)+int64(text.ValueLen(n-1))-text.ValueOffset64(0) <= smallBytes
}

// along returns the columns that go along with some rows of the batch.
func (s *stream) along(w window) []view {
	if len(s.columns.Carried) == 0 {
		return nil
	}
	views := make([]view, len(s.columns.Carried))
	columns := unsafe.Slice(s.current.root.children, s.current.root.n_children)
	for i, k := range s.columns.Carried {
		rows := below(columns[k], window{int(s.current.root.offset) + w.offset, w.length})
		views[i] = view{columns[k], rows}
	}
	return views
}

// drop lets go of the batch.
func (s *stream) drop() {
	s.pending = s.pending[:0]
	if s.urls != nil {
		s.urls.Release()
	}
	if s.bases != nil {
		s.bases.Release()
	}
	if s.current != nil {
		s.current.release()
	}
	s.urls, s.bases, s.current = nil, nil, nil
}

func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop()
	if s.given != nil {
		C.urlmill_free_schema(s.given)
		s.given = nil
	}
	s.shared.release()
}

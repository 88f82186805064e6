// Package cdxj writes rows of archives as lines of an index, CDXJ: a key, a time, and an object of JSON.
package cdxj

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/rowsink"
	"github.com/urlmill/urlmill/pipeline"
)

// Columns are those that a line is made of, by the names of the profile default.
var Columns = []string{
	"surt_key", "fetch_time", "href", "warc_type", "content_mime_type", "content_mime_detected", "fetch_status", "content_digest",
	"warc_length", "warc_offset", "warc_filename", "file", "content_charset", "content_languages", "content_truncated", "fetch_redirect",
}

// names are what columns are called, in the order of preference, and the member that they become.
var names = [numColumns]struct {
	member  string
	columns []string
}{
	key:       {"", []string{"surt_key", "url_surtkey", "cdx_key"}},
	fetched:   {"", []string{"fetch_time"}},
	url:       {"url", []string{"href", "url"}},
	kind:      {"", []string{"warc_type"}},
	mime:      {"mime", []string{"content_mime_type"}},
	detected:  {"mime-detected", []string{"content_mime_detected"}},
	status:    {"status", []string{"fetch_status"}},
	digest:    {"digest", []string{"content_digest"}},
	length:    {"length", []string{"warc_length", "warc_record_length"}},
	offset:    {"offset", []string{"warc_offset", "warc_record_offset"}},
	filename:  {"filename", []string{"warc_filename", "file"}},
	charset:   {"encoding", []string{"content_charset"}},
	languages: {"languages", []string{"content_languages"}},
	truncated: {"truncated", []string{"content_truncated"}},
	redirect:  {"redirect", []string{"fetch_redirect"}},
}

const (
	key = iota
	fetched
	url
	kind
	mime
	detected
	status
	digest
	length
	offset
	filename
	charset
	languages
	truncated
	redirect
	numColumns
)

// Sink writes a line of each row that has a key and a time. The lines are in the order of the rows; LC_ALL=C sort sorts them. It
// implements [pipeline.Sink].
type Sink struct {
	at     [numColumns]int // in the schema, -1 for none
	inName bool            // the file's own name is that of the archive

	mu   sync.Mutex
	w    *bufio.Writer
	line []byte
}

// New returns a sink that writes to w, which it does not close.
func New(w io.Writer) *Sink { return &Sink{w: bufio.NewWriterSize(w, 64<<10)} }

// Start implements [pipeline.Sink].
func (s *Sink) Start(_ context.Context, schemas pipeline.Schemas) error {
	if schemas[pipeline.DeadLetters] != nil {
		return errors.New("dead letters have no place here; use the error policy keep or drop")
	}
	for i, n := range names {
		s.at[i] = -1
		for _, column := range n.columns {
			found := schemas[pipeline.Rows].FieldIndices(column)
			if len(found) > 0 && s.at[i] < 0 {
				s.at[i] = found[0]
				s.inName = column == "file" || s.inName
			}
		}
	}
	for _, i := range []int{key, fetched, url} {
		if s.at[i] < 0 {
			return fmt.Errorf("a line of CDXJ needs a column %s; there is none", strings.Join(names[i].columns, " or "))
		}
	}
	if t, ok := schemas[pipeline.Rows].Field(s.at[fetched]).Type.(*arrow.TimestampType); !ok || t.Unit != arrow.Microsecond {
		return errors.New("the column fetch_time is no time in microseconds")
	}
	return nil
}

// Open implements [pipeline.Sink].
func (s *Sink) Open(context.Context, pipeline.LaneID) (pipeline.Writer, int64, error) {
	return rowsink.Open(s.add, s.flush)
}

// Close implements [pipeline.Sink].
func (s *Sink) Close() error { return s.flush() }

func (s *Sink) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Flush()
}

// add writes the lines of r.
func (s *Sink) add(r arrow.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var columns [numColumns]arrow.Array
	for i, at := range s.at {
		if at >= 0 {
			columns[i] = r.Column(at)
		}
	}
	times, ok := columns[fetched].(*array.Timestamp)
	if !ok {
		return errors.New("the column fetch_time is no time")
	}
	for row := range int(r.NumRows()) {
		surt, there := text(columns[key], row)
		if !there || times.IsNull(row) {
			continue
		}
		s.line = append(append(s.line[:0], surt...), ' ')
		s.line = time.UnixMicro(int64(times.Value(row))).UTC().AppendFormat(s.line, "20060102150405")
		s.line = append(s.line, ' ')
		var err error
		if s.line, err = s.object(s.line, &columns, row); err != nil {
			return err
		}
		if _, err := s.w.Write(append(s.line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// object appends the object of a row. All of its values are texts, as indexers write them.
func (s *Sink) object(dst []byte, columns *[numColumns]arrow.Array, row int) ([]byte, error) {
	revisit, _ := text(columns[kind], row)
	separator := "{"
	for i, n := range names {
		value, ok := text(columns[i], row)
		if i == mime && revisit == "revisit" {
			value, ok = "warc/revisit", true
		}
		if n.member == "" || !ok {
			continue
		}
		if i == filename && s.inName {
			value = path.Base(value)
		}
		dst = append(append(append(append(dst, separator...), '"'), n.member...), `": `...)
		var err error
		if dst, err = jsontext.AppendQuote(dst, value); err != nil {
			return dst, err
		}
		separator = ", "
	}
	return append(dst, '}'), nil
}

// text returns the text of a value, and false for a null or a column that is not there.
func text(a arrow.Array, row int) (string, bool) {
	switch a := a.(type) {
	case *array.String:
		return a.Value(row), a.IsValid(row)
	case *array.Int64:
		return strconv.FormatInt(a.Value(row), 10), a.IsValid(row)
	case *array.Int16: // as in the columnar index
		return strconv.Itoa(int(a.Value(row))), a.IsValid(row)
	case *array.Int32:
		return strconv.FormatInt(int64(a.Value(row)), 10), a.IsValid(row)
	default:
		return "", false
	}
}

package compare

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/rowsink"
	"github.com/urlmill/urlmill/pipeline"
)

// Columns are the columns that the rows of a [Sink] have to have.
func Columns() []string { return []string{"url", "host", "path", "query", "params", "url_error"} }

// Options say what is compared.
type Options struct {
	// With is one of [Engines].
	With string
	// Params are the names of parameters whose first values are compared.
	Params []string
	// Examples is how many rows of each kind a report shows.
	Examples int
}

// Sink counts the rows of a pipeline that change. It is safe for concurrent use.
type Sink struct {
	options Options
	engine  engine
	columns []string // that are compared

	mu            sync.Mutex
	rows, changed int64
	counts        []int64             // of the rows that change, a column
	kinds         []map[string]*group // of each column
	at            map[string]int      // where a column of the record is
}

// group is the rows of one kind.
type group struct {
	rows     int64
	examples []row
}

// New returns a sink without rows. The error is a [*compat.KeyError].
func New(o Options) (*Sink, error) {
	e, err := newEngine(o.With, o.Params)
	if err != nil {
		return nil, err
	}
	s := &Sink{options: o, engine: e, columns: slices.Concat(parts, o.Params)}
	s.counts = make([]int64, len(s.columns))
	for range s.columns {
		s.kinds = append(s.kinds, map[string]*group{})
	}
	return s, nil
}

// Start implements [pipeline.Sink].
func (s *Sink) Start(_ context.Context, schemas pipeline.Schemas) error {
	s.at = map[string]int{}
	for _, name := range Columns() {
		found := schemas[pipeline.Rows].FieldIndices(name)
		if len(found) != 1 {
			return fmt.Errorf("there is no column %s to compare", name)
		}
		s.at[name] = found[0]
	}
	return nil
}

// Open implements [pipeline.Sink].
func (s *Sink) Open(context.Context, pipeline.LaneID) (pipeline.Writer, int64, error) {
	return rowsink.Open(s.add, func() error { return nil })
}

// Close implements [pipeline.Sink].
func (s *Sink) Close() error { return nil }

// add compares the rows of r that have a URL.
func (s *Sink) add(r arrow.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range int(r.NumRows()) {
		url := s.value(r, "url", i)
		if url.null {
			continue
		}
		s.rows++
		changed := false
		for c, before := range s.engine.read(url.text) {
			after := s.after(r, c, i)
			if !s.engine.same(before, after) {
				changed = true
				column := columnParam
				if c < len(parts) {
					column = parts[c]
				}
				s.note(c, row{url.text, column, before, after, s.value(r, "url_error", i).text})
			}
		}
		if changed {
			s.changed++
		}
	}
	return nil
}

// note counts a row.
func (s *Sink) note(column int, r row) {
	kind := kind(s.engine, r)
	g := s.kinds[column][kind]
	if g == nil {
		g = &group{}
		s.kinds[column][kind] = g
	}
	s.counts[column]++
	if g.rows++; len(g.examples) < s.options.Examples {
		g.examples = append(g.examples, r)
	}
}

// value returns a value of a column of text.
func (s *Sink) value(r arrow.Record, column string, i int) value {
	a := r.Column(s.at[column])
	if a.IsNull(i) {
		return value{null: true}
	}
	return value{text: string([]byte(a.(*array.String).Value(i)))}
}

// after returns urlmill's value of a column that is compared.
func (s *Sink) after(r arrow.Record, column, i int) value {
	if column < len(parts) {
		return s.value(r, s.columns[column], i)
	}
	params := r.Column(s.at["params"]).(*array.List)
	entries := params.ListValues().(*array.Struct)
	keys, values := entries.Field(0).(*array.String), entries.Field(1).(*array.String)
	start, end := params.ValueOffsets(i)
	for k := int(start); k < int(end); k++ {
		if keys.Value(k) == s.columns[column] {
			return value{text: string([]byte(values.Value(k)))}
		}
	}
	return value{null: true}
}

// Report writes what was counted, the most frequent kinds first.
func (s *Sink) Report(w io.Writer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &printer{w: w}
	p.printf("%s with a URL; %s when urlmill's columns replace %s\n", plain.Plural(s.rows, "row"), s.share(s.changed), s.engine.title)
	for c, name := range s.columns {
		label, function := name, s.engine.functions[name]
		if c >= len(parts) {
			label, function = "parameter "+plain.Text(name), plain.Text(fmt.Sprintf(s.engine.param, name))
		}
		p.printf("\n%s instead of %s: %s\n", label, function, s.share(s.counts[c]))
		kinds := s.kinds[c]
		for _, kind := range slices.SortedFunc(maps.Keys(kinds), func(a, b string) int {
			return cmp.Or(cmp.Compare(kinds[b].rows, kinds[a].rows), cmp.Compare(a, b))
		}) {
			p.printf("%12s  %s\n", plain.Count(kinds[kind].rows), kind)
			for _, r := range kinds[kind].examples {
				p.printf("%14s%s: %s -> %s\n", "", clip(r.url), clip(r.before.String()), clip(r.after.String()))
			}
		}
	}
	return p.err
}

func clip(s string) string {
	const most = 100
	return plain.Clip(plain.Text(s), most)
}

// share says how many of the rows change.
func (s *Sink) share(n int64) string {
	if n == 0 {
		return "none change"
	}
	verb := "change"
	if n == 1 {
		verb = "changes"
	}
	return fmt.Sprintf("%s %s (%.2f %%)", plain.Count(n), verb, 100*float64(n)/float64(s.rows))
}

// printer keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

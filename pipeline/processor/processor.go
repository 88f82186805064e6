package processor

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
)

// Processor makes columns of URLs. It is safe for concurrent use.
type Processor struct {
	opts   Options
	plan   *urlcols.Plan
	schema *arrow.Schema // of the URL's columns
	last   atomic.Pointer[layout]

	mu   sync.Mutex
	free []*workspace // at most one a CPU
}

// New checks opts and returns their Processor. The error joins an [*OptionError] for every fault of a column. The
// Processor keeps no slice or map of opts.
func New(opts Options) (*Processor, error) {
	if err := opts.check(); err != nil {
		return nil, fmt.Errorf("processor: %w", err)
	}
	if opts.Carry != nil {
		opts.Carry = append([]string{}, opts.Carry...) // empty is not nil
	}
	plan := opts.plan()
	plan.Include, plan.Exclude = slices.Clone(opts.Include), slices.Clone(opts.Exclude)
	p, err := urlcols.New(plan)
	if err != nil {
		return nil, fmt.Errorf("processor: %w", err)
	}
	opts.Include, opts.Exclude, opts.Rename, opts.Promote = nil, nil, nil, nil // the plan has them
	return &Processor{opts: opts, plan: p, schema: p.Schemas()[pipeline.Rows]}, nil
}

// URLSchema returns the schema of the records of [Processor.Parse].
func (p *Processor) URLSchema() *arrow.Schema { return p.schema }

// Schema returns the schema that the output has for an input of schema in. An error is of kind [ErrSchema].
func (p *Processor) Schema(in *arrow.Schema) (*arrow.Schema, error) {
	a, err := p.Arrange(in)
	if err != nil {
		return nil, err
	}
	return a.Schema, nil
}

// Process returns the columns of the record's URLs, and behind them those that are carried along. The result is the
// caller's to release; in stays the caller's, and must not be changed before that. An error is of kind [ErrSchema], or
// [ErrTooLarge].
func (p *Processor) Process(in arrow.Record) (arrow.Record, error) {
	a, err := p.Arrange(in.Schema())
	if err != nil {
		return nil, err
	}
	var bases arrow.Array
	if a.Base >= 0 {
		bases = in.Column(a.Base)
	}
	urls, err := p.Parse(in.Column(a.URL), bases)
	if err != nil {
		return nil, err
	}
	defer urls.Release()
	columns := slices.Clone(urls.Columns())
	for _, i := range a.Carried {
		columns = append(columns, in.Column(i))
	}
	return array.NewRecord(a.Schema, columns, in.NumRows()), nil
}

// Parse returns the columns of URLs. bases, with a base URL for every row, may be nil; Options.BaseURL is for rows that have
// none there. What [Processor.Process] says of ownership and errors holds here. Bases can only be given where the
// options have Base or BaseURL: they decide about the column base_url.
func (p *Processor) Parse(urls, bases arrow.Array) (arrow.Record, error) {
	if bases != nil && !p.plan.HasBase() {
		return nil, fmt.Errorf("processor: %w: bases were given, and neither Base nor BaseURL in the options", ErrSchema)
	}
	if bases != nil && bases.Len() != urls.Len() {
		return nil, fmt.Errorf("processor: %w: %d URLs and %d bases", ErrSchema, urls.Len(), bases.Len())
	}
	l := &lease{processor: p, workspace: p.take()}
	out, buffers, err := l.workspace.parse(l, urls, bases)
	if err != nil {
		l.end()
		return nil, fmt.Errorf("processor: %w", err)
	}
	l.keep(urls, bases)
	l.buffers.Store(int64(buffers)) // nobody can have let go of one yet
	if buffers == 0 {
		l.end()
	}
	return out, nil
}

// take returns a workspace that nobody else uses.
func (p *Processor) take() *workspace {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		w := p.free[n-1]
		p.free[n-1] = nil
		p.free = p.free[:n-1]
		return w
	}
	return &workspace{lender: p.plan.NewLender()}
}

// giveBack keeps w for a later take, or leaves it to the garbage collector where there are enough.
func (p *Processor) giveBack(w *workspace) {
	w.batch.URLs, w.batch.Bases = pipeline.NullBytes{}, pipeline.NullBytes{} // the caller's memory
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) < runtime.GOMAXPROCS(0) {
		p.free = append(p.free, w)
	}
}

// workspace is what one call needs. The record that it makes lies in it.
type workspace struct {
	lender             *urlcols.Lender
	batch              pipeline.Batch
	urls, bases, fixed texts
}

// parse makes a record of memory that is the workspace's, and the urls' and bases' as well. It returns how many buffers of it are l's.
func (w *workspace) parse(l *lease, urls, bases arrow.Array) (_ arrow.Record, buffers int, err error) {
	n := urls.Len()
	b := &w.batch
	b.Reset()
	b.Offsets = slices.Grow(b.Offsets, n)[:n] // nobody asks for the values: there is no provenance
	if b.URLs, err = w.urls.read(urls); err != nil {
		return nil, 0, err
	}
	if urls.NullN() > 0 || urls.DataType().ID() == arrow.DICTIONARY || urls.DataType().ID() == arrow.NULL {
		for i, valid := range b.URLs.Valid {
			if !valid {
				b.Faults = append(b.Faults, pipeline.Fault{Row: int32(i), Code: pipeline.FaultFieldMissing, Pos: -1})
			}
		}
	}
	if err := w.readBases(l.processor, n, bases); err != nil {
		return nil, 0, err
	}
	return w.lender.Lend(b, l)
}

func (w *workspace) readBases(p *Processor, n int, bases arrow.Array) (err error) {
	if bases != nil {
		if w.batch.Bases, err = w.bases.read(bases); err != nil {
			return err
		}
	}
	if p.opts.BaseURL != "" && n > 0 {
		w.batch.Bases, err = w.fixed.withDefault(n, w.batch.Bases, p.opts.BaseURL)
	}
	return err
}

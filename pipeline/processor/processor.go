package processor

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/urlcore/columns"
)

// Processor makes columns of URLs. It is safe for concurrent use.
type Processor struct {
	opts   Options
	plan   *urlcols.Plan
	schema *arrow.Schema // of the URL's columns
	last   atomic.Pointer[layout]

	mu   sync.Mutex
	free []*workspace // at most one a CPU
	lent int          // workspaces that records lie in, at most one a CPU
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
// caller's to release; in stays the caller's, and must not be changed before that. An error is of kind [ErrSchema],
// [ErrMalformed] or [ErrTooLarge].
func (p *Processor) Process(in arrow.Record) (arrow.Record, error) {
	a, err := p.Arrange(in.Schema())
	if err != nil {
		return nil, err
	}
	var bases arrow.Array
	if a.Base >= 0 {
		bases = in.Column(a.Base)
	}
	columns, err := p.parse(in.Column(a.URL), bases)
	if err != nil {
		return nil, err
	}
	columns = slices.Grow(columns, len(a.Carried))
	for _, i := range a.Carried {
		c := in.Column(i)
		c.Retain()
		columns = append(columns, c)
	}
	return newRecord(a.Schema, columns, int(in.NumRows())), nil
}

// Parse returns the columns of URLs. bases, with a base URL for every row, may be nil; Options.BaseURL is for rows that have
// none there. What [Processor.Process] says of ownership and errors holds here. Bases can only be given where the
// options have Base or BaseURL: they decide about the column base_url.
func (p *Processor) Parse(urls, bases arrow.Array) (arrow.Record, error) {
	columns, err := p.parse(urls, bases)
	if err != nil {
		return nil, err
	}
	return newRecord(p.schema, columns, urls.Len()), nil
}

// View parses as [Processor.Parse] does, and calls see with the columns of [Processor.URLSchema], whose offsets are 0. They are valid
// during the call alone, as are arrays that are made of them (array.MakeFromData) and the texts of these: what is needed later is to be
// copied. Nothing is allocated, and nothing is kept: it is the cheapest way for few URLs. An error of see is returned as it is.
func (p *Processor) View(urls, bases arrow.Array, see func(columns []arrow.ArrayData) error) error {
	w, err := p.parsed(urls, bases)
	if err != nil {
		return err
	}
	defer p.giveBack(w)
	defer w.lender.Close()
	columns, err := w.lender.View()
	if err != nil {
		return ofColumns(err)
	}
	return see(columns)
}

// parse returns columns of URLs, with the only references to them. They lie in a workspace, or in memory of their own where as
// many workspaces are lent as there are CPUs: who holds more records than that is likely to hold them for long.
func (p *Processor) parse(urls, bases arrow.Array) ([]arrow.Array, error) {
	w, err := p.parsed(urls, bases)
	if err != nil {
		return nil, err
	}
	if !p.lend() {
		defer p.giveBack(w)
		defer w.lender.Close()
		columns, err := w.lender.View()
		if err != nil {
			return nil, ofColumns(err)
		}
		return copied(columns), nil
	}
	l := &lease{processor: p, workspace: w}
	l.keep(urls, bases)
	columns, buffers, err := w.lender.Lend(l)
	l.buffers.Store(int64(buffers)) // nobody can have let go of one yet
	if buffers == 0 {
		l.end()
	}
	if err != nil {
		for _, c := range columns {
			c.Release()
		}
		return nil, ofColumns(err)
	}
	return columns, nil
}

// parsed returns a workspace in which the URLs have been parsed. It is the caller's.
func (p *Processor) parsed(urls, bases arrow.Array) (*workspace, error) {
	if bases != nil && !p.plan.HasBase() {
		return nil, fmt.Errorf("processor: %w: bases were given, and neither Base nor BaseURL in the options", ErrSchema)
	}
	if bases != nil && bases.Len() != urls.Len() {
		return nil, fmt.Errorf("processor: %w: %d URLs and %d bases", ErrSchema, urls.Len(), bases.Len())
	}
	w := p.take()
	if err := w.parse(p, urls, bases); err != nil {
		p.giveBack(w)
		return nil, fmt.Errorf("processor: %w", err)
	}
	return w, nil
}

// lend reports whether one more workspace may be lent, and counts it.
func (p *Processor) lend() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lent >= runtime.GOMAXPROCS(0) {
		return false
	}
	p.lent++
	return true
}

// returned takes back a workspace that was lent.
func (p *Processor) returned(w *workspace) {
	p.mu.Lock()
	p.lent--
	p.mu.Unlock()
	p.giveBack(w)
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
	return &workspace{lender: p.plan.NewLender(), urls: texts{passed: true}}
}

// giveBack keeps w for a later take, or leaves it to the garbage collector where there are enough, or where it is far too large.
func (p *Processor) giveBack(w *workspace) {
	w.batch.URLs, w.batch.Bases = pipeline.NullBytes{}, pipeline.NullBytes{} // the caller's memory
	if w.outgrown() {
		return
	}
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

	need  int // bytes of the URLs of this call, and what rows take beside them
	small int // how many calls in a row have needed far less than it holds
}

// A workspace goes when as many calls in a row have needed less than a spare part of what it holds, and that is of a size that matters:
// columns takes back its own buffers in the same way. What one URL makes of its bytes is far from a spare part.
const (
	patience  = 16
	spare     = 64
	matters   = 1 << 20
	rowMemory = 64
)

// outgrown reports whether the workspace is to go.
func (w *workspace) outgrown() bool {
	if w.memory() < max(matters, spare*w.need) {
		w.small = 0
		return false
	}
	w.small++
	return w.small >= patience
}

// memory returns about the bytes that the workspace holds.
func (w *workspace) memory() int {
	return w.lender.Memory() + w.urls.memory() + w.bases.memory() + w.fixed.memory() + 8*cap(w.batch.Offsets) + 16*cap(w.batch.Faults)
}

// parse leaves in the lender what columns are made of: memory that is the workspace's, and the urls' and bases' as well.
func (w *workspace) parse(p *Processor, urls, bases arrow.Array) (err error) {
	if err := checkShape(urls); err != nil {
		return fmt.Errorf("the URLs: %w", err)
	}
	n := urls.Len()
	b := &w.batch
	b.Reset()
	b.Offsets = slices.Grow(b.Offsets, n)[:n] // nobody asks for the values: there is no provenance
	if b.URLs, err = w.urls.read(urls); err != nil {
		return fmt.Errorf("the URLs: %w", err)
	}
	if hasNulls(urls) || urls.DataType().ID() == arrow.DICTIONARY || urls.DataType().ID() == arrow.NULL {
		for i, valid := range b.URLs.Valid {
			if !valid {
				b.Faults = append(b.Faults, pipeline.Fault{Row: int32(i), Code: pipeline.FaultFieldMissing, Pos: -1})
			}
		}
	}
	if err := w.readBases(p, n, bases); err != nil {
		return err
	}
	w.need = len(b.URLs.Data) + len(b.Bases.Data) + rowMemory*n
	return ofColumns(w.lender.Parse(b))
}

// ofColumns makes an error of columns this package's.
func ofColumns(err error) error {
	switch {
	case errors.Is(err, columns.ErrTooLarge):
		return ErrTooLarge
	case errors.Is(err, columns.ErrEnds):
		return malformed("%w", err)
	}
	return err
}

func (w *workspace) readBases(p *Processor, n int, bases arrow.Array) (err error) {
	if bases != nil {
		if err := checkShape(bases); err != nil {
			return fmt.Errorf("the bases: %w", err)
		}
		if w.batch.Bases, err = w.bases.read(bases); err != nil {
			return fmt.Errorf("the bases: %w", err)
		}
	}
	if p.opts.BaseURL != "" && n > 0 {
		w.batch.Bases, err = w.fixed.withDefault(n, w.batch.Bases, p.opts.BaseURL)
	}
	return err
}

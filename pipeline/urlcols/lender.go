package urlcols

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline"
)

// Lender makes the plan's columns as the transform does, for those who let go of them when they like, or only look at them. Every row
// stays: the plan's policy is to be [pipeline.Keep].
type Lender struct {
	state state
	views []arrow.ArrayData
}

// NewLender returns a lender of the plan.
func (p *Plan) NewLender() *Lender {
	l := new(Lender)
	l.state.init(p)
	return l
}

// Parse parses b, which may not change while anything that Lend or View returns is in use. An error, as those of Lend and View, is one
// of [columns.Parse].
func (l *Lender) Parse(b *pipeline.Batch) error { return l.state.take(b) }

// Lend returns the columns of what was parsed. They lie in the lender's memory and share that of the batch: neither may be used again
// before owner has been told, by Free, of as many buffers as Lend says; with 0, nobody's memory is needed. The caller has the only
// references to the columns.
func (l *Lender) Lend(owner memory.Allocator) (columns []arrow.Array, buffers int, err error) {
	s := &l.state
	s.owner = owner
	columns = s.arrays(s.plan.columns)
	s.owner = nil
	return columns, s.made, s.fault
}

// View returns the columns of what was parsed, until Close. They lie in the lender's memory and share that of the batch; nothing is
// allocated for them, and they are not to be retained or released.
func (l *Lender) View() ([]arrow.ArrayData, error) {
	s := &l.state
	s.derived.reset()
	s.begin()
	l.views = l.views[:0]
	for _, c := range s.plan.columns {
		l.views = append(l.views, c.build(s))
	}
	return l.views, s.fault
}

// Close ends the use of what View has returned.
func (l *Lender) Close() {
	l.state.end(false)
	clear(l.views)
}

// Memory returns about the bytes that the lender holds, without what has the same size however large batches are.
func (l *Lender) Memory() int {
	n := l.state.memory() + 4*cap(l.state.derived.entries) + cap(l.state.derived.tracked)
	for _, t := range l.state.derived.texts {
		n += cap(t.data) + 4*cap(t.offsets) + cap(t.valid)
	}
	return n
}

package urlcols

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline"
)

// Lender makes the plan's columns as the transform does, for those who let go of records when they like.
type Lender struct{ t *transform }

// NewLender returns a lender of the plan.
func (p *Plan) NewLender() *Lender { return &Lender{p.newTransform()} }

// Lend parses b. The record lies in the lender's memory and shares that of b: neither may be used again before owner has been told of
// all of its buffers, by Free, of which the number is returned. Where it is 0, owner is told nothing, and the record needs nobody's
// memory. It may be told before Lend returns only by who has the record. The plan's policy has to be [pipeline.Keep].
func (l *Lender) Lend(b *pipeline.Batch, owner memory.Allocator) (record arrow.Record, buffers int, err error) {
	d := l.t.rows.description
	d.owner = owner
	out, err := l.t.Apply(b)
	d.owner = nil
	return out.Records[pipeline.Rows], d.made, err
}

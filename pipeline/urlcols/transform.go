package urlcols

import (
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/urlcore/columns"
)

// NewTransform returns a transform that makes the plan's columns.
func (p *Plan) NewTransform() pipeline.Transform {
	t := &transform{plan: p}
	t.rows.init(p)
	t.dead.plan, t.dead.description = p, new(description)
	return t
}

// init prepares a state for the rows of the plan.
func (s *state) init(p *Plan) {
	s.plan, s.description = p, new(description)
	s.cols.Want = p.want
	for _, want := range p.alsoWant {
		also := &state{plan: p, description: s.description}
		also.cols.Want = want
		s.derived.also = append(s.derived.also, also)
	}
	s.initAcquirer()
}

// transform implements pipeline.Transform.
type transform struct {
	plan *Plan
	rows state
	dead state // its batch is deadBatch

	deadBatch pipeline.Batch
	keep      []bool
	counts    []pipeline.ErrorCount
}

// state is what the columns of one table are built from.
type state struct {
	*description
	plan  *Plan
	batch *pipeline.Batch
	cols  columns.Columns
	errs  []rowError

	lists   lists // of this batch
	derived derived
	scratch scratch
	fault   error          // of building columns of this batch
	texts   []byte         // of the record: what is not UTF-8 where it comes from, and the name of the stream
	bases   pipeline.Bytes // the bases where some rows have no URL
}

// Apply implements pipeline.Transform.
func (t *transform) Apply(b *pipeline.Batch) (pipeline.Output, error) {
	s := &t.rows
	var out pipeline.Output
	if err := s.take(b); err != nil {
		return out, err
	}
	out.Invalid, out.Errors = t.count()
	var stop error
	if out.Invalid > 0 {
		switch t.plan.opts.OnError {
		case pipeline.Drop:
			out.Dropped = out.Invalid
			t.dropInvalid()
		case pipeline.ToDeadLetters:
			t.copyDeadLetters()
			out.Records[pipeline.DeadLetters] = t.dead.record(t.plan.schemas[pipeline.DeadLetters], t.plan.dead)
			t.dropInvalid()
		case pipeline.Fail:
			row := t.stopAtFirst()
			t.counts = append(t.counts[:0], pipeline.ErrorCount{Code: row.Code, Rows: 1})
			out.Invalid, out.Errors, stop = 1, t.counts, row
		case pipeline.Keep:
		}
	}
	out.Records[pipeline.Rows] = s.record(t.plan.schemas[pipeline.Rows], t.plan.columns)
	if s.fault != nil {
		out.Records[pipeline.Rows].Release()
		return pipeline.Output{}, s.fault
	}
	return out, stop
}

// take makes b the batch, and fills what columns are built from. An error is one of [columns.Parse].
func (s *state) take(b *pipeline.Batch) error {
	s.use(s.plan.lists())
	s.batch, s.fault = b, nil
	s.scratch.reset()
	s.texts = s.texts[:0]
	if err := s.parse(); err != nil {
		return err
	}
	s.collectErrors()
	return nil
}

// parse fills the columns. A row without a URL is no URL, whatever its base: the empty string would be resolved
// to the base.
func (s *state) parse() error {
	urls, bases := &s.batch.URLs, &s.batch.Bases
	if bases.Len() == 0 {
		return columns.Parse(&s.cols, urls.Data, urls.Ends)
	}
	data, ends := bases.Data, bases.Ends
	if slices.Contains(urls.Valid, false) {
		s.bases.Reset()
		for i, valid := range urls.Valid {
			if valid {
				s.bases.Data = append(s.bases.Data, bases.At(i)...)
			}
			s.bases.End()
		}
		data, ends = s.bases.Data, s.bases.Ends
	}
	return columns.ParseWithBases(&s.cols, urls.Data, urls.Ends, data, ends)
}

// count returns how many rows have an error, and how many have each.
func (t *transform) count() (int64, []pipeline.ErrorCount) {
	var byCode [numErrors]int64
	invalid := int64(0)
	for _, e := range t.rows.errs {
		if e.code != 0 {
			byCode[e.code]++
			invalid++
		}
	}
	t.counts = t.counts[:0]
	if invalid > 0 {
		for code, n := range byCode {
			if n > 0 {
				t.counts = append(t.counts, pipeline.ErrorCount{Code: errorNames[code], Rows: n})
			}
		}
	}
	return invalid, t.counts
}

// dropInvalid takes the rows with an error out of the batch and the columns.
func (t *transform) dropInvalid() {
	t.keep = t.keep[:0]
	for _, e := range t.rows.errs {
		t.keep = append(t.keep, e.code == 0)
	}
	t.compact()
}

// compact takes the rows whose entry in t.keep is false out of the batch, the columns and the errors.
func (t *transform) compact() {
	t.rows.cols.Compact(t.keep)
	t.rows.batch.Compact(t.keep)
	n := 0
	for i, e := range t.rows.errs {
		if t.keep[i] {
			t.rows.errs[n] = e
			n++
		}
	}
	t.rows.errs = t.rows.errs[:n]
}

// stopAtFirst takes the first row with an error and all behind it out, and returns that error.
func (t *transform) stopAtFirst() *pipeline.RowError {
	b := t.rows.batch
	t.keep = t.keep[:0]
	var stop *pipeline.RowError
	for i, e := range t.rows.errs {
		if e.code != 0 && stop == nil {
			input, _ := b.Raw(i)
			stop = &pipeline.RowError{
				Lane: b.Lane, Offset: b.Offsets[i],
				Numbered: b.Lane.Session != "" && len(b.Timestamps) == 0, // those of topics have times
				Code:     errorNames[e.code], Pos: e.pos,
				Input: string(input[:min(len(input), 200)]),
			}
		}
		t.keep = append(t.keep, stop == nil)
	}
	t.compact()
	return stop
}

// copyDeadLetters makes t.dead of the rows with an error.
func (t *transform) copyDeadLetters() {
	src, dst := t.rows.batch, &t.deadBatch
	dst.Reset()
	dst.Lane = src.Lane
	t.dead.errs = t.dead.errs[:0]
	for i, e := range t.rows.errs {
		if e.code == 0 {
			continue
		}
		t.dead.errs = append(t.dead.errs, e)
		dst.Offsets = append(dst.Offsets, src.Offsets[i])
		if len(src.Timestamps) > 0 {
			dst.Timestamps = append(dst.Timestamps, src.Timestamps[i])
		}
		copyValue(&dst.Keys, &src.Keys, i)
		copyHeaders(&dst.Headers, &src.Headers, i)
		if raw, ok := src.Raw(i); ok {
			dst.Records.Append(raw)
		} else {
			dst.Records.AppendNull()
		}
	}
	t.dead.batch = dst
	t.dead.scratch.reset()
	t.dead.texts = t.dead.texts[:0]
}

// copyValue adds value i of src to dst, nothing where src is absent.
func copyValue(dst, src *pipeline.NullBytes, i int) {
	switch {
	case src.Len() == 0:
	case src.Valid[i]:
		dst.Append(src.At(i))
	default:
		dst.AppendNull()
	}
}

func copyHeaders(dst, src *pipeline.Headers, i int) {
	if len(src.Ends) == 0 {
		return
	}
	start := int32(0)
	if i > 0 {
		start = src.Ends[i-1]
	}
	for e := start; e < src.Ends[i]; e++ {
		dst.Keys.Append(src.Keys.At(int(e)))
		copyValue(&dst.Values, &src.Values, int(e))
	}
	dst.EndRow()
}

// record builds the columns. Its memory is the state's.
func (s *state) record(schema *arrow.Schema, cols []column) arrow.Record {
	arrays := s.arrays(cols)
	r := array.NewRecord(schema, arrays, int64(s.batch.Len()))
	for _, a := range arrays {
		a.Release() // the record has retained it
	}
	return r
}

// arrays builds the columns. The caller has their only references.
func (s *state) arrays(cols []column) []arrow.Array {
	s.derived.reset()
	s.begin()
	arrays := make([]arrow.Array, len(cols))
	for i, c := range cols {
		arrays[i] = array.MakeFromData(c.build(s))
	}
	s.end(true)
	return arrays
}

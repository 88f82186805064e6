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
	t := &transform{plan: p, byCode: make([]int64, len(p.errorNames))}
	t.rows.init(p)
	t.dead.plan, t.dead.description = p, new(description)
	return t
}

// init prepares a state for the rows of the plan.
func (s *state) init(p *Plan) {
	s.plan, s.description, s.guard = p, new(description), unguarded{}
	if p.opts.Guard != nil {
		s.guard = p.opts.Guard()
	}
	s.cols.Want = p.want
	for _, want := range p.alsoWant {
		also := &state{plan: p, description: s.description}
		also.cols.Want = want
		s.derived.also = append(s.derived.also, also)
	}
	s.initAcquirer()
	s.initDescriber()
}

// transform implements pipeline.Transform.
type transform struct {
	plan *Plan
	rows state
	dead state // its batch is deadBatch

	deadBatch pipeline.Batch
	keep      []bool
	counts    []pipeline.ErrorCount
	byCode    []int64
}

// state is what the columns of one table are built from.
type state struct {
	*description
	plan  *Plan
	guard Guard
	batch *pipeline.Batch
	cols  columns.Columns
	errs  []rowError

	lists   lists // of this batch
	derived derived
	scratch scratch
	fault   error          // of building columns of this batch
	texts   []byte         // of the record: what is not UTF-8 where it comes from, and the name of the stream
	bases   pipeline.Bytes // the bases where some rows have no URL

	absolute pipeline.Bytes // the URLs, with Options.DefaultScheme
	added    []uint8        // how many bytes longer each is there than in the batch; empty without the option
}

// Apply implements pipeline.Transform.
func (t *transform) Apply(b *pipeline.Batch) (pipeline.Output, error) {
	s := &t.rows
	var out pipeline.Output
	if err := s.take(b); err != nil {
		return out, err
	}
	var stop *pipeline.RowError
	if t.plan.opts.OnError == pipeline.Fail {
		stop = t.stopAtFirst()
	}
	t.count(&out)
	if out.Invalid > 0 {
		t.moveInvalid(&out)
	}
	if stop != nil {
		t.counts = append(t.counts, pipeline.ErrorCount{Code: stop.Code, Rows: 1})
		out.Invalid, out.Errors = out.Invalid+1, t.counts
	}
	out.Records[pipeline.Rows] = s.record(t.plan.schemas[pipeline.Rows], t.plan.columns)
	if s.fault != nil {
		out.Records[pipeline.Rows].Release()
		return pipeline.Output{}, s.fault
	}
	if stop != nil {
		return out, stop
	}
	return out, nil
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
	text := &urls.Bytes
	if scheme := s.plan.opts.DefaultScheme; scheme != "" {
		text = s.withSchemes(scheme + "://")
	}
	if bases.Len() == 0 {
		return columns.Parse(&s.cols, text.Data, text.Ends)
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
	return columns.ParseWithBases(&s.cols, text.Data, text.Ends, data, ends)
}

// count counts the rows that have an error or a field that was made null, and how many have each.
func (t *transform) count(out *pipeline.Output) {
	clear(t.byCode)
	for _, e := range t.rows.errs {
		if e.code != 0 {
			t.byCode[e.code]++
			out.Invalid++
		}
	}
	for _, f := range t.rows.batch.Faults {
		if f.Code == pipeline.FaultCarried && t.rows.errs[f.Row].code == 0 {
			t.byCode[numErrors+int(f.Field)]++
			out.Nulled++
		}
	}
	t.counts = t.counts[:0]
	if out.Invalid+out.Nulled > 0 {
		for code, n := range t.byCode {
			if n > 0 {
				t.counts = append(t.counts, pipeline.ErrorCount{Code: t.plan.errorNames[code], Rows: n})
			}
		}
	}
	out.Errors = t.counts
}

// moveInvalid takes the rows with an error out of the batch and the columns where they do not stay, to the dead letters or nowhere.
func (t *transform) moveInvalid(out *pipeline.Output) {
	t.keep = t.keep[:0]
	dead := false
	for _, e := range t.rows.errs {
		goes := t.plan.goes(e)
		t.keep = append(t.keep, goes == pipeline.Keep)
		dead = dead || goes == pipeline.ToDeadLetters
		if goes == pipeline.Drop {
			out.Dropped++
		}
	}
	if dead {
		t.copyDeadLetters()
		out.DeadURLs = &t.deadBatch.URLs
		out.Records[pipeline.DeadLetters] = t.dead.record(t.plan.schemas[pipeline.DeadLetters], t.plan.dead)
	}
	if dead || out.Dropped > 0 {
		t.compact()
	}
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

// stopAtFirst takes the first row with an error that ends the run and all behind it out, and returns that error, nil if there is
// none.
func (t *transform) stopAtFirst() *pipeline.RowError {
	b := t.rows.batch
	t.keep = t.keep[:0]
	var stop *pipeline.RowError
	for i, e := range t.rows.errs {
		if stop == nil && t.plan.goes(e) == pipeline.Fail {
			input, _ := t.rows.guard.Raw(b, i)
			file, base := "", int64(0)
			if len(b.Origins) > 0 && b.Origin.Session == b.Lane.Session { // one of several files of the lane
				file, base = b.Origin.Stream, b.Offsets[i]-b.Origins[i]
			}
			stop = &pipeline.RowError{
				Lane: b.Lane, Offset: b.Offsets[i], File: file, Base: base,
				Numbered: b.Lane.Session != "" && (len(b.Timestamps) == 0 || len(b.Origins) > 0), // those of topics have times
				Code:     t.plan.errorNames[e.code], Pos: e.pos,
				Input: string(input[:min(len(input), 200)]),
			}
		}
		t.keep = append(t.keep, stop == nil)
	}
	if stop != nil {
		t.compact()
	}
	return stop
}

// copyDeadLetters makes t.dead of the rows that go there.
func (t *transform) copyDeadLetters() {
	src, dst := t.rows.batch, &t.deadBatch
	dst.Reset()
	dst.Lane, dst.Origin = src.Lane, src.Origin
	t.dead.errs = t.dead.errs[:0]
	for i, e := range t.rows.errs {
		if t.plan.goes(e) != pipeline.ToDeadLetters {
			continue
		}
		t.dead.errs = append(t.dead.errs, e)
		dst.Offsets = append(dst.Offsets, src.Offsets[i])
		if len(src.Origins) > 0 {
			dst.Origins = append(dst.Origins, src.Origins[i])
		}
		if len(src.Timestamps) > 0 {
			dst.Timestamps = append(dst.Timestamps, src.Timestamps[i])
		}
		copyValue(&dst.Keys, &src.Keys, i)
		copyHeaders(&dst.Headers, &src.Headers, i)
		copyValue(&dst.URLs, &src.URLs, i)
		if raw, ok := t.rows.guard.Raw(src, i); ok {
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

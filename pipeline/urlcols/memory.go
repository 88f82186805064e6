package urlcols

import "github.com/urlmill/urlmill/urlcore/columns"

// Memory returns about the bytes that the transform holds, as [pipeline.Transform] says. What has the same size however
// large batches are is not in it.
func (t *transform) Memory() int64 {
	return int64(t.rows.memory()+t.dead.memory()+cap(t.keep)) + t.deadBatch.Memory()
}

func (s *state) memory() int {
	c := &s.cols
	n := cap(s.texts) + cap(s.bases.Data) + 4*cap(s.bases.Ends) + cap(s.absolute.Data) + 4*cap(s.absolute.Ends) + cap(s.added) + 16*(cap(s.errs)+cap(c.Errors))
	for _, t := range [...]*columns.Text{
		&c.Href, &c.Scheme, &c.Host, &c.Origin, &c.RegistrableDomain, &c.PublicSuffix, &c.Path, &c.Query, &c.Fragment,
		&c.Params.Keys, &c.Params.Values,
	} {
		n += cap(t.Data) + 4*cap(t.Offsets) + cap(t.Valid)
	}
	if s.derived.acquirer != nil {
		n += s.derived.acquirer.Memory()
	}
	if s.derived.describer != nil {
		n += s.derived.describer.Memory()
	}
	return n + 4*s.scratch.ints.Cap() + s.scratch.bytes.Cap() + 4*(cap(c.Port.Values)+cap(c.Params.Offsets)) + cap(c.HasUsername.Bits)
}

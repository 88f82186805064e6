package urlcols

import (
	"slices"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/enrich"
	"github.com/urlmill/urlmill/urlcore/columns"
)

// frontierColumns lists the columns of opts.Frontier.
func frontierColumns() []column {
	text := func(name, comment string, want columns.Mask, of func(*columns.Columns) *columns.Text, row func(s *state, dst []byte, i int) ([]byte, bool)) column {
		return column{
			name: name, typ: utf8Type, nullable: true, want: want, comment: comment,
			build: func(s *state) *array.Data {
				from := of(&s.cols)
				return s.derive(s.batch.Len(), func(dst []byte, i int) ([]byte, bool) {
					if !from.IsValid(i) {
						return dst, false
					}
					return row(s, dst, i)
				}).array(s, utf8Type)
			},
		}
	}
	host := func(c *columns.Columns) *columns.Text { return &c.Host }
	path := func(c *columns.Columns) *columns.Text { return &c.Path }
	return []column{
		text("queue_key", "the queue of a crawler that the URL belongs to: the site's group, or host, domain or network; null without a host", enrich.WantQueue, host,
			func(s *state, dst []byte, i int) ([]byte, bool) {
				return s.plan.opts.Sites.AppendQueue(dst, s.cols.Host.At(i), s.cols.RegistrableDomain.At(i), s.frontierAddress(i)), true
			}),
		{
			name: "path_depth", typ: int32Type, nullable: true, want: columns.Path, build: (*state).pathDepth,
			comment: "number of segments of the path; a slash at its end begins none",
		},
		text("trap", "why the URL is likely one of a set without an end; null where it is none", enrich.WantTrap, path,
			func(s *state, dst []byte, i int) ([]byte, bool) {
				return s.plan.opts.Sites.AppendTrap(dst, s.cols.Host.At(i), s.cols.Path.At(i), s.cols.Query.At(i), s.cols.Href.At(i))
			}),
		text("page_class", "class of the page by the rules of its site; null where none has its path", enrich.WantPageClass, path,
			func(s *state, dst []byte, i int) ([]byte, bool) {
				return s.plan.opts.Sites.AppendClass(dst, s.cols.Host.At(i), s.cols.Path.At(i))
			}),
	}
}

// findFrontier finds the field with the address of hosts.
func (o *Options) findFrontier() error {
	name := o.Frontier.Address
	if name == "" {
		name = enrich.FrontierAddress
	}
	at := slices.IndexFunc(o.Carried, func(f pipeline.Field) bool { return f.Name == name && f.Type == pipeline.String })
	if o.frontierAddress = at + 1; at < 0 && (o.Frontier.Address != "" || o.Frontier.Queue == enrich.QueueAddress) {
		return notCarried("frontier", name)
	}
	return nil
}

// frontierAddress returns the address of the host of row i, nil where none is known.
func (s *state) frontierAddress(i int) []byte {
	at := s.plan.opts.frontierAddress
	if at == 0 {
		return nil
	}
	return s.batch.Carried[at-1].Text.At(i)
}

// pathDepth builds the column of the same name.
func (s *state) pathDepth() *array.Data {
	n := s.batch.Len()
	values, bits, nulls := s.scratch.takeInts(n), s.scratch.takeBytes((n+7)/8), 0
	for i := range n {
		if values[i] = 0; s.cols.Path.IsValid(i) {
			values[i] = enrich.Depth(s.cols.Path.At(i))
			bits[i/8] |= 1 << (i % 8)
		} else {
			nulls++
		}
	}
	return s.data(int32Type, n, nulls, s.buffer(bits), s.ints32(values))
}

// mattering returns a URL without the parameters that do not matter by the rules of its site; valid until the next call.
func (s *state) mattering(i int, href []byte) []byte {
	if !s.plan.siteParams {
		return href
	}
	text, ok := s.plan.opts.Sites.AppendURL(s.derived.matter[:0], s.cols.Host.At(i), href)
	if !ok {
		return href
	}
	s.derived.matter = text
	return text
}

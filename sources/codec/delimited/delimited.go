// Package delimited takes lines of values with a separator between them apart: CSV and TSV.
package delimited

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/urlcore/charset"
)

// Options configures the codec.
type Options struct {
	// Separator is the byte between values; 0 stands for DefaultSeparator.
	Separator byte
	// Columns are the names of the values in their order. Empty: the first line of every file has them.
	Columns []string
	// URL is the name of the value that is the URL, Base that of the URL it is resolved against, if any.
	URL, Base string
	// Carry lists the values that go along, in the order of their columns. None has the type JSON.
	Carry []codec.CarriedColumn
}

// Validate returns every problem of o, joined, each a [*pipeline.FieldError].
func (o Options) Validate() error {
	var p pipeline.Problems
	known := func(key, name string) {
		if name != "" && len(o.Columns) > 0 && !slices.Contains(o.Columns, name) {
			p.Add(key, "there is no column %q among columns", name)
		}
	}
	if o.Separator == '"' || o.Separator == '\r' || o.Separator == '\n' {
		p.Add("separator", "%q cannot stand between values", o.Separator).Advise("give a comma, a tab, a semicolon or a bar")
	}
	for i, name := range o.Columns {
		if j := slices.Index(o.Columns, name); j < i {
			p.Value(fmt.Sprintf("columns[%d]", i), name, "is the name of columns[%d] already", j)
		}
	}
	if o.URL == "" {
		p.Add("url", "empty").Advise("give the name of the column that has the URL")
	}
	known("url", o.URL)
	known("base", o.Base)
	codec.CheckColumns(o.Carry, types, &p)
	for i, c := range o.Carry {
		known(fmt.Sprintf("carry[%d].column", i), c.Source())
	}
	return p.Err()
}

// New returns the codec of delimited lines, or what Validate has to say about o.
//
// Values are quoted as RFC 4180 has it, but for line breaks, which end a record here. The line is kept in
// Batch.Records. A header line is no row. A line whose quotes do not fit has a null URL, null fields and FaultMalformed
// at the byte where; so has every line when the header has no URL column, with FaultFieldMissing. Instances implement [codec.Headed]. A line with fewer
// values than columns lacks the last ones; those beyond the columns are left out. An empty value that is not quoted is
// null. A value that is not of its type is null and gives FaultCarried.
func New(o Options) (codec.Factory, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o.Separator = cmp.Or(o.Separator, DefaultSeparator)
	return &factory{o.Shape(), o}, nil
}

// Shape implements [codec.Shaped].
func (o Options) Shape() codec.Shape {
	return codec.NewShape(codec.FieldsOf(o.Carry), o.Base != "", true) // a line is more than its URL
}

type factory struct {
	codec.Shape
	Options
}

// New implements [codec.Factory].
func (f *factory) New() codec.Codec {
	l := &lines{factory: f, carry: make([]int, len(f.Carry)), keep: maxColumns}
	if len(f.Columns) > 0 {
		l.bind(func(name string) int { return slices.Index(f.Columns, name) })
	}
	return l
}

// value is line[start:end]. Quotes that stood around it are not in there, and doubled ones are.
type value struct {
	start, end      int
	quoted, doubled bool
}

// at returns where v begins in its line, with its quote.
func (v value) at() int64 {
	if v.quoted {
		return int64(v.start) - 1
	}
	return int64(v.start)
}

// NotAlone implements [codec.Alone].
func (f *factory) NotAlone() string {
	if len(f.Columns) > 0 {
		return ""
	}
	return "the names of the columns are in the first line of a file, which dead letters do not have; give columns, with the names in that order"
}

// lines implements [codec.Codec].
type lines struct {
	*factory
	fault     codec.FirstFault // of the current record
	bound     bool             // url, base and carry are known
	url, base int              // number of the value, -1 for none
	carry     []int
	values    []value // the first ones, up to keep
	keep      int
	line      []byte // that the values are in
	scratch   []byte
	lacks     error // see CheckHeader
}

// bind notes where the columns are.
func (c *lines) bind(index func(name string) int) {
	c.bound, c.url, c.base = true, index(c.URL), -1
	if c.Base != "" {
		c.base = index(c.Base)
	}
	last := max(c.url, c.base)
	for i, f := range c.Carry {
		c.carry[i] = index(f.Source())
		last = max(last, c.carry[i])
	}
	c.keep = last + 1
}

// maxColumns is how many names of a header are looked at. A line may be nothing but separators, and a value that is kept takes
// more memory than it has bytes there: of other lines the values up to the last column that is wanted are kept.
const maxColumns = 1 << 16

// header takes the names of the columns.
func (c *lines) header(line []byte) {
	line = bytes.TrimPrefix(line, []byte("\ufeff"))
	if at, ok := c.split(line); !ok {
		c.lacks = fmt.Errorf("its quotes do not fit at byte %d, so that no column is known and every row has an error", at)
		c.bound, c.url, c.base = true, -1, -1
		for i := range c.carry {
			c.carry[i] = -1
		}
		return
	}
	c.bind(func(name string) int {
		return slices.IndexFunc(c.values, func(v value) bool { return string(c.plain(v)) == name })
	})
	c.lacks = c.missing()
	c.line, c.values = nil, nil
}

// CheckHeader implements [codec.Headed].
func (c *lines) CheckHeader() error { return c.lacks }

// missing returns which columns the options name and the header does not, with the names that there are.
func (c *lines) missing() error {
	const most = 50 // names
	var lost, found []string
	note := func(name string, at int) {
		if quoted := strconv.Quote(name); name != "" && at < 0 && !slices.Contains(lost, quoted) {
			lost = append(lost, quoted)
		}
	}
	note(c.URL, c.url)
	note(c.Base, c.base)
	for i, f := range c.Carry {
		note(f.Source(), c.carry[i])
	}
	if len(lost) == 0 {
		return nil
	}
	for _, v := range c.values[:min(len(c.values), most)] {
		found = append(found, strconv.Quote(string(c.plain(v))))
	}
	if len(c.values) > most {
		found = append(found, "...")
	}
	return fmt.Errorf("there is no column %s, and what would be in it is null; there are %s",
		strings.Join(lost, ", "), strings.Join(found, ", "))
}

// Observe implements [codec.Observer].
func (c *lines) Observe(record []byte) {
	if !c.bound {
		c.header(codec.TrimReturn(record))
	}
}

// Decode implements [codec.Codec].
func (c *lines) Decode(b *pipeline.Batch, record []byte) bool {
	line := codec.TrimReturn(record)
	if !c.bound {
		c.header(line)
		return false
	}
	b.Records.Append(record)
	if at, ok := c.split(line); !ok {
		c.line = nil
		return c.Nulls(b, pipeline.FaultMalformed, at)
	}
	c.fault.Reset()
	if v, ok := c.at(c.url); ok {
		b.URLs.Append(c.plain(v))
	} else {
		c.fault.Note(pipeline.FaultFieldMissing, -1)
		b.URLs.AppendNull()
	}
	if c.Base != "" {
		if v, ok := c.at(c.base); ok {
			b.Bases.Append(c.plain(v))
		} else {
			b.Bases.AppendNull()
		}
	}
	for i := range c.carry {
		c.appendField(&b.Carried[i], i)
	}
	c.fault.AddTo(b)
	if cap(c.scratch) > maxScratch {
		c.scratch = nil
	}
	c.line = nil
	return true
}

// maxScratch bounds what a giant value leaves behind, in bytes.
const maxScratch = 64 << 10

// split finds the values of a line. Where its quotes do not fit it returns the byte at which.
func (c *lines) split(line []byte) (at int, ok bool) {
	c.line, c.values = line, c.values[:0]
	for {
		v := value{start: at}
		if at < len(line) && line[at] == '"' {
			at++
			v = value{start: at, quoted: true}
			for {
				n := bytes.IndexByte(line[at:], '"')
				if n < 0 {
					return v.start - 1, false
				}
				at += n + 1
				if at == len(line) || line[at] != '"' {
					break
				}
				v.doubled = true
				at++
			}
			v.end = at - 1
			if at < len(line) && line[at] != c.Separator {
				return at, false
			}
		} else {
			n := bytes.IndexByte(line[at:], c.Separator)
			if n < 0 {
				n = len(line) - at
			}
			at += n
			v.end = at
		}
		if len(c.values) < c.keep {
			c.values = append(c.values, v)
		}
		if at == len(line) {
			return at, true
		}
		at++
	}
}

// at returns value i, false where the line has none or an empty one without quotes.
func (c *lines) at(i int) (value, bool) {
	if i < 0 || i >= len(c.values) {
		return value{}, false
	}
	v := c.values[i]
	return v, v.end > v.start || v.quoted
}

// plain returns the text of v, in scratch memory where quotes were doubled in it.
func (c *lines) plain(v value) []byte {
	if !v.doubled {
		return c.line[v.start:v.end]
	}
	c.scratch = c.scratch[:0]
	for rest := c.line[v.start:v.end]; ; {
		n := bytes.IndexByte(rest, '"')
		if n < 0 {
			c.scratch = append(c.scratch, rest...)
			return c.scratch
		}
		c.scratch = append(c.scratch, rest[:n+1]...)
		rest = rest[n+2:]
	}
}

func (c *lines) appendField(dst *pipeline.Values, i int) {
	v, ok := c.at(c.carry[i])
	if !ok {
		dst.AppendNull()
		return
	}
	text := c.plain(v)
	switch dst.Field.Type {
	case pipeline.String:
		dst.Text.Data = charset.AppendUTF8(dst.Text.Data, text)
		dst.Text.End()
	case pipeline.Bool:
		yes := bytes.EqualFold(text, []byte("true")) || string(text) == "1"
		if ok = yes || bytes.EqualFold(text, []byte("false")) || string(text) == "0"; ok {
			dst.Bools = append(dst.Bools, yes)
		}
	default:
		ok = codec.AppendScalar(dst, text, c.Carry[i].Time)
	}
	if !ok {
		c.fault.NoteField(i, v.at())
		dst.AppendNull()
		return
	}
	dst.Valid = append(dst.Valid, true)
}

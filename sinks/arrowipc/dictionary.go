package arrowipc

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline"
)

// maxDictionary is the number of values with which a dictionary is given up for a new one, so that an endless stream
// of ever new values needs no endless memory.
const maxDictionary = 1 << 16

// dictionaries turns columns of text into dictionaries that grow over the record batches of a stream. A batch brings
// the values that are new in it; a dictionary that has got too large is replaced.
//
// Files have none: arrow v15 writes neither deltas nor replacements into them.
type dictionaries struct {
	schema   *arrow.Schema
	columns  []int
	builders []*array.BinaryDictionaryBuilder
	sizes    []int // of the dictionaries so far
	limit    int
}

// checkDictionaries returns what is wrong with the names of the columns.
func checkDictionaries(names []string, s *arrow.Schema) error {
	var p pipeline.Problems
	for i, name := range names {
		found := s.FieldIndices(name)
		switch {
		case len(found) == 0:
			p.Add("dictionaries", "there is no column %q; the columns are %s", pipeline.Column(name), columnNames(s))
		case s.Field(found[0]).Type.ID() != arrow.STRING:
			p.Add("dictionaries", "column %q is %s, and only texts become dictionaries", pipeline.Column(name), s.Field(found[0]).Type)
		case slices.Contains(names[:i], name):
			p.Add("dictionaries", "column %q is there twice", name)
		}
	}
	return p.Err()
}

func columnNames(s *arrow.Schema) []string {
	var names []string
	for _, f := range s.Fields() {
		names = append(names, f.Name)
	}
	return names
}

// newDictionaries takes names that have been checked.
func newDictionaries(s *arrow.Schema, names []string, mem memory.Allocator) *dictionaries {
	fields := slices.Clone(s.Fields())
	d := &dictionaries{limit: maxDictionary, sizes: make([]int, len(names))}
	for _, name := range names {
		i := s.FieldIndices(name)[0]
		t := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: fields[i].Type}
		fields[i].Type = t
		d.columns = append(d.columns, i)
		d.builders = append(d.builders, array.NewDictionaryBuilder(mem, t).(*array.BinaryDictionaryBuilder))
	}
	md := s.Metadata()
	d.schema = arrow.NewSchema(fields, &md)
	return d
}

// of returns the columns of r under the schema of d. The caller releases the record.
func (d *dictionaries) of(r arrow.Record) (arrow.Record, error) {
	columns := slices.Clone(r.Columns())
	for i, c := range d.columns {
		packed, err := d.pack(i, r.Column(c).(*array.String))
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", r.ColumnName(c), err)
		}
		defer packed.Release()
		columns[c] = packed
	}
	return array.NewRecord(d.schema, columns, r.NumRows()), nil
}

func (d *dictionaries) pack(column int, values *array.String) (arrow.Array, error) {
	b := d.builders[column]
	if d.sizes[column] > d.limit {
		b.ResetFull()
	}
	b.Reserve(values.Len())
	for i := range values.Len() {
		if values.IsNull(i) {
			b.AppendNull()
		} else if err := b.AppendString(values.Value(i)); err != nil {
			return nil, err
		}
	}
	packed := b.NewDictionaryArray()
	d.sizes[column] = packed.Dictionary().Len()
	return packed, nil
}

func (d *dictionaries) release() {
	for _, b := range d.builders {
		b.Release()
	}
}

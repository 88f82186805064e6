// Package partition tells in which directory of a Hive-partitioned output each row belongs, and divides records
// accordingly.
package partition

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
)

// Key is one level of directories.
type Key struct {
	Name   string // before the "=" of directory names
	Func   string // "", "month", "date", "hour" or "bucket"
	Column string
	N      int // of buckets
}

var (
	keySyntax  = regexp.MustCompile(`^\s*(?:([A-Za-z0-9][A-Za-z0-9_.-]*)\s*=)?\s*(?:(month|date|hour|bucket)\s*\(\s*(?:(\d+)\s*,)?\s*([^(),=\s]+)\s*\)|([^(),=\s]+))\s*$`)
	nameSyntax = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)
)

const maxBuckets = 100_000

// Parse reads one expression of partition_by: a column's name, month(column), date(column), hour(column) or bucket(N, column), each
// with a name of its own and "=" before it on request.
func Parse(text string) (Key, error) {
	m := keySyntax.FindStringSubmatch(text)
	if m == nil {
		return Key{}, fmt.Errorf("%q is not understood; give a column, month(column), date(column), hour(column) or bucket(N, column), "+
			"and a name before it if the usual one does not suit, such as day=date(timestamp)", text)
	}
	k := Key{Name: m[1], Func: m[2], Column: m[4] + m[5]}
	if (k.Func == "bucket") != (m[3] != "") {
		return Key{}, fmt.Errorf("%q: bucket needs a number of buckets before the column, such as bucket(16, %s), and the others have none", text, k.Column)
	}
	if m[3] != "" {
		n, err := strconv.Atoi(m[3])
		if err != nil || n < 1 || n > maxBuckets {
			return Key{}, fmt.Errorf("%q: %s buckets are not possible; use 1 to %d", text, m[3], maxBuckets)
		}
		k.N = n
	}
	if k.Name == "" {
		k.Name = map[string]string{"": k.Column, "month": "month", "date": "dt", "hour": "hour", "bucket": k.Column + "_bucket"}[k.Func]
	}
	if !nameSyntax.MatchString(k.Name) {
		return Key{}, fmt.Errorf("%q: %q cannot be the name of a directory that readers see; put another before it, such as key=%s", text, k.Name, strings.TrimSpace(text))
	}
	return k, nil
}

// ParseAll reads all expressions. The names of their directories have to be different.
func ParseAll(texts []string) ([]Key, error) {
	var keys []Key
	names := map[string]string{}
	for _, text := range texts {
		k, err := Parse(text)
		if err != nil {
			return nil, err
		}
		if other, ok := names[k.Name]; ok {
			return nil, fmt.Errorf("%q and %q both have the name %s; put another before one of them, such as %s2=%s", other, text, k.Name, k.Name, strings.TrimSpace(text))
		}
		names[k.Name] = text
		keys = append(keys, k)
	}
	return keys, nil
}

// Check returns what is wrong with keys for rows of a schema.
func Check(keys []Key, s *arrow.Schema) error {
	for _, k := range keys {
		if _, err := bind(k, s); err != nil {
			return err
		}
	}
	return nil
}

// Fields returns the columns that readers make of the directories of keys, which have been checked.
func Fields(keys []Key, s *arrow.Schema) (fields []arrow.Field) {
	types := map[string]arrow.DataType{
		"month": arrow.BinaryTypes.String, "date": arrow.FixedWidthTypes.Date32, "hour": arrow.PrimitiveTypes.Int32, "bucket": arrow.PrimitiveTypes.Int32,
	}
	for _, k := range keys {
		f := arrow.Field{Name: k.Name, Type: types[k.Func], Nullable: true}
		if at := s.FieldIndices(k.Column); f.Type == nil && len(at) == 1 {
			f.Type = s.Field(at[0]).Type
		}
		fields = append(fields, f)
	}
	return fields
}

// bound is a key with the place of its column.
type bound struct {
	Key
	column int
	free   bool                                          // values can be of any length
	most   int                                           // bytes of an escaped value
	value  func(dst []byte, a arrow.Array, i int) []byte // appends the value of row i, which is not null
}

func bind(k Key, s *arrow.Schema) (bound, error) {
	at := s.FieldIndices(k.Column)
	if len(at) != 1 {
		var names []string
		for _, f := range s.Fields() {
			names = append(names, f.Name)
		}
		return bound{}, pipeline.FieldErrorf("", "there is no column %q to partition by; the columns are %s", pipeline.Column(k.Column), strings.Join(names, ", "))
	}
	b := bound{Key: k, column: at[0]}
	t := s.Field(at[0]).Type
	switch k.Func {
	case "month", "date", "hour":
		b.value = timeOf(k.Func, t)
	case "bucket":
		if inner := textOf(t); inner != nil {
			b.value = bucketOf(k.N, inner)
		}
	default:
		b.value, b.free = textOf(t), free(t)
	}
	if b.value != nil {
		return b, nil
	}
	if k.Func == "month" || k.Func == "date" || k.Func == "hour" {
		return bound{}, pipeline.FieldErrorf("", "%s(%s): the column is of type %s; give a timestamp", k.Func, pipeline.Column(k.Column), t)
	}
	hint := "give a text, a whole number, a boolean or a date"
	if t.ID() == arrow.TIMESTAMP {
		hint = fmt.Sprintf("give date(%s) or hour(%s)", k.Column, k.Column)
	}
	return bound{}, pipeline.FieldErrorf("", "column %q is of type %s, by which nothing can be partitioned; %s", pipeline.Column(k.Column), t, hint)
}

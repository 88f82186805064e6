package check

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/zeebo/xxh3"

	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
)

// same reports whether value at of a column is what a row has to hold.
type same func(r *row, at int) bool

// columns tell how the columns that do not only follow from the URL are compared.
var columns = map[string]func(b *batch, a arrow.Array) (same, error){
	"topic":        (*batch).topics,
	"partition":    (*batch).partitions,
	"offset":       (*batch).offsets,
	"timestamp":    (*batch).timestamps,
	"key":          (*batch).keys,
	"headers":      (*batch).headers,
	"params":       (*batch).params,
	"has_username": (*batch).usernames,
	"url_key":      (*batch).urlKeys,
	"number":       (*batch).numbers,
	"note":         (*batch).notes,
}

// compare compares a column.
func (b *batch) compare(name string, c *arrow.Chunked) error {
	if c.Len() != len(b.rows) {
		return fmt.Errorf("it has %d values of %d rows", c.Len(), len(b.rows))
	}
	first := 0
	for _, chunk := range c.Chunks() {
		is, err := b.comparer(name, chunk)
		if err != nil {
			return err
		}
		for i := range chunk.Len() {
			if r := &b.rows[first+i]; r.row != nil && !is(r, i) {
				b.wrong(r, "%s of record %d of partition %d is %s", name, r.number, r.partition, chunk.ValueStr(i))
			}
		}
		first += chunk.Len()
	}
	return nil
}

// comparer returns what compares the values of an array.
func (b *batch) comparer(name string, a arrow.Array) (same, error) {
	if special := columns[name]; special != nil {
		return special(b, a)
	}
	switch a := a.(type) {
	case *array.String:
		return b.texts(name, a, a.Value), nil
	case *array.Binary:
		return b.texts(name, a, a.ValueString), nil
	case *array.Int32:
		return func(r *row, at int) bool {
			want, ok := r.row.Ints[name]
			return ok && want.Null == a.IsNull(at) && (want.Null || want.Value == a.Value(at))
		}, nil
	}
	return nil, fmt.Errorf("nobody knows what a %s of this name has to be", a.DataType())
}

// texts compares what follows from the URL.
func (b *batch) texts(name string, a arrow.Array, value func(int) string) same {
	var of *facts.Row // rows of a shape often follow each other
	var want *facts.Text
	return func(r *row, at int) bool {
		if r.row != of {
			of, want = r.row, r.row.Texts[name]
		}
		if want == nil || want.Null() || a.IsNull(at) {
			return want != nil && want.Null() && a.IsNull(at)
		}
		return want.Is(value(at), b.name(r))
	}
}

// typed returns the array as one of a type, and how that is called otherwise.
func typed[A arrow.Array](a arrow.Array, compare func(A) same) (same, error) {
	typed, ok := a.(A)
	if !ok {
		return nil, fmt.Errorf("it is a %s", a.DataType())
	}
	return compare(typed), nil
}

func (b *batch) topics(a arrow.Array) (same, error) {
	return typed(a, func(a *array.String) same {
		return func(r *row, at int) bool { return a.IsValid(at) && a.Value(at) == b.topic(r).Name }
	})
}

func (b *batch) partitions(a arrow.Array) (same, error) {
	return typed(a, func(a *array.Int32) same {
		return func(r *row, at int) bool { return a.IsValid(at) && a.Value(at) == r.partition }
	})
}

// offsets compares with what the broker has acknowledged, the way back from the number.
func (b *batch) offsets(a arrow.Array) (same, error) {
	return typed(a, func(a *array.Int64) same {
		return func(r *row, at int) bool {
			return a.IsValid(at) && a.Value(at) == b.topic(r).Offset(int(r.partition), r.number)
		}
	})
}

func (b *batch) timestamps(a arrow.Array) (same, error) {
	return typed(a, func(a *array.Timestamp) same {
		typ, ok := a.DataType().(*arrow.TimestampType)
		micros := ok && typ.Unit == arrow.Microsecond && typ.TimeZone == "UTC"
		return func(r *row, at int) bool {
			return micros && a.IsValid(at) && int64(a.Value(at)) == 1000*b.topic(r).Time(int(r.partition), r.number)
		}
	})
}

func (b *batch) keys(a arrow.Array) (same, error) {
	return typed(a, func(a *array.Binary) same {
		return func(r *row, at int) bool {
			key, ok := b.topic(r).AppendKey(b.buf[:0], int(r.partition), r.number)
			b.buf = key
			return ok == a.IsValid(at) && (!ok || bytes.Equal(key, a.Value(at)))
		}
	})
}

func (b *batch) numbers(a arrow.Array) (same, error) {
	return typed(a, func(a *array.Int64) same {
		return func(r *row, at int) bool { return a.IsValid(at) && a.Value(at) == r.number }
	})
}

func (b *batch) notes(a arrow.Array) (same, error) {
	return typed(a, func(a *array.String) same {
		return func(r *row, at int) bool {
			if !facts.HasNote(r.number) {
				return a.IsNull(at)
			}
			text := a.Value(at)
			return a.IsValid(at) && len(text) > len(facts.Note) && text[:len(facts.Note)] == facts.Note && text[len(facts.Note):] == b.name(r)
		}
	})
}

func (b *batch) usernames(a arrow.Array) (same, error) {
	return typed(a, func(a *array.Boolean) same {
		return func(r *row, at int) bool {
			return a.IsNull(at) == r.row.NoURL && (r.row.NoURL || a.Value(at) == r.row.Username)
		}
	})
}

// urlKeys compares with the hash of the canonical form that the shape has by hand.
func (b *batch) urlKeys(a arrow.Array) (same, error) {
	return typed(a, func(a *array.Binary) same {
		return func(r *row, at int) bool {
			text := r.row.Texts["canonical_url"]
			if text.Null() {
				return a.IsNull(at)
			}
			b.buf = text.Append(b.buf[:0], b.name(r))
			sum := xxh3.Hash128(b.buf).Bytes()
			return a.IsValid(at) && bytes.Equal(a.Value(at), sum[:])
		}
	})
}

func (b *batch) params(a arrow.Array) (same, error) {
	return pairs(a, func(keys *array.String, values *array.String, lists *array.List) same {
		return func(r *row, at int) bool {
			want := r.row.Params
			if want == nil || lists.IsNull(at) {
				return want == nil && lists.IsNull(at)
			}
			from, to := lists.ValueOffsets(at)
			if int(to-from) != len(want) {
				return false
			}
			for i := range want {
				at := int(from) + i
				if !want[i].Key.Is(keys.Value(at), b.name(r)) || values.IsNull(at) || !want[i].Value.Is(values.Value(at), b.name(r)) {
					return false
				}
			}
			return true
		}
	})
}

func (b *batch) headers(a arrow.Array) (same, error) {
	return pairs(a, func(keys *array.String, values *array.Binary, lists *array.List) same {
		return func(r *row, at int) bool {
			want := b.topic(r).Headers(int(r.partition), r.number)
			from, to := lists.ValueOffsets(at)
			if lists.IsNull(at) || int(to-from) != len(want) {
				return false
			}
			for i, h := range want {
				at := int(from) + i
				if keys.Value(at) != h.Key || values.IsNull(at) != (h.Value == nil) || !bytes.Equal(values.Value(at), h.Value) {
					return false
				}
			}
			return true
		}
	})
}

// pairs takes a list of names and values apart.
func pairs[V arrow.Array](a arrow.Array, compare func(keys *array.String, values V, lists *array.List) same) (same, error) {
	lists, ok := a.(*array.List)
	if !ok {
		return nil, fmt.Errorf("it is a %s", a.DataType())
	}
	structs, ok := lists.ListValues().(*array.Struct)
	if !ok || structs.NumField() != 2 {
		return nil, fmt.Errorf("it is a %s", a.DataType())
	}
	keys, ok := structs.Field(0).(*array.String)
	values, ok2 := structs.Field(1).(V)
	if !ok || !ok2 {
		return nil, fmt.Errorf("it is a %s", a.DataType())
	}
	return compare(keys, values, lists), nil
}

package filesink

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
)

// columnsOnce says whether the columns have been recorded. The mutex is held while they are: the commits of other lanes wait,
// since none may have files before the record is there. After an error the next commit tries again, which [sync.Once] would
// not.
type columnsOnce struct {
	mu   sync.Mutex
	done bool
}

// recordColumns records the columns of all tables before the first commit that has files: until then there is nothing that
// they could not be read together with.
func (s *Sink) recordColumns(ctx context.Context) error {
	s.columns.mu.Lock()
	defer s.columns.mu.Unlock()
	if s.columns.done {
		return nil
	}
	err := s.eachColumns(ctx, s.chain.RecordColumns)
	s.columns.done = err == nil
	return err
}

// eachColumns calls f with the columns that the files of each place have.
func (s *Sink) eachColumns(ctx context.Context, f func(context.Context, store.Store, string, []commit.Column) error) error {
	places := []*place{s.stores[pipeline.Rows], s.stores[pipeline.DeadLetters], s.late}
	for i, table := range []pipeline.Table{pipeline.Rows, pipeline.DeadLetters, pipeline.Rows} {
		if places[i] == nil {
			continue
		}
		var columns []commit.Column
		for _, f := range s.schemas[table].Fields() {
			columns = append(columns, commit.Column{Name: f.Name, Type: typeText(f.Type)})
		}
		if err := f(ctx, places[i].store, table.String(), columns); err != nil {
			return err
		}
	}
	return nil
}

// typeText names a type as it is in files: whether there are nulls, and how texts are encoded, is each file's own business.
func typeText(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return typeText(t.ValueType)
	case *arrow.LargeStringType:
		return typeText(arrow.BinaryTypes.String)
	case *arrow.LargeBinaryType:
		return typeText(arrow.BinaryTypes.Binary)
	case *arrow.TimestampType:
		if t.TimeZone == "" {
			return fmt.Sprintf("timestamp[%s]", t.Unit)
		}
		return fmt.Sprintf("timestamp[%s, UTC]", t.Unit) // a zone is for display: values count from 1970 UTC
	case *arrow.FixedSizeBinaryType:
		return fmt.Sprintf("%s[%d]", t.Name(), t.ByteWidth)
	case *arrow.MapType:
		return fmt.Sprintf("map<%s, %s>", typeText(t.KeyType()), typeText(t.ItemType()))
	case arrow.ListLikeType:
		return fmt.Sprintf("list<%s>", typeText(t.Elem()))
	case *arrow.StructType:
		var fields []string
		for _, f := range t.Fields() {
			fields = append(fields, f.Name+": "+typeText(f.Type))
		}
		return fmt.Sprintf("struct<%s>", strings.Join(fields, ", "))
	}
	return t.Name()
}

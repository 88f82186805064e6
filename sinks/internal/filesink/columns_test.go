package filesink

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
)

// deliverWith delivers a row and a dead letter of two schemas into dir.
func deliverWith(t *testing.T, dir string, d commit.Delivery, rows, dead *arrow.Schema) error {
	t.Helper()
	s := startWith(dir, d)
	err := s.Start(t.Context(), pipeline.Schemas{rows, dead})
	if err != nil {
		return err
	}
	w, next, err := s.Open(t.Context(), pipeline.LaneID{Stream: "clicks"})
	if err != nil {
		return errors.Join(err, s.Close())
	}
	next = max(next, 0)
	for table, schema := range map[pipeline.Table]*arrow.Schema{pipeline.Rows: rows, pipeline.DeadLetters: dead} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := range schema.Fields() {
			b.Field(i).AppendNull()
		}
		err = errors.Join(err, w.Write(t.Context(), table, b.NewRecord(), pipeline.Span{First: next, Next: next + 1}))
		b.Release()
	}
	if err == nil {
		_, err = w.Commit(t.Context())
	}
	return errors.Join(err, w.Abandon(), s.Close())
}

// startWith returns a sink for rows, late rows and dead letters in dir.
func startWith(dir string, d commit.Delivery) *Sink {
	return New(Options{
		Files: Files{
			DeadLetters: filepath.Join(dir, "dead"), Delivery: d, PartitionBy: []string{"date(ts)"},
			Late: Late{Path: filepath.Join(dir, "late"), After: time.Hour},
		},
		Path: filepath.Join(dir, "rows"), Format: &text{}, Log: slog.New(slog.DiscardHandler),
	})
}

// withField returns a schema with a column in place of the one of its name, or beside the others.
func withField(s *arrow.Schema, name string, t arrow.DataType) *arrow.Schema {
	fields := append([]arrow.Field{}, s.Fields()...)
	if at := s.FieldIndices(name); len(at) > 0 {
		fields[at[0]].Type = t
	} else {
		fields = append(fields, arrow.Field{Name: name, Type: t})
	}
	return arrow.NewSchema(fields, nil)
}

// TestColumnsOfAnOutput starts with other columns than those of the files that are there: new ones and wider ones are taken,
// and those that readers could not read together with the others are refused, in rows as in dead letters.
func TestColumnsOfAnOutput(t *testing.T) {
	dir, i32, i64 := t.TempDir(), arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64
	small := withField(timed, "small", i32)
	for _, step := range []struct {
		what       string
		rows, dead *arrow.Schema
		want       string
	}{
		{"the first time", small, letters, ""},
		{"again", small, letters, ""},
		{"a column less", timed, letters, ""},
		{"a new column", withField(small, "new", arrow.BinaryTypes.String), withField(letters, "new", i64), ""},
		{
			"one that had been left out, of another type", withField(timed, "small", arrow.BinaryTypes.String), letters,
			`column "small" is int32 in the files of ` + filepath.Join(dir, "rows") + ` and would be utf8`,
		},
		{"a wider one", withField(small, "small", i64), letters, ""},
		{"an older process, with the narrow one", small, letters, ""},
		{"another type", withField(small, "n", arrow.BinaryTypes.String), letters, `column "n" is int64 in the files of ` + filepath.Join(dir, "rows") + ` and would be utf8`},
		{"another unit", withField(small, "ts", arrow.FixedWidthTypes.Timestamp_us), letters, `column "ts" is timestamp[ms, UTC]`},
		{"another type of dead letters", small, withField(letters, "l", i64), `column "l" is utf8 in the files of ` + filepath.Join(dir, "dead") + ` and would be int64`},
		{"within a list", withField(small, "list", arrow.ListOf(i32)), letters, ""},
		{"another list", withField(small, "list", arrow.ListOf(i64)), letters, `column "list" is list<int32>`},
		{"in the end", small, letters, ""},
	} {
		err := deliverWith(t, dir, commit.ExactlyOnce, step.rows, step.dead)
		switch {
		case step.want == "" && err != nil:
			t.Errorf("%s: %v", step.what, err)
		case step.want != "" && (err == nil || !strings.Contains(err.Error(), step.want) || !strings.Contains(err.Error(), "columns.rename")):
			t.Errorf("%s: %v, want %s", step.what, err, step.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "late", "_schemas", "rows", "00000000000000000001.json")); err != nil {
		t.Errorf("late rows: %v", err)
	}
}

// TestColumnsOfNothing starts with other columns where no file has been committed yet, and has two processes that began there
// at the same time deliver different ones: the second one to commit is refused.
func TestColumnsOfNothing(t *testing.T) {
	dir := t.TempDir()
	other := withField(timed, "n", arrow.BinaryTypes.String)
	first, second := startWith(dir, commit.ExactlyOnce), startWith(dir, commit.ExactlyOnce)
	if err := errors.Join(first.Start(t.Context(), pipeline.Schemas{other, letters}), second.Start(t.Context(), pipeline.Schemas{other, letters})); err != nil {
		t.Fatal(err)
	}
	w, _, err := second.Open(t.Context(), pipeline.LaneID{Stream: "clicks", Partition: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := deliverWith(t, dir, commit.ExactlyOnce, timed, letters); err != nil {
		t.Fatal(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, other)
	b.Field(0).(*array.StringBuilder).Append("one")
	b.Field(1).AppendNull()
	if err := w.Write(t.Context(), pipeline.Rows, b.NewRecord(), pipeline.Span{First: 0, Next: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(t.Context()); err == nil || !strings.Contains(err.Error(), `column "n" is int64 in the files of `) {
		t.Errorf("%v", err)
	}
	if err := errors.Join(w.Abandon(), first.Close(), second.Close()); err != nil {
		t.Error(err)
	}
	if _, files := numbersBelow(t, filepath.Join(dir, "rows")); files != 1 {
		t.Errorf("%d files", files)
	}
}

// TestColumnsAtLeastOnce leaves nothing in a folder that has no commit records either.
func TestColumnsAtLeastOnce(t *testing.T) {
	dir := t.TempDir()
	for _, rows := range []*arrow.Schema{timed, withField(timed, "n", arrow.BinaryTypes.String)} {
		if err := deliverWith(t, dir, commit.AtLeastOnce, rows, letters); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "rows", "_schemas")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

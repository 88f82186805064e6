package check

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
)

var text = arrow.BinaryTypes.String

// schema has a column of every kind.
var schema = arrow.NewSchema([]arrow.Field{
	{Name: "href", Type: text, Nullable: true},
	{Name: "has_username", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	{Name: "port", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: "params", Type: arrow.ListOfNonNullable(arrow.StructOf(arrow.Field{Name: "key", Type: text}, arrow.Field{Name: "value", Type: text})), Nullable: true},
	{Name: "topic", Type: text},
	{Name: "partition", Type: arrow.PrimitiveTypes.Int32},
	{Name: "offset", Type: arrow.PrimitiveTypes.Int64},
	{Name: "timestamp", Type: arrow.FixedWidthTypes.Timestamp_us, Nullable: true},
	{Name: "key", Type: arrow.BinaryTypes.Binary, Nullable: true},
	{Name: "headers", Type: arrow.ListOfNonNullable(arrow.StructOf(arrow.Field{Name: "key", Type: text}, arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary, Nullable: true})), Nullable: true},
	{Name: "number", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	{Name: "note", Type: text, Nullable: true},
}, nil)

func names() (all []string) {
	for _, f := range schema.Fields() {
		all = append(all, f.Name)
	}
	return all
}

// produced is a topic with three records in one partition, the third of them behind a gap, and one in another.
func produced() *facts.Topic {
	topic := &facts.Topic{Name: "t", Partitions: 2, JSON: true}
	topic.AcknowledgedRun(0, 0, 2)
	topic.Acknowledged(0, 7)
	topic.Acknowledged(1, 0)
	return topic
}

type object = map[string]any

// good returns the row of the record at an offset, or what would be one.
func good(topic *facts.Topic, p int, offset int64) object {
	i, ok := topic.Number(p, offset)
	if !ok {
		i = 0
	}
	name := string(topic.AppendName(nil, p, i))
	row := object{
		"href": string(topic.Row(p, i).Texts["href"].Append(nil, name)), "has_username": topic.Row(p, i).Username, "topic": "t", "partition": p, "offset": offset,
		"timestamp": time.UnixMilli(topic.Time(p, i)).UTC().Format("2006-01-02 15:04:05.000"), "headers": []object{}, "number": i, "key": nil, "note": nil,
	}
	if key, ok := topic.AppendKey([]byte{}, p, i); ok {
		row["key"] = key
	}
	if facts.HasNote(i) {
		row["note"] = facts.Note + name
	}
	if port := topic.Row(p, i).Ints["port"]; !port.Null {
		row["port"] = port.Value
	}
	if params := topic.Row(p, i).Params; params != nil {
		list := []object{}
		for _, pair := range params {
			list = append(list, object{"key": string(pair.Key.Append(nil, name)), "value": string(pair.Value.Append(nil, name))})
		}
		row["params"] = list
	}
	return row
}

func write(t *testing.T, name string, rows ...object) {
	t.Helper()
	content, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(string(content)))
	if err != nil {
		t.Fatal(err)
	}
	defer record.Release()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := pqarrow.NewFileWriter(schema, f, parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(2)), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(record); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// all are the rows of everything that was produced.
func all() []object {
	topic := produced()
	return []object{good(topic, 0, 0), good(topic, 0, 1), good(topic, 0, 7), good(topic, 1, 0)}
}

// What reads an output has to see every kind of wrong row.
func TestChecker(t *testing.T) {
	change := func(row int, column string, value any) func() []object {
		return func() []object {
			rows := all()
			rows[row][column] = value
			return rows
		}
	}
	for name, c := range map[string]struct {
		rows               func() []object
		in                 string // directory; default the output itself
		lost, twice, wrong int64
		said, err          string
	}{
		"all there":          {rows: all},
		"lost":               {rows: func() []object { return all()[1:3] }, lost: 2},
		"twice":              {rows: func() []object { return append(all(), all()[2]) }, twice: 1},
		"never produced":     {rows: func() []object { return append(all(), good(produced(), 0, 2)) }, wrong: 1, said: "offset 2 of partition 0"},
		"behind the end":     {rows: func() []object { return append(all(), good(produced(), 1, 1)) }, wrong: 1, said: "offset 1 of partition 1"},
		"no such partition":  {rows: func() []object { return append(all(), good(produced(), 2, 0)) }, wrong: 1, said: "partition 2"},
		"another partition":  {rows: change(3, "partition", 0), lost: 1, twice: 1, wrong: 1, said: "of record 0 of partition 0"},
		"another's offset":   {rows: change(2, "offset", 1), lost: 1, twice: 1, wrong: 1, said: "of record 1 of partition 0"},
		"another's URL":      {rows: change(1, "href", "https://c.example/0/2"), wrong: 1, said: "href"},
		"no URL":             {rows: change(1, "href", nil), wrong: 1, said: "href"},
		"a longer URL":       {rows: change(0, "href", "https://c.example/0/00"), wrong: 1, said: "href"},
		"a port":             {rows: change(0, "port", 443), wrong: 1, said: "port"},
		"a user":             {rows: change(0, "has_username", true), wrong: 1, said: "has_username"},
		"a parameter":        {rows: change(0, "params", []object{}), wrong: 1, said: "params"},
		"another topic":      {rows: change(0, "topic", "u"), wrong: 1, said: "topic"},
		"another time":       {rows: change(0, "timestamp", "2024-02-28 00:00:00.001"), wrong: 1, said: "timestamp"},
		"no time":            {rows: change(0, "timestamp", nil), wrong: 1, said: "timestamp"},
		"a key":              {rows: change(0, "key", []byte{}), wrong: 1, said: "key"},
		"no key":             {rows: change(1, "key", nil), wrong: 1, said: "key"},
		"a header":           {rows: change(0, "headers", []object{{"key": "a", "value": nil}}), wrong: 1, said: "headers"},
		"no list of headers": {rows: change(0, "headers", nil), wrong: 1, said: "headers"},
		"a number":           {rows: change(2, "number", 7), wrong: 1, said: "number"},
		"a note":             {rows: change(2, "note", "of 0/1"), wrong: 1, said: "note"},
		"a hidden file":      {rows: all, in: "_tmp", lost: 4},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, c.in), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, c.in, "a.parquet"), c.rows()...)
			check := New(Options{Columns: names()}, produced())
			if err := check.Read(dir); err != nil {
				t.Fatal(err)
			}
			lost := check.Missing(func(*facts.Topic, int, int64) {})
			said := strings.Join(check.Said, "\n")
			if lost != c.lost || check.Twice != c.twice || check.Wrong != c.wrong || !strings.Contains(said, c.said) || (said == "") != (c.wrong == 0) {
				t.Errorf("%d lost, %d twice, %d wrong: %s", lost, check.Twice, check.Wrong, said)
			}
		})
	}
}

// What cannot be read, and what has other columns, is an error.
func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.parquet")
	write(t, name, all()...)
	if err := New(Options{Columns: names()[1:]}, produced()).Read(dir); err == nil || !strings.Contains(err.Error(), "its columns are") {
		t.Errorf("another column: %v", err)
	}
	if err := New(Options{Columns: names(), SortBy: "href"}, produced()).Read(dir); err == nil {
		t.Error("rows that are not sorted")
	}
	if err := New(Options{Columns: names(), Dates: []string{dir}}, produced()).Read(dir); err == nil {
		t.Error("rows in no directory of a date")
	}
	if err := os.WriteFile(name, []byte("PAR1PAR1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := New(Options{Columns: names()}, produced()).Read(dir); err == nil || !strings.Contains(err.Error(), "a.parquet") {
		t.Errorf("no Parquet: %v", err)
	}
}

// A row in the directory of another date is wrong.
func TestDates(t *testing.T) {
	for date, wrong := range map[string]int64{"2024-02-28": 0, "2024-02-27": 4, "2024-02-29": 4} {
		dir := filepath.Join(t.TempDir(), "date="+date)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "a.parquet"), all()...)
		check := New(Options{Columns: names(), Dates: []string{filepath.Dir(dir)}}, produced())
		if err := check.Read(filepath.Dir(dir)); err != nil || check.Wrong != wrong {
			t.Errorf("%s: %d wrong, %v", date, check.Wrong, err)
		}
	}
}

package demo

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// writeFile writes rows, JSON objects, as a Parquet file.
func writeFile(t *testing.T, name, rows string) {
	t.Helper()
	pair := arrow.StructOf(arrow.Field{Name: "key", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "value", Type: arrow.BinaryTypes.String})
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "params", Type: arrow.ListOfNonNullable(pair), Nullable: true},
		{Name: "host", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	r, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader("["+rows+"]"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := pqarrow.NewFileWriter(schema, f, nil, pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(r); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestReadBack(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "b.parquet"), `{"id":3,"host":"x"},{"id":4,"host":null}`)
	writeFile(t, filepath.Join(dir, "a.parquet"), `{"id":1,"host":"y","params":[{"key":"k","value":"v"}]},{"id":2,"host":"x"},{"id":5,"host":"z"}`)
	files, err := Files(dir)
	if err != nil || len(files) != 2 || filepath.Base(files[0]) != "a.parquet" {
		t.Fatal(files, err)
	}
	if none, err := Files(filepath.Join(dir, "nothing")); err != nil || len(none) != 0 {
		t.Error(none, err)
	}
	top, err := Top(t.Context(), files, "host", "", 2)
	if want := []Count{{"x", 2}, {"y", 1}}; err != nil || !reflect.DeepEqual(top, want) {
		t.Error(top, err)
	}
	if top, err := Top(t.Context(), files, "host", "params", 2); err != nil || !reflect.DeepEqual(top, []Count{{"x", 2}, {"z", 1}}) {
		t.Error(top, err)
	}
	if rows, err := Rows(files); err != nil || rows != 5 {
		t.Error(rows, err)
	}
	var b bytes.Buffer
	if err := Sample(t.Context(), &b, files[0], []string{"host", "id", "params"}, 2, 0); err != nil {
		t.Fatal(err)
	}
	if want := "host  id  params\ny      1  k=v\nx      2\n"; b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	if _, err := Top(t.Context(), files, "nothing", "", 2); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Error(err)
	}
	if _, err := Top(t.Context(), files, "id", "", 2); err == nil {
		t.Error("a number was counted as text")
	}
	if _, err := Top(t.Context(), []string{filepath.Join(dir, "c.parquet")}, "host", "", 2); err == nil {
		t.Error("a missing file was read")
	}
}

// TestBroker checks that the broker listens on the loopback interface alone.
func TestBroker(t *testing.T) {
	b, err := StartBroker("t", 2)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if !strings.HasPrefix(b.Addr, "127.0.0.1:") {
		t.Errorf("address %s", b.Addr)
	}
}

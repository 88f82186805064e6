package commit

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/urlmill/urlmill/sinks/store"
)

// chainOf returns a chain in a directory.
func chainOf(t *testing.T, dir string) (*Chain, store.Store) {
	t.Helper()
	s, err := store.Open(dir, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return New(Options{Root: s, Log: quiet}), s
}

// TestColumnsOfManyProcesses has processes record different columns at the same time, and wider and narrower ones of one
// name: all of them are known in the end, and the order does not matter.
func TestColumnsOfManyProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	const processes = 8
	var all sync.WaitGroup
	for p := range processes {
		c, s := chainOf(t, dir)
		all.Go(func() {
			for _, width := range []string{"int32", "int64", "int8"} {
				if err := c.RecordColumns(t.Context(), s, "rows", []Column{{"n", width}, {fmt.Sprint("c", p), "utf8"}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	c, s := chainOf(t, dir)
	last, err := lastColumns(t.Context(), s, "rows")
	if err != nil || last.Number > processes+1 {
		t.Fatalf("%v, number %d", err, last.Number)
	}
	found := map[string]string{}
	for _, column := range last.Columns {
		found[column.Name] = column.Type
	}
	want := map[string]string{"n": "int64"}
	for p := range processes {
		want[fmt.Sprint("c", p)] = "utf8"
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
	if lanes, err := Lanes(t.Context(), s); err != nil || len(lanes) > 0 {
		t.Errorf("taken for lanes: %v, %v", lanes, err)
	}
	err = c.RecordColumns(t.Context(), s, "rows", []Column{{"n", "utf8"}, {"c1", "bool"}, {"c2", "utf8"}})
	if err == nil || strings.Count(err.Error(), "column ") != 2 || !strings.Contains(err.Error(), `column "c1" is utf8 in the files of `) {
		t.Errorf("%v", err)
	}
}

// TestColumnsThatCannotBeRead refuses records of columns that are damaged, and those of a newer version.
func TestColumnsThatCannotBeRead(t *testing.T) {
	for content, want := range map[string]string{
		`{"version":1,"table":"rows","num`:                                    "is damaged: unexpected end",
		`{"version":1,"table":"rows","number":2,"columns":[]}`:                "is said to be number 2",
		`{"version":1,"table":"dead_letters","number":1,"columns":[]}`:        "and not of rows",
		`{"version":2,"table":"rows","number":1,"columns":[{"name":"n"}]}`:    "use a newer one",
		`{"version":1,"table":"rows","number":1,"columns":[],"later":"more"}`: "",
	} {
		c, s := chainOf(t, filepath.Join(t.TempDir(), "out"))
		if err := s.Create(t.Context(), columnsKey("rows", 1), []byte(content)); err != nil {
			t.Fatal(err)
		}
		err := c.RecordColumns(t.Context(), s, "rows", []Column{{"n", "int64"}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", content, err, want)
		}
		if damaged := new(DamagedError); strings.Contains(want, "damaged") && !errors.As(err, &damaged) {
			t.Errorf("%s: %v", content, err)
		}
	}
}

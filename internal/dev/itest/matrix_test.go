package itest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/internal/dev/itest/readers"
	"github.com/urlmill/urlmill/internal/dev/testproc"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/sinks/parquet"
	"github.com/urlmill/urlmill/sinks/sinktest"
)

// matrixSettings are encodings x codecs x page versions, with row groups and pages that are small enough for the
// tables to have several, and the defaults.
func matrixSettings() map[string]parquet.Options {
	settings := map[string]parquet.Options{
		"defaults": {},
	}
	for _, codec := range []string{"none", "snappy", "lz4", "gzip", "zstd"} {
		for _, version := range []int{1, 2} {
			for _, encodings := range []string{parquet.EncodingsAll, parquet.EncodingsPlain} {
				settings[fmt.Sprintf("%s-v%d-%s", codec, version, encodings)] = parquet.Options{
					Compression: codec, PageVersion: version, Encodings: encodings,
					RowGroupRows: 100, PageRows: 30, PageBytes: 4000,
					BloomFilters: []string{"text", "bytes", "i64", "u16", "fixed", "f64", "ts_us", "params.list.element.key"},
				}
			}
		}
	}
	return settings
}

// matrixTables are the tables of the matrix. All but compact have the columns of sinktest.AllTypes: every type, with and without
// nulls, lists, lists of lists and of structs.
func matrixTables() map[string][]arrow.Record {
	const rows = 300
	all := sinktest.AllTypes()
	tables := map[string][]arrow.Record{
		"one_row": table(all, shapes["full"], 1),
		"empty":   {sinktest.Random(memory.DefaultAllocator, all, 0, 0, 1, sinktest.Shape{})},
		"equal":   equalRows(all, rows),
	}
	for name, shape := range shapes {
		tables[name] = table(all, shape, rows)
	}
	tables[urlcols.CompactProfile] = compactRows(rows)
	return tables
}

// compactRows returns rows of the profile compact, of URLs of which a part is easily lost.
func compactRows(rows int) []arrow.Record {
	id := pipeline.Field{Name: "id", Type: pipeline.Int64}
	plan, err := urlcols.New(urlcols.Options{Profile: urlcols.CompactProfile, HasBase: true, Carried: []pipeline.Field{id}})
	if err != nil {
		panic(err)
	}
	text, err := os.ReadFile("../../../pipeline/urlcols/testdata/traps.ndjson")
	if err != nil {
		panic(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	b := &pipeline.Batch{Carried: []pipeline.Values{{Field: id}}}
	for i := range rows {
		var u struct{ URL, Base string }
		if err := json.Unmarshal([]byte(lines[i%len(lines)]), &u); err != nil {
			panic(err)
		}
		b.Offsets = append(b.Offsets, int64(i))
		b.URLs.Append([]byte(u.URL))
		b.Bases.Append([]byte(u.Base))
		b.Carried[0].Ints, b.Carried[0].Valid = append(b.Carried[0].Ints, int64(i)), append(b.Carried[0].Valid, true)
	}
	out, err := plan.NewTransform().Apply(b)
	if err != nil {
		panic(err)
	}
	return []arrow.Record{copyOf(out.Records[pipeline.Rows])}
}

// equalRows makes a table with the same values in every row, but for the id, by which readers sort.
func equalRows(schema *arrow.Schema, rows int) []arrow.Record {
	one := sinktest.Random(memory.DefaultAllocator, schema, 1, 0, 3, sinktest.Shape{})
	ids := sinktest.Random(memory.DefaultAllocator, schema, rows, 0, 3, sinktest.Shape{})
	columns := []arrow.Array{ids.Column(0)}
	for _, c := range one.Columns()[1:] {
		parts := make([]arrow.Array, rows)
		for i := range parts {
			parts[i] = c
		}
		column, err := array.Concatenate(parts, memory.DefaultAllocator)
		if err != nil {
			panic(err)
		}
		columns = append(columns, column)
	}
	return []arrow.Record{array.NewRecord(schema, columns, int64(rows))}
}

// TestMatrixIsWhatItSays checks that the tables have the extremes that they are for.
func TestMatrixIsWhatItSays(t *testing.T) {
	longest, most := 0, 0
	for _, r := range matrixTables()["huge"] {
		for i := range int(r.NumRows()) {
			for c, f := range r.Schema().Fields() {
				switch v := sinktest.Value(r.Column(c), i).(type) {
				case string:
					longest = max(longest, len(v))
				case []any:
					if strings.HasPrefix(f.Name, "params") {
						most = max(most, len(v))
					}
				}
			}
		}
	}
	if longest < 1<<20 || most < 1500 {
		t.Errorf("the longest text has %d bytes, the longest list of parameters %d", longest, most)
	}
}

// writeMatrix writes every table with every setting.
func writeMatrix(t *testing.T, tables map[string][]arrow.Record) []readers.Table {
	t.Helper()
	dir := t.TempDir()
	var written []readers.Table
	for name, recs := range tables {
		want := filepath.Join(dir, name+".json")
		readers.WriteNeutral(t, want, recs[0].Schema(), recs)
		for setting, o := range matrixSettings() {
			o.Path = filepath.Join(dir, name+"."+setting)
			if name == urlcols.CompactProfile && len(o.BloomFilters) > 0 {
				o.BloomFilters = []string{"host", "kept_params.list.element.key"}
			}
			if name == "empty" {
				writeEmpty(t, recs[0].Schema(), o)
			} else {
				s, err := parquet.New(o, quiet)
				write(t, s, err, recs)
			}
			written = append(written, readers.Table{Name: name + "/" + setting, Files: files(t, o.Path, "parquet"), Expected: want})
		}
	}
	return written
}

func writeEmpty(t *testing.T, schema *arrow.Schema, o parquet.Options) {
	t.Helper()
	if err := os.Mkdir(o.Path, 0o755); err != nil {
		t.Fatal(err)
	}
	f := create(t, filepath.Join(o.Path, "empty.parquet"))
	if err := errors.Join(parquet.WriteEmpty(f, schema, o), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// isLZ4 reports whether pages are LZ4_RAW, which arrow v15 does not know, and of which parquet-go 0.32 returns bytes that were in
// memory before where a page does not become a third as long.
func isLZ4(w readers.Table) bool { return strings.Contains(w.Name, "/lz4-") }

// TestMatrix writes every table with every setting, and has every reader read every value of it. Spark takes part
// with URLMILL_SPARK=1.
func TestMatrix(t *testing.T) {
	tables := matrixTables()
	written := writeMatrix(t, tables)
	recs := func(w readers.Table) []arrow.Record {
		name, _, _ := strings.Cut(w.Name, "/")
		return tables[name]
	}
	rows := map[string][]readers.Row{}
	leaves := map[string]map[string][]any{}
	for name, r := range tables {
		rows[name], leaves[name] = expected(r), leavesOf(r)
	}
	want := func(w readers.Table) []readers.Row {
		name, _, _ := strings.Cut(w.Name, "/")
		return rows[name]
	}
	t.Logf("%d tables", len(written))
	t.Run("arrow v15", func(t *testing.T) {
		for _, w := range written {
			if isLZ4(w) {
				continue
			}
			var got []readers.Row
			for _, name := range w.Files {
				got = append(got, readers.ArrowV15(t, name)...)
			}
			compare(t, w.Name, want(w), got)
		}
	})
	t.Run("DuckDB", func(t *testing.T) {
		db := readers.Duck(t)
		for _, w := range written {
			compare(t, w.Name, want(w), readers.DuckParquet(t, db, filepath.Join(filepath.Dir(w.Files[0]), "*.parquet"), "id"))
		}
	})
	t.Run("parquet-go", func(t *testing.T) {
		for _, w := range written {
			if isLZ4(w) {
				continue
			}
			name, _, _ := strings.Cut(w.Name, "/")
			compareLeaves(t, w, leaves[name])
		}
	})
	for _, library := range []string{"pyarrow", "polars", "datafusion", "spark"} {
		t.Run(library, func(t *testing.T) {
			if library == "spark" && os.Getenv("URLMILL_SPARK") != "1" {
				t.Skip("Spark takes minutes: set URLMILL_SPARK=1")
			}
			c := readers.Compare(t, library, written)
			for _, wrong := range c.Wrong {
				t.Error(wrong)
			}
			values := 0
			for _, w := range written {
				for _, r := range recs(w) {
					values += int(r.NumRows() * r.NumCols())
				}
			}
			t.Logf("%s %s: %d tables, %d values", library, c.Version, c.Tables, c.Values)
			if c.Tables != len(written) || c.Values != values {
				t.Errorf("%d tables with %d values were compared, want %d with %d", c.Tables, c.Values, len(written), values)
			}
		})
	}
	t.Run("urlmill parquet check", func(t *testing.T) { checkFiles(t, written) })
}

// checkFiles has the command compare what files say of themselves with what is in them.
func checkFiles(t *testing.T, written []readers.Table) {
	t.Helper()
	args := []string{"parquet", "check"}
	for _, w := range written {
		args = append(args, w.Files...)
	}
	if out, err := exec.Command(testproc.Urlmill(t), args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%.5000s", err, onlyProblems(string(out)))
	}
}

func onlyProblems(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if !strings.Contains(line, ": ok, ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// compareLeaves compares what parquet-go, which refuses pages that begin in the middle of a row, reads of every leaf.
func compareLeaves(t *testing.T, w readers.Table, want map[string][]any) {
	t.Helper()
	got := map[string][]any{}
	for _, name := range w.Files {
		rows := int64(-1)
		for column, leaf := range readers.ParquetGo(t, name) {
			for _, v := range leaf.Values {
				got[column] = append(got[column], readers.LeafValue(v))
			}
			if rows >= 0 && leaf.Rows != rows {
				t.Errorf("%s: %s has %d rows, others %d", w.Name, column, leaf.Rows, rows)
			}
			rows = leaf.Rows
			for _, level := range leaf.PageStarts {
				if level != 0 {
					t.Errorf("%s: a page of %s begins in the middle of a row", w.Name, column)
				}
			}
		}
	}
	for column, values := range want {
		if len(values) != len(got[column]) {
			t.Errorf("%s: %s: %d entries, want %d", w.Name, column, len(got[column]), len(values))
			continue
		}
		for i, v := range values {
			if got[column][i] != v {
				t.Errorf("%s: %s: entry %d is %v, want %v", w.Name, column, i, got[column][i], v)
				break
			}
		}
	}
	for column := range got {
		if _, ok := want[column]; !ok {
			t.Errorf("%s: a column %s that nobody wrote", w.Name, column)
		}
	}
}

// leavesOf returns the entries of every leaf column of records.
func leavesOf(recs []arrow.Record) map[string][]any {
	leaves := map[string][]any{}
	for _, r := range recs {
		for i, f := range r.Schema().Fields() {
			for row := range int(r.NumRows()) {
				flatten(leaves, f.Name, f.Type, sinktest.Value(r.Column(i), row), r.Column(i).IsNull(row))
			}
		}
	}
	return leaves
}

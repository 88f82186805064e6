package iceberg

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	iceberg "github.com/apache/iceberg-go"
)

// evolve changes a table as other programs do: its column host is called site from then on, kind is a long, and its files are to be
// in partitions by the given fields as well.
func (s spark) evolve(fields ...map[string]any) {
	s.t.Helper()
	_, now := tableFilesOf(s.t, s.out, "")
	s.replace(now, func(m map[string]any) {
		var schema map[string]any
		s.must(json.Unmarshal(encode(m["schemas"].([]any)[0]), &schema))
		schema["schema-id"] = 1
		for _, f := range schema["fields"].([]any) {
			switch f := f.(map[string]any); f["name"] {
			case "host":
				f["name"] = "site"
			case "kind":
				f["type"] = "long"
			}
		}
		m["schemas"], m["current-schema-id"] = append(m["schemas"].([]any)[:1], schema), 1
		properties := m["properties"].(map[string]any)
		properties[mappingKey] = strings.Replace(properties[mappingKey].(string), `["host"]`, `["host","site"]`, 1)
		specs := m["partition-specs"].([]any)
		for i, f := range fields {
			f["field-id"] = 1010 + i
		}
		m["partition-specs"] = append(specs, map[string]any{"spec-id": len(specs), "fields": fields})
		m["default-spec-id"], m["last-partition-id"] = len(specs), 1100
	})
}

// TestEvolvedByOthers has others rename a column, widen one, and add partition fields to a table, while a process runs and before one
// starts: what is added is found by the new names, is of the partitions that its rows are of, and no column comes back.
func TestEvolvedByOthers(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	other := spark{t: t, out: out}
	s := newStepper(t, out, Options{PartitionBy: []string{"host", "kind"}})
	s.step()
	other.evolve(
		map[string]any{"source-id": 4, "transform": "identity", "name": "kind"},
		map[string]any{"source-id": 2, "transform": "identity", "name": "site"},
		map[string]any{"source-id": 2, "transform": "bucket[4]", "name": "bucket"},
		map[string]any{"source-id": 2, "transform": "truncate[20]", "name": "short"},
	)
	s.step()
	other.evolve(map[string]any{"source-id": 3, "transform": "hour", "name": "hour"})
	s.step()
	s.close()
	again := newStepper(t, out, Options{PartitionBy: []string{"host", "kind"}})
	again.to = s.to
	again.step()
	again.close()
	checkRows(t, out, "", again.to, again.to)
	files, now := tableFilesOf(t, out, "")
	schema, err := now.meta.schema()
	if err != nil {
		t.Fatal(err)
	}
	if schema.NumFields() != rowsSchema.NumFields() || len(now.meta.Schemas) != 2 {
		t.Errorf("the table has the columns %v", schema)
	}
	specs := map[int32]int{}
	for _, f := range files {
		specs[f.SpecID()]++
		lower := map[int]string{}
		for id, b := range f.LowerBoundValues() {
			lower[id] = string(b)
		}
		inHost, inKind := directory(f, "host"), directory(f, "kind")
		if inHost != "" && inHost[:boundRunes] != lower[2] {
			t.Errorf("%s: the least host is %q", f.FilePath(), lower[2])
		}
		if len(lower[4]) != 0 && len(lower[4]) != 8 && f.SpecID() > 0 {
			t.Errorf("%s: the least kind has %d bytes", f.FilePath(), len(lower[4]))
		}
		if f.SpecID() != 1 {
			continue
		}
		p := f.Partition()
		want := []any{nil, nil, nil, nil}
		if inHost != "" {
			b := iceberg.BucketTransform{NumBuckets: 4}.Apply(iceberg.Optional[iceberg.Literal]{Valid: true, Val: iceberg.StringLiteral(inHost)})
			want[1], want[2], want[3] = inHost, b.Val.Any(), inHost[:20]
		}
		if inKind != "" {
			var n int64
			_, _ = fmt.Sscan(inKind, &n)
			want[0] = n
		}
		if got := []any{p[1010], p[1011], p[1012], p[1013]}; !slices.Equal(got, want) {
			t.Errorf("%s: %#v, want %#v", f.FilePath(), got, want)
		}
	}
	// Rows of an hour of their own are in the newest spec, and the others in the one before.
	if specs[0] == 0 || specs[1] == 0 || specs[2] == 0 {
		t.Errorf("files of the partition specs: %v", specs)
	}
	if _, err := keep(t.Context(), out, nil); err != nil {
		t.Fatal(err)
	}
	checkRows(t, out, "", again.to, again.to)
	_, now = tableFilesOf(t, out, "")
	mapping, _, err := now.meta.mapping(schema)
	if err != nil || !slices.Equal(mapping[1].Names, []string{"host", "site"}) {
		t.Errorf("the name mapping is %v, %v", mapping, err)
	}
}

// directory returns what the directories of a file say of a column, "" for none.
func directory(f iceberg.DataFile, column string) string {
	for part := range strings.SplitSeq(f.FilePath(), "/") {
		if v, ok := strings.CutPrefix(part, column+"="); ok && v != "__HIVE_DEFAULT_PARTITION__" {
			return v
		}
	}
	return ""
}

// TestWidened has a table follow rows, and rows follow a table.
func TestWidened(t *testing.T) {
	column := func(name string, ty arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: ty, Nullable: true}
	}
	i32, i64, text := arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String
	of := func(mapping string, fields ...arrow.Field) *metadata {
		schema, err := schemaOf(arrow.NewSchema(fields, nil))
		if err != nil {
			t.Fatal(err)
		}
		m := &metadata{LastColumn: len(fields), Schemas: []*iceberg.Schema{schema}, Properties: map[string]string{}}
		if mapping != "" {
			m.Properties[mappingKey] = mapping
		}
		return m
	}
	const plain = `[{"names":["a"],"field-id":1},{"names":["b"],"field-id":2}]`
	for _, c := range []struct {
		name    string
		table   *metadata
		rows    []arrow.Field
		schema  string // "" if it stays
		mapping string // "" if it stays
		err     string
	}{
		{"the same", of(plain, column("a", i32), column("b", text)), []arrow.Field{column("a", i32)}, "", "", ""},
		{"wider in the table", of(plain, column("a", i64), column("b", text)), []arrow.Field{column("a", i32)}, "", "", ""},
		{"wider in the rows", of(plain, column("a", i32), column("b", text)), []arrow.Field{column("a", i64)}, "a long, b string", plain, ""},
		{"another type", of(plain, column("a", i32), column("b", text)), []arrow.Field{column("a", text)}, "", "", "its column a is of type int, and the rows have string"},
		{"renamed", of(`[{"names":["x","a"],"field-id":1},{"names":["b"],"field-id":2}]`, column("a", i32), column("b", text)), []arrow.Field{column("x", i32)}, "", "", ""},
		{
			"both names", of(`[{"names":["x","a"],"field-id":1},{"names":["b"],"field-id":2}]`, column("a", i32), column("b", text)),
			[]arrow.Field{column("x", i32), column("a", i32)},
			"", "",
			"its column a is that of x and of a in the rows",
		},
		{
			"added", of(plain, column("a", i32), column("b", text)),
			[]arrow.Field{column("c", text)},
			"a int, b string, c string",
			`[{"names":["a"],"field-id":1},{"names":["b"],"field-id":2},{"names":["c"],"field-id":3}]`, "",
		},
		{
			"dropped, and added anew", of(plain, column("a", i32)),
			[]arrow.Field{column("a", i32), column("b", i32)},
			"a int, b int",
			`[{"names":["a"],"field-id":1},{"names":[],"field-id":2},{"names":["b"],"field-id":2}]`, "",
		},
		{"no mapping", of("", column("a", i32), column("b", text)), []arrow.Field{column("a", i32)}, "", plain, ""},
		{"no name in the mapping", of(`[{"names":["a"],"field-id":1}]`, column("a", i32), column("b", text)), []arrow.Field{column("b", text)}, "", plain, ""},
	} {
		got, err := widened(c.table, arrow.NewSchema(c.rows, nil))
		if c.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.err) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil || (got == nil) != (c.mapping == "") {
			t.Errorf("%s: %+v, %v", c.name, got, err)
			continue
		}
		if got == nil {
			continue
		}
		schema := ""
		if got.schema != nil {
			var fields []string
			for _, f := range got.schema.Fields() {
				fields = append(fields, f.Name+" "+shape(f.Type))
			}
			schema = strings.Join(fields, ", ")
		}
		if schema != c.schema || c.name != "dropped, and added anew" && got.properties[mappingKey] != c.mapping {
			t.Errorf("%s: %s, %s", c.name, schema, got.properties[mappingKey])
		}
	}
}

// TestExpired keeps what branches, tags, and the table ask for.
func TestExpired(t *testing.T) {
	now := time.UnixMilli(100 * 60_000)
	at := func(id int64) *int64 { return &id }
	m := &metadata{Current: at(9), Refs: map[string]*ref{}}
	for id := int64(1); id <= 9; id++ { // a snapshot every ten minutes
		s := &snapshot{ID: id, Time: id * 10 * 60_000}
		if id > 1 {
			s.Parent = at(id - 1)
		}
		m.Snapshots = append(m.Snapshots, s)
	}
	m.Snapshots = append(m.Snapshots, &snapshot{ID: 20, Time: 5 * 60_000}, &snapshot{ID: 21, Parent: at(20), Time: 95 * 60_000}) // of nothing
	hour := retention{age: time.Hour.Milliseconds(), keep: 1}
	five, age := 5, int64(1)
	for _, c := range []struct {
		name string
		refs map[string]*ref
		r    retention
		want string
	}{
		{"by age", nil, hour, "[1 2 3 20]"},
		{"by number", nil, retention{age: hour.age, keep: 1, most: 2}, "[1 2 3 4 5 6 7 20]"},
		{"at least", nil, retention{age: 1, keep: 3}, "[1 2 3 4 5 6 20 21]"},
		{"a tag", map[string]*ref{"main": {Snapshot: 9, Type: "branch"}, "t": {Snapshot: 2, Type: "tag"}}, hour, "[1 3 20]"},
		{"a branch", map[string]*ref{"main": {Snapshot: 9, Type: "branch"}, "b": {Snapshot: 21, Type: "branch"}}, hour, "[1 2 3 20]"},
		{"a branch that keeps more", map[string]*ref{"main": {Snapshot: 9, Type: "branch"}, "b": {Snapshot: 3, Type: "branch", Keep: &five}}, retention{age: hour.age, keep: 1, most: 2}, "[4 5 6 7 20]"},
		{"main says less", map[string]*ref{"main": {Snapshot: 9, Type: "branch", Age: &age}}, hour, "[1 2 3 4 5 6 7 8 20]"},
		{"no ref", map[string]*ref{}, retention{age: 1, keep: 1}, "[1 2 3 4 5 6 7 8 20 21]"},
	} {
		m.Refs = c.refs
		if got := m.expired(c.r, now); fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

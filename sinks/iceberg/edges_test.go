package iceberg

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store"
)

var errAway = errors.New("the catalog cannot be reached")

// away is a catalog that cannot be reached for a while.
type away struct {
	Catalog
	gone *atomic.Bool
}

func (a away) load(ctx context.Context, table []string) (*state, error) {
	if a.gone.Load() {
		return nil, errAway
	}
	return a.Catalog.load(ctx, table)
}

// TestCatalogAway has a catalog that cannot be reached. That stops a start, and later not the rows: it shows, and what is missing
// is added when the catalog is back.
func TestCatalogAway(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	var gone atomic.Bool
	o := Options{Every: time.Second, Connect: func() (Catalog, error) {
		s := store.NewLocal(out, store.System, quiet)
		base, err := locationOf(s)
		if err = errors.Join(err, s.Prepare(t.Context())); err != nil {
			return nil, err
		}
		c, err := openSQLite(t.Context(), filepath.Join(filepath.Dir(out), "catalog.db"), defaultCatalog, &tableOf{store: s, base: base})
		return away{closing{c, s}, &gone}, err
	}}
	gone.Store(true)
	if _, err := begin(t.Context(), out, o, nil, rowsSchema); !errors.Is(err, errAway) {
		t.Errorf("a start without the catalog: %v", err)
	}
	gone.Store(false)
	p, err := begin(t.Context(), out, o, nil, rowsSchema)
	if err != nil {
		t.Fatal(err)
	}
	until := func(what string, reached func(files int64, failing bool) bool) {
		t.Helper()
		for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
			var c pipeline.Counts
			if p.follower.Count(&c); reached(c.Table.Files, c.Table.Failing) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("not %s: %+v", what, c.Table)
			}
		}
	}
	gone.Store(true)
	if err := p.write(t.Context(), rowsSchema, 0, 10); err != nil {
		t.Fatal(err)
	}
	until("failing", func(_ int64, failing bool) bool { return failing })
	if err := p.write(t.Context(), rowsSchema, 1, 20); err != nil {
		t.Errorf("a commit without the catalog: %v", err)
	}
	gone.Store(false)
	until("added", func(files int64, failing bool) bool { return files == 2 && !failing })
	checkTable(t, out, filepath.Join(filepath.Dir(out), "catalog.db"), 30)
	if err := p.sink.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRolledBack has others roll a table back: the rows that they have taken out stay out, and those that come are added.
func TestRolledBack(t *testing.T) {
	s := &restServer{t: t}
	server := httptest.NewServer(s)
	defer server.Close()
	out := filepath.Join(t.TempDir(), "out")
	run := func(to ...int64) {
		t.Helper()
		o := Options{Table: "web.raw.clicks", Every: time.Hour, REST: &REST{URI: server.URL + "/cat", Warehouse: "lake", Token: "t"}}
		p, err := begin(t.Context(), out, o, nil, rowsSchema)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range to {
			if err := errors.Join(p.write(t.Context(), rowsSchema, 0, n), p.follower.flush(t.Context())); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.sink.Close(); err != nil {
			t.Fatal(err)
		}
	}
	run(10, 30)
	var raw map[string]any
	d := json.NewDecoder(bytes.NewReader(s.now.raw))
	d.UseNumber()
	if err := d.Decode(&raw); err != nil {
		t.Fatal(err)
	}
	first := s.now.meta.Snapshots[0]
	raw["current-snapshot-id"] = first.ID
	raw["refs"] = map[string]any{"main": map[string]any{"type": "branch", "snapshot-id": first.ID}}
	s.set(encode(raw))
	run(60)
	last := s.now.meta.snapshot(s.now.meta.Current)
	if last.Summary["total-records"] != "40" || *last.Parent != first.ID {
		t.Errorf("of 60 rows, 20 of which were rolled back, the table has %v", last.Summary)
	}
}

// TestUnfit refuses columns for which Iceberg has no type, and says what to do.
func TestUnfit(t *testing.T) {
	for _, column := range []arrow.DataType{
		arrow.PrimitiveTypes.Uint64, arrow.FixedWidthTypes.Timestamp_ms, arrow.FixedWidthTypes.Timestamp_ns,
	} {
		schema := arrow.NewSchema([]arrow.Field{rowsSchema.Field(0), {Name: "unfit", Type: column, Nullable: true}}, nil)
		_, err := begin(t.Context(), filepath.Join(t.TempDir(), "out"), Options{}, nil, schema)
		if err == nil || !strings.Contains(err.Error(), "unfit") || !strings.Contains(err.Error(), "columns.exclude") {
			t.Errorf("%s: %v", column, err)
		}
	}
}

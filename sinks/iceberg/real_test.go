package iceberg

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/internal/dev/icebergtest"
	"github.com/urlmill/urlmill/sinks/compact"
	"github.com/urlmill/urlmill/sinks/store"
)

// restRows returns a table as a REST catalog has it, and the number of rows of its files, each of which it opens.
func restRows(t *testing.T, out string, o Options) (*state, int64) {
	t.Helper()
	root := store.NewLocal(out, store.System, quiet)
	base, err := locationOf(root)
	if err != nil {
		t.Fatal(err)
	}
	tab := &tableOf{id: o.identifier(), store: root, base: base}
	if err := tab.connect(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	defer tab.catalog.Close()
	now, err := tab.load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	files, rows, err := tab.dataFiles(t.Context(), now.meta.snapshot(now.meta.Current))
	if err != nil {
		t.Fatal(err)
	}
	read := int64(0)
	for f := range files {
		eachN(t, filepath.Join(out, f), func(int64) { read++ })
	}
	if read != rows {
		t.Errorf("%d rows in the files, and %d in the table", read, rows)
	}
	return now, rows
}

// TestRealCatalog does with Apache Iceberg's own REST catalog what the others do with an imitation: a table is made, gets columns,
// is added to by several processes at once, beside keepers that merge its files and remove its snapshots.
func TestRealCatalog(t *testing.T) {
	o := Options{Table: "web.raw.clicks", Every: time.Hour, PartitionBy: []string{"date(ts)", "kind"}, REST: &REST{URI: icebergtest.Start(t)}}
	out := filepath.Join(t.TempDir(), "out")
	few := arrow.NewSchema(rowsSchema.Fields()[:5], nil)
	p, err := begin(t.Context(), out, o, nil, few)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.write(t.Context(), few, 9, 0), p.sink.Close()); err != nil {
		t.Fatal(err)
	}
	// The last rows come when others have been merged, so that what was merged is not in the snapshots that stay, and removed.
	merged := make(chan struct{})
	var wg sync.WaitGroup
	for lane := range int32(3) {
		wg.Go(func() {
			p, err := begin(t.Context(), out, o, nil, rowsSchema)
			if err != nil {
				t.Error(err)
				return
			}
			for to := int64(10); to <= 40; to += 10 {
				if to == 40 {
					<-merged
				}
				if err := errors.Join(p.write(t.Context(), rowsSchema, lane, to), p.follower.flush(t.Context())); err != nil {
					t.Error(err)
				}
			}
			if err := p.sink.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	pass := func() *compact.TableReport {
		r, err := keep(t.Context(), out, func(k *compact.TableOptions) { k.Options, k.MaxSnapshots = &o, 3 })
		if err != nil {
			t.Error(err)
			return &compact.TableReport{}
		}
		return r
	}
	ended := make(chan struct{})
	go func() { wg.Wait(); close(ended) }()
	for more, open := true, true; more; {
		select {
		case <-ended:
			more = false
		default:
		}
		if r := pass(); open && (r.Merged > 0 || t.Failed()) {
			close(merged)
			open = false
		}
	}
	now, rows := restRows(t, out, o)
	if rows != 120 || now.meta.snapshot(now.meta.Current).Summary["total-records"] != "120" {
		t.Errorf("%d rows, %v", rows, now.meta.snapshot(now.meta.Current).Summary)
	}
	if n := len(now.meta.Snapshots); n > 4 {
		t.Errorf("%d snapshots", n)
	}
	if got := now.meta.Properties[positionsKey]; got != `{"clicks/0":40,"clicks/1":40,"clicks/2":40}` {
		t.Errorf("positions %s", got)
	}
	if r := pass(); r.Merged != 0 {
		t.Errorf("after all was merged: %+v", r)
	}
	schema, err := now.meta.schema()
	if err != nil || schema.NumFields() != rowsSchema.NumFields() {
		t.Errorf("%v, %v", schema, err)
	}
	if v := verifyOutput(t, out); !v.OK || v.Table == nil || v.Table.Rows != 120 {
		t.Errorf("%+v, %+v", v.Problems, v.Table)
	}
	if names := slices.DeleteFunc(filesBelow(t, out), func(n string) bool { return filepath.Ext(n) != ".parquet" }); len(names) == 0 {
		t.Error(fmt.Sprint(names))
	}
}

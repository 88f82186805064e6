package iceberg

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// TestStartBesideCommit has a process start while another one is between the record of a commit and the publishing of its
// files: these are in the table in the end.
func TestStartBesideCommit(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	var armed atomic.Bool
	var once sync.Once
	reached, release := make(chan struct{}), make(chan struct{})
	slow := storetest.Wrap(store.System, func(c storetest.Call) error {
		if armed.Load() && c.Op == "rename" && strings.Contains(c.Path, "clicks-0-00000000000000000010-") {
			once.Do(func() { close(reached) })
			<-release
		}
		return nil
	})
	a, err := begin(t.Context(), out, Options{Every: time.Hour}, slow, rowsSchema)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.write(t.Context(), rowsSchema, 0, 10); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	var first sync.Once
	beside := storetest.Wrap(store.System, func(c storetest.Call) error {
		if c.Op == "link" && strings.HasSuffix(c.Path, commit.RegisteredKey) { // all commits are finished, and the table is next
			first.Do(func() {
				armed.Store(true)
				go func() { written <- a.write(t.Context(), rowsSchema, 0, 20) }()
				<-reached
			})
		}
		return nil
	})
	b, err := begin(t.Context(), out, Options{Every: time.Hour}, beside, rowsSchema)
	close(release)
	if err := errors.Join(err, <-written); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.sink.Close(), b.sink.Close()); err != nil {
		t.Fatal(err)
	}
	now := checkTable(t, out, "", 20)
	if got := now.meta.Properties[positionsKey]; got != `{"clicks/0":20}` {
		t.Errorf("positions %s", got)
	}
}

// TestMadeAnew drops the table below a running process, and has others make it anew, with fewer columns: it gets all files
// again.
func TestMadeAnew(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	p, err := begin(t.Context(), out, Options{Every: time.Hour}, nil, rowsSchema)
	if err != nil {
		t.Fatal(err)
	}
	for lane := range int32(2) {
		if err := p.write(t.Context(), rowsSchema, lane, 10); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.follower.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	tab := p.follower.table
	if _, err := tab.catalog.(*sqlite).db.ExecContext(t.Context(), "DELETE FROM iceberg_tables"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.write(t.Context(), rowsSchema, 0, 20), p.follower.flush(t.Context())); !errors.Is(err, errNoTable) {
		t.Errorf("without a table: %v", err)
	}
	narrow, err := schemaOf(arrow.NewSchema(rowsSchema.Fields()[:1], nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(tab.make(t.Context(), p.follower.opts, narrow), p.follower.flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	now := checkTable(t, out, "", 30)
	if s, err := now.meta.schema(); err != nil || s.NumFields() != rowsSchema.NumFields() {
		t.Errorf("%v, %v", s, err)
	}
	if err := errors.Join(p.write(t.Context(), rowsSchema, 1, 20), p.sink.Close()); err != nil {
		t.Fatal(err)
	}
	checkTable(t, out, "", 40)
}

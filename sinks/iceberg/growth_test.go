package iceberg

import (
	"cmp"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	iceberg "github.com/apache/iceberg-go"

	"github.com/urlmill/urlmill/sinks/compact"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// countingFS counts what is written to files.
type countingFS struct {
	store.FS
	written *int64
}

type countingHandle struct {
	store.Handle
	written *int64
}

func (c countingFS) Create(path string) (store.Handle, error) {
	h, err := c.FS.Create(path)
	return countingHandle{h, c.written}, err
}

func (h countingHandle) Write(p []byte) (int, error) {
	n, err := h.Handle.Write(p)
	*h.written += int64(n)
	return n, err
}

// TestBytesOfACommit commits again and again to a table that a keeper keeps small, with files that are names alone, on a disk that
// forgets nothing and needs no time. What a commit writes, and what is there in the end, has bounds. URLMILL_COMMITS says how many
// commits, URLMILL_SNAPSHOTS how many snapshots are kept.
func TestBytesOfACommit(t *testing.T) {
	number := func(variable string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
			return n
		}
		return otherwise
	}
	usual := 900
	if testing.Short() {
		usual = 300
	}
	commits, kept := number("URLMILL_COMMITS", usual), number("URLMILL_SNAPSHOTS", 40)
	disk := storetest.NewDisk().Process()
	if err := disk.Mkdir("/out"); err != nil {
		t.Fatal(err)
	}
	var written int64
	root := store.NewLocal("/out", countingFS{disk, &written}, quiet)
	if err := root.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), sqliteTables); err != nil {
		t.Fatal(err)
	}
	tab := &tableOf{id: []string{"web", "clicks"}, store: root, base: "file:///out"}
	tab.catalog = &sqlite{db: db, name: defaultCatalog, files: tab}
	if err := tab.prepare(t.Context(), Options{PartitionBy: []string{"kind"}}, rowsSchema); err != nil {
		t.Fatal(err)
	}
	o := keepOptions(root)
	o.MaxSnapshots, o.TargetBytes, o.Steady, o.MinAge = kept, 256<<20, true, time.Hour
	o.Options = &Options{Table: "web.clicks", Connect: func() (Catalog, error) { return tab.catalog, nil }}
	opened, err := OpenKeeper(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	k := opened.(*Keeper)
	defer k.Close()
	fake := func(now *state, n int, day int32, size int64) iceberg.DataFile {
		spec, err := now.meta.spec(now.meta.DefaultSpec)
		if err != nil {
			t.Fatal(err)
		}
		bounds := map[int][]byte{1: make([]byte, 8), 2: []byte("www.example-with"), 3: make([]byte, 8), 4: make([]byte, 4)}
		counts := map[int]int64{1: 1000, 2: 1000, 3: 1000, 4: 1000, 6: 1000}
		b, err := iceberg.NewDataFileBuilder(spec, iceberg.EntryContentData, fmt.Sprintf("%s/kind=%d/clicks-0-%020d-0123abcd%04d.parquet", k.table.base, day, n, n%10000),
			iceberg.ParquetFile, map[int]any{1000: day}, nil, nil, 1000, size)
		if err != nil {
			t.Fatal(err)
		}
		return b.ColumnSizes(counts).ValueCounts(counts).NullValueCounts(counts).LowerBoundValues(bounds).UpperBoundValues(bounds).Build()
	}
	commit := func(rev func(now *state) revision, c change) {
		now, err := k.load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		a, err := k.table.revise(t.Context(), now, rev(now))
		if err != nil {
			t.Fatal(err)
		}
		c.snapshot = a.snapshot
		if err := k.table.catalog.commit(t.Context(), k.table.id, now, c); err != nil {
			t.Fatal(err)
		}
	}
	var sizes []int64
	var times []time.Duration
	merges, live := 0, 0
	for n := 1; n <= commits; n++ {
		before, began, position := written, time.Now(), fmt.Sprintf(`{"clicks/0":%d}`, n*1000)
		commit(func(now *state) revision {
			return revision{operation: "append", added: []iceberg.DataFile{fake(now, n, int32(n*7/commits), 200<<10)}, summary: map[string]string{positionsKey: position}}
		}, change{properties: map[string]string{positionsKey: position}})
		sizes, times = append(sizes, written-before), append(times, time.Since(began))
		if n == 1000 || n == 10_000 || n == 100_000 {
			t.Logf("commits up to the %dth: %d bytes and %v each (medians of 500)", n, median(sizes[n-500:]), median(times[n-500:]))
		}
		if n%4 != 0 {
			continue
		}
		now, err := k.load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c, err := k.contents(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		bins, err := k.plan(now, c, &compact.TableReport{})
		if err != nil {
			t.Fatal(err)
		}
		live = len(c.files)
		for _, b := range bins {
			merges++
			gone := map[string]bool{}
			for _, f := range b {
				gone[f.location] = true
			}
			day, _ := strconv.Atoi(strings.TrimPrefix(strings.Split(b[0].key, "/")[0], "kind="))
			commit(func(now *state) revision {
				return revision{operation: "replace", added: []iceberg.DataFile{fake(now, 1_000_000_000+merges, int32(day), bytesOf(b))}, removed: gone}
			}, change{})
		}
		if err := k.expire(t.Context(), &compact.TableReport{}); err != nil {
			t.Fatal(err)
		}
	}
	third := func(i int) int64 { return slices.Max(sizes[i*len(sizes)/3 : (i+1)*len(sizes)/3]) }
	there, err := root.List(t.Context(), metadataDir, "")
	if err != nil {
		t.Fatal(err)
	}
	largest, size := 0, 0
	for _, f := range there {
		if f.Dir {
			continue
		}
		content, err := root.Read(t.Context(), metadataDir+"/"+f.Name)
		if err != nil {
			t.Fatal(err)
		}
		size += len(content)
		if strings.HasSuffix(f.Name, ".metadata.json") {
			largest = max(largest, len(content))
		}
	}
	t.Logf("%d commits, %d merges, %d live files: a commit writes %d bytes (median), %d at most; metadata.json has %d at most, and %d files have %d",
		commits, merges, live, median(sizes), slices.Max(sizes), largest, len(there), size)
	if third(2) > third(1)*5/4 {
		t.Errorf("in the last third a commit writes up to %d bytes, and in the one before %d", third(2), third(1))
	}
	if len(there) > 8*(kept+mergeAt)+2*maxLog {
		t.Errorf("%d files of metadata are there", len(there))
	}
}

func median[T cmp.Ordered](all []T) T {
	all = slices.Clone(all)
	slices.Sort(all)
	return all[len(all)/2]
}

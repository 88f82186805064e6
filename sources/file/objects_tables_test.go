package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/sources"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/parquet"
)

// tableOf makes a Parquet file of rows with an URL and a number of other texts, which do not compress, in row groups of so many rows.
func tableOf(t testing.TB, rows, others, group int) []byte {
	t.Helper()
	fields := pq.Group{"url": pq.String()}
	for i := range others {
		fields[fmt.Sprintf("other%02d", i)] = pq.String()
	}
	var b bytes.Buffer
	w := pq.NewGenericWriter[map[string]any](&b, pq.NewSchema("t", fields), pq.MaxRowsPerRowGroup(int64(group)), pq.PageBufferSize(64<<10))
	r := rand.New(rand.NewPCG(7, 8))
	for i := range rows {
		row := map[string]any{"url": fmt.Sprintf("https://t.example/%d/%x%x", i, r.Uint64(), r.Uint64())}
		for o := range others {
			row[fmt.Sprintf("other%02d", o)] = fmt.Sprintf("%x%x%x", r.Uint64(), r.Uint64(), r.Uint64())
		}
		if _, err := w.Write([]map[string]any{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// counted counts the bytes that are asked for.
type counted struct {
	*cloud
	bytes atomic.Int64
}

func (c *counted) Open(ctx context.Context, o objstore.Object, off, n int64) (io.ReadCloser, error) {
	if n < 0 {
		n = o.Size - off
	}
	c.bytes.Add(n)
	return c.cloud.Open(ctx, o, off, n)
}

// openTables returns a source of the tables among the objects of c, whose URLs are read, and some of the other columns.
func openTables(t testing.TB, c objstore.Store, others int, change func(*Options)) *ObjectSource {
	t.Helper()
	o := parquet.Options{URL: "url"}
	for i := range others {
		name := fmt.Sprintf("other%02d", i)
		o.Carry = append(o.Carry, codec.CarriedColumn{Name: name})
	}
	f, err := parquet.New(o)
	if err != nil {
		t.Fatal(err)
	}
	kind := Kind(objstore.Kind{Scheme: "s3://", Depth: 1, Name: "s3", New: func() objstore.Options { return cloudOptions{c} }})
	options := kind.New().(*Options)
	options.Paths = []string{"s3://b/p/"}
	if change != nil {
		change(options)
	}
	s, err := options.Open(sources.Env{}, f)
	if err != nil {
		t.Fatal(err)
	}
	s.(*ObjectSource).wait = func(ctx context.Context, _ int) error { return ctx.Err() }
	return s.(*ObjectSource)
}

// Of a table the footer is read, and of its row groups the columns that are wanted: how many requests and bytes that takes.
func TestObjectsTables(t *testing.T) {
	const rows = 120_000
	data := tableOf(t, rows, 11, 20_000)
	for _, tc := range []struct {
		others         int
		requests, most int64 // and bytes, in percent
	}{{0, 30, 20}, {11, 150, 105}} {
		c, k := &counted{cloud: new(cloud)}, newChains()
		k.maxRows = 1000
		c.put("p/t.parquet", string(data))
		if err := k.read(t, openTables(t, c, tc.others, nil), nil); err != nil {
			t.Fatal(err)
		}
		if len(k.rows) != rows {
			t.Fatalf("%d rows", len(k.rows))
		}
		gets, share := c.gets.Load(), 100*c.bytes.Load()/int64(len(data))
		t.Logf("%d of 12 columns of %d bytes: %d requests for %d bytes, %d %%", 1+tc.others, len(data), gets, c.bytes.Load(), share)
		if gets > tc.requests || share > tc.most {
			t.Errorf("want at most %d requests and %d %%", tc.requests, tc.most)
		}
	}
}

// Tables are read once each, by the numbers of their rows, also when requests break off and the process is killed within one.
func TestObjectsTablesKilled(t *testing.T) {
	c, k := new(cloud), newChains()
	k.maxRows, k.every = 900, 2
	const files, rows = 4, 20_000
	for i := range files {
		c.put(fmt.Sprintf("p/%d.parquet", i), string(tableOf(t, rows, 1, 7000)))
	}
	var n atomic.Int64 // several requests at a time
	c.cut = func(objstore.Object, int64) int64 {
		if n.Add(1)%3 == 0 {
			return 1000
		}
		return -1
	}
	for run := 0; ; run++ {
		k.commits, k.dies = 0, 5+3*run
		err := k.read(t, openTables(t, c, 1, func(o *Options) { o.Parallel = 1 }), nil)
		if err == nil {
			break
		}
		if !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
	}
	seen := map[string]int{}
	for _, row := range k.rows {
		address, rest, _ := strings.Cut(row, " ")
		number, _, _ := strings.Cut(rest, " ")
		seen[address+" "+number]++
	}
	if len(k.rows) != files*rows || len(seen) != files*rows {
		t.Errorf("%d rows of %d", len(k.rows), len(seen))
	}
}

// A table that is replaced between its footer and its columns, or within them, is not half of each.
func TestObjectsTablesReplaced(t *testing.T) {
	old, fresh := tableOf(t, 60_000, 3, 20_000), tableOf(t, 100, 0, 100)
	for _, at := range []int64{1, 4, 6} { // requests that were answered before: the probe, the footer, some of the columns
		c, k := new(cloud), newChains()
		k.maxRows = 1000
		c.put("p/t.parquet", string(old))
		var requests atomic.Int64
		c.onOpen = func(objstore.Object, int64) error {
			if requests.Add(1) == at+1 {
				c.put("p/t.parquet", string(fresh))
			}
			return nil
		}
		if err := k.read(t, openTables(t, c, 0, func(o *Options) { o.OnChanged = Whole }), nil); err != nil {
			t.Fatal(err)
		}
		numbers := map[string]int{}
		for _, row := range k.rows {
			numbers[strings.Split(row, " ")[1]]++
		}
		n := len(k.rows) - 100
		if n < 0 || n >= 60_000 || len(numbers) != max(n, 100) || numbers["0"] != 1+min(n, 1) || numbers["99"] != 1+min(n, 1) {
			t.Errorf("replaced after %d requests: %d rows, number 0 %d times", at, len(k.rows), numbers["0"])
		}
	}
}

// Tables that are damaged anywhere do not stop the others, and are named in the end.
func TestObjectsTablesBad(t *testing.T) {
	good := tableOf(t, 3000, 1, 1000)
	c, k := new(cloud), newChains()
	r := rand.New(rand.NewPCG(9, 9))
	for i := range 12 {
		bad := bytes.Clone(good)
		switch {
		case i == 0:
			bad = bad[:len(bad)-100]
		case i == 1:
			bad = nil
		case i == 2:
			bad = []byte("https://no.example/table\n")
		case i < 6:
			for range 40 {
				bad[len(bad)-1-r.IntN(200)] ^= 0x55
			}
		default:
			for range 200 {
				bad[r.IntN(len(bad)*3/4)] ^= 0x55
			}
		}
		c.put(fmt.Sprintf("p/bad%02d.parquet", i), string(bad))
		c.put(fmt.Sprintf("p/good%02d.parquet", i), string(good))
	}
	err := k.read(t, openTables(t, c, 1, nil), nil)
	rows := map[string]int{}
	for _, row := range k.rows {
		rows[strings.Split(row, " ")[0]]++
	}
	for i := range 12 {
		if n := rows[fmt.Sprintf("s3://b/p/good%02d.parquet", i)]; n != 3000 {
			t.Errorf("%d rows of good table %d", n, i)
		}
	}
	for i := range 3 {
		var read *ReadError
		if name := fmt.Sprintf("bad%02d.parquet", i); !errors.As(err, &read) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named: %.500v", name, err)
		}
	}
}

package itest

import (
	"path/filepath"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/itest/readers"
	"github.com/urlmill/urlmill/sinks/arrowipc"
	"github.com/urlmill/urlmill/sinks/ndjson"
	"github.com/urlmill/urlmill/sinks/sinktest"
)

// TestArrow reads files and streams with pyarrow.
func TestArrow(t *testing.T) {
	for _, compression := range []string{"none", "lz4", "zstd"} {
		for shape := range shapes {
			t.Run(compression+"/"+shape, func(t *testing.T) {
				recs := table(sinktest.AllTypes(), shapes[shape], 400)
				want := expected(recs)
				dir := filepath.Join(t.TempDir(), "out")
				s, err := arrowipc.New(arrowipc.Options{Path: dir, Compression: compression, Version: "9.9.9"}, quiet)
				write(t, s, err, recs)
				var got []readers.Row
				for _, name := range files(t, dir, "arrow") {
					about, rows := readers.Pyarrow(t, "arrow", name)
					if about.Metadata["urlmill.version"] != "9.9.9" {
						t.Errorf("metadata %v", about.Metadata)
					}
					got = append(got, rows...)
				}
				compare(t, "pyarrow", want, got)

				out := create(t, filepath.Join(t.TempDir(), "stream"))
				s, err = arrowipc.New(arrowipc.Options{Stdout: out, Compression: compression}, quiet)
				write(t, s, err, recs)
				if err := out.Close(); err != nil {
					t.Fatal(err)
				}
				_, rows := readers.Pyarrow(t, "stream", out.Name())
				compare(t, "pyarrow, stream", want, rows)
			})
		}
	}
}

// TestArrowDictionaries reads a stream whose dictionaries grow with pyarrow.
func TestArrowDictionaries(t *testing.T) {
	for _, compression := range []string{"none", "lz4", "zstd"} {
		recs := table(sinktest.AllTypes(), shapes["mixed"], 900)
		out := create(t, filepath.Join(t.TempDir(), "stream"))
		s, err := arrowipc.New(arrowipc.Options{
			Stdout: out, Compression: compression, Dictionaries: []string{"repeated_text", "text", "text_required"},
		}, quiet)
		write(t, s, err, recs)
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		about, rows := readers.Pyarrow(t, "stream", out.Name())
		compare(t, "pyarrow, "+compression, expected(recs), rows)
		if got := about.Types["text_required"]; got != "dictionary<values=string, indices=int32, ordered=0> not null" {
			t.Errorf("text_required is %s", got)
		}
	}
}

// TestNDJSON reads lines with DuckDB.
func TestNDJSON(t *testing.T) {
	db := readers.Duck(t)
	dir := filepath.Join(t.TempDir(), "out")
	recs := table(sinktest.Clicks(), sinktest.Shape{Nulls: 0.2, Empty: 0.2}, 500)
	s, err := ndjson.New(ndjson.Options{Path: dir}, quiet)
	write(t, s, err, recs)
	got := readers.DuckRows(t, db, `SELECT * FROM read_json(?, format = 'newline_delimited', columns = {
		url: 'VARCHAR', host: 'VARCHAR', port: 'USMALLINT', params: 'STRUCT("key" VARCHAR, "value" VARCHAR)[]',
		"partition": 'INTEGER', "offset": 'BIGINT', "timestamp": 'TIMESTAMPTZ', "key": 'VARCHAR'})`, filepath.Join(dir, "*.ndjson"))
	var want []readers.Row
	for _, row := range expected(recs) {
		short := readers.Row{}
		for _, name := range []string{"url", "host", "port", "params", "partition", "offset", "timestamp"} {
			short[name] = row[name]
		}
		short["key"] = nil
		if key, ok := row["key"].(readers.Bytes); ok {
			short["key"] = readers.Base64(key)
		}
		want = append(want, short)
	}
	compare(t, "DuckDB", want, got)
}

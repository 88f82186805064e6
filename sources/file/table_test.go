package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/parquet"
)

type page struct {
	URL string `parquet:"url"`
	N   int64  `parquet:"n"`
}

// writePages writes a file of n rows and returns its path.
func writePages(t *testing.T, dir, name string, n int) string {
	t.Helper()
	rows := make([]page, n)
	for i := range rows {
		rows[i] = page{fmt.Sprintf("http://%s/%d", name, i), int64(i)}
	}
	path := filepath.Join(dir, name)
	if err := pq.WriteFile(path, rows, pq.MaxRowsPerRowGroup(100)); err != nil {
		t.Fatal(err)
	}
	return path
}

// readTables reads tables, each from a position, and returns the URLs and what Run returned.
func readTables(t *testing.T, from func(string) int64, paths ...string) (urls []string, s *Source, err error) {
	t.Helper()
	f, err := parquet.New(parquet.Options{URL: "url", Carry: []codec.CarriedColumn{{Name: "n", Column: "n", Type: pipeline.Int64}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err = New(Options{Paths: paths, Parallel: 1}, f, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	err = s.Run(context.Background(), make(chan struct{}), func(ctx context.Context, l pipeline.Lane) error {
		next := from(l.ID().Stream)
		if err := l.Start(ctx, next); err != nil {
			return err
		}
		b := &pipeline.Batch{MaxRows: 33, MaxBytes: 1 << 20}
		for at := max(next, 0); ; at = b.Next {
			err := l.Next(ctx, b)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if b.First != at || b.Next != at+int64(b.Len()) {
				t.Errorf("a batch from %d to %d after %d, of %d rows", b.First, b.Next, at, b.Len())
			}
			for i := range b.Len() {
				if b.Carried[0].Ints[i] != b.Offsets[i] {
					t.Errorf("row %d is at %d", b.Carried[0].Ints[i], b.Offsets[i])
				}
				urls = append(urls, string(b.URLs.At(i)))
			}
		}
	})
	return urls, s, err
}

// TestTables: every row of every file once, in order, whatever reading begins at.
func TestTables(t *testing.T) {
	dir := t.TempDir()
	a, b := writePages(t, dir, "a", 250), writePages(t, dir, "b", 1)
	start := func(string) int64 { return pipeline.Unknown }
	urls, s, err := readTables(t, start, dir)
	if err != nil || len(urls) != 251 || urls[0] != "http://a/0" || urls[249] != "http://a/249" || urls[250] != "http://b/0" {
		t.Errorf("%d rows, %v", len(urls), err)
	}
	if done, total := progress(s); done != total || total == 0 {
		t.Errorf("read %d bytes of %d", done, total)
	}
	for _, from := range []int64{1, 100, 249, 250} {
		urls, _, err := readTables(t, func(string) int64 { return from }, a)
		if err != nil || len(urls) != 250-int(from) || len(urls) > 0 && urls[0] != fmt.Sprintf("http://a/%d", from) {
			t.Errorf("from %d: %d rows, %v", from, len(urls), err)
		}
	}
	var short *TooShortError
	if _, _, err := readTables(t, func(string) int64 { return 2 }, b); !errors.As(err, &short) || short.Records != 1 {
		t.Errorf("%v", err)
	}
}

// TestTablesDamaged: a file that cannot be read does not keep the others from being read, and says what is the matter.
func TestTablesDamaged(t *testing.T) {
	dir := t.TempDir()
	good := writePages(t, dir, "good", 10)
	bad := filepath.Join(dir, "bad")
	if err := os.WriteFile(bad, []byte(strings.Repeat("no table ", 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	urls, _, err := readTables(t, func(string) int64 { return 0 }, bad, good)
	var read *ReadError
	if len(urls) != 10 || !errors.As(err, &read) || read.Path != bad || !strings.Contains(err.Error(), "no Parquet file") {
		t.Errorf("%d rows, %v", len(urls), err)
	}
}

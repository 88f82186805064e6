package convert

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/sinks/sinktest"
)

// failing fails after some rows.
type failing struct{ Reader }

var errFailing = errors.New("no more")

func (f failing) Next() (arrow.Record, error) {
	r, err := f.Reader.Next()
	if err != nil || r.NumRows() > 50 {
		return nil, errFailing
	}
	return r, nil
}

// TestFailure leaves nothing behind, and what was there as it was.
func TestFailure(t *testing.T) {
	for _, name := range []string{"a.parquet", "a.arrow", "a.arrows", "a.ndjson"} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Write(ctx, Target{Path: path, Format: ByName(name), Log: slog.New(slog.DiscardHandler)}, failing{table(1000)})
		if !errors.Is(err, errFailing) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		_, err = Write(ctx, Target{Path: path, Format: ByName(name), Log: slog.New(slog.DiscardHandler)}, table(1000))
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		text, err := os.ReadFile(path)
		entries, _ := os.ReadDir(dir)
		if string(text) != "before" || err != nil || len(entries) != 1 {
			t.Errorf("%s: %q, %v, %v", name, text, err, entries)
		}
	}
}

// TestStdin reads what can be read from a stream.
// TestBracketsInFolders checks that the characters of patterns have no meaning in the name of a folder.
func TestBracketsInFolders(t *testing.T) {
	for _, folder := range []string{"d[1]", "a*b", "q?", "open["} {
		dir := filepath.Join(t.TempDir(), folder)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a.parquet", "a.arrow", "a.arrows", "a.ndjson"} {
			path := filepath.Join(dir, name)
			rows, err := Write(t.Context(), Target{Path: path, Format: ByName(name), Log: slog.New(slog.DiscardHandler)}, table(10))
			if err != nil || rows != 10 {
				t.Errorf("%s: %d rows, %v", path, rows, err)
			}
		}
	}
}

func TestStdin(t *testing.T) {
	want := withoutInfinities(rowsOf(t, table(100)))
	dir := t.TempDir()
	open := func(name string, o Options) ([]sinktest.Row, error) {
		text, err := os.ReadFile(convert(t, table(100), dir, name))
		if err != nil {
			t.Fatal(err)
		}
		o.Stdin = bytes.NewReader(text)
		r, err := Open("-", o)
		if err != nil {
			return nil, err
		}
		defer func() { _ = r.Close() }()
		return rowsOf(t, r), nil
	}
	for name, o := range map[string]Options{"a.arrows": {}, "a.ndjson": {Schema: sinktest.AllTypes()}} {
		got, err := open(name, o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		compare(t, name, want, withoutInfinities(got))
	}
	for name, want := range map[string]string{
		"a.parquet": "cannot be read from a stream", "a.arrow": "cannot be read from a stream", "a.ndjson": "--schema FILE",
	} {
		if _, err := open(name, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open("-", Options{Stdin: strings.NewReader("x,y\n")}); err == nil || !strings.Contains(err.Error(), "none of the formats") {
		t.Error(err)
	}
}

// TestDamage reads files that were cut or overwritten: there is an error, no panic, or rows.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.parquet", "a.arrow", "a.arrows"} {
		data, err := os.ReadFile(convert(t, table(200), dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(data); at += 1 + len(data)/25 {
			broken := bytes.Clone(data)
			for i := at; i < min(at+30, len(broken)); i++ {
				broken[i] ^= 0xa5
			}
			for _, text := range [][]byte{broken, data[:at]} {
				path := filepath.Join(dir, "broken")
				if err := os.WriteFile(path, text, 0o600); err != nil {
					t.Fatal(err)
				}
				r, err := Open(path, Options{Format: ByName(name)})
				if err != nil {
					continue
				}
				for err == nil {
					_, err = r.Next()
				}
				_ = r.Close()
			}
		}
	}
}

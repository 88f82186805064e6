package wire

import (
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/sinks/commit"
)

// needy are configurations that need a part each, and where they say so.
var needy = map[string]struct{ text, at string }{
	"azure":    {"source: {generate: {}}\nsink: {ndjson: {path: 'az://lake/container/clicks'}}\n", "2:23"},
	"dedupe":   {"source: {generate: {}}\ncolumns: {canonical: {form: dedupe}}\ndedupe: {path: seen}\nsink: {parquet: {path: out}}\n", "3:1"},
	"duckdb":   {"source: {generate: {}}\nsink: {duckdb: {path: x.duckdb, table: t}}\n", "2:8"},
	"gcs":      {"source: {generate: {}}\nsink: {ndjson: {path: 'gs://lake/clicks'}}\n", "2:23"},
	"iceberg":  {"source: {generate: {}}\nsink: {parquet: {path: out, iceberg: {table: web.clicks}}}\n", "2:29"},
	"postgres": {"source: {generate: {}}\nsink: {postgres: {url: 'postgres://127.0.0.1/x', table: t}}\n", "2:8"},
	"protobuf": {"source:\n  kafka: {brokers: ['127.0.0.1:1'], topics: [t], group: g}\n  codec: {protobuf: {schema: x.desc, message: x.Y, url: /url}}\nsink: {parquet: {path: out}}\n", "3:11"},
	"s3":       {"source: {generate: {}}\non_error: dead_letter\nsink: {ndjson: {path: out, dead_letters: 's3://lake/dead'}}\n", "3:42"},
	"tracing":  {"source: {generate: {}}\nsink: {parquet: {path: out}}\ntracing: {endpoint: 'http://127.0.0.1:4318'}\n", "3:1"},
}

// parseWith reads a configuration with a registry, and returns what is wrong with it.
func parseWith(r Components, text string) error {
	c, err := r.Parse("x.yaml", []byte(text), config.Env{})
	if err == nil {
		err = Check(c)
	}
	return err
}

// TestLeftOut: a configuration that needs what the binary is built without is told what that is and how to get it, at the key
// that needs it, and nothing else.
func TestLeftOut(t *testing.T) {
	r := Light()
	names := r.LeftOut()
	for _, name := range names {
		err := parseWith(r, needy[name].text)
		want := "x.yaml:" + needy[name].at + ": this urlmill is built without "
		if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "build one") {
			t.Errorf("%s:\n got %v\nwant %s", name, err, want)
		}
		var problems *config.Error
		if !errors.As(err, &problems) || len(problems.Problems) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := parseWith(r, "source: {generate: {}}\nsink: {parquet: {path: out}}\n"); err != nil {
		t.Errorf("of a configuration that needs none of them: %v", err)
	}
	if len(needy) < len(names) {
		t.Errorf("%v are left out; %d configurations", names, len(needy))
	}
}

// TestLinked: every file with_*.go is of a part, a binary has all of them or names those that it lacks, and it makes of the
// others what they are.
func TestLinked(t *testing.T) {
	files, err := filepath.Glob("with_*.go")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, p := range parts {
		named = append(named, "with_"+p.name+".go")
	}
	named = slices.Compact(named) // S3 is needed in two places
	if !slices.Equal(files, named) {
		t.Errorf("the files are %v, and the parts %v", files, named)
	}
	r := Standard()
	for name, needs := range needy {
		err := parseWith(r, needs.text)
		if without := err != nil && strings.Contains(err.Error(), "built without"); without != slices.Contains(r.LeftOut(), name) {
			t.Errorf("%s: %v, and %v are left out", name, err, r.LeftOut())
		}
	}
}

// TestLightPlaces: without S3 and Iceberg, places there are refused, and folders are not.
func TestLightPlaces(t *testing.T) {
	r, log := Light(), slog.New(slog.DiscardHandler)
	open := r.OpenStores(log)
	if _, err := open("s3://lake/clicks", log); err == nil || !strings.Contains(err.Error(), "built without S3") {
		t.Errorf("of a place on S3: %v", err)
	}
	root, err := open(t.TempDir(), log)
	if err != nil {
		t.Fatal(err)
	}
	if state, err := r.InspectTable(t.Context(), root); state != nil || err != nil {
		t.Errorf("of a folder without a table: %v %v", state, err)
	}
	if err := errors.Join(root.Prepare(t.Context()), root.Create(t.Context(), commit.RegisteredKey, []byte("{}"))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	if _, err := r.InspectTable(t.Context(), root); err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "built without Iceberg tables") {
		t.Errorf("of a folder with a table: %v", err)
	}
}

package wire

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/commit/verify"
	"github.com/urlmill/urlmill/sinks/store"
)

// heavy has what the files with_*.go add to the standard registry, by the names of their parts.
var heavy = map[string]func(*Registry){}

// add is for the files with_*.go alone, when the process starts.
func add(part string, to func(*Registry)) { heavy[part] = to }

// part is something that a binary may be built without, because it is much to compile.
type part struct {
	name string // as with_NAME.go, and in what "urlmill version" prints
	what string // in a sentence
	how  string // to get a binary that has it
	// keys returns the paths of the keys of a configuration that need it.
	keys func(c *settings.Config) []string
}

// makeAll is how to get what only the tag core leaves out.
const makeAll = "take a release, or build one that has everything with make build"

// parts has all of them: what a configuration that needs one is told, with line and column, and what the version names.
var parts = []part{
	{"dedupe", "the search for duplicates", makeAll, func(c *settings.Config) []string { return given(c.Dedupe != nil, "dedupe") }},
	{"duckdb", "DuckDB, which is no part of a static binary", "build one with CGO_ENABLED=1 go build -tags duckdb ./cmd/urlmill, " +
		"or write Parquet files, which DuckDB reads as they are", func(c *settings.Config) []string { return given(c.Sink.DuckDB != nil, "sink.duckdb") }},
	{"iceberg", "Iceberg tables", makeAll, func(c *settings.Config) []string {
		return given(c.Sink.Parquet != nil && c.Sink.Parquet.Iceberg != nil, "sink.parquet.iceberg")
	}},
	{"postgres", "PostgreSQL", makeAll, func(c *settings.Config) []string { return given(c.Sink.Postgres != nil, "sink.postgres") }},
	{"protobuf", "Protobuf", makeAll, func(c *settings.Config) []string {
		return given(c.Source.Codec.Protobuf != nil, "source.codec.protobuf")
	}},
	{"s3", "S3", makeAll, (*settings.Config).OnS3},
	{"tracing", "tracing", makeAll, func(c *settings.Config) []string { return given(c.Tracing != nil, "tracing") }},
}

// given returns the key if it is.
func given(is bool, key string) []string {
	if is {
		return []string{key}
	}
	return nil
}

// LeftOut returns the names of the parts that the binary is built without.
func (r Registry) LeftOut() []string {
	names := []string{}
	for _, p := range parts {
		if !r.has[p.name] {
			names = append(names, p.name)
		}
	}
	return names
}

// CheckParts returns which parts a configuration needs that the binary is built without, as a [*config.Error].
func (r Registry) CheckParts(c *settings.Config) error {
	var problems []config.Problem
	for _, p := range parts {
		if r.has[p.name] {
			continue
		}
		for _, key := range p.keys(c) {
			problems = append(problems, c.Problem(key, "%v", p.missing()))
		}
	}
	return c.Errors(problems)
}

// missing says that the part is not there.
func (p part) missing() error {
	return fmt.Errorf("this urlmill is built without %s: %s", p.what, p.how)
}

// errWithout is missing of the part of that name.
func errWithout(name string) error {
	for _, p := range parts {
		if p.name == name {
			return p.missing()
		}
	}
	return errors.New("this urlmill is built without " + name)
}

// buckets are places on S3, and how to reach them.
type buckets struct {
	open     store.Opener
	validate func() error                // what is wrong with how to reach them
	place    func(location string) error // what is wrong with a location
	trouble  Trouble
}

// Trouble is what is known of requests that fail and are made again. It is safe for concurrent use.
type Trouble interface {
	// Get returns since when requests have been failing, and the error; the zero time while none is.
	Get() (since time.Time, err error)
	// Retries returns how many were made again.
	Retries() int64
}

// SinkTrouble is that of requests to S3; nil for a binary without S3.
func (j *Job) SinkTrouble() Trouble {
	if j.buckets == nil {
		return nil
	}
	return j.buckets.trouble
}

// OpenStores returns what opens the folders of sinks: directories, and places on S3 with the given settings.
func (r Registry) OpenStores(c settings.S3, log *slog.Logger) store.Opener {
	if r.s3 != nil {
		return r.s3(c, log).open
	}
	return openLocal
}

// openLocal is [store.Open] for a binary without S3.
func openLocal(location string, log *slog.Logger) (store.Store, error) {
	if isS3(location) {
		return nil, errWithout("s3")
	}
	return store.Open(location, log)
}

// isS3 reports whether a folder is a place on S3.
func isS3(folder string) bool { return strings.HasPrefix(folder, "s3://") }

// stores returns what opens the folders of the sink.
func (s Setting) stores() store.Opener {
	switch {
	case s.Stores != nil:
		return s.Stores
	case s.buckets != nil:
		return s.buckets.open
	}
	return openLocal
}

// checkPlaces returns what is wrong with folders that are on S3.
func (s Setting) checkPlaces(path, deadLetters, late string) error {
	var p pipeline.Problems
	for _, place := range []struct{ key, location string }{{"path", path}, {"dead_letters", deadLetters}, {"late.path", late}} {
		if s.buckets != nil && isS3(place.location) {
			p.Join(pipeline.Under(place.key, s.buckets.place(place.location)))
		}
	}
	return p.Err()
}

// InspectTable is a [verify.TableReader] of Iceberg tables. In a binary without them it is an error that there is one.
func (r Registry) InspectTable(ctx context.Context, root store.Store) (*verify.TableState, error) {
	if r.inspect != nil {
		return r.inspect(ctx, root)
	}
	if _, err := root.Read(ctx, commit.RegisteredKey); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(errWithout("iceberg"), err)
	}
	return nil, nil
}

package wire

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/commit/verify"
	"github.com/urlmill/urlmill/sinks/store"
)

// Dedupe are the options of the search for duplicates. It is an interface because a binary may be built without them.
type Dedupe interface {
	// Section returns the section that they are bound to.
	Section() config.Section
	// Memory returns what the search takes, in bytes.
	Memory() int64
	// With returns a copy of the options with what they need of the rest. Validate and Open are for that copy.
	With(e DedupeEnv) Dedupe
	// Validate returns what is wrong with the options for rows of a schema, nil if that is not known, and the schema of the rows that
	// come out; as far as it can be told, or else that of rows.
	Validate(rows *arrow.Schema) (out *arrow.Schema, err error)
	// Open returns the sink around another one.
	Open(inner pipeline.Sink) (pipeline.Sink, error)
	// State returns the folder of the state.
	State() string
	// InFolder returns the same options with the state in another folder.
	InFolder(dir string) Dedupe
}

// DedupeEnv is what the search for duplicates has of the rest.
type DedupeEnv struct {
	Log *slog.Logger
	// Key and Timestamp are the names of the columns url_key and timestamp in the output.
	Key, Timestamp string
	// Identity names what the keys are made of.
	Identity string
	// Sink is what the rows go to.
	Sink sinks.Asks
	// HideKey leaves the key out of the output, and AnyOutput says that the state is not that of one output.
	HideKey, AnyOutput bool
	// Topics says that the source reads topics, whose partitions are its lanes.
	Topics bool
	// Objects says that the source reads the objects of a bucket.
	Objects bool
	// Step is asked before every step of a commit, for tests; see [dedupe.Options].
	Step func(string) error
}

// duplicateColumn is the column that dedupe adds.
const duplicateColumn = "is_duplicate"

// Tracing are the options of spans.
type Tracing interface {
	// Section returns the section that they are bound to.
	Section() config.Section
	// Start begins to send spans. version is urlmill's.
	Start(ctx context.Context, version string, log *slog.Logger) (Tracer, error)
}

// Tracer makes spans of what a pipeline does.
type Tracer interface {
	// Sink returns a sink around another one, with spans of its writes and commits.
	Sink(inner pipeline.Sink) pipeline.Sink
	// Transforms does so for the transforms that inner makes.
	Transforms(inner func() pipeline.Transform) func() pipeline.Transform
	// Close sends what is left, for as long as the context lets it.
	Close(ctx context.Context) error
}

// heavy has what the files with_*.go add to the standard components, by the names of their parts. It is written by their init
// functions alone, before main, and read by Standard: which files there are is known to the compiler only, so that no list in main
// could name them.
var heavy = map[string]func(*Components){}

// add is for the files with_*.go alone, when the process starts.
func add(part string, to func(*Components)) { heavy[part] = to }

// missing is something that a binary may be built without, because it is much to compile.
type missing struct {
	name        string // as with_NAME.go, and in what "urlmill version" prints
	what        string // in a sentence
	section, at string // the key of a configuration that needs it, if that is one: the path of the section, and the key there
}

// parts has all of them: what a configuration that needs one is told, and what the version names.
var parts = []missing{
	{"azure", "Azure Blob Storage", "sink", "azure"},
	{"azure", "Azure Blob Storage", "source.file", "azure"},
	{"dedupe", "the search for duplicates", "", "dedupe"},
	{"gcs", "Google Cloud Storage", "sink", "gcs"},
	{"gcs", "Google Cloud Storage", "source.file", "gcs"},
	{"iceberg", "Iceberg tables", "sink.parquet", "iceberg"},
	{"postgres", "PostgreSQL", "sink", "postgres"},
	{"protobuf", "Protobuf", "source.codec", "protobuf"},
	{"s3", "S3", "sink", "s3"},
	{"s3", "S3", "source.file", "s3"},
	{"tracing", "tracing", "", "tracing"},
}

// Error says that the part is not there, and how to get it.
func (p missing) Error() string {
	return fmt.Sprintf("this urlmill is built without %s: take a release, or build one that has everything with make build", p.what)
}

// errWithout returns the part of that name.
func errWithout(name string) error {
	for _, p := range parts {
		if p.name == name {
			return p
		}
	}
	return errors.New("this urlmill is built without " + name)
}

// refuse adds the keys of parts that are left out to the section at path, each with how to get the part.
func (r Components) refuse(s *config.Section, path string) {
	for _, p := range parts {
		if !r.has[p.name] && p.section == path {
			if s.Refused == nil {
				s.Refused = map[string]string{}
			}
			s.Refused[p.at] = p.Error()
		}
	}
}

// LeftOut returns the names of the parts that the binary is built without.
func (r Components) LeftOut() []string {
	names := []string{}
	for _, p := range parts {
		if !r.has[p.name] {
			names = append(names, p.name)
		}
	}
	for _, k := range r.Sinks {
		if k.Missing != "" {
			names = append(names, k.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// checkParts adds what the configuration needs that the binary is built without.
func (c *Config) checkParts(problems *problems) {
	for _, k := range c.components.Sinks {
		if k.Name == c.Sink.Name && k.Missing != "" {
			problems.add("sink."+k.Name, "%s", k.Missing)
		}
	}
	for _, k := range stores {
		if c.Buckets[k.name] == nil {
			for _, key := range c.foldersAt(k) {
				problems.add(key, "%v", errWithout(k.name))
			}
		}
	}
}

// lightInspect is [Components.InspectTable] of a binary without Iceberg.
func lightInspect(ctx context.Context, root store.Store) (*verify.TableState, error) {
	if _, err := root.Read(ctx, commit.RegisteredKey); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(errWithout("iceberg"), err)
	}
	return nil, nil
}

// Package sinks says what a kind of sink brings: a section of the configuration that is bound to its options, and what these
// ask of the rest. Its subdirectories are the kinds, and package commit what makes files durable.
package sinks

import (
	"context"
	"io"
	"log/slog"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/budget"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
)

// Kind is a kind of sink.
type Kind struct {
	Name string // of its section below "sink"
	Doc  string // a sentence that says what it writes
	// New returns its options with their defaults.
	New func() Options
	// Missing says why the binary can read the options and not open the sink, and what to do; "" if it can.
	Missing string
}

// Options are those of a sink. They are bound to the section of a configuration, and nothing changes them after it is read.
type Options interface {
	// Section returns the section that the options are bound to.
	Section() config.Section
	// Asks returns what they ask of the rest of the process.
	Asks() Asks
	// With returns the sink of these options in a process. It copies them.
	With(e Env) Sink
}

// Sink is a sink that is configured and not open. The errors have every problem, joined, each a [*pipeline.FieldError].
type Sink interface {
	// Validate returns what is wrong with the options, without touching anything outside.
	Validate() error
	// CheckRows does so for rows of a schema.
	CheckRows(rows *arrow.Schema) error
	// Open returns the sink that takes rows.
	Open() (pipeline.Sink, error)
}

// Env is what a process has for its sink.
type Env struct {
	Log *slog.Logger
	// Out is standard output.
	Out io.Writer
	// Version is urlmill's.
	Version    string
	Provenance commit.Provenance
	// Stores opens folders, and CheckPlace returns what is wrong with the name of one in a bucket.
	Stores     store.Opener
	CheckPlace func(location string) error
	// FileBytes is the size at which files are finished.
	FileBytes int64
	// OpenFiles bounds what open files hold, and Memory, in bytes, what else waits to be written.
	OpenFiles *budget.Ledger
	Memory    int64
	// Cluster is that of the source, for topics that name no brokers; nil if it has none.
	Cluster *kafkaconn.Cluster
}

// Asks is what the options of a sink ask of the rest. Keys are those of its section.
type Asks struct {
	// Place is where rows go, for what belongs to them; "" for a stream, whose rows nobody finds again.
	Place string
	// Positions says that it keeps the positions of lanes.
	Positions bool
	// Keeps says that its commits can name files of other components: its writers are [pipeline.Keeper]s.
	Keeps bool
	// Folders are those that are written to, local or in a bucket.
	Folders []Folder
	// Topics are those that are written to.
	Topics []Topic
	// Partitioned says that rows are divided into directories.
	Partitioned bool
	DeadLetters DeadLetters
}

// Folder is a folder that is written to, and the key that names it.
type Folder struct{ Key, Path string }

// Topic is a topic that is written to, and the key of its section, "" for that of the sink.
type Topic struct {
	Key, Topic string
	Brokers    []string // nil: those of [Env.Cluster]
}

// DeadLetters says where records without a valid URL go.
type DeadLetters struct {
	// Key is that of the option that says so; "" where a sink has none, for the reason in Never.
	Key, Never string
	// Given says that they have a place.
	Given bool
	// Want is what the option has to name: "the folder for the dead letters there".
	Want string
}

// Letters is another place for dead letters than a folder, such as a topic: a kind of its own below dead_letters. It is here since
// sinks of files take it without knowing it.
type Letters struct {
	Name string // of its section
	Doc  string
	Want string // an example: "a topic such as {kafka: {topic: clicks.dead}}"
	New  func() LetterOptions
}

// LetterOptions are those of [Letters], bound to a section.
type LetterOptions interface {
	Section() config.Section
	// Topic returns the topic that they go to. Its Key is "".
	Topic() Topic
	// With returns what writes them in a process.
	With(e Env) LetterBox
}

// LetterBox is a place for dead letters that is configured and not open.
type LetterBox interface {
	Validate() error
	Open() (Stream, error)
}

// Stream is an output that all lanes share and whose rows are out once they are written. Its methods may be
// called from several goroutines.
type Stream interface {
	// Start is called once before the first Write.
	Start(ctx context.Context, s *arrow.Schema) error
	// Write adds rows and returns the bytes that they took. r and its memory are the caller's again when it returns.
	Write(ctx context.Context, r arrow.Record) (int64, error)
	// Commit hands everything written to the system.
	Commit() error
	// Close ends the stream.
	Close() error
}

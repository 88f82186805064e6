// Package sources says what a kind of source brings: a section of the configuration that is bound to its options, and what
// these ask of the rest. Its subdirectories are the kinds, and package codec those that take records apart.
package sources

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// Kind is a kind of source.
type Kind struct {
	Name string // of its section below "source"
	Doc  string // a sentence that says what it reads
	// New returns its options with their defaults.
	New func() Options
}

// Options are those of a source. They are bound to the section of a configuration, and nothing changes them after it is read.
type Options interface {
	// Section returns the section that the options are bound to.
	Section() config.Section
	// Asks returns what they ask of the rest of the process.
	Asks() Asks
	// Validate returns every problem, joined, each a [*pipeline.FieldError], without touching anything outside.
	Validate() error
	// Open returns the source. Its error is as that of Validate.
	Open(e Env, f codec.Factory) (pipeline.Source, error)
}

// Env is what a process has for its source.
type Env struct {
	Log *slog.Logger
	// In is standard input.
	In io.Reader
	// FetchMemory bounds what is fetched and not read yet, in bytes.
	FetchMemory int64
}

// Cluster is one of Kafka, a *kafkaconn.Cluster: who reads files alone is built without what connects to one.
type Cluster interface{ Addresses() []string }

// Asks is what the options of a source ask of the rest. Keys are those of its section.
type Asks struct {
	// Origin says which columns tell where a record came from.
	Origin Origin
	// Codec is the codec of a source that makes its own records, unless the configuration has another.
	Codec codec.Factory
	// Paths are the files and folders that are read, and Topics those of Cluster. Objects says that positions are the numbers of what
	// a lane has read in an order that is not given, as of the objects of a bucket: what a commit says of itself says what that was.
	Paths   []string
	Objects bool
	Topics  []string
	Cluster Cluster
	// Rate is how many records a second there are, of a source that can be told so while it runs; see [pipeline.Rated].
	Rate float64
	// DeadLetters is the key of an option by which something goes to the dead letters, "" if there is none.
	DeadLetters string
	// Rebalance is how long lanes have to commit before others take them over, at the key RebalanceKey; 0: as long as they like.
	Rebalance    time.Duration
	RebalanceKey string
	// Memory is what reading takes in any case, in bytes. Fetches says that [Env.FetchMemory] comes on top, which is Fetch where
	// the configuration has LowerKey.
	Memory  int64
	Fetches bool
	Fetch   int64
	// LowerKey is that of an option which takes less memory when it is lower, "" if there is none.
	LowerKey string
}

// Taken returns err, unless it says that another process has committed positions of what a source reads: then what happened, and what
// to do. It is for sources whose lanes nothing else takes away. what is the thing that is read, and does what with it.
func Taken(err error, what, does string) error {
	if !errors.Is(err, pipeline.ErrLaneLost) {
		return err
	}
	return fmt.Errorf("%s: another process is %s into the same output; what both have committed is there once: "+
		"let one run at a time, and start this one again when the other has ended", what, does)
}

// Origin says where records come from.
type Origin uint8

const (
	Nowhere Origin = iota // Nowhere: they are made up.
	Files                 // Files: they have a file and a number.
	Topics                // Topics: they have a topic, a partition and an offset.
)

package file

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

const (
	// DefaultMaxRecordBytes is the default of Options.MaxRecordBytes.
	DefaultMaxRecordBytes = 16 << 20
	// MaxMaxRecordBytes bounds Options.MaxRecordBytes, so that a row of that size stays below the 1 GiB that files take,
	// even where every byte becomes a U+FFFD.
	MaxMaxRecordBytes = 128 << 20
	// Stdin is the path that stands for standard input.
	Stdin = "-"
)

// What is done with a file whose content has changed, where the sink has positions in it.
const (
	// Stop is to read the others, and to end with a [*ChangedError].
	Stop = "stop"
	// Whole is to read it from its beginning, as a new file.
	Whole = "whole"
	// Skip is to leave it out.
	Skip = "skip"
)

// Options configures the source.
type Options struct {
	// Paths lists what to read, in this order, each file once: paths of files, of directories, which are
	// read with all below them, glob patterns, or - for standard input.
	//
	// In a pattern * ? and [...] mean what path/filepath.Match says, and ** as a whole segment means any
	// number of directories. A path that exists is taken as it is, whatever characters it has. What lies in
	// a directory is read in the order of the names. Wildcards and directories leave out names that begin
	// with a dot or an underscore, unless the pattern's segment begins so as well; directories leave out
	// what is no regular file, and do not follow symbolic links to other directories.
	Paths []string
	// Parallel is how many files are read side by side, GOMAXPROCS by default.
	Parallel int
	// MaxRecordBytes is the longest record, DefaultMaxRecordBytes by default. What is longer is cut there
	// and has the fault record-too-large.
	MaxRecordBytes int
	// OnChanged says what to do with a file that is not the one any more that was read under its path, Stop by default.
	OnChanged string
	// Stdin is what - reads, os.Stdin by default.
	Stdin io.Reader
}

// Validate returns every problem of o, joined, each a [*pipeline.FieldError]. It does not look at the files; New does.
func (o Options) Validate() error {
	var p pipeline.Problems
	if len(o.Paths) == 0 {
		p.Add("paths", "empty").Advise("give at least one file, directory or pattern, or - for standard input")
	}
	for i, path := range o.Paths {
		if path == "" {
			p.Add(pathKey(i), "empty").Advise("give a file, directory or pattern, or - for standard input")
		} else if reason, advice := elsewhere(path); reason != "" {
			p.Value(pathKey(i), path, "%s", reason).Advise("%s", advice)
		}
	}
	if o.Parallel < 0 {
		p.Value("parallel", o.Parallel, "is negative").Advise("leave it out to read as many files at a time as there are processors")
	}
	if o.MaxRecordBytes < 0 || o.MaxRecordBytes > MaxMaxRecordBytes {
		p.Value("max_record_bytes", o.MaxRecordBytes, "is not between 1 and %d", MaxMaxRecordBytes)
	}
	switch o.OnChanged {
	case "", Stop, Whole, Skip:
	default:
		p.Value("on_changed", o.OnChanged, "is not known").Advise("use %s, %s or %s", Stop, Whole, Skip)
	}
	return p.Err()
}

// elsewhere returns what is wrong with a path that is the address of a place elsewhere, and what would be right.
func elsewhere(path string) (reason, advice string) {
	reason, advice = config.Misplaced(path, false)
	if reason != "" && !strings.HasPrefix(strings.ToLower(path), "file:") {
		advice = "copy it here, or pipe it into standard input, which is the path -"
	}
	return reason, advice
}

// pathKey is where a configuration has Options.Paths[i].
func pathKey(i int) string { return fmt.Sprintf("paths[%d]", i) }

// New finds the files and checks that they can be read, so that a mistake in a path is known before anything has
// been done. The error has every problem, joined, each a [*pipeline.FieldError].
func New(o Options, f codec.Factory, log *slog.Logger) (*Source, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Parallel == 0 {
		o.Parallel = runtime.GOMAXPROCS(0)
	}
	if o.MaxRecordBytes == 0 {
		o.MaxRecordBytes = DefaultMaxRecordBytes
	}
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	inputs, err := find(o.Paths, o.Stdin, log)
	if err != nil {
		return nil, err
	}
	s := &Source{o: o, codec: f, log: log, inputs: inputs}
	for _, in := range inputs {
		if in.stream {
			s.endless = true
		}
		s.total.Add(in.size)
	}
	return s, nil
}

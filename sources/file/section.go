package file

import (
	"runtime"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources"
	"github.com/urlmill/urlmill/sources/codec"
)

// Kind is the source of files.
var Kind = sources.Kind{Name: "file", Doc: "Files, or standard input.", New: func() sources.Options {
	return &Options{MaxRecordBytes: DefaultMaxRecordBytes, OnChanged: Stop}
}}

// Section implements [sources.Options].
func (o *Options) Section() config.Section {
	aliases := map[string]string{}
	for _, other := range []string{"path", "files", "glob", "globs", "pattern", "patterns", "input", "inputs", "include", "dir", "directory", "folder"} {
		aliases[other] = "paths"
	}
	return config.Section{Aliases: aliases, Fields: []config.Field{
		{Name: "paths", Doc: "Files, folders with all below them, patterns (** is any number of folders), and - for standard input.", Value: config.Texts(&o.Paths, "[logs/, 'more/*.gz']"), Example: "paths: [urls.txt]"},
		{Name: "parallel", Doc: "Files that are read at a time. Not set: one for each CPU.", Value: config.Int(&o.Parallel, 1, 1024)},
		{Name: "max_record_bytes", Doc: "The longest record; a longer one is a row with the error record-too-large.", Value: config.Size(&o.MaxRecordBytes, 1<<10, MaxMaxRecordBytes)},
		{Name: "on_changed", Doc: "What to do with a file that was delivered and has changed since: stop (the others are read), whole (read it once more, as a new file), or skip it.", Value: config.Names(&o.OnChanged, Stop, Whole, Skip)},
	}}
}

// perFile is the memory that a file takes while it is read: buffers, and the window of its compression.
const perFile = 10 << 20

// Asks implements [sources.Options].
func (o *Options) Asks() sources.Asks {
	atOnce := o.Parallel
	if atOnce == 0 {
		atOnce = runtime.GOMAXPROCS(0)
	}
	return sources.Asks{Origin: sources.Files, Paths: o.Paths, Memory: int64(atOnce) * perFile, LowerKey: "parallel"}
}

// Open implements [sources.Options].
func (o *Options) Open(e sources.Env, f codec.Factory) (pipeline.Source, error) {
	c := *o
	c.Stdin = e.In
	return New(c, f, e.Log)
}

package settings

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/config"
)

// folder is a folder that is written to, and the key that names it.
type folder struct{ key, path string }

// folders returns the local folders that rows, dead letters and late rows are written to.
func (c *Config) folders() []folder {
	return slices.DeleteFunc(c.places(), func(f folder) bool { return strings.Contains(f.path, "://") })
}

// OnS3 returns the keys of the folders that are places on S3.
func (c *Config) OnS3() (keys []string) {
	for _, f := range c.places() {
		if isS3(f.path) {
			keys = append(keys, f.key)
		}
	}
	return keys
}

// places returns folders and places on S3 that rows, dead letters and late rows are written to.
func (c *Config) places() (all []folder) {
	add := func(key, path string) {
		if path != "" {
			all = append(all, folder{key, path})
		}
	}
	late := func(key string, l *Late) {
		if l != nil {
			add(config.Join(key, "path"), l.Path)
		}
	}
	switch s := c.Sink; {
	case s.Parquet != nil:
		add("sink.parquet.path", s.Parquet.Path)
		late("sink.parquet.late", s.Parquet.Late)
	case s.ArrowIPC != nil:
		add("sink.arrowipc.path", s.ArrowIPC.Path)
		late("sink.arrowipc.late", s.ArrowIPC.Late)
	case s.NDJSON != nil:
		add("sink.ndjson.path", s.NDJSON.Path)
		late("sink.ndjson.late", s.NDJSON.Late)
	}
	key, dead := deadLetters(c)
	add(key, dead.folder)
	return all
}

// ReadsOutput looks for a folder that c writes to and that lies in one of source.file, so that the next run would read what
// this one has written. It returns the key that names it and the number of the path in source.file; ok is false when
// there is none.
func (c *Config) ReadsOutput() (key string, path int, ok bool) {
	if c.Source.File == nil {
		return "", 0, false
	}
	for _, f := range c.folders() {
		for i, read := range c.Source.File.Paths {
			if read != "-" && isRead(read, f.path) {
				return f.key, i, true
			}
		}
	}
	return "", 0, false
}

// isRead reports whether files of the folder output are read with the directory read: names that begin with a dot or an
// underscore are left out of it.
func isRead(read, output string) bool {
	read, errRead := filepath.Abs(read)
	output, errOutput := filepath.Abs(output)
	if errRead != nil || errOutput != nil || !within(read, output) {
		return false
	}
	rel, err := filepath.Rel(read, output)
	if err != nil {
		return false
	}
	for name := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if rel != "." && (name[0] == '.' || name[0] == '_') {
			return false
		}
	}
	return true
}

// checkOverlap reports an output among what is read.
func checkOverlap(d *config.Check, c *Config) {
	if key, i, ok := c.ReadsOutput(); ok {
		paths := "source.file.paths"
		d.Conflict(key, []string{paths}, "%s is in item %d of %s: what is written there would be read by the next run; give a folder beside it",
			key[strings.LastIndexByte(key, '.')+1:], i+1, paths)
	}
}

package file

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/urlmill/urlmill/pipeline"
)

// input is a file to be read.
type input struct {
	path   string
	size   int64       // bytes, 0 for a stream
	stream bool        // not a regular file: its size is unknown, and a read may wait
	info   fs.FileInfo // of a regular file, as it was when it was looked at; nil for standard input
	// id is that of the lane. Without positions to go on at, every version of a file has one of its own.
	id pipeline.LaneID

	body io.ReadCloser // of an object, which is read from there and not from the path
	at   io.ReaderAt   // of an object that is a table

	// These are known of a regular file once it has been matched with the lanes that the sink has.
	matched bool
	real    string // absolute path, without symbolic links
	prints  prints
	lane    *known // that is gone on with, nil for a new one
	done    bool   // nothing has come since
}

// finder collects the inputs in order, each once.
type finder struct {
	stdin  io.Reader
	inputs []input
	log    *slog.Logger
	seen   map[string]bool
	alike  map[look][]input // regular files
	found  int              // files, those that had been added before included
}

// look is what two names of a file have in common, so that few have to be compared.
type look struct{ size, time int64 }

// find expands paths into the files that they name; stdin is what "-" reads. The error has every problem, joined.
func find(paths []string, stdin io.Reader, log *slog.Logger) ([]input, error) {
	f := finder{stdin: stdin, log: log, seen: map[string]bool{}, alike: map[look][]input{}}
	var p pipeline.Problems
	for i, path := range paths {
		if err := f.argument(path); err != nil {
			p.Add(pathKey(i), "%w", err)
		}
	}
	return f.inputs, p.Err()
}

// argument adds what one of Options.Paths names.
func (f *finder) argument(path string) error {
	if path == Stdin {
		f.add(f.standardInput())
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		before := f.found
		if err := f.directory(filepath.Clean(path)); err != nil {
			return err
		}
		if f.found == before {
			return fmt.Errorf("%s: the directory has no files to read (names that begin with . or _ are left out)", path)
		}
		return nil
	case err == nil:
		return f.file(filepath.Clean(path), info)
	case isMissing(err) && hasMeta(path):
		return f.pattern(path)
	case isMissing(err):
		return fmt.Errorf("%s: there is no such file or directory%s", path, workingDirectory(path))
	}
	return fmt.Errorf("%w; check the path and its permissions", err)
}

// pattern adds what a glob pattern matches; what matches and is a directory is read with all below it.
func (f *finder) pattern(pattern string) error {
	matches, err := glob(filepath.Clean(pattern))
	if err != nil {
		return err
	}
	before := f.found
	for _, path := range matches {
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("%w; check it and its permissions", err)
		}
		if info.IsDir() {
			err = f.directory(path)
		} else {
			err = f.file(path, info)
		}
		if err != nil {
			return err
		}
	}
	if f.found == before {
		return fmt.Errorf("%s: the pattern matches no file%s", pattern, workingDirectory(pattern))
	}
	return nil
}

// directory adds all files below root. A file that cannot be read is an error; it does not just go missing.
func (f *finder) directory(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("%w; check its permissions", err)
		}
		if path != root && hidden(entry.Name()) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := os.Stat(path) // of what a symbolic link points to
		if isMissing(err) {
			return fmt.Errorf("%s: a link to a file that is not there; remove it, or give the files one by one", path)
		}
		if err != nil {
			return fmt.Errorf("%w; remove it, or give the files one by one", err)
		}
		if !info.Mode().IsRegular() {
			return nil
		}
		return f.file(path, info)
	})
}

// file adds one file after a look at whether it can be opened. Opening a named pipe would wait for its writer.
func (f *finder) file(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		f.add(input{path: path, stream: true})
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%w; check its permissions", err)
	}
	f.add(input{path: path, size: info.Size(), info: info, id: pipeline.LaneID{Stream: path, Session: version(info)}})
	return file.Close()
}

// again reports whether the file has been added under another name, by another path to it or by a link.
func (f *finder) again(in input) bool {
	if in.info == nil {
		return false
	}
	k := look{in.size, in.info.ModTime().UnixNano()}
	for _, there := range f.alike[k] {
		if os.SameFile(there.info, in.info) {
			f.log.Info("a file that has two names is read once", "path", there.path, "and", in.path)
			return true
		}
	}
	f.alike[k] = append(f.alike[k], in)
	return false
}

// version identifies what is in a file, as far as its size and the time of its last change do.
func version(info fs.FileInfo) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d", info.Size(), info.ModTime().UnixNano()))
	return hex.EncodeToString(sum[:8])
}

// standardInput looks whether standard input has been redirected from a file, which has a size and never waits.
func (f *finder) standardInput() input {
	if file, ok := f.stdin.(*os.File); ok {
		info, err := file.Stat()
		if err == nil && info.Mode().IsRegular() {
			if at, err := file.Seek(0, io.SeekCurrent); err == nil {
				return input{path: Stdin, size: info.Size() - at}
			}
		}
	}
	return input{path: Stdin, stream: true}
}

func (f *finder) add(in input) {
	f.found++
	if in.id.Session == "" {
		in.id = pipeline.LaneID{Stream: in.path, Session: strings.ToLower(rand.Text()[:12])} // what was read from it cannot be read again
	}
	if !f.seen[in.path] && !f.again(in) {
		f.inputs = append(f.inputs, in)
	}
	f.seen[in.path] = true
}

// hidden reports whether directories and wildcards leave a name out: those of hidden files, and those with an
// underscore, by which engines mark what is not data.
func hidden(name string) bool { return name[0] == '.' || name[0] == '_' }

// isMissing reports whether err says that there is nothing at a path, because it does not exist or because what it lies
// in is no directory.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// workingDirectory says where a relative path was looked for.
func workingDirectory(path string) string {
	if wd, err := os.Getwd(); err == nil && !filepath.IsAbs(path) {
		return " (looked for in " + wd + ")"
	}
	return ""
}

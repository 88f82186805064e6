package file

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// input is a file to be read.
type input struct {
	path   string
	size   int64 // bytes, 0 for a stream
	stream bool  // not a regular file: its size is unknown, and a read may wait
	// session is that of the lane. Nobody can tell whether a file that has changed was added to or replaced, so a
	// changed file is another one, and read from its beginning.
	session string
}

// finder collects the inputs in order, each once.
type finder struct {
	stdin  io.Reader
	inputs []input
	seen   map[string]bool
	found  int // files, those that had been added before included
}

// find expands paths into the files that they name; stdin is what "-" reads. The error has every problem, joined.
func find(paths []string, stdin io.Reader) ([]input, error) {
	f := finder{stdin: stdin, seen: map[string]bool{}}
	var problems []error
	for i, path := range paths {
		if err := f.argument(path); err != nil {
			problems = append(problems, fmt.Errorf("Paths[%d]: %w", i, err)) //nolint:staticcheck // the name of the field
		}
	}
	return f.inputs, errors.Join(problems...)
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
	f.add(input{path: path, size: info.Size(), session: version(info)})
	return file.Close()
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
	if in.session == "" {
		in.session = strings.ToLower(rand.Text()[:12]) // what was read from it cannot be read again
	}
	if !f.seen[in.path] {
		f.seen[in.path] = true
		f.inputs = append(f.inputs, in)
	}
}

// hidden tells whether directories and wildcards leave a name out: those of hidden files, and those with an
// underscore, by which engines mark what is not data.
func hidden(name string) bool { return name[0] == '.' || name[0] == '_' }

// isMissing tells whether err says that there is nothing at a path, because it does not exist or because what it lies
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

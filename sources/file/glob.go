package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/config"
)

// Expand returns paths with the files and directories in the place of each pattern that matches them, as for a source: what is there
// under the very name is no pattern. The error has every problem, joined.
func Expand(paths []string) (all []string, err error) {
	var errs []error
	for _, path := range paths {
		if reason, _ := config.Misplaced(path, false); reason != "" {
			errs = append(errs, fmt.Errorf("%s %s; copy it here first", path, reason))
			continue
		}
		if _, err := os.Lstat(path); err == nil || !hasMeta(path) {
			all = append(all, path)
			continue
		}
		matches, err := glob(filepath.Clean(path))
		if err == nil && len(matches) == 0 {
			err = fmt.Errorf("%s: the pattern matches no file%s", path, workingDirectory(path))
		}
		all, errs = append(all, matches...), append(errs, err)
	}
	return all, errors.Join(errs...)
}

// anyDepth is the segment of a pattern that stands for any number of directories.
const anyDepth = "**"

// hasMeta reports whether path is a pattern.
func hasMeta(path string) bool { return strings.ContainsAny(path, `*?[`) }

// glob returns the files and directories that a pattern matches, sorted, each once.
func glob(pattern string) ([]string, error) {
	root, rest := ".", pattern
	if volume := filepath.VolumeName(pattern); filepath.IsAbs(pattern) {
		root = volume + string(filepath.Separator)
		rest = pattern[len(root):]
	}
	segments := strings.Split(rest, string(filepath.Separator))
	for _, s := range segments {
		if _, err := filepath.Match(s, ""); err != nil {
			return nil, fmt.Errorf("%s: %w in %q; close the bracket, or write \\[ for the character itself", pattern, err, s)
		}
	}
	// Two in a row mean the same as one, and would be walked twice.
	segments = slices.CompactFunc(segments, func(a, b string) bool { return a == anyDepth && b == anyDepth })
	if segments[len(segments)-1] == anyDepth {
		segments = append(segments, "*")
	}
	g := globber{}
	if err := g.walk(root, segments); err != nil {
		return nil, err
	}
	slices.Sort(g.matches)
	return slices.Compact(g.matches), nil
}

type globber struct{ matches []string }

// walk adds what segments match below dir.
func (g *globber) walk(dir string, segments []string) error {
	if len(segments) == 0 {
		g.matches = append(g.matches, dir)
		return nil
	}
	segment, rest := segments[0], segments[1:]
	switch {
	case segment == anyDepth:
		if err := g.walk(dir, rest); err != nil {
			return err
		}
		return g.each(dir, "*", func(path string, entry fs.DirEntry) error {
			if entry.IsDir() {
				return g.walk(path, segments)
			}
			return nil
		})
	case hasMeta(segment) || strings.Contains(segment, `\`):
		return g.each(dir, segment, func(path string, _ fs.DirEntry) error {
			return g.walk(path, rest)
		})
	}
	path := filepath.Join(dir, segment)
	if _, err := os.Lstat(path); err != nil {
		return ignoreMissing(err)
	}
	return g.walk(path, rest)
}

// each calls f for the entries of dir whose name matches segment.
func (g *globber) each(dir, segment string, f func(path string, entry fs.DirEntry) error) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ignoreMissing(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("%w; check its permissions", err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if hidden(name) && segment[0] != name[0] {
			continue
		}
		if ok, _ := filepath.Match(segment, name); ok { // the pattern has been checked
			if err := f(filepath.Join(dir, name), entry); err != nil {
				return err
			}
		}
	}
	return nil
}

// ignoreMissing turns the error that a path does not exist into none: then nothing matches there.
func ignoreMissing(err error) error {
	if err == nil || isMissing(err) {
		return nil
	}
	return fmt.Errorf("%w; check its permissions", err)
}

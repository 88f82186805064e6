// Package conformance runs the tests of the feature matrix, and locates the third-party conformance data that others read: the
// web-platform-tests URL cases, the Encoding Standard's index tables, the public suffix list and others.
//
// The data is not part of this repository. It is looked for in the folder named by the environment
// variable URLMILL_CONFORMANCE and else in ../shared/conformance beside the repository's root.
package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

const (
	// EnvDir names the folder that holds the data.
	EnvDir = "URLMILL_CONFORMANCE"
	// EnvRequire, set to "1", turns missing data from a skipped test into a failed one.
	EnvRequire = "URLMILL_REQUIRE_CONFORMANCE"
)

// Path returns the path of the named data file.
//
// Where the file is missing the test is skipped with a message that says how to get it, or fails when
// URLMILL_REQUIRE_CONFORMANCE=1, as it is in continuous integration.
func Path(tb testing.TB, name string) string {
	tb.Helper()
	dir := dataDir()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	const hint = "conformance data %s not found: place the conformance folder at ../shared/conformance beside the repository, " +
		"or set " + EnvDir + " to the folder that holds it; see docs/conformance.md"
	testproc.Missing(tb, EnvRequire, fmt.Sprintf(hint, path))
	return ""
}

// Read returns the contents of the named data file; see [Path] for what happens when it is missing.
func Read(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(Path(tb, name))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// Cases decodes the named JSON file, a top-level array in which strings are comments, and returns its
// entries without the comments.
func Cases[T any](tb testing.TB, name string) []T {
	tb.Helper()
	var raw []json.RawMessage
	if err := json.Unmarshal(Read(tb, name), &raw); err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	cases := make([]T, 0, len(raw))
	for i, entry := range raw {
		if len(entry) > 0 && entry[0] == '"' {
			continue
		}
		var c T
		if err := json.Unmarshal(entry, &c); err != nil {
			tb.Fatalf("%s: entry %d: %v", name, i, err)
		}
		cases = append(cases, c)
	}
	return cases
}

// dataDir walks up from the test's working directory, the package's folder, to the folder of go.mod.
func dataDir() string {
	if dir := os.Getenv(EnvDir); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	root := ""
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			root = dir // the outermost go.mod is the repository's: nested modules have their own
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return filepath.Join(root, "..", "shared", "conformance")
}

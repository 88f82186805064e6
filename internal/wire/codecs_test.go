package wire

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/sources/codec/accesslog"
	"github.com/urlmill/urlmill/sources/codec/codectest"
)

// TestCodecsTested: what codectest does with every one of its cases, realistic and malformed records, allocations, a fuzz
// target and a benchmark, is done for every codec and every format of access logs that a configuration may name.
func TestCodecsTested(t *testing.T) {
	var codecs, names []string
	for _, c := range codectest.Cases() {
		codecs, names = append(codecs, c.Codec), append(names, c.Name)
	}
	for _, kind := range Standard().Codecs {
		if kind.Name == "parquet" { // its records are no bytes: it has tests like those of its own
			testsOf(t, filepath.Join("..", "..", "sources", "codec", "parquet"), "func TestMalformed(", "func FuzzOpenTable(")
			continue
		}
		if !slices.Contains(codecs, kind.Name) {
			t.Errorf("codec %s has no case in codectest", kind.Name)
		}
	}
	for _, format := range append(accesslog.Formats(), "log_format", "apache") {
		if !slices.Contains(names, "access_log/"+format) {
			t.Errorf("access logs %s have no case in codectest", format)
		}
	}
}

// testsOf checks that the tests of a package are there.
func testsOf(t *testing.T, dir string, names ...string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no tests, %v", dir, err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for _, name := range names {
		if !strings.Contains(all.String(), name) {
			t.Errorf("%s has no %s", dir, name)
		}
	}
}

package convert

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInferBounds has short files that ask for tables without bounds: deep ones, and such with a column for every row.
func TestInferBounds(t *testing.T) {
	var wide strings.Builder
	for i := range maxFields + 1 {
		fmt.Fprintf(&wide, "{\"k%d\":%d}\n", i, i)
	}
	nested := func(open, value, end string, n int) string {
		return strings.Repeat(open, n) + value + strings.Repeat(end, n)
	}
	for name, c := range map[string]struct{ text, want string }{
		"objects":            {nested(`{"a":`, "1", "}", 40_000), "line 1: values more than 64 levels below each other"},
		"arrays":             {`{"a":` + nested("[", "1", "]", 40_000) + "}", "line 1: values more than 64 levels below each other"},
		"as deep as may be":  {nested(`{"a":`, "1", "}", maxNested), ""},
		"a column for a row": {wide.String(), fmt.Sprintf("line %d: more than 10000 fields", maxFields+1)},
		"where it is":        {"{\"a\":{\"b\":[[{\"c\":1}]]}}\n{\"a\":{\"b\":[[{\"c\":\"x\"}]]}}", "line 2: a.b[][].c is a string here and an integer before"},
	} {
		file := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(file, Options{Format: NDJSON})
		if err == nil {
			for err == nil {
				_, err = r.Next()
			}
			if err.Error() == "EOF" {
				err = r.Close()
			}
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

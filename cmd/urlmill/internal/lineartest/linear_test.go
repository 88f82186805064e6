package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// counted are the packages whose statements are counted. What is written in assembly, as the search for a byte and the copying of
// memory, has no statements; package urlcore has a test by time besides. Nor are those of package regexp counted, which is linear in
// its text by design and takes short ones in another way, with fewer statements.
const counted = "github.com/urlmill/urlmill/...,github.com/go-json-experiment/json/jsontext,golang.org/x/net/idna,golang.org/x/text/unicode/norm"

// TestLinear runs every operation on every attack, in three sizes.
func TestLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("not with -short: the packages are compiled once more, with counters")
	}
	program := filepath.Join(t.TempDir(), "linear")
	if out, err := exec.Command("go", "build", "-cover", "-covermode=atomic", "-coverpkg="+counted, "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "GOCOVERDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "operations on attacks, 0 of them not linear") {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

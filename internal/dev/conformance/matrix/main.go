// Command matrix runs the tests of urlcore and its packages and prints how many cases of each conformance file pass, with
// the figures of other implementations beside. With -write it also writes the matrix of features, each with the tests that
// prove it, into docs/conformance.md. It fails when a row is not proved.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	write := flag.Bool("write", false, "write docs/conformance.md")
	peers := flag.Bool("peers", true, "measure other implementations as well")
	flag.Parse()
	if err := matrix(*write, *peers); err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(1)
	}
}

// docPath is the document, below the module's folder.
const docPath = "docs/conformance.md"

func matrix(write, withPeers bool) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	r, err := run(root, rooms())
	if err != nil {
		return err
	}
	figures := new(peerFigures)
	if withPeers {
		data := os.Getenv("URLMILL_CONFORMANCE")
		if data == "" {
			data = filepath.Join(root, "..", "shared", "conformance")
		}
		if data, err = filepath.Abs(data); err != nil {
			return err
		}
		figures = measurePeers(root, data)
	}
	fmt.Print(table(r, figures))
	if write {
		if err := writeDocument(filepath.Join(root, docPath), document(r, figures)); err != nil {
			return err
		}
	}
	return verdict(r)
}

// verdict prints how many rows are proved and returns an error when some are not.
func verdict(r *results) error {
	counts := map[string]int{}
	var bad []string
	for _, p := range parts {
		for _, x := range p.rows {
			mark := r.mark(x)
			counts[mark]++
			if mark == "✘" {
				bad = append(bad, x.id)
			}
		}
	}
	_, all := count()
	fmt.Printf("%d of %d rows proved, %d in part\n", counts["✔"], all, counts["–"])
	if len(bad) > 0 || len(r.failed) > 0 {
		return fmt.Errorf("rows not proved: %s; tests failed: %s", strings.Join(bad, " "), strings.Join(r.failed, ", "))
	}
	return nil
}

// writeDocument replaces the written part of the document.
func writeDocument(path, part string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, _, _ := strings.Cut(string(text), beginMark)
	return os.WriteFile(path, []byte(strings.TrimRight(before, "\n")+"\n\n"+part), 0o644)
}

// moduleRoot returns the folder of urlmill's go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "urlcore", "url.go")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("run it inside the repository")
		}
		dir = parent
	}
}

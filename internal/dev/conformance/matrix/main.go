// Command matrix runs the tests of urlcore and its packages and prints how many cases of each conformance file pass, with
// the figures of other implementations beside; with -older also how many pass when an older Go, with an older Unicode, builds
// urlcore. With -write it also writes the matrix of features, each with the tests that
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
	older := flag.String("older", "", "run the tests that count cases by this toolchain of Go as well, such as go1.26.8")
	flag.Parse()
	if err := matrix(*write, *peers, *older); err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(1)
	}
}

// docPath is the document, below the module's folder.
const docPath = "docs/conformance.md"

func matrix(write, withPeers bool, older string) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	r, err := run(root, "", rooms(), "")
	if err != nil {
		return err
	}
	runs := []*results{r}
	if older != "" && older != r.goVersion {
		old, err := run(root, older, rooms(), r.counting())
		if err != nil {
			return err
		}
		runs = append(runs, old)
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
	fmt.Print(table(runs, figures))
	if write {
		if err := writeDocument(filepath.Join(root, docPath), document(runs, figures)); err != nil {
			return err
		}
	}
	return verdict(runs)
}

// verdict prints how many cases pass and how many rows are proved by the first run, and returns an error when some are not, or
// when tests of any run failed.
func verdict(runs []*results) error {
	var failed []string
	for _, r := range runs {
		passed, total := r.sum()
		fmt.Printf("%s: %d of %d cases of the files pass\n", r.goVersion, passed, total)
		for _, name := range r.failed {
			failed = append(failed, r.goVersion+" "+name)
		}
	}
	r := runs[0]
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
	if len(bad) > 0 || len(failed) > 0 {
		return fmt.Errorf("rows not proved: %s; tests failed: %s", strings.Join(bad, " "), strings.Join(failed, ", "))
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

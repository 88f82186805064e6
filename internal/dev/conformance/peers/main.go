// Command peers measures how many cases of the conformance files other implementations pass, and prints that as JSON: Go's
// own packages (net/url, golang.org/x/net and x/text), github.com/nlnwa/whatwg-url, and Node.js where it is installed. Its
// argument is the folder of the data. It is a module of its own so that urlmill does not depend on what it compares with.
//
// Peers are judged by the serialized URL alone, or by the failure; urlmill's own tests compare every attribute.
package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// figures are passed and total cases by file and peer.
type figures struct {
	Peers []string
	Files map[string]map[string][2]int
}

// count records the outcome of a case.
func (f *figures) count(file, peer string, passed bool) {
	if f.Files[file] == nil {
		f.Files[file] = map[string][2]int{}
	}
	c := f.Files[file][peer]
	c[1]++
	if passed {
		c[0]++
	}
	f.Files[file][peer] = c
}

//go:embed node.mjs
var nodeScript []byte

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: peers FOLDER")
		os.Exit(2)
	}
	f, err := measure(os.Args[1])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func measure(dir string) (*figures, error) {
	f := &figures{Peers: []string{goPeer, nlnwaPeer}, Files: map[string]map[string][2]int{}}
	for _, m := range []func(*figures, string) error{parsing, hosts, statics, setters, resolution, forms, suffixes, encodings} {
		if err := m(f, dir); err != nil {
			return nil, err
		}
	}
	return f, addNode(f, dir)
}

// addNode adds what Node.js passes, if there is one.
func addNode(f *figures, dir string) error {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil //nolint:nilerr // there are no figures of it, then
	}
	folder, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	cmd := exec.Command(node, "--input-type=module", "-", folder)
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(nodeScript)), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("node: %w", err)
	}
	var theirs struct {
		Name  string
		Files map[string][2]int
	}
	if err := json.Unmarshal(out, &theirs); err != nil {
		return fmt.Errorf("node: %w", err)
	}
	f.Peers = append(f.Peers, theirs.Name)
	for file, c := range theirs.Files {
		if f.Files[file] == nil {
			f.Files[file] = map[string][2]int{}
		}
		f.Files[file][theirs.Name] = c
	}
	return nil
}

// cases decodes a file, a list in which strings are comments.
func cases[T any](dir, file string) ([]T, error) {
	data, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return nil, err
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var all []T
	for _, entry := range raw {
		if strings.HasPrefix(string(entry), `"`) {
			continue
		}
		var c T
		if err := json.Unmarshal(entry, &c); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, c)
	}
	return all, nil
}

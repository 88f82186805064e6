package doctest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/wire"
)

var (
	fence   = regexp.MustCompile("(?ms)^```.*?^```$")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	linked  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// page is a document without what is fenced in it.
type page struct {
	text    string
	anchors map[string]bool // of its headings
	pages   []string        // that it links to
}

// pages returns README, CONTRIBUTING, CHANGELOG and all pages below docs by their paths in the repository.
func pages(t *testing.T) map[string]*page {
	t.Helper()
	all := map[string]*page{}
	add := func(path string) {
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		text := fence.ReplaceAllString(read(t, path), "")
		p := &page{text: text, anchors: map[string]bool{}}
		for _, h := range heading.FindAllStringSubmatch(text, -1) {
			p.addAnchor(anchor(h[1]))
		}
		all[filepath.ToSlash(name)] = p
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		add(filepath.Join(root, name))
	}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			add(path)
		}
		return err
	})
	if err != nil || len(all) < 30 {
		t.Fatalf("%d pages, %v", len(all), err)
	}
	return all
}

// addAnchor adds the anchor of a heading. One that is there already has a number behind it.
func (p *page) addAnchor(name string) {
	unique := name
	for i := 1; p.anchors[unique]; i++ {
		unique = fmt.Sprintf("%s-%d", name, i)
	}
	p.anchors[unique] = true
}

// anchor returns the anchor that GitHub gives a heading.
func anchor(heading string) string {
	heading = linked.ReplaceAllString(heading, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
}

// follow checks a link of a page to something in the repository, and returns the page that it leads to, if it is one.
func follow(all map[string]*page, from, to string) (name string, err error) {
	path, anchor, _ := strings.Cut(to, "#")
	name = from
	if path != "" {
		name = filepath.ToSlash(filepath.Join(filepath.Dir(from), path))
	}
	info, err := os.Stat(filepath.Join(root, name))
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		name += "/README.md"
	}
	p := all[name]
	if p == nil {
		return "", nil
	}
	if anchor != "" && !p.anchors[anchor] {
		return "", fmt.Errorf("%s has no heading for #%s", name, anchor)
	}
	return name, nil
}

// TestLinks follows every link of a page to another one, or to a file, and every page has to be reached from README.
func TestLinks(t *testing.T) {
	all, links := pages(t), 0
	for name, p := range all {
		for _, l := range link.FindAllStringSubmatch(p.text, -1) {
			if strings.Contains(l[1], ":") {
				continue
			}
			to, err := follow(all, name, l[1])
			if err != nil {
				t.Errorf("%s links to %s: %v", name, l[1], err)
			}
			if to != "" {
				p.pages = append(p.pages, to)
			}
			links++
		}
	}
	reached := map[string]bool{}
	for next := []string{"README.md"}; len(next) > 0; {
		name := next[0]
		next = next[1:]
		if !reached[name] {
			reached[name] = true
			next = append(next, all[name].pages...)
		}
	}
	for name := range all {
		if !reached[name] {
			t.Errorf("no link leads from README.md to %s", name)
		}
	}
	t.Logf("%d links", links)
}

var (
	dotted = regexp.MustCompile("`([a-z_]+(?:\\.[a-z0-9_]+)+)(?:: [^`]*)?`")
	made   = regexp.MustCompile("`make ([a-z0-9-]+)[^`]*`")
	target = regexp.MustCompile(`(?m)^([a-z0-9-]+):`)
)

// TestNames checks that the configuration has every key, and the Makefile every target, that a page names.
func TestNames(t *testing.T) {
	known, sections := map[string]bool{}, map[string]bool{}
	for _, k := range config.Keys(wire.Standard().New().Section()) {
		parts := strings.Split(strings.ReplaceAll(k.Path, "[]", ""), ".")
		sections[parts[0]] = true
		for i := range parts { // a page may begin anywhere, and stop at a section
			for j := i + 1; j <= len(parts); j++ {
				known[strings.Join(parts[i:j], ".")] = true
			}
		}
	}
	targets := map[string]bool{}
	for _, m := range target.FindAllStringSubmatch(read(t, filepath.Join(root, "Makefile")), -1) {
		targets[m[1]] = true
	}
	keys := 0
	for name, p := range pages(t) {
		for _, m := range dotted.FindAllStringSubmatch(p.text, -1) {
			first, _, _ := strings.Cut(m[1], ".")
			// Redpanda Connect has a section of this name as well.
			if !sections[first] || name == "docs/plugins/redpanda-connect.md" {
				continue
			}
			keys++
			if !known[m[1]] {
				t.Errorf("%s: the configuration has no key %s", name, m[1])
			}
		}
		for _, m := range made.FindAllStringSubmatch(p.text, -1) {
			if !targets[m[1]] {
				t.Errorf("%s: the Makefile has no target %s", name, m[1])
			}
		}
	}
	if keys < 30 || len(targets) < 20 {
		t.Errorf("%d keys in the pages, %d targets", keys, len(targets))
	}
}

package doctest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// recipesHeading is the section of CONTRIBUTING.md with the recipes, and mostPlaces how many places one of them may name.
const (
	recipesHeading = "## Recipes"
	mostPlaces     = 6
)

var (
	step   = regexp.MustCompile("^\\d+\\. `([^`]+)`: (.*)$")
	marked = regexp.MustCompile("^<!-- places of: (.*) -->$")
)

// recipe is a numbered list of places, each with a sentence.
type recipe struct {
	name string
	// mark is the text by which the product's code names the part that the recipe has as its example.
	mark   string
	places []string
	says   []string
}

// recipes returns the recipes of a text.
func recipes(text string) (all []recipe) {
	_, text, _ = strings.Cut(text, recipesHeading+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	var r *recipe
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if name, ok := strings.CutPrefix(line, "### "); ok {
			all = append(all, recipe{name: name})
			r = &all[len(all)-1]
		} else if m := marked.FindStringSubmatch(line); m != nil && r != nil {
			r.mark = m[1]
		} else if m := step.FindStringSubmatch(line); m != nil && r != nil {
			r.places, r.says = append(r.places, m[1]), append(r.says, m[2])
		} else if n := len(strings.TrimLeft(line, " ")); r != nil && len(r.says) > 0 && n > 0 && n < len(line) { // it goes on
			r.says[len(r.says)-1] += " " + line[len(line)-n:]
		}
	}
	return all
}

// holds reports whether a file is one of the places, or in one.
func (r *recipe) holds(file string) bool {
	for _, p := range r.places {
		if file == p || strings.HasPrefix(file, p+"/") {
			return true
		}
	}
	return false
}

// TestRecipes holds the recipes of CONTRIBUTING.md against the code. Each has an example that is there: its places exist, and the
// code that names the example is in them, so that a recipe which leaves one out, or a part that came to be listed in one more
// place, fails here.
func TestRecipes(t *testing.T) {
	all := recipes(read(t, filepath.Join(root, "CONTRIBUTING.md")))
	if len(all) != 5 {
		t.Fatalf("there are %d recipes", len(all))
	}
	for _, r := range all {
		t.Run(r.name, func(t *testing.T) {
			if n := len(r.places); n < 3 || n > mostPlaces {
				t.Errorf("it names %d places", n)
			}
			for i, place := range r.places {
				if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(place))); err != nil {
					t.Error(err)
				}
				if !strings.HasSuffix(r.says[i], ".") {
					t.Errorf("%s has no sentence: %q", place, r.says[i])
				}
			}
			found := 0
			for _, file := range naming(t, r.mark) {
				found++
				if !r.holds(file) {
					t.Errorf("%s has %s, and the recipe does not name it", file, r.mark)
				}
			}
			if found == 0 {
				t.Errorf("nothing has %q", r.mark)
			}
		})
	}
}

// naming returns the files of the product's code, in Go and in Python, that have a text.
func naming(t *testing.T, text string) (files []string) {
	t.Helper()
	for _, top := range []string{"cmd", "config", "internal", "pipeline", "plugins", "sinks", "sources", "urlcore"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			name = filepath.ToSlash(name)
			switch {
			case err != nil:
			case d.IsDir() && (name == "internal/dev" || d.Name() == "testdata" || d.Name() == "tests" || d.Name()[0] == '.'):
				return filepath.SkipDir
			case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "plugins/python/src/") && strings.HasSuffix(name, ".py"):
				if strings.Contains(read(t, path), text) {
					files = append(files, name)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func TestRecipesOf(t *testing.T) {
	all := recipes("## Recipes\nx\n### A\n<!-- places of: b -->\n\n1. `c/d`: do this,\n   and that.\n2. `e`: no.\n\nx\n### B\n\n## C\n1. `f`: x.\n")
	if len(all) != 2 || all[0].name != "A" || all[0].mark != "b" || strings.Join(all[0].places, " ") != "c/d e" ||
		strings.Join(all[0].says, "|") != "do this, and that.|no." || len(all[1].places) != 0 {
		t.Errorf("%+v", all)
	}
	if r := all[0]; !r.holds("c/d") || !r.holds("c/d/x.go") || r.holds("c/dx") || r.holds("c") {
		t.Error("places hold others' files")
	}
}

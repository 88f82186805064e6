package pipeline_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
)

// optional are the files that declare what components may have beside their contracts.
var optional = []string{"pipeline/optional.go", "sources/codec/optional.go", "sources/optional.go", "sinks/optional.go", "internal/objstore/optional.go"}

// ownKinds are interfaces that the package that declares them asks its own or foreign values for, not components.
var ownKinds = map[string]string{
	"pipeline/fielderror.go: Joined":               "errors",
	"internal/admin/sample.go: texts":              "arrays of Arrow",
	"pipeline/urlcols/rebuild/check.go: textArray": "arrays of Arrow",
	"sinks/parquet/encode/codec.go: compressor":    "values of a pool",
}

// declared is an interface with methods.
type declared struct{ file, name string }

// product is the syntax of the product's files, by their paths from the root of the repository.
func product(t *testing.T) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "internal/dev" || name == "benchmarks" || len(name) > 2 && d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		files[name], err = parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// asked returns the types that n asks a value for, at run time.
func asked(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.TypeAssertExpr:
		if n.Type != nil {
			return []ast.Expr{n.Type}
		}
	case *ast.TypeSwitchStmt:
		var all []ast.Expr
		for _, c := range n.Body.List {
			all = append(all, c.(*ast.CaseClause).List...)
		}
		return all
	case *ast.IndexExpr: // As[T]
		if s, ok := n.X.(*ast.SelectorExpr); ok && s.Sel.Name == "As" {
			return []ast.Expr{n.Index}
		}
		if id, ok := n.X.(*ast.Ident); ok && id.Name == "As" {
			return []ast.Expr{n.Index}
		}
	}
	return nil
}

// misplaced returns what is wrong with the optional interfaces of files.
func misplaced(files map[string]*ast.File) (wrong []string) {
	byPackage := map[string]declared{} // by the folder and the name
	named := map[*ast.InterfaceType]bool{}
	for file, syntax := range files {
		ast.Inspect(syntax, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok {
				if i, ok := s.Type.(*ast.InterfaceType); ok {
					named[i] = true
					byPackage[filepath.Dir(file)+"."+s.Name.Name] = declared{file, s.Name.Name}
				}
			}
			return true
		})
	}
	for file, syntax := range files {
		check := func(e ast.Expr) {
			if generic, ok := e.(*ast.IndexExpr); ok {
				e = generic.X
			}
			at := filepath.Dir(file)
			id, ok := e.(*ast.Ident)
			if s, selected := e.(*ast.SelectorExpr); selected {
				at, id, ok = imported(syntax, s), s.Sel, true
			}
			if !ok {
				return
			}
			d, known := byPackage[at+"."+id.Name]
			if known && !slices.Contains(optional, d.file) && ownKinds[d.file+": "+d.name] == "" {
				wrong = append(wrong, fmt.Sprintf("%s asks for %s, which %s declares and not one of %s", file, d.name, d.file, optional))
			}
		}
		ast.Inspect(syntax, func(n ast.Node) bool {
			if i, ok := n.(*ast.InterfaceType); ok && !named[i] && len(i.Methods.List) > 0 {
				wrong = append(wrong, fmt.Sprintf("%s: an interface without a name; declare it in one of %s, with who has it, who asks and what it means where it is missing", file, optional))
			}
			for _, e := range asked(n) {
				check(e)
			}
			return true
		})
	}
	slices.Sort(wrong)
	return wrong
}

// imported returns the folder of the package that s selects from, "" if it is not of this module.
func imported(f *ast.File, s *ast.SelectorExpr) string {
	const module = "github.com/urlmill/urlmill/"
	id, ok := s.X.(*ast.Ident)
	if !ok {
		return ""
	}
	for _, i := range f.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		name := path[strings.LastIndex(path, "/")+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		if rest, own := strings.CutPrefix(path, module); own && name == id.Name {
			return rest
		}
	}
	return ""
}

// TestOptionalInterfaces refuses interfaces that the product asks for at run time and does not declare with the others.
func TestOptionalInterfaces(t *testing.T) {
	files := product(t)
	for _, name := range optional {
		if files[name] == nil {
			t.Errorf("there is no %s", name)
		}
	}
	for _, w := range misplaced(files) {
		t.Error(w)
	}
}

// TestOptionalInterfacesAreFound shows what the other test refuses.
func TestOptionalInterfacesAreFound(t *testing.T) {
	for text, want := range map[string]string{
		`func f(v any) { _, _ = v.(interface{ Flush() error }) }`:                                    "without a name",
		`func f(v any) { _, _ = pipeline.As[interface{ Flush() error }](v) }`:                        "without a name",
		`func f(v any) { switch v.(type) { case interface{ Flush() error }: } }`:                     "without a name",
		"type flusher interface{ Flush() }\nfunc f(v any) { _ = v.(flusher) }":                       "asks for flusher",
		"type flusher interface{ Flush() }\nfunc f(v any) { _, _ = pipeline.As[flusher](v) }":        "asks for flusher",
		"type flusher interface{ Flush() }\nfunc f(v any) { switch v.(type) { case flusher: } }":     "asks for flusher",
		`func f(v any) { _ = v.(other.Flusher) }`:                                                    "asks for Flusher",
		`func f(v any) { _, _ = pipeline.As[pipeline.Waiter](v); _ = v.(any); _ = v.(interface{}) }`: "",
		"type number interface{ ~int }\nfunc f[T number](v T) T { return v }":                        "",
	} {
		files := map[string]*ast.File{}
		for name, text := range map[string]string{
			"sinks/x/x.go":         "package x\nimport \"github.com/urlmill/urlmill/sinks/other\"\nimport \"github.com/urlmill/urlmill/pipeline\"\n" + text,
			"sinks/other/other.go": "package other\ntype Flusher interface{ Flush() }",
			"pipeline/optional.go": "package pipeline\ntype Waiter interface{ Wait() }",
		} {
			var err error
			if files[name], err = parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution); err != nil {
				t.Fatal(err)
			}
		}
		wrong := misplaced(files)
		if want == "" && len(wrong) > 0 || want != "" && (len(wrong) != 1 || !strings.Contains(wrong[0], want)) {
			t.Errorf("%s\n%q, want %q", text, wrong, want)
		}
	}
}

// writing is a sink that counts its files, and marking one around another that counts duplicates.
type (
	writing struct{ pipeline.Sink }
	marking struct{ around }
)

func (writing) Count(c *pipeline.Counts) { c.Files = &pipeline.FileCounts{Files: 3} }
func (marking) Count(c *pipeline.Counts) { c.Duplicates = &pipeline.DuplicateCounts{Rows: 5} }

// TestCountsOf collects what a sink and all that it wraps have counted.
func TestCountsOf(t *testing.T) {
	c := pipeline.CountsOf(nil, around{marking{around{around{writing{}}}}})
	if c.Files == nil || c.Files.Files != 3 || c.Duplicates == nil || c.Duplicates.Rows != 5 || c.Input != nil {
		t.Errorf("%+v", c)
	}
	if c := pipeline.CountsOf(nil, nil); c != (pipeline.Counts{}) {
		t.Errorf("of nothing: %+v", c)
	}
}

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
)

// sources tells which tests the source of packages has.
type sources struct {
	root  string                     // the module's folder
	tests map[string]map[string]bool // by room
}

func newSources(root string) *sources {
	return &sources{root, map[string]map[string]bool{}}
}

// of returns the names of a room's tests and fuzz targets, and TestFeatures/… for each key of a composite literal of type
// features.
func (s *sources) of(room string) (map[string]bool, error) {
	if tests, ok := s.tests[room]; ok {
		return tests, nil
	}
	files, err := filepath.Glob(filepath.Join(s.root, "urlcore", room, "*_test.go"))
	if err != nil {
		return nil, err
	}
	tests := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && (strings.HasPrefix(f.Name.Name, "Test") || strings.HasPrefix(f.Name.Name, "Fuzz")) {
				tests[f.Name.Name] = true
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.CompositeLit); ok {
				addFeatures(tests, lit)
			}
			return true
		})
	}
	s.tests[room] = tests
	return tests, nil
}

// addFeatures adds the keys of a literal of type features.
func addFeatures(tests map[string]bool, lit *ast.CompositeLit) {
	if name, ok := lit.Type.(*ast.Ident); !ok || name.Name != "features" {
		return
	}
	for _, element := range lit.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if key, ok := pair.Key.(*ast.BasicLit); ok && key.Kind == token.STRING {
			if id, err := strconv.Unquote(key.Value); err == nil {
				tests["TestFeatures/"+id] = true
			}
		}
	}
}

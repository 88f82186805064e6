// Package urlcopy finds copies of URLs that Parser.Parse writes into again: it overwrites the buffer that
// they share.
//
//	var u urlcore.URL
//	for _, line := range lines {
//		if p.Parse(&u, line, nil).OK() {
//			urls = append(urls, u) // all of them end up as parts of the last: append(urls, *u.Clone())
//		}
//	}
//
// It looks at what keeps a copy: assignments, composite literals, append, return, sends and range. Arguments
// of calls are seldom kept, and are not reported. What goes through a pointer to elsewhere, or through a
// function, is not followed.
package urlcopy

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// Analyzer reports the copies.
var Analyzer = &analysis.Analyzer{
	Name: "urlcopy",
	Doc:  "report copies of URLs that urlcore's Parser.Parse writes into again",
	URL:  "https://pkg.go.dev/github.com/urlmill/urlmill/urlcore#URL",
	Run:  run,
}

// urlcorePath is the package of the types.
const urlcorePath = "github.com/urlmill/urlmill/urlcore"

// place is what an expression names: a variable or field, and the variable that the expression begins with.
type place struct {
	object, root types.Object
	// inside says that the root holds the object itself, not a pointer to it.
	inside bool
}

// use is a place that is copied or parsed into.
type use struct {
	place
	at       token.Pos
	function *ast.FuncDecl
	loops    []ast.Node
	returned bool
}

// finder collects the uses in a package.
type finder struct {
	pass   *analysis.Pass
	copies []use
	parsed []use
}

func run(pass *analysis.Pass) (any, error) {
	f := &finder{pass: pass}
	for _, file := range pass.Files {
		for _, decl := range file.Decls {
			if function, ok := decl.(*ast.FuncDecl); ok && function.Body != nil {
				f.walk(function)
			}
		}
	}
	reported := map[token.Pos]bool{}
	for _, c := range f.copies {
		for _, p := range f.parsed {
			if mayFollow(p, c) && !reported[c.at] {
				reported[c.at] = true
				pass.Reportf(c.at, "copy of a URL that is parsed into again, which changes the copy: keep a Clone")
			}
		}
	}
	return nil, nil
}

// walk looks at a function with those inside it.
func (f *finder) walk(function *ast.FuncDecl) {
	var loops []ast.Node
	ast.PreorderStack(function.Body, nil, func(n ast.Node, stack []ast.Node) bool {
		loops = nil
		for _, outer := range append(stack[:len(stack):len(stack)], n) {
			switch outer.(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				loops = append(loops, outer)
			}
		}
		_, returned := n.(*ast.ReturnStmt)
		u := use{function: function, loops: loops, returned: returned}
		for _, expr := range f.keptBy(n) {
			f.copied(u, expr, f.pass.TypesInfo.TypeOf(expr))
		}
		switch n := n.(type) {
		case *ast.RangeStmt:
			if n.Value != nil {
				f.copied(u, n.X, f.pass.TypesInfo.TypeOf(n.Value))
			}
		case *ast.CallExpr:
			if f.isParse(n) {
				u.place, u.at = f.placeOf(n.Args[0]), n.Pos()
				f.parsed = append(f.parsed, u)
			}
		}
		return true
	})
}

// keptBy returns the expressions whose values a node keeps, but for the elements that range takes.
func (f *finder) keptBy(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		var kept []ast.Expr
		for i, expr := range n.Rhs {
			if id, ok := n.Lhs[i].(*ast.Ident); !ok || id.Name != "_" {
				kept = append(kept, expr)
			}
		}
		return kept
	case *ast.ValueSpec:
		return n.Values
	case *ast.ReturnStmt:
		return n.Results
	case *ast.CompositeLit:
		return n.Elts
	case *ast.KeyValueExpr:
		return []ast.Expr{n.Value}
	case *ast.SendStmt:
		return []ast.Expr{n.Value}
	case *ast.CallExpr:
		if id, ok := n.Fun.(*ast.Ident); ok && f.pass.TypesInfo.Uses[id] == types.Universe.Lookup("append") {
			return n.Args[1:]
		}
	}
	return nil
}

// copied notes what is copied with a value of a type that is read from expr.
func (f *finder) copied(u use, expr ast.Expr, t types.Type) {
	u.place, u.at = f.placeOf(expr), expr.Pos()
	if u.object == nil || t == nil {
		return
	}
	if isURLCore(t, "URL") {
		f.copies = append(f.copies, u)
		return
	}
	for _, field := range urlFields(t) {
		u.object = field
		f.copies = append(f.copies, u)
	}
}

// urlFields returns the fields of a struct that are URLs, and those of the structs in it.
func urlFields(t types.Type) []types.Object {
	structure, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	var fields []types.Object
	for field := range structure.Fields() {
		if isURLCore(field.Type(), "URL") {
			fields = append(fields, field)
			continue
		}
		fields = append(fields, urlFields(field.Type())...)
	}
	return fields
}

// isParse reports whether a call is of Parser.Parse.
func (f *finder) isParse(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || method.Sel.Name != "Parse" || len(call.Args) == 0 {
		return false
	}
	selection := f.pass.TypesInfo.Selections[method]
	if selection == nil {
		return false
	}
	receiver := selection.Obj().(*types.Func).Signature().Recv().Type()
	if pointer, ok := receiver.(*types.Pointer); ok {
		receiver = pointer.Elem()
	}
	return isURLCore(receiver, "Parser")
}

// isURLCore reports whether t is the type of that name in package urlcore.
func isURLCore(t types.Type, name string) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Name() == name && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == urlcorePath
}

// placeOf returns what an expression names, with a nil object for those that make a new value.
func (f *finder) placeOf(expr ast.Expr) place {
	switch e := expr.(type) {
	case *ast.ParenExpr:
		return f.placeOf(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return f.placeOf(e.X)
		}
	case *ast.StarExpr:
		p := f.placeOf(e.X)
		p.inside = false
		return p
	case *ast.IndexExpr:
		p := f.placeOf(e.X)
		_, array := f.pass.TypesInfo.TypeOf(e.X).Underlying().(*types.Array)
		p.inside = p.inside && array
		return p
	case *ast.SelectorExpr:
		return f.placeOfSelector(e)
	case *ast.Ident:
		if variable, ok := f.pass.TypesInfo.ObjectOf(e).(*types.Var); ok {
			_, pointer := variable.Type().Underlying().(*types.Pointer)
			return place{variable, variable, !pointer}
		}
	}
	return place{}
}

// placeOfSelector does the same for a field, or a variable of another package.
func (f *finder) placeOfSelector(e *ast.SelectorExpr) place {
	selection := f.pass.TypesInfo.Selections[e]
	if selection == nil {
		return f.placeOf(e.Sel)
	}
	field, ok := selection.Obj().(*types.Var)
	p := f.placeOf(e.X)
	if !ok || p.object == nil {
		return place{}
	}
	p.object = field
	p.inside = p.inside && !selection.Indirect()
	return p
}

// mayFollow reports whether p, which parses, may be run after c, which copies, for the same URL.
func mayFollow(p, c use) bool {
	if p.object != c.object || p.object == nil || p.ofCall() != c.ofCall() {
		return false
	}
	if !c.ofCall() {
		return true // a field or global variable: as often as the function is called
	}
	if p.root != c.root || c.returned {
		return false
	}
	for _, loop := range c.loops {
		again := loop.Pos() <= p.at && p.at < loop.End()
		if again && (c.root.Pos() < loop.Pos() || loop.End() <= c.root.Pos()) {
			return true
		}
	}
	return p.at > c.at
}

// ofCall reports whether each call of the function has an object of its own: a local variable, what that holds, and what is
// reached through a local pointer that is no parameter.
func (u use) ofCall() bool {
	from := u.function.Body.Pos()
	if u.inside {
		from = u.function.Pos()
	}
	return from <= u.root.Pos() && u.root.Pos() < u.function.End()
}

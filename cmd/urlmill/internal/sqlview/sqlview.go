// Package sqlview writes the SQL by which query engines read what urlmill has written: the table of its files, and the view that has all
// columns of a table of the profile compact. What differs between engines is in the templates of the folder engines.
package sqlview

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/sinks"
)

//go:embed engines/*.tmpl
var engines embed.FS

const suffix = ".tmpl"

// Engines returns the names of the engines, ascending.
func Engines() []string {
	files, err := fs.Glob(engines, "engines/[^_]*"+suffix)
	if err != nil {
		panic(err) // of the pattern
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(path.Base(f), suffix)
	}
	return files
}

// Options say what is written.
type Options struct {
	Engine string // one of [Engines]
	// Table is the name of the table of the rows, and View that of the view; empty for those of Where.
	Table, View string
	// Where is where the rows are.
	Where sinks.Described
	// Rows are the columns of the table, and Keys what they are called without renaming, as far as they are of the URL's plan.
	Rows []arrow.Field
	Keys []string
	// Full are the columns that the view is to have, and FullKeys the same of them; nil for no view.
	Full     []arrow.Field
	FullKeys []string
}

// needs are the columns that others are made of, by what they are called without renaming. A view has what its table has everything for.
var needs = map[string][]string{
	"href":          {"scheme", "host", "port", "path", "query", "fragment"},
	"url":           {"scheme", "host", "port", "path", "query", "fragment", "kept_url", "kept_front"},
	"has_username":  {"scheme", "userinfo"},
	"origin":        {"scheme", "host", "port", "kept_origin"},
	"public_suffix": {"registrable_domain", "kept_public_suffix"},
	"params":        {"query", "kept_params"},
}

// view is what the templates are written with.
type view struct {
	Options
	Columns   []column // of the view
	Lacks     []string // what the view would have, and cannot
	templates map[string][]node
}

// column is a column of the view, and the expression that it is.
type column struct{ Name, Expr string }

// Write returns the statements of an engine. An error says which column has a type that the engine does not have.
func Write(o Options) (string, error) {
	v := &view{Options: o, templates: map[string][]node{}}
	for _, name := range []string{"_common", o.Engine} {
		text, err := engines.ReadFile("engines/" + name + suffix)
		if err == nil {
			err = v.define(string(text))
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := v.name(); err != nil {
		return "", err
	}
	if err := v.printable(); err != nil {
		return "", err
	}
	if err := v.compose(); err != nil {
		return "", err
	}
	text, err := v.expand("statements", v.scope())
	return strings.TrimSpace(text), err
}

// scope returns the values that all templates have.
func (v *view) scope() scope {
	cloud, _, ok := strings.Cut(v.Where.Place, "://")
	if !ok {
		cloud = "local"
	}
	s := scope{
		"table": v.Table, "view": v.View, "place": v.Where.Place, "beneath": v.Where.Place + "/", "beneath_all": v.Where.Place + "/*." + v.Where.Format, "glob": v.glob(), "stage": v.Table + "_stage", "cloud_" + cloud: cloud,
		"params_function": within(v.Table, "urlmill_params"), "decode_function": within(v.Table, "urlmill_decode"), "files": v.Where.Format, "made": "", "partitioned": "", "viewed": "",
	}
	if v.Where.Format != "" && v.Where.Table == "" {
		s["made"] = "a table that this makes"
	}
	if len(v.Where.Partitions) > 0 {
		s["partitioned"] = "by directories"
	}
	if len(v.Columns) > 0 {
		s["viewed"] = "by columns"
	}
	return s
}

// list returns the members of a list of templates, each with what it is.
func (v *view) list(name string, s scope) (members []scope, err error) {
	fields := map[string][]arrow.Field{"data": v.data(), "fields": v.fields(), "directories": v.directories(), "partitions": v.Where.Partitions}
	for _, f := range fields[name] {
		text, err := v.typeOf(f.Type)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", f.Name, err)
		}
		m := scope{"name": f.Name, "type": text}
		if f.Type.ID() == arrow.STRING {
			m["is_text"] = "yes"
		}
		members = append(members, m)
	}
	switch name {
	case "columns":
		for _, c := range v.Columns {
			m := scope{"name": c.Name, "expr": c.Expr}
			if as, err := v.expand("column", scope{"name": c.Name}); err != nil || as != c.Expr {
				m["other"] = "another expression than the column of the name"
			}
			members = append(members, m)
		}
	case "lacks":
		for _, n := range v.Lacks {
			members = append(members, scope{"name": n})
		}
	case "parts":
		for i := 0; s[fmt.Sprintf("type%d", i)] != ""; i++ {
			members = append(members, scope{"name": s[fmt.Sprintf("name%d", i)], "type": s[fmt.Sprintf("type%d", i)]})
		}
	}
	return members, nil
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// name fills Table and View: a table that a catalog or a database has keeps its name, and a folder gives it.
func (v *view) name() error {
	reads, err := v.expand("reads", nil)
	if err != nil {
		return err
	}
	if v.Where.Format != "" && reads == "folders" {
		v.Where.Table = ""
	}
	folder := strings.Trim(notInNames.ReplaceAllString(path.Base(filepath.ToSlash(v.Where.Place)), "_"), "_")
	if folder == "" || folder[0] >= '0' && folder[0] <= '9' {
		folder = "urls_" + folder
	}
	v.Table = cmp.Or(v.Table, v.Where.Table, folder)
	v.View = cmp.Or(v.View, v.Table+"_full")
	return nil
}

// printable returns an error for names that a statement cannot have as they are.
func (v *view) printable() error {
	names := []string{v.Table, v.View, v.Where.Place}
	for _, f := range slices.Concat(v.fields(), v.Full) {
		names = append(names, f.Name)
	}
	for _, name := range names {
		if strings.ContainsFunc(name, unicode.IsControl) {
			return fmt.Errorf("the name %q has control characters, which no statement can have; give another name", name)
		}
	}
	return nil
}

// compose fills Columns and Lacks.
func (v *view) compose() error {
	for i, key := range v.FullKeys {
		name := v.Full[i].Name
		if v.has(key) {
			expr, err := v.column(key)
			if err != nil {
				return err
			}
			v.Columns = append(v.Columns, column{name, expr})
			continue
		}
		missing := slices.DeleteFunc(slices.Clone(needs[key]), v.has)
		if len(missing) > 0 || needs[key] == nil {
			v.Lacks = append(v.Lacks, name)
			continue
		}
		expr, err := v.expand(key, v.scope())
		if err != nil {
			return err
		}
		v.Columns = append(v.Columns, column{name, expr})
	}
	if v.Full == nil {
		return nil
	}
	for _, f := range slices.Concat(v.Rows[len(v.Keys):], v.Where.Partitions) {
		if !slices.ContainsFunc(v.Columns, func(c column) bool { return c.Name == f.Name }) {
			expr, err := v.expand("column", scope{"name": f.Name})
			if err != nil {
				return err
			}
			v.Columns = append(v.Columns, column{f.Name, expr})
		}
	}
	return nil
}

// id returns a name as the engine quotes it.
func (v *view) id(name string) (string, error) {
	return v.expand("quoted", scope{"name": name, "double": double(name, `"`), "backticks": double(name, "`")})
}

// tableID does so for the name of a table, which may have that of its schema before a dot.
func (v *view) tableID(name string) (string, error) {
	parts := strings.Split(name, ".")
	for i, p := range parts {
		quoted, err := v.id(p)
		if err != nil {
			return "", err
		}
		parts[i] = quoted
	}
	return strings.Join(parts, "."), nil
}

// column returns the column that is called key without renaming.
func (v *view) column(key string) (string, error) {
	i := slices.Index(v.Keys, key)
	if i < 0 {
		return "", fmt.Errorf("there is no column %s", key)
	}
	return v.expand("column", scope{"name": v.Rows[i].Name})
}

// has reports whether the table has the column that is called key without renaming.
func (v *view) has(key string) bool { return slices.Contains(v.Keys, key) }

// data returns the columns of the files that are not those of directories.
func (v *view) data() []arrow.Field {
	return slices.DeleteFunc(slices.Clone(v.Rows), func(f arrow.Field) bool {
		return slices.ContainsFunc(v.Where.Partitions, func(p arrow.Field) bool { return p.Name == f.Name })
	})
}

// fields returns the columns of the files and those of directories.
func (v *view) fields() []arrow.Field { return append(v.data(), v.Where.Partitions...) }

// directories returns the columns of directories that the files do not have.
func (v *view) directories() []arrow.Field {
	return slices.DeleteFunc(slices.Clone(v.Where.Partitions), func(p arrow.Field) bool {
		return slices.ContainsFunc(v.Rows, func(f arrow.Field) bool { return p.Name == f.Name })
	})
}

// glob returns the pattern of the files.
func (v *view) glob() string {
	return v.Where.Place + strings.Repeat("/*", len(v.Where.Partitions)) + "/*." + v.Where.Format
}

// within returns name in the schema of a table.
func within(table, name string) string {
	if i := strings.LastIndexByte(table, '.'); i >= 0 {
		return table[:i+1] + name
	}
	return name
}

// double returns s with quotes twice, as they are within quotes.
func double(s, quote string) string { return strings.ReplaceAll(s, quote, quote+quote) }

// literal returns a text as standard SQL and most engines write it.
func literal(s string) string { return "'" + double(s, "'") + "'" }

// kinds are the templates of types.
var kinds = map[arrow.Type]string{
	arrow.STRING: "text", arrow.LARGE_STRING: "text", arrow.BINARY: "bytes", arrow.FIXED_SIZE_BINARY: "bytes", arrow.BOOL: "bool",
	arrow.INT8: "int32", arrow.INT16: "int32", arrow.INT32: "int32", arrow.UINT8: "int32", arrow.UINT16: "int32", arrow.INT64: "int64", arrow.UINT32: "int64",
	arrow.FLOAT32: "float32", arrow.FLOAT64: "float64", arrow.TIMESTAMP: "timestamp", arrow.DATE32: "date", arrow.LIST: "list", arrow.MAP: "map", arrow.STRUCT: "struct",
}

var errType = errors.New("the engine has no such type; leave the column out with columns.exclude")

// typeOf returns the type of a column in the engine.
func (v *view) typeOf(t arrow.DataType) (string, error) {
	kind, ok := kinds[t.ID()]
	if !ok {
		return "", fmt.Errorf("%s: %w", t, errType)
	}
	inner := []arrow.Field(nil)
	switch t := t.(type) {
	case *arrow.MapType:
		inner = []arrow.Field{t.KeyField(), t.ItemField()}
	case *arrow.ListType:
		inner = []arrow.Field{t.ElemField()}
	case *arrow.StructType:
		inner = t.Fields()
	}
	parts := scope{}
	for i, f := range inner {
		text, err := v.typeOf(f.Type)
		if err != nil {
			return "", err
		}
		parts[fmt.Sprintf("name%d", i)], parts[fmt.Sprintf("type%d", i)] = f.Name, text
		if i == 0 && f.Type.ID() == arrow.STRING {
			parts["of_texts"] = "yes"
		}
	}
	return v.expand(kind, parts)
}

package config

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

// decoder turns the nodes of a document into the values of a schema, and collects what is wrong on the way.
type decoder struct {
	root    Section
	homes   map[string][]string // of its keys, once an unknown one has asked for them
	env     Env
	dir     string // where ${file:...} begins
	anchors map[string]ast.Node

	problems []Problem
	notes    []Problem
	expanded map[string]expansion // the values that had substitutions, by path
	bad      map[string]bool      // paths with a problem
	at       map[string]position  // where each path was written
}

// report adds a problem. A path that has one already gets no second.
func (d *decoder) report(at position, path, format string, args ...any) {
	if path != "" {
		if d.bad[path] {
			return
		}
		d.bad[path] = true
	}
	d.problems = append(d.problems, Problem{Line: at.line, Column: at.column, Path: path, Message: fmt.Sprintf(format, args...)})
}

// given reports whether the file has a value at path.
func (d *decoder) given(path string) bool {
	_, ok := d.at[path]
	return ok
}

// Scalar is a single value of a file after substitution.
type Scalar struct {
	Text string
	// kind is what YAML makes of it; substituted values are any kind that their text fits.
	kind scalarKind
	// shown is how messages may call it: as it was written, never what was put in for a variable.
	shown string
}

type scalarKind uint8

const (
	anyKind scalarKind = iota
	textKind
	numberKind
	boolKind
)

// scalar reads a single value. ok is false after a problem was reported: the node is none, or a variable is not
// set. want says what is wanted instead.
func (d *decoder) scalar(n ast.Node, path, want string) (s Scalar, ok bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		joined, isText := hostPort(n)
		if !isText {
			d.report(positionOf(n), path, "%s is a mapping; give %s", leaf(path), want)
			return Scalar{}, false
		}
		s = Scalar{joined, textKind, fmt.Sprintf("the text %q", Clip(joined))}
	case *ast.StringNode:
		s = Scalar{n.Value, textKind, fmt.Sprintf("the text %q", Clip(n.Value))}
	case *ast.LiteralNode:
		s = Scalar{n.Value.Value, textKind, "a text of several lines"}
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		s = Scalar{n.GetToken().Value, numberKind, "the number " + Clip(n.GetToken().Value)}
	case *ast.BoolNode:
		s = Scalar{n.GetToken().Value, boolKind, n.GetToken().Value}
	default:
		d.report(positionOf(n), path, "%s is %s; give %s", leaf(path), describe(n), want)
		return Scalar{}, false
	}
	text, changed, problem := d.env.expand(s.Text, d.resolvePath)
	if problem != "" {
		d.report(positionOf(n), path, "%s: %s", leaf(path), problem)
		return Scalar{}, false
	}
	if changed {
		if text != "" {
			d.expanded[path] = expansion{source: s.Text, value: text}
		}
		s.kind = anyKind
		s.shown = fmt.Sprintf("the value of %q", Clip(s.Text))
	}
	s.Text = text
	return s, true
}

// hostPort returns the text of a value such as kafka-1:9092. Between { and } the YAML library takes it for a
// mapping, although YAML wants a space after the colon of one.
func hostPort(m *ast.MappingNode) (string, bool) {
	if len(m.Values) != 1 {
		return "", false
	}
	e := m.Values[0]
	key, isText := e.Key.(*ast.StringNode)
	value := e.Value
	if !isText || value == nil || value.GetToken() == nil {
		return "", false
	}
	switch value.(type) {
	case *ast.StringNode, *ast.IntegerNode:
	default:
		return "", false
	}
	at, colon, after := positionOf(key), tokenPosition(e.Start), positionOf(value)
	adjacent := at.line == after.line && colon.column == at.column+len([]rune(key.Value)) && after.column == colon.column+1
	return key.Value + ":" + value.GetToken().Value, adjacent
}

// Clip shortens a text for a message.
func Clip(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// Written reports whether the file has the text itself: what was put in for a variable is not to be seen in a hint.
func (s Scalar) Written() bool { return s.kind != anyKind }

// describe names the kind of a node.
func describe(n ast.Node) string {
	switch n.(type) {
	case *ast.NullNode:
		return "empty"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		return "a text"
	case *ast.BoolNode:
		return "true or false"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	}
	return "something else"
}

// decode reads n, the value of the key at keyAt, as v.
func (d *decoder) decode(n ast.Node, keyAt position, path string, v Value, required bool) {
	resolved := d.resolve(n)
	if resolved == nil {
		d.bad[path] = true
		return
	}
	if _, null := resolved.(*ast.NullNode); null {
		d.at[path] = keyAt
		hint := ", or leave the key out"
		if required {
			hint = ""
		} else if s, ok := v.(sectionValue); ok && s.allDefaults() {
			hint = ", or {} to take the defaults"
		}
		d.report(keyAt, path, "%s has no value; give %s%s", leaf(path), v.want(), hint)
		return
	}
	d.at[path] = positionOf(n)
	if _, ok := v.(sectionValue); ok {
		d.at[path] = keyAt
	}
	v.decode(d, resolved, path)
}

package sqlview

import (
	"fmt"
	"strings"
)

// A node of a template is text, or what stands between {{ and }}:
//
//	{{define NAME}} … {{end}}              a template of that name, instead of one before
//	{{NAME}}, {{NAME|FILTER}}              a value of the scope, as a filter writes it, or else a template
//	{{c KEY}}                              the column that is called KEY without renaming
//	{{if COND}} … {{else}} … {{end}}       COND is a value of the scope, which holds if it is not empty, or has:KEY
//	{{each LIST SEPARATOR}} … {{end}}      for each member of a list; n at the end of the separator is a line end
//
// It is not text/template, which calls methods by their names, so that the linker would have to keep all of the program's: a third more.
type node struct {
	word, args string // word is "" for text, which is in args
	body, alt  []node
}

// parse appends the nodes of text up to the end of their block to nodes, and returns what is left.
func parse(text string) (nodes []node, end, rest string, err error) {
	for {
		before, after, ok := strings.Cut(text, "{{")
		nodes = append(nodes, node{args: before})
		if !ok {
			return nodes, "", "", nil
		}
		inside, left, ok := strings.Cut(after, "}}")
		if !ok {
			return nil, "", "", fmt.Errorf("%.20q is not closed", after)
		}
		n := node{}
		n.word, n.args, _ = strings.Cut(inside, " ")
		text = left
		switch n.word {
		case "end", "else":
			return nodes, n.word, text, nil
		case "define", "if", "each":
			if n.body, end, text, err = parse(text); err == nil && end == "else" {
				n.alt, end, text, err = parse(text)
			}
			if err != nil {
				return nil, "", "", err
			}
			if end != "end" {
				return nil, "", "", fmt.Errorf("%q has no end", inside)
			}
		}
		nodes = append(nodes, n)
	}
}

// define keeps the templates of a file.
func (v *view) define(file string) error {
	nodes, end, _, err := parse(file)
	if err != nil || end != "" {
		return fmt.Errorf("%w %s", err, end)
	}
	for _, n := range nodes {
		if n.word == "define" {
			v.templates[n.args] = n.body
		}
	}
	return nil
}

// scope is what a template is expanded with: values by their names.
type scope map[string]string

// expand returns a template.
func (v *view) expand(name string, s scope) (string, error) {
	body, ok := v.templates[name]
	if !ok {
		return "", fmt.Errorf("there is no template %q", name)
	}
	var b strings.Builder
	err := v.write(&b, body, s)
	return b.String(), err
}

func (v *view) write(b *strings.Builder, nodes []node, s scope) error {
	for _, n := range nodes {
		text, err := n.args, error(nil)
		switch n.word {
		case "":
		case "c":
			text, err = v.column(n.args)
		case "if":
			key, has := strings.CutPrefix(n.args, "has:")
			body := n.alt
			if has && v.has(key) || !has && s[n.args] != "" {
				body = n.body
			}
			text, err = "", v.write(b, body, s)
		case "each":
			text, err = "", v.each(b, n, s)
		default:
			text, err = v.value(n.word, s)
		}
		if err != nil {
			return err
		}
		b.WriteString(text)
	}
	return nil
}

// each writes the body of n for each member of a list.
func (v *view) each(b *strings.Builder, n node, s scope) error {
	list, separator, _ := strings.Cut(n.args, " ")
	members, err := v.list(list, s)
	if err != nil {
		return err
	}
	if line, ok := strings.CutSuffix(separator, "n"); ok {
		separator = line + "\n"
	} else if separator != "" {
		separator += " "
	}
	for i, m := range members {
		if i > 0 {
			b.WriteString(separator)
		}
		for name, value := range s {
			if _, ok := m[name]; !ok {
				m[name] = value
			}
		}
		if err := v.write(b, n.body, m); err != nil {
			return err
		}
	}
	return nil
}

// value returns what stands for a name, as a filter writes it.
func (v *view) value(text string, s scope) (string, error) {
	name, filter, _ := strings.Cut(text, "|")
	value, ok := s[name]
	if !ok {
		return v.expand(name, s)
	}
	switch filter {
	case "lit":
		return literal(value), nil
	case "py":
		return fmt.Sprintf("%q", value), nil
	case "id":
		return v.id(value)
	case "table":
		return v.tableID(value)
	}
	return value, nil
}

package config

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// position is a place in the file, both counted from 1.
type position struct{ line, column int }

// positionOf returns where a node begins. The token that a block mapping has is the colon after its first key.
func positionOf(n ast.Node) position {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	return tokenPosition(n.GetToken())
}

func tokenPosition(t *token.Token) position {
	if t == nil || t.Position == nil {
		return position{1, 1}
	}
	return position{max(t.Position.Line, 1), max(t.Position.Column, 1)}
}

// entry is a key and its value.
type entry struct {
	key   string
	at    position
	value ast.Node
}

// maxMergeDepth bounds how deeply merge keys may refer to mappings with merge keys.
const maxMergeDepth = 8

// entries returns the entries of a mapping in their order, with those that it merges in behind its own, and
// reports keys that stand there twice.
func (d *decoder) entries(m *ast.MappingNode, path string) []entry {
	own := make([]entry, 0, len(m.Values))
	seen := map[string]position{}
	for _, v := range m.Values {
		if v.Key.IsMergeKey() {
			continue
		}
		at := positionOf(v.Key)
		key := keyText(v.Key)
		if first, ok := seen[key]; ok {
			d.report(at, Join(path, key), "%q was given before, in line %d; keep one of them", key, first.line)
			continue
		}
		seen[key] = at
		own = append(own, entry{key, at, v.Value})
	}
	for _, e := range d.merged(m, map[*ast.MappingNode]bool{}, 0) {
		if _, ok := seen[e.key]; !ok {
			seen[e.key] = e.at
			own = append(own, e)
		}
	}
	return own
}

// merged returns the entries that the merge keys of m bring in. done has the mappings whose entries it has returned already, for
// which nothing is new the second time: a few lines that merge each other would be entries without number. They are false while
// they are being merged.
func (d *decoder) merged(m *ast.MappingNode, done map[*ast.MappingNode]bool, depth int) []entry {
	var out []entry
	done[m] = false
	defer func() { done[m] = true }()
	for _, v := range m.Values {
		if !v.Key.IsMergeKey() {
			continue
		}
		for _, source := range d.mergeSources(v.Value) {
			merged, met := done[source]
			if merged {
				continue
			}
			if met || depth == maxMergeDepth {
				d.report(positionOf(v.Key), "", "merge keys (<<) refer to each other; take one of them out")
				return nil
			}
			for _, o := range source.Values {
				if !o.Key.IsMergeKey() {
					out = append(out, entry{keyText(o.Key), positionOf(o.Key), o.Value})
				}
			}
			out = append(out, d.merged(source, done, depth+1)...)
		}
	}
	return out
}

// mergeSources returns the mappings that the value of a merge key names.
func (d *decoder) mergeSources(n ast.Node) []*ast.MappingNode {
	switch n := d.resolve(n).(type) {
	case *ast.MappingNode:
		return []*ast.MappingNode{n}
	case *ast.SequenceNode:
		var out []*ast.MappingNode
		for _, item := range n.Values {
			if m, ok := d.resolve(item).(*ast.MappingNode); ok {
				out = append(out, m)
			}
		}
		return out
	case nil:
	default:
		d.report(positionOf(n), "", "a merge key (<<) needs a mapping; give it an alias such as *name")
	}
	return nil
}

// keyText returns a key as it was written.
func keyText(k ast.MapKeyNode) string {
	if s, ok := k.(*ast.StringNode); ok {
		return s.Value
	}
	if t := k.GetToken(); t != nil {
		return t.Value
	}
	return ""
}

// resolve follows anchors and aliases to the node that they stand for. It returns nil after it has reported a
// problem.
func (d *decoder) resolve(n ast.Node) ast.Node {
	const maxAliases = 8
	for range maxAliases {
		switch x := n.(type) {
		case *ast.AnchorNode:
			n = x.Value
		case *ast.AliasNode:
			name := aliasName(x.Value)
			target, ok := d.anchors[name]
			if !ok {
				d.report(positionOf(x), "", "*%s refers to an anchor that is not there; define it with &%s", name, name)
				return nil
			}
			n = target
		case *ast.TagNode:
			d.report(positionOf(x), "", "YAML tags such as %q are not used here; leave it out", x.GetToken().Value)
			return nil
		case *ast.MappingValueNode:
			return &ast.MappingNode{BaseNode: &ast.BaseNode{}, Start: x.Start, Values: []*ast.MappingValueNode{x}}
		default:
			return n
		}
	}
	d.report(positionOf(n), "", "aliases refer to each other; take one of them out")
	return nil
}

func aliasName(n ast.Node) string {
	if n == nil || n.GetToken() == nil {
		return ""
	}
	return n.GetToken().Value
}

// collectAnchors finds all anchors of the document.
func (d *decoder) collectAnchors(root ast.Node) {
	ast.Walk(anchorVisitor{d}, root)
}

type anchorVisitor struct{ d *decoder }

// Visit records a node's anchor.
func (v anchorVisitor) Visit(n ast.Node) ast.Visitor {
	if a, ok := n.(*ast.AnchorNode); ok && a.Value != nil {
		v.d.anchors[aliasName(a.Name)] = a.Value
	}
	return v
}

// Join extends a path by a key. Either may be empty.
func Join(path, key string) string {
	if path == "" || key == "" {
		return path + key
	}
	return path + "." + key
}

// leaf returns the last part of a path, how messages call a value.
func leaf(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

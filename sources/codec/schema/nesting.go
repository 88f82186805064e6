package schema

import (
	"fmt"

	"github.com/urlmill/urlmill/internal/schemaregistry"
)

// maxNesting bounds brackets within brackets in a schema, through which compilers recurse.
const maxNesting = 500

// bounded compiles a schema that nests no deeper than that, nor its references.
func bounded(f Format, s schemaregistry.Schema, pointers [][]string) (Compiled, error) {
	if deep(s.Text) {
		return nil, fmt.Errorf("more than %d brackets are open in the schema", maxNesting)
	}
	for _, ref := range s.References {
		if deep(ref.Text) {
			return nil, fmt.Errorf("more than %d brackets are open in the reference %s", maxNesting, ref.Name)
		}
	}
	return f.Compile(s, pointers)
}

// deep reports whether brackets nest too deep. It counts those in texts and comments too, which no schema has as many of.
func deep(text string) bool {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '[', '{', '(':
			if depth++; depth > maxNesting {
				return true
			}
		case ']', '}', ')':
			depth = max(0, depth-1)
		}
	}
	return false
}

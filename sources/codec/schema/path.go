package schema

import "slices"

// Path is a pointer on its way through a schema: the steps that are left of it, and which of the values it leads to.
type Path struct {
	Tokens []string
	Slot   int
}

// Paths returns the paths of pointers from the root.
func Paths(pointers [][]string) []Path {
	paths := make([]Path, len(pointers))
	for i, tokens := range pointers {
		paths[i] = Path{tokens, i}
	}
	return paths
}

// Slots returns the values whose paths end here, and those of all paths.
func Slots(paths []Path) (here, all []int) {
	for _, p := range paths {
		all = append(all, p.Slot)
		if len(p.Tokens) == 0 {
			here = append(here, p.Slot)
		}
	}
	return here, all
}

// Steps returns the next steps of the paths, each once.
func Steps(paths []Path) (steps []string) {
	for _, p := range paths {
		if len(p.Tokens) > 0 && !slices.Contains(steps, p.Tokens[0]) {
			steps = append(steps, p.Tokens[0])
		}
	}
	return steps
}

// Within returns the paths whose next step is one of names, from there on.
func Within(paths []Path, names ...string) (inner []Path) {
	for _, p := range paths {
		if len(p.Tokens) > 0 && slices.Contains(names, p.Tokens[0]) {
			inner = append(inner, Path{p.Tokens[1:], p.Slot})
		}
	}
	return inner
}

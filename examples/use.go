package examples

import (
	"embed"
	"slices"
)

//go:embed use/*.yaml
var uses embed.FS

// Uses returns the names that [Use] knows, the most common one first.
func Uses() []string { return []string{"clickstream", "dedupe", "warehouse"} }

// Use returns the configuration to start from for a use, nil for one that is not known. The caller owns the slice.
func Use(name string) []byte {
	if name == "clickstream" {
		return slices.Clone(Clickstream)
	}
	text, err := uses.ReadFile("use/" + name + ".yaml")
	if err != nil {
		return nil
	}
	return text
}

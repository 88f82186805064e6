package wire

import (
	"log/slog"

	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/urlcore/canon"
)

// duplicateColumn is the column that dedupe adds.
const duplicateColumn = "is_duplicate"

// duplicates is how duplicates are found.
type duplicates struct {
	path     string // of the state
	identity string // of what the keys are made of; see identity
	// open returns the sink around another one. step is [Setting.DedupeStep].
	open func(inner pipeline.Sink, log *slog.Logger, step func(string) error) (pipeline.Sink, error)
}

// identity names what keys are made of. newPlan has found the same configuration right.
func identity(c *settings.Config, lists Lists) string {
	var options urlcols.Options
	if derived(&options, c, lists); options.Canonical == nil {
		return ""
	}
	options.Canonical.Rules = options.Rules
	form, err := canon.New(*options.Canonical)
	if err != nil {
		return ""
	}
	return "keys of " + form.Name()
}

// dedupeMemory is what finding duplicates takes.
func dedupeMemory(c *settings.Config) int64 {
	d := c.Dedupe
	switch {
	case d == nil:
		return 0
	case d.Approximate != nil:
		return d.Memory + d.Approximate.Memory
	}
	return d.Memory
}

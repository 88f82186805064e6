package wire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/privacy"
	"github.com/urlmill/urlmill/pipeline/urlcols"
)

// newPrivacy returns the policy of c, nil if it has none.
func newPrivacy(c *Config, in carried, problems *problems) *privacy.Policy {
	if c.Privacy == nil {
		return nil
	}
	p, err := privacy.New(*c.Privacy)
	problems.note("privacy", err)
	// Those of the default are names that a field may have.
	if a := c.Privacy.Address; !in.open && a != nil && !slices.Equal(a.Fields, privacy.AddressFields) {
		var texts []string
		for _, field := range in.fields {
			if field.Type == pipeline.String {
				texts = append(texts, field.Name)
			}
		}
		for i, name := range a.Fields {
			if !slices.Contains(texts, name) {
				problems.add(fmt.Sprintf("privacy.address.fields[%d]", i), "%q is no carried field of text%s; carry it, or take it out, since no address would be removed", name, config.Suggest(name, texts))
			}
		}
	}
	return p
}

// guards returns what makes the guards of the plan, nil for none.
func (j *Job) guards(fields []pipeline.Field) func() urlcols.Guard {
	if j.privacy == nil {
		return nil
	}
	guards := j.privacy.Guards(records(j.config.Codec.Name, fields, j.privacy))
	return func() urlcols.Guard { return guards() }
}

// records says how the records of a codec are looked at. The values of delimited text and of a log have no names beside them, those of
// the others are in no text.
func records(name string, fields []pipeline.Field, p *privacy.Policy) privacy.Records {
	named := func(f pipeline.Field) bool { return p.Removes(f) }
	switch name {
	case "", "lines", "ndjson", "jsonschema":
		return privacy.TextRecords
	case "access_log":
		if !slices.ContainsFunc(fields, named) {
			return privacy.TextRecords
		}
	case "delimited":
		if !p.HasNames() {
			return privacy.TextRecords
		}
	}
	return privacy.NoRecords
}

// Removed returns what counts how much was removed by each rule, nil if nothing is.
func (j *Job) Removed() func(yield func(rule string, n int64) bool) {
	if j.privacy == nil {
		return nil
	}
	return j.privacy.Counts
}

// Notes returns what is worth a thought in a configuration that has been found right: names that often hold personal data, and are kept.
func Notes(c *Config) []config.Problem {
	var notes []config.Problem
	note := func(path string, names []string) {
		if kept := privacy.Kept(c.Privacy, names); len(kept) > 0 {
			notes = append(notes, c.Problem(path, "%s: often personal, and kept as received; a section privacy removes what must not be stored, see docs/privacy.md",
				strings.Join(kept, ", ")))
		}
	}
	var params, fields []string
	for _, p := range c.Columns.Promote {
		params = append(params, p.Params...)
	}
	note("columns.promote", params)
	if f, err := c.components.codec(c); err == nil && c.Codec.Name != "" {
		for _, field := range f.Fields() {
			fields = append(fields, field.Name)
		}
		note("source.codec."+c.Codec.Name, fields)
	}
	return notes
}

package wire

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/urlcore/canon"
)

// newPlan returns the plan of the columns that c asks for.
func newPlan(c *settings.Config, source Source, f codec.Factory, lists Lists) (*urlcols.Plan, []config.Problem) {
	options := urlcols.Options{
		Include:      c.Columns.Include,
		Exclude:      c.Columns.Exclude,
		Rename:       c.Columns.Rename,
		OnError:      c.OnError,
		Provenance:   source.Provenance,
		HasBase:      f.HasBase(),
		KeepsRecords: f.KeepsRecords(),
		Carried:      f.Fields(),
		Profile:      c.Columns.Profile,
		Tracking:     c.Columns.Tracking == "separate",
		ParamsAsMap:  c.Columns.Params == "map",
	}
	derived(&options, c, lists)
	plan, err := urlcols.New(options)
	if err == nil {
		return plan, nil
	}
	names := urlcols.Names(options)
	var problems []config.Problem
	for _, e := range flatten(err) {
		var option *urlcols.OptionError
		if !errors.As(e, &option) {
			problems = append(problems, c.Problem("columns", "%v", e))
			continue
		}
		if option.Option == "columns" {
			problems = append(problems, c.Problem(twicePath(c, f, option.Column), "%v", option))
			continue
		}
		if c.Dedupe != nil && option.Column == duplicateColumn && option.Option != "also" {
			problems = append(problems, c.Problem(columnPath(c, option), "%s: column %q: dedupe adds it, under this name and behind all others; take it out here", option.Option, option.Column))
			continue
		}
		hint := ""
		if option.Option != "also" && !slices.Contains(names, option.Column) {
			hint = config.Suggest(option.Column, names)
		}
		problems = append(problems, c.Problem(columnPath(c, option), "%s: column %q: %s%s", option.Option, option.Column, option.Reason, hint))
	}
	return nil, problems
}

// takes are the ways of choosing among the values of a parameter.
var takes = map[string]urlcols.Take{"first": urlcols.First, "last": urlcols.Last, "all": urlcols.Every}

// derived adds what the configuration says of derived columns.
func derived(options *urlcols.Options, c *settings.Config, lists Lists) {
	options.Rules = lists.Rules
	if form := c.Columns.Canonical; form != nil {
		options.Canonical = &canon.Options{With: steps(form.With), Without: steps(form.Without)}
		options.Canonical.Form, _ = canon.ParseForm(form.Form) // one of canon.Forms
	}
	for _, p := range c.Columns.Promote {
		options.Promote = append(options.Promote, urlcols.Promoted{Params: append([]string{p.Param}, p.Or...), Name: p.Name, Take: takes[p.Take]})
	}
	for _, a := range c.Columns.Also {
		options.Also = append(options.Also, urlcols.Also{Field: a.Field, Prefix: a.Prefix, Include: a.Include})
	}
}

// steps joins the steps of those names, which package config has checked.
func steps(names []string) (all canon.Step) {
	for _, name := range names {
		step, _ := canon.ParseStep(name)
		all |= step
	}
	return all
}

// columnPath returns where c has the column that e is about.
func columnPath(c *settings.Config, e *urlcols.OptionError) string {
	lists := map[string][]string{"include": c.Columns.Include, "exclude": c.Columns.Exclude}
	if i := slices.Index(lists[e.Option], e.Column); i >= 0 {
		return fmt.Sprintf("columns.%s[%d]", e.Option, i)
	}
	switch e.Option {
	case "rename":
	case "also":
		i := slices.IndexFunc(c.Columns.Also, func(a settings.Also) bool { return a.Field == e.Column || slices.Contains(a.Include, e.Column) })
		return fmt.Sprintf("columns.also[%d]", max(i, 0))
	default:
		return "columns." + e.Option
	}
	if _, ok := c.Columns.Rename[e.Column]; ok {
		return "columns.rename." + e.Column
	}
	for from, to := range c.Columns.Rename {
		if to == e.Column {
			return "columns.rename." + from
		}
	}
	return "columns.rename"
}

// twicePath returns where c gives a column a name that another has.
func twicePath(c *settings.Config, f codec.Factory, name string) string {
	for from, to := range c.Columns.Rename {
		if to == name {
			return "columns.rename." + from
		}
	}
	if i := slices.IndexFunc(c.Columns.Promote, func(p settings.Promote) bool { return p.Name == name }); i >= 0 {
		return fmt.Sprintf("columns.promote[%d]", i)
	}
	if i := slices.IndexFunc(f.Fields(), func(f pipeline.Field) bool { return f.Name == name }); i >= 0 {
		return fmt.Sprintf("source.codec.%s.carry[%d]", codecName(c), i)
	}
	if i := slices.Index(c.Columns.Include, name); i >= 0 {
		return fmt.Sprintf("columns.include[%d]", i)
	}
	return "columns"
}

// flatten returns the errors that were joined into err.
func flatten(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, flatten(e)...)
	}
	return out
}

// fieldProblems makes problems of the section at path out of what a component says of its options.
func fieldProblems(c *settings.Config, path string, err error) []config.Problem {
	var problems []config.Problem
	for _, e := range pipeline.FieldErrors(err) {
		problems = append(problems, c.Problem(e.In(path), "%v", e))
	}
	return problems
}

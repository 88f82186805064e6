package wire

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/enrich"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/sources"
	"github.com/urlmill/urlmill/urlcore/canon"
)

// Columns are which columns there are, and the files that say what is in them.
type Columns struct {
	urlcols.Options
	// TrackingRules is a file of tracking rules, "" for those that are built in.
	TrackingRules string
	// PublicSuffixList is a file of the list's format, "" for the list that is built in.
	PublicSuffixList string
}

func (c *Columns) section() config.Section {
	s := c.Options.Section()
	s.Fields = append(s.Fields,
		config.Field{Name: "tracking_rules", Live: true, Doc: "File of tracking rules. Not set: those that are built in.", Value: config.Text(&c.TrackingRules, "/etc/urlmill/tracking.txt")},
		config.Field{Name: "public_suffix_list", Live: true, Doc: "File with the Public Suffix List, as publicsuffix.org has it. Not set: the one that is built in.", Value: config.Text(&c.PublicSuffixList, "/usr/share/publicsuffix/public_suffix_list.dat")},
	)
	s.Check = func(d *config.Check) {
		const rules = "tracking_rules"
		if d.Given(rules) && !c.Tracking && c.Canonical == nil {
			d.Conflict(rules, []string{"tracking"}, "tracking_rules has no effect without tracking: separate or canonical")
		}
	}
	return s
}

// called returns the name that a column has in the output.
func (c *Columns) called(name string) string {
	if other, ok := c.Rename[name]; ok {
		return other
	}
	return name
}

// with returns the options with tracking rules.
func (c *Columns) with(l Lists) urlcols.Options {
	o := c.Options
	o.Rules = l.Rules
	if o.Canonical != nil {
		form := *o.Canonical
		form.Rules = l.Rules
		o.Canonical = &form
	}
	return o
}

// identity names what the keys of rows are made of. The columns have been found right.
func identity(c *Config, lists Lists) string {
	o := c.Columns.with(lists)
	if o.Canonical == nil {
		return ""
	}
	form, err := canon.New(*o.Canonical)
	if err != nil {
		return ""
	}
	sites := ""
	if s := lists.Sites; c.Enrich.Frontier != nil && s != nil && s.HasParams() {
		sites = " sites/" + s.Version()
	}
	return "keys of " + form.Name() + sites
}

// provenances are the columns that tell where a record came from.
var provenances = map[sources.Origin]urlcols.Provenance{sources.Files: urlcols.FileProvenance, sources.Topics: urlcols.KafkaProvenance}

// newPlan returns the plan of the columns that c asks for, nil if there are problems beside names that nothing has, which it adds to
// those of in. Lists that are wrong have been reported, and columns do not depend on what is in them.
func newPlan(c *Config, source sources.Asks, in *carried, lists Lists, guard func() urlcols.Guard, problems *problems) *urlcols.Plan {
	o := c.Columns.with(lists)
	o.Acquisition, o.AcquisitionRules = c.Enrich.Acquisition, cmp.Or(lists.Acquisition, new(enrich.Rules))
	o.UserAgent, o.Address, o.Clients = c.Enrich.UserAgent, c.Enrich.Address, cmp.Or(lists.Clients, new(enrich.Clients))
	o.Frontier, o.Sites = c.Enrich.Frontier, cmp.Or(lists.Sites, new(enrich.Sites))
	o.OnError, o.OnFieldError, o.Provenance = c.OnError, c.OnFieldError, provenances[source.Origin]
	o.Guard = guard
	o.HasBase, o.KeepsRecords, o.Carried = in.hasBase, in.keepsRecords, in.fields
	plan, err := urlcols.New(o)
	var missing []string
	names := urlcols.Names(o)
	for _, e := range pipeline.FieldErrors(err) {
		var option *urlcols.OptionError
		if errors.As(e, &option) && option.Missing {
			missing = append(missing, option.Column)
		}
		switch {
		case option != nil && option.Missing && (in.open || slices.Contains(in.guessed, option.Column)):
		case option == nil:
			problems.add("columns", "%v", e)
		case option.Option == "columns":
			problems.add(twicePath(c, in.fields, option.Column), "%v", option)
		case c.Dedupe != nil && option.Column == duplicateColumn && option.Option != "other_urls":
			problems.add(columnPath(c, option), "%s: column %q: dedupe adds it, under this name and behind all others; take it out here", option.Option, option.Column)
		default:
			hint := ""
			if option.Option != "other_urls" && carriedKeys[option.Option] == "" && !slices.Contains(names, option.Column) {
				hint = config.Suggest(option.Column, names)
			}
			problems.add(columnPath(c, option), "%s: column %q: %s%s", option.Option, option.Column, option.Reason, hint)
		}
	}
	if missing != nil {
		in.guess(missing)
		o.Carried = in.fields
		plan, _ = urlcols.New(o)
	}
	return plan
}

// carriedKeys are the keys that name a carried field, by the options of [urlcols.OptionError].
var carriedKeys = map[string]string{
	"acquisition": acquisition + ".referrer", "user_agent": "enrich.user_agent.field", "user_agent.hints": "enrich.user_agent.hints",
	"user_agent.address": "enrich.user_agent.address", "address": "enrich.address.field",
	"frontier": "enrich.frontier.address",
}

// columnPath returns where c has the column that e is about.
func columnPath(c *Config, e *urlcols.OptionError) string {
	lists := map[string][]string{"include": c.Columns.Include, "exclude": c.Columns.Exclude}
	if i := slices.Index(lists[e.Option], e.Column); i >= 0 {
		return fmt.Sprintf("columns.%s[%d]", e.Option, i)
	}
	if key := carriedKeys[e.Option]; key != "" {
		return key
	}
	switch e.Option {
	case "rename":
	case "other_urls":
		i := slices.IndexFunc(c.Columns.Also, func(a urlcols.Also) bool { return a.Field == e.Column || slices.Contains(a.Include, e.Column) })
		return fmt.Sprintf("columns.other_urls[%d]", max(i, 0))
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
func twicePath(c *Config, fields []pipeline.Field, name string) string {
	for from, to := range c.Columns.Rename {
		if to == name {
			return "columns.rename." + from
		}
	}
	if i := slices.IndexFunc(c.Columns.Promote, func(p urlcols.Promoted) bool { return p.Name == name }); i >= 0 {
		return fmt.Sprintf("columns.promote[%d]", i)
	}
	if i := slices.IndexFunc(fields, func(f pipeline.Field) bool { return f.Name == name }); i >= 0 {
		return fmt.Sprintf("source.codec.%s.carry[%d]", c.Codec.Name, i)
	}
	if i := slices.Index(c.Columns.Include, name); i >= 0 {
		return fmt.Sprintf("columns.include[%d]", i)
	}
	return "columns"
}

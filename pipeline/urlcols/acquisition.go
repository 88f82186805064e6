package urlcols

import (
	"slices"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/enrich"
	"github.com/urlmill/urlmill/urlcore/columns"
)

// acquisitionNames are the names and comments of the columns, in their order.
var acquisitionNames = [enrich.NumColumns][2]string{
	{"referrer_class", "what kind of place the referrer is; none where there is no referrer"},
	{"referrer_source", "the place that the referrer is, such as Google; null where no line of the list has it"},
	{"search_term", "what was searched for, where the referrer says it"},
	{"channel", "channel of the visit by the rules for channels; null where a visit goes on"},
	{"click_id", "value of the parameter that a network puts on links"},
	{"click_network", "the network of click_id"},
	{"source", "source of the visit: of the campaign's parameters, the click id, the referrer; (direct) without; null where a visit goes on"},
	{"medium", "medium of the visit, from where source is; (none) for a direct visit"},
	{"campaign", "campaign by the parameters of the URL"},
	{"term", "keyword of the campaign by the parameters of the URL"},
	{"content", "content of the campaign by the parameters of the URL"},
	{"campaign_id", "identifier of the campaign by the parameters of the URL"},
	{"page_type", "type of the page by the configuration's page_types; null where none has its path"},
	{"path_template", "the path, with what looks like an identifier replaced by its kind"},
}

// acquisitionColumns lists the columns of opts.Acquisition.
func acquisitionColumns(opts Options) (cols []column) {
	for id, named := range acquisitionNames {
		c := column{
			name: named[0], typ: utf8Type, nullable: true, comment: named[1], want: enrich.WantPage, acquisition: enrich.Column(id), acquired: true,
			build: func(s *state) *array.Data { return s.text(s.acquired().Column(enrich.Column(id))) },
		}
		if opts.referrer > 0 {
			c.also, c.alsoWant = opts.referrer, enrich.WantReferrer
		}
		cols = append(cols, c)
	}
	return cols
}

// findReferrer adds the referrer to the other URLs of the record, if it is carried along and not there yet.
func (o *Options) findReferrer() error {
	named := o.Acquisition.Referrer != ""
	names := enrich.ReferrerFields
	if named {
		names = []string{o.Acquisition.Referrer}
	}
	for _, name := range names {
		a := Also{Field: name, hidden: true}
		if !a.find(o.Carried) {
			continue
		}
		at := slices.IndexFunc(o.Also, func(other Also) bool { return other.Field == name })
		if at < 0 {
			o.Also = append(o.Also, a)
			at = len(o.Also) - 1
		}
		o.referrer = at + 1
		return nil
	}
	if named {
		return notCarried("acquisition", o.Acquisition.Referrer)
	}
	return nil
}

// initAcquirer prepares a state for the acquisition columns that the plan has.
func (s *state) initAcquirer() {
	var wanted []enrich.Column
	for _, c := range s.plan.columns {
		if c.acquired {
			wanted = append(wanted, c.acquisition)
		}
	}
	if wanted != nil {
		s.derived.acquirer = enrich.NewAcquirer(wanted)
	}
}

// acquired returns the acquisition columns of this record.
func (s *state) acquired() *enrich.Acquirer {
	d := &s.derived
	if d.acquiredReady {
		return d.acquirer
	}
	d.acquiredReady = true
	var field *pipeline.Values
	var referrer *columns.Columns
	if at := s.plan.opts.referrer; at > 0 {
		field, referrer = &s.batch.Carried[s.plan.opts.Also[at-1].field], &s.alsoParsed(at-1).cols
	}
	if err := d.acquirer.Fill(s.lists.acquisition, s.lists.suffixes, s.batch.Len(), &s.cols, field, referrer); err != nil {
		s.fault = err
	}
	return d.acquirer
}

package processor

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/canon"
	"github.com/urlmill/urlmill/urlcore/psl"
	"github.com/urlmill/urlmill/urlcore/tracking"
)

// Options says where the URLs are and which columns to make of them. The zero value takes the column url, or the only
// column that there is, and makes all columns.
type Options struct {
	// URL names the column of the input that has the URLs. Empty stands for the only column, else for "url".
	URL string
	// Base names the column that has a base URL for every row; a null or empty one means none.
	Base string
	// BaseURL is the base URL of rows that have none of their own: an absolute one.
	BaseURL string
	// Carry names the other columns of the input that the output gets, behind its own. Nil means all of them, and an
	// empty slice none. They are passed on as they are, whatever their type.
	Carry []string

	// Include lists the columns of the URL in the order that they are to have; empty means all but those that exist
	// only where they are named. Exclude takes columns away. Both use the names before Rename. [Columns] lists them.
	Include, Exclude []string
	// Rename gives columns of the URL other names.
	Rename map[string]string
	// Profile is one of [Profiles], a set of columns under the names that others use; empty stands for the first.
	Profile string
	// ParamsAsMap makes the column params a map instead of a list of structs.
	ParamsAsMap bool
	// Promote adds a column for each parameter.
	Promote []Promoted
	// Canonical adds the columns canonical_url and url_key.
	Canonical *canon.Options
	// Tracking moves the parameters that Rules names from the column params to tracking_params.
	Tracking bool
	// Rules are the tracking rules; nil means [tracking.Default].
	Rules *tracking.Rules
	// PSL tells public suffixes and registrable domains; nil means [psl.Default] as it is at each call.
	PSL *psl.List
}

// Promoted is a parameter of the query that has a column of its own. Its fields:
//
//	Params []string // names of the parameter: the first one that the query has counts
//	Name   string   // of the column; that of the first parameter where it is empty
//	Take   Take     // which values, if there are several: First, Last or Every
type Promoted = urlcols.Promoted

// Take says which values of a parameter a column gets: [First], [Last] or [Every].
type Take = urlcols.Take

// OptionError is a fault in [Options]; errors.As finds it in the error of [New]. Its fields are the texts Option, such as
// "include" or "rename"; Column, the name at fault; and Reason.
type OptionError = urlcols.OptionError

// The values of Promoted.Take.
const (
	First = urlcols.First // the first value of the parameter
	Last  = urlcols.Last  // the last value
	Every = urlcols.Every // all values, as a list
)

// Profiles returns the names of all profiles, that of urlmill's own names first. The caller owns the slice.
func Profiles() []string { return urlcols.Profiles() }

// Columns returns the names of all columns that opts can include, in their default order. The caller owns the slice.
func Columns(opts Options) []string { return urlcols.Names(opts.plan()) }

// ErrorNames returns all values of the column url_error. The caller owns the slice.
func ErrorNames() []string { return urlcols.ErrorNames() }

// plan returns the options of the plan of columns that the command urlmill uses as well.
func (o Options) plan() urlcols.Options {
	return urlcols.Options{
		Include: o.Include, Exclude: o.Exclude, Rename: o.Rename, Profile: o.Profile, ParamsAsMap: o.ParamsAsMap,
		Promote: o.promoted(), Canonical: o.Canonical, Tracking: o.Tracking, Rules: o.Rules, PSL: o.PSL,
		OnError: pipeline.Keep, HasBase: o.Base != "" || o.BaseURL != "",
	}
}

// check looks at what the plan of columns does not know of.
func (o Options) check() error {
	var errs []error
	if o.BaseURL != "" {
		var u urlcore.URL
		if failure := new(urlcore.Parser).Parse(&u, []byte(o.BaseURL), nil); !failure.OK() {
			errs = append(errs, fmt.Errorf("base URL %q is none (%s), and no row would parse; give one with its scheme", o.BaseURL, failure.Code))
		}
	}
	for i, name := range o.Carry {
		if slices.Contains(o.Carry[:i], name) {
			errs = append(errs, &OptionError{Option: "carry", Column: name, Reason: "is named twice"})
		}
	}
	for _, p := range o.Promote {
		if p.Take != First && p.Take != Last && p.Take != Every {
			errs = append(errs, &OptionError{Option: "promote", Column: p.Name, Reason: "Take is none of First, Last and Every"})
		}
	}
	return errors.Join(errs...)
}

// promoted returns Promote with a name for every column.
func (o Options) promoted() []Promoted {
	named := slices.Clone(o.Promote)
	for i, p := range named {
		if p.Name == "" && len(p.Params) > 0 {
			named[i].Name = p.Params[0]
		}
	}
	return named
}

// ErrSchema is the kind of error of a record whose schema does not fit the options.
var ErrSchema = errors.New("the record does not fit")

// Arrangement says which columns of an input go where.
type Arrangement struct {
	// URL and Base are the indices of the columns with the URLs and their bases; Base is -1 where there is none.
	URL, Base int
	// Carried are the indices of those that go along, in the order that they have in the output.
	Carried []int
	// Schema is that of the output: the columns of [Processor.URLSchema], and behind them those that go along.
	Schema *arrow.Schema
}

// Arrange finds the columns of an input of schema in. It is for those who take inputs apart themselves, and call
// [Processor.Parse]. The result is shared: it must not be changed. An error is of kind [ErrSchema].
func (p *Processor) Arrange(in *arrow.Schema) (*Arrangement, error) {
	l, err := p.layout(in)
	if err != nil {
		return nil, fmt.Errorf("processor: %w", err)
	}
	return &l.Arrangement, nil
}

// layout is the arrangement of records of schema in.
type layout struct {
	in *arrow.Schema
	Arrangement
}

// layout returns the layout of in, which is that of the record before as a rule.
func (p *Processor) layout(in *arrow.Schema) (*layout, error) {
	if l := p.last.Load(); l != nil && l.in == in {
		return l, nil
	}
	l := &layout{in: in}
	if err := p.arrange(l); err != nil {
		return nil, err
	}
	p.last.Store(l)
	return l, nil
}

func (p *Processor) arrange(l *layout) (err error) {
	in := l.in
	if l.URL, err = p.findURL(in); err != nil {
		return err
	}
	if err := checkText(in.Field(l.URL)); err != nil {
		return err
	}
	l.Base = -1
	if p.opts.Base != "" {
		if l.Base, err = find(in, p.opts.Base); err != nil {
			return err
		}
		if err := checkText(in.Field(l.Base)); err != nil {
			return err
		}
	}
	if l.Carried, err = p.carried(in, l.URL, l.Base); err != nil {
		return err
	}
	fields := slices.Clone(p.schema.Fields())
	for _, i := range l.Carried {
		f := in.Field(i)
		if p.schema.HasField(f.Name) {
			return fmt.Errorf("%w: column %q is one of the URL's as well; rename that, or do not carry this along", ErrSchema, f.Name)
		}
		fields = append(fields, f)
	}
	l.Schema = arrow.NewSchema(fields, nil) // the input's metadata speaks of its columns
	return nil
}

func (p *Processor) findURL(in *arrow.Schema) (int, error) {
	switch {
	case p.opts.URL != "":
		return find(in, p.opts.URL)
	case in.NumFields() == 1:
		return 0, nil
	case len(in.FieldIndices("url")) == 1:
		return in.FieldIndices("url")[0], nil
	}
	return 0, fmt.Errorf("%w: which column has the URLs? It has %s; set the option URL", ErrSchema, names(in))
}

func (p *Processor) carried(in *arrow.Schema, url, base int) ([]int, error) {
	var carried []int
	if p.opts.Carry == nil {
		for i := range in.NumFields() {
			if i != url && i != base {
				carried = append(carried, i)
			}
		}
		return carried, nil
	}
	for _, name := range p.opts.Carry {
		i, err := find(in, name)
		if err != nil {
			return nil, err
		}
		carried = append(carried, i)
	}
	return carried, nil
}

func find(in *arrow.Schema, name string) (int, error) {
	switch i := in.FieldIndices(name); len(i) {
	case 0:
		return 0, fmt.Errorf("%w: there is no column %q; it has %s", ErrSchema, name, names(in))
	case 1:
		return i[0], nil
	default:
		return 0, fmt.Errorf("%w: there are %d columns %q", ErrSchema, len(i), name)
	}
}

func names(in *arrow.Schema) string {
	if in.NumFields() == 0 {
		return "no column"
	}
	var all []string
	for _, f := range in.Fields() {
		all = append(all, f.Name)
	}
	return strings.Join(all, ", ")
}

package urlcols

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/enrich"
	"github.com/urlmill/urlmill/urlcore/canon"
	"github.com/urlmill/urlmill/urlcore/columns"
	"github.com/urlmill/urlmill/urlcore/psl"
	"github.com/urlmill/urlmill/urlcore/tracking"
)

// Provenance says which columns tell where a record came from.
type Provenance uint8

const (
	// NoProvenance: the source has nothing to tell.
	NoProvenance Provenance = iota
	// FileProvenance: file and record.
	FileProvenance
	// KafkaProvenance: topic, partition, offset, timestamp, key and headers.
	KafkaProvenance
)

// Options says which columns the records get.
type Options struct {
	// Include lists the columns in the order that they are to have; empty means all that there are. Behind them stand
	// those that Canonical, Tracking, Promote and Also add, unless Include names one of an option's columns: then it
	// names all that are wanted of it. Exclude takes columns away. Both use the names before Rename.
	Include, Exclude []string
	// Rename gives columns other names.
	Rename map[string]string
	// Profile is one of [Profiles]; empty stands for [DefaultProfile].
	Profile string
	// DefaultScheme is what bare hosts, such as example.com/a, are taken for where they have no base: one that the standard calls special.
	// Empty: they are errors, or relative, as the standard has it. [WithScheme] says what a bare host is.
	DefaultScheme string
	// Canonical adds the columns canonical_url and url_key.
	Canonical *canon.Options
	// Promote adds a column for each parameter.
	Promote []Promoted
	// Tracking moves the parameters that Rules names from the column params to tracking_params. Nil Rules are
	// [tracking.Default].
	Tracking bool
	Rules    *tracking.Rules
	// ParamsAsMap makes the column params a map instead of a list of structs.
	ParamsAsMap bool
	// Also are other URLs of the record.
	Also []Also
	// PSL tells public suffixes and registrable domains; nil means [psl.Default] as it is at each batch.
	PSL *psl.List
	// Acquisition adds the columns of where a visit came from, by AcquisitionRules; nil are those that Acquisition reads.
	Acquisition      *enrich.Acquisition
	AcquisitionRules *enrich.Rules
	// UserAgent and Address add the columns of the client, by Clients; nil are those that they read.
	UserAgent *enrich.UserAgent
	Address   *enrich.Address
	Clients   *enrich.Clients
	// Frontier adds the columns for what a crawler fetches next, by Sites; nil are those that Frontier reads. Parameters that do not
	// matter by them are not in canonical_url.
	Frontier *enrich.Frontier
	Sites    *enrich.Sites
	// OnError says what becomes of rows with an error.
	OnError pipeline.OnError
	// OnFieldError says what becomes of rows with a carried field that is not of its type.
	OnFieldError pipeline.OnFieldError
	// Guard makes what stands between a batch and the columns of fields and records, one for each transform; nil: nothing does.
	Guard func() Guard

	// Provenance, HasBase, KeepsRecords and Carried describe the source and its codec.
	Provenance   Provenance
	HasBase      bool
	KeepsRecords bool
	Carried      []pipeline.Field

	referrer     int // 1 + index of the referrer in Also, 0 where none is carried
	clientFields clientFields

	frontierAddress int // 1 + index of the field with the address of hosts, 0 where none is carried
}

// Guard says what columns show of a batch that other columns have been made of in full. It belongs to one goroutine.
type Guard interface {
	// Carried returns the values that the column of a carried field has. They are valid until the next Apply.
	Carried(v *pipeline.Values) *pipeline.Values
	// Raw returns what is shown of record i, as Batch.Raw does. It is valid until the next call.
	Raw(b *pipeline.Batch, i int) ([]byte, bool)
}

// unguarded shows all.
type unguarded struct{}

func (unguarded) Carried(v *pipeline.Values) *pipeline.Values { return v }

func (unguarded) Raw(b *pipeline.Batch, i int) ([]byte, bool) { return b.Raw(i) }

// Plan is a checked set of columns. It is safe for concurrent use, and does not change but for [Plan.SetRules].
type Plan struct {
	given   Options // as New got them
	opts    Options
	columns []column // of the table Rows, in order
	dead    []column // of the table DeadLetters
	schemas pipeline.Schemas
	want    columns.Mask
	// errorNames are the codes of errors, with those of carried fields behind the package's.
	errorNames []string

	alsoWant []columns.Mask // of opts.Also

	siteParams bool // there are sites of which not all parameters matter

	rules       atomic.Pointer[tracking.Rules]
	acquisition atomic.Pointer[enrich.Rules]
	clients     atomic.Pointer[enrich.Clients]
}

// OptionError is a fault in [Options].
type OptionError struct {
	Option string // "include", "exclude", "rename", "promote", "other_urls", "acquisition", "user_agent", "user_agent.hints", "user_agent.address", "address", "frontier" or "params"; "columns" for two of one name
	Column string // the name at fault
	Reason string
	// Missing: what is wrong is that neither a column nor a field that is carried along has the name.
	Missing bool
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("%s: column %q: %s", e.Option, e.Column, e.Reason)
}

func notCarried(option, field string) error {
	return &OptionError{option, field, "no text of that name is carried along from the record", true}
}

// New checks opts and returns their plan. The error joins an [*OptionError] for every fault.
func New(opts Options) (*Plan, error) {
	given := opts
	opts.Promote = slices.Concat(profiles[opts.Profile].promote, opts.Promote)
	opts.Also = slices.Clone(opts.Also)
	if opts.Rules == nil {
		opts.Rules = tracking.Default()
	}
	errs := opts.findClient()
	if opts.Acquisition != nil {
		errs = append(errs, opts.findReferrer())
		if opts.AcquisitionRules == nil {
			var err error
			if opts.AcquisitionRules, err = opts.Acquisition.Read(); err != nil {
				return nil, err
			}
		}
	}
	if opts.Clients == nil {
		var err error
		if opts.Clients, err = (&enrich.Options{UserAgent: opts.UserAgent, Address: opts.Address}).ReadClients(); err != nil {
			return nil, err
		}
	}
	if opts.Frontier != nil {
		errs = append(errs, opts.findFrontier())
		if opts.Sites == nil {
			var err error
			if opts.Sites, err = opts.Frontier.ReadSites(); err != nil {
				return nil, err
			}
		}
	}
	errs = append(errs, checkAlso(&opts)...)
	if wrong := checkPromoted(opts.Promote); wrong != nil { // a column without parameters has no comment
		return nil, errors.Join(append(errs, wrong...)...)
	}
	if opts.Canonical != nil {
		c := *opts.Canonical
		if _, err := canon.New(c); err != nil {
			errs = append(errs, fmt.Errorf("canonical: %w", err))
		}
		opts.Canonical = &c
	}
	if opts.Profile == CompactProfile && opts.ParamsAsMap {
		errs = append(errs, &OptionError{"params", "params", "the profile compact does not have it: readers make it of query, as a list; take params: map out", false})
	}
	available := available(opts)
	chosen, wrong := choose(opts, available)
	errs = append(errs, wrong...)
	chosen, err := applyProfile(opts, available, chosen)
	if err != nil {
		errs = append(errs, err)
	}
	chosen = rename(chosen, opts.Rename)
	errs = append(errs, duplicates(chosen)...)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(chosen) == 0 {
		return nil, errors.New("no column is left; include at least one")
	}
	p := newPlan(opts, chosen)
	p.given = given
	return p, nil
}

// choose returns the columns that include and exclude leave.
func choose(opts Options, available []column) (chosen []column, errs []error) {
	index := func(option, name string) int {
		i := slices.IndexFunc(available, func(c column) bool { return c.name == name })
		if i < 0 {
			errs = append(errs, &OptionError{option, name, "there is no such column; there are " + list(available), true})
		}
		return i
	}
	for _, name := range opts.Include {
		if i := index("include", name); i >= 0 {
			chosen = append(chosen, available[i])
		}
	}
	if len(opts.Include) == 0 {
		chosen = slices.DeleteFunc(slices.Clone(available), func(c column) bool { return c.extra })
	}
	chosen = append(chosen, unnamed(available, chosen)...)
	for _, name := range opts.Exclude {
		if index("exclude", name) >= 0 {
			chosen = slices.DeleteFunc(chosen, func(c column) bool { return c.name == name })
		}
	}
	for name := range opts.Rename {
		index("rename", name)
	}
	return chosen, errs
}

// unnamed returns the columns that options add of which chosen has none. A promoted parameter may have the name of a
// column that is chosen: it is added all the same, and refused as the second of its name.
func unnamed(available, chosen []column) []column {
	return slices.DeleteFunc(slices.Clone(available), func(c column) bool {
		return c.asked == "" || slices.ContainsFunc(chosen, func(other column) bool { return other.asked == c.asked })
	})
}

// checkAlso finds the fields of other URLs, and returns what is wrong with them.
func checkAlso(opts *Options) []error {
	var errs []error
	for i := range opts.Also {
		a := &opts.Also[i]
		if !a.find(opts.Carried) {
			errs = append(errs, notCarried("other_urls", a.Field))
		}
		parts := slices.Concat(urlColumns(Options{}), errorColumns())
		for _, name := range a.Include {
			if !slices.ContainsFunc(parts, func(c column) bool { return c.name == name }) {
				errs = append(errs, &OptionError{"other_urls", name, "a URL has no such column; it has " + list(parts), false})
			}
		}
	}
	return errs
}

func newPlan(opts Options, chosen []column) *Plan {
	p := &Plan{opts: opts, columns: chosen, alsoWant: make([]columns.Mask, len(opts.Also))}
	p.siteParams = opts.Frontier != nil && opts.Sites.HasParams()
	p.errorNames = append(errorNames[:], fieldNames(opts.Carried)...)
	for _, c := range chosen {
		p.want |= c.want
		if c.also > 0 {
			p.alsoWant[c.also-1] |= c.alsoWant
		}
	}
	p.rules.Store(opts.Rules)
	p.acquisition.Store(opts.AcquisitionRules)
	p.clients.Store(opts.Clients)
	p.want = atLeastErrors(p.want)
	for i, want := range p.alsoWant {
		p.alsoWant[i] = atLeastErrors(want)
	}
	p.schemas[pipeline.Rows] = schema(chosen)
	if opts.OnError == pipeline.ToDeadLetters || opts.OnFieldError == pipeline.FieldToDeadLetters {
		p.dead = deadLetterColumns(opts)
		p.schemas[pipeline.DeadLetters] = schema(p.dead)
	}
	return p
}

// Unused reports of every carried field whether nothing is made of its values: neither a column, nor what other columns are made of.
func (p *Plan) Unused() []bool {
	unused := slices.Repeat([]bool{true}, len(p.opts.Carried))
	for _, c := range slices.Concat(p.columns, p.dead) {
		if c.carried > 0 {
			unused[c.carried-1] = false
		}
	}
	for _, also := range p.opts.Also {
		unused[also.field] = false
	}
	f := &p.opts.clientFields
	for _, at := range append([]int{f.userAgent, f.botAddress, f.address, p.opts.frontierAddress}, f.hints[:]...) {
		if at > 0 {
			unused[at-1] = false
		}
	}
	return unused
}

// atLeastErrors returns the columns to ask for where only errors are wanted: zero would mean all columns.
func atLeastErrors(want columns.Mask) columns.Mask {
	if want == 0 {
		return columns.Scheme
	}
	return want
}

// lists are what columns depend on beside the record. They may be replaced while the plan is in use, and are the same
// for all rows of a batch.
type lists struct {
	rules       *tracking.Rules
	acquisition *enrich.Rules
	clients     *enrich.Clients
	suffixes    *psl.List
}

// lists returns those for the next batch.
func (p *Plan) lists() lists {
	l := lists{p.rules.Load(), p.acquisition.Load(), p.clients.Load(), p.opts.PSL}
	if l.suffixes == nil {
		l.suffixes = psl.Default()
	}
	return l
}

// SetRules replaces [Options.Rules] for the batches that begin from now on. Canonical forms that were given rules of
// their own keep those.
func (p *Plan) SetRules(r *tracking.Rules) { p.rules.Store(r) }

// SetAcquisition replaces [Options.AcquisitionRules] for the batches that begin from now on.
func (p *Plan) SetAcquisition(r *enrich.Rules) { p.acquisition.Store(r) }

// SetClients replaces [Options.Clients] for the batches that begin from now on.
func (p *Plan) SetClients(c *enrich.Clients) { p.clients.Store(c) }

// use prepares for batches with lists, unless it has been done.
func (s *state) use(l lists) {
	if s.lists == l {
		return
	}
	s.lists, s.cols.PSL = l, l.suffixes
	p, d := s.plan, &s.derived
	canonical := canon.Options{}
	if p.opts.Canonical != nil {
		canonical = *p.opts.Canonical
	}
	if canonical.Rules == nil {
		canonical.Rules = l.rules
	}
	if canonical.Suffixes == nil {
		canonical.Suffixes = l.suffixes
	}
	d.canonicaliser = mustCanonicaliser(canonical)
	d.surt = mustCanonicaliser(canon.Options{Form: canon.SURTCC, Suffixes: l.suffixes})
	for _, also := range d.also {
		also.lists, also.cols.PSL = l, l.suffixes
	}
}

// mustCanonicaliser makes a canonicaliser of options that New has checked.
func mustCanonicaliser(opts canon.Options) *canon.Canonicaliser {
	c, err := canon.New(opts)
	if err != nil {
		panic(err)
	}
	return c
}

// Schemas returns the schemas of the records that the plan's transforms make.
func (p *Plan) Schemas() pipeline.Schemas { return p.schemas }

// Keys returns what the columns of the table Rows are called without a profile and renaming, in their order.
func (p *Plan) Keys() []string {
	keys := make([]string, len(p.columns))
	for i, c := range p.columns {
		keys[i] = c.key
	}
	return keys
}

// Full returns the plan of the same options with the columns of the default profile, of which [Options.Include] has more, instead of its own.
func (p *Plan) Full() (*Plan, error) {
	opts := p.given
	opts.Profile = DefaultProfile
	if len(opts.Include) > 0 {
		var usual []string
		for _, c := range available(opts) {
			if c.part && !c.extra || slices.Contains(p.Keys(), c.name) && !slices.Contains(profileKeys(p.opts.Profile), c.name) {
				usual = append(usual, c.name)
			}
		}
		opts.Include = usual
	}
	return New(opts)
}

// profileKeys returns the columns that a profile has.
func profileKeys(name string) (keys []string) {
	for _, c := range profiles[name].columns {
		keys = append(keys, c.from)
	}
	return keys
}

// HasBase reports whether the plan has rows with base URLs.
func (p *Plan) HasBase() bool { return p.opts.HasBase }

// Names returns the names of all columns that opts can include, in their default order.
func Names(opts Options) []string {
	return names(available(opts))
}

func names(cols []column) []string {
	var all []string
	for _, c := range cols {
		all = append(all, c.name)
	}
	return all
}

func list(cols []column) string { return strings.Join(names(cols), ", ") }

func rename(chosen []column, names map[string]string) []column {
	chosen = slices.Clone(chosen)
	for i := range chosen {
		chosen[i].key = chosen[i].name
		if name, ok := names[chosen[i].name]; ok {
			chosen[i].name = name
		} else if chosen[i].rename != "" {
			chosen[i].name = chosen[i].rename
		}
	}
	return chosen
}

func duplicates(chosen []column) []error {
	var errs []error
	seen := make(map[string]bool)
	for _, c := range chosen {
		if c.name == "" {
			errs = append(errs, &OptionError{"rename", c.name, "a column needs a name", false})
		} else if seen[c.name] {
			errs = append(errs, &OptionError{"columns", c.name, twice(c), false})
		}
		seen[c.name] = true
	}
	return errs
}

// twice says what to do about c, the second column of its name. Rename knows columns by their names, so that it cannot
// tell a promoted parameter from the other.
func twice(c column) string {
	if strings.HasPrefix(c.asked, "promote") {
		return "is there twice; give the parameter's column another name, such as name: param_" + c.name
	}
	return "is there twice; rename one of them"
}

func schema(cols []column) *arrow.Schema {
	fields := make([]arrow.Field, len(cols))
	for i, c := range cols {
		fields[i] = arrow.Field{
			Name: c.name, Type: c.typ, Nullable: c.nullable,
			Metadata: arrow.NewMetadata([]string{"comment"}, []string{c.comment}),
		}
	}
	return arrow.NewSchema(fields, nil)
}

package enrich

import (
	"bytes"
	"hash/maphash"
	"iter"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/urlcore/charset"
	"github.com/urlmill/urlmill/urlcore/columns"
	"github.com/urlmill/urlmill/urlcore/form"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// Column is one of the acquisition columns.
type Column int

// The columns, in their order.
const (
	ReferrerClass Column = iota
	ReferrerSource
	SearchTerm
	Channel
	ClickID
	ClickNetwork
	Source
	Medium
	Campaign
	Term
	Content
	CampaignID
	PageTypeColumn
	PathTemplate
	NumColumns
)

// What the columns need of the parser: of the URL of the page, and of the referrer.
const (
	WantPage     = columns.Host | columns.RegistrableDomain | columns.Path | columns.Params
	WantReferrer = columns.Scheme | columns.Host | columns.RegistrableDomain | columns.Path | columns.Query
)

// Acquirer makes the acquisition columns of batches. It belongs to one goroutine, and its columns are valid until it is used again.
type Acquirer struct {
	rules    *Rules
	suffixes *psl.List
	out      [NumColumns]columns.Text
	wanted   columnSet

	row    row
	keys   []byte // scratch: what a channel is remembered by,
	lower  []byte // and the values of its fields,
	ends   []int  // which lie in lower, and end there
	values [][]byte
	term   []byte // scratch of a search term

	seed     maphash.Seed
	hosts    []hostEntry
	channels []channelEntry
	direct   []byte // channel of visits without referrer and parameters, nil until it is found
}

// columnSet has a bit for each column.
type columnSet uint32

const (
	// visits are the columns that depend on more than the path.
	visits columnSet = 1<<PageTypeColumn - 1
	// tags are the columns that parameters alone set.
	tags columnSet = 1<<ClickID | 1<<Campaign | 1<<Term | 1<<Content | 1<<CampaignID
)

// row is what is known of a row. What stands in text and found for a column that is not in set is of a row before: clearing it would
// cost as much as all else of most rows.
type row struct {
	set    columnSet // the columns that are not null
	text   [NumColumns][]byte
	found  [numParamFields]*param
	class  class      // of the referrer
	from   *source    // the referrer, nil if no line has it
	origin class      // of the source
	host   []byte     // of the referrer, nil if it has none
	entry  *hostEntry // of host, nil if the referrer is internal, an app, or has a path that is a place of its own
}

// put sets a column, to null if text is nil.
func (r *row) put(c Column, text []byte) {
	if text != nil {
		r.text[c] = text
		r.set |= 1 << c
	}
}

// at returns a column, nil if it is null.
func (r *row) at(c Column) []byte {
	if r.set>>c&1 == 0 {
		return nil
	}
	return r.text[c]
}

// What was looked up is remembered by a hash, so often as there are slots, and replaced by what comes later. The seed is the
// process's own: nobody can choose two hosts that are taken for one.
type hostEntry struct {
	hash     uint64
	place    place
	internal bool
	channel  []byte // of a visit from there without parameters, nil until it is found
}

type channelEntry struct {
	hash uint64
	name []byte
}

const (
	cacheSlots  = 4096
	cacheMemory = cacheSlots * (88 + 32) // TestMemory fails where entries are larger
)

// NewAcquirer returns one that makes the wanted columns.
func NewAcquirer(wanted []Column) *Acquirer {
	a := &Acquirer{seed: maphash.MakeSeed()}
	for _, c := range wanted {
		a.wanted |= 1 << c
	}
	return a
}

// use forgets what was remembered by other rules or another list of suffixes.
func (a *Acquirer) use(rules *Rules, suffixes *psl.List) {
	if a.rules == rules && a.suffixes == suffixes {
		return
	}
	a.rules, a.suffixes, a.direct = rules, suffixes, nil
	a.hosts, a.channels = make([]hostEntry, cacheSlots), make([]channelEntry, cacheSlots)
	a.values = make([][]byte, numFields+len(rules.channels.params))
}

// Memory returns the bytes that the columns hold.
func (a *Acquirer) Memory() (n int) {
	for i := range a.out {
		t := &a.out[i]
		n += cap(t.Data) + 4*cap(t.Offsets) + cap(t.Valid)
	}
	return n
}

// Column returns a column that Fill has made. It is the Acquirer's, and is valid until the next Fill.
func (a *Acquirer) Column(c Column) *columns.Text { return &a.out[c] }

// Fill makes the columns of a batch: of the pages' URLs, and of the carried field of referrers with its URLs, both nil where there
// is none. The columns are null in a row without a URL. The error is [columns.ErrTooLarge].
func (a *Acquirer) Fill(rules *Rules, suffixes *psl.List, rows int, page *columns.Columns, field *pipeline.Values, referrer *columns.Columns) error {
	a.use(rules, suffixes)
	for c := range a.wanted.all() {
		reset(&a.out[c], rows)
	}
	for i := range rows {
		if a.wanted&visits == 0 || !page.Path.IsValid(i) {
			continue
		}
		a.refer(i, page, field, referrer)
		a.tag(i, page)
		a.merge()
		a.assign(i, page)
		for c := range (a.row.set & a.wanted).all() {
			if !put(&a.out[c], i, a.row.text[c]) {
				return columns.ErrTooLarge
			}
		}
	}
	if a.wanted>>PageTypeColumn&1 != 0 && !a.fillPageTypes(&page.Path, rows) || a.wanted>>PathTemplate&1 != 0 && !a.fillTemplates(&page.Path, rows) {
		return columns.ErrTooLarge
	}
	for c := range a.wanted.all() {
		skipTo(&a.out[c], rows)
	}
	return nil
}

// all yields the columns of a set.
func (s columnSet) all() iter.Seq[Column] {
	return func(yield func(Column) bool) {
		for ; s != 0; s &= s - 1 {
			if !yield(Column(bits.TrailingZeros32(uint32(s)))) {
				return
			}
		}
	}
}

// reset prepares a column for rows, all of which are null until put has a value of theirs.
func reset(t *columns.Text, rows int) {
	t.Data, t.Offsets, t.Nulls = t.Data[:0], append(slices.Grow(t.Offsets[:0], rows+1), 0), rows
	t.Valid = slices.Grow(t.Valid[:0], (rows+7)/8)[:(rows+7)/8]
	clear(t.Valid)
}

// skipTo makes the rows null that stand before row i and have no value. reset has made room for them.
func skipTo(t *columns.Text, i int) {
	at := len(t.Offsets)
	if at > i {
		return
	}
	end := int32(len(t.Data)) // put lets it grow no further
	t.Offsets = t.Offsets[:i+1]
	skipped := t.Offsets[at:]
	for k := range skipped {
		skipped[k] = end
	}
}

// put sets the value of row i, which stands behind all that have one, and reports whether there was room.
func put(t *columns.Text, i int, value []byte) bool {
	skipTo(t, i)
	t.Data = append(t.Data, value...)
	return end(t, i)
}

// end makes what stands behind the last offset the value of row i, and reports whether there was room.
func end(t *columns.Text, i int) bool {
	t.Offsets = append(t.Offsets, int32(len(t.Data)))
	t.Valid[i/8] |= 1 << (i % 8)
	t.Nulls--
	return len(t.Data) <= math.MaxInt32
}

func (a *Acquirer) fillPageTypes(paths *columns.Text, rows int) bool {
	for i := range rows {
		if !paths.IsValid(i) {
			continue
		}
		if name := firstPath(a.rules.pageTypes, paths.At(i)); name != nil && !put(&a.out[PageTypeColumn], i, name) {
			return false
		}
	}
	return true
}

func (a *Acquirer) fillTemplates(paths *columns.Text, rows int) bool {
	t := &a.out[PathTemplate]
	for i := range rows {
		if !paths.IsValid(i) {
			continue
		}
		skipTo(t, i)
		t.Data = a.appendTemplate(t.Data, paths.At(i))
		if !end(t, i) {
			return false
		}
	}
	return true
}

// firstPath returns the result of the first rule for a path, nil if there is none.
func firstPath(rules []pathRule, path []byte) []byte {
	for i := range rules {
		if rules[i].match(path) {
			return rules[i].result
		}
	}
	return nil
}

func (a *Acquirer) appendTemplate(dst, path []byte) []byte {
	start := len(dst)
	if own := firstPath(a.rules.templates, path); own != nil {
		dst = append(dst, own...)
	} else {
		dst = appendTemplate(dst, path)
	}
	if !a.rules.seen.has(dst[start:]) {
		dst = append(dst[:start], "{other}"...)
	}
	return dst
}

// refer finds what the referrer of row i is, and forgets the row before.
func (a *Acquirer) refer(i int, page *columns.Columns, field *pipeline.Values, referrer *columns.Columns) {
	r := &a.row
	r.set, r.class, r.from, r.host, r.entry = 0, none, nil, nil, nil
	if field != nil && field.Valid[i] && len(field.Text.At(i)) > 0 {
		r.class = other
		if referrer.Host.IsValid(i) {
			a.place(i, page, referrer)
		}
	}
	r.put(ReferrerClass, classTexts[r.class])
	if r.from != nil {
		r.put(ReferrerSource, r.from.name)
		if len(r.from.params) > 0 && referrer.Query.IsValid(i) {
			r.put(SearchTerm, a.searchTerm(r.from, referrer.Query.At(i)))
		}
	}
}

// place sets class and source by the host of the referrer of row i.
func (a *Acquirer) place(i int, page, referrer *columns.Columns) {
	r, host := &a.row, referrer.Host.At(i)
	r.host = host
	if scheme := referrer.Scheme.At(i); string(scheme) == "android-app" || string(scheme) == "ios-app" {
		r.class = app
		if r.from = a.rules.sources.apps[string(host)]; r.from != nil {
			r.class = r.from.class
		}
		return
	}
	mine, theirs := &page.RegistrableDomain, &referrer.RegistrableDomain
	if !mine.IsValid(i) {
		mine, theirs = &page.Host, &referrer.Host
	}
	if mine.IsValid(i) && bytes.Equal(mine.At(i), theirs.At(i)) {
		r.class = internal
		return
	}
	entry := a.lookup(host)
	if entry.internal {
		r.class = internal
		return
	}
	if len(entry.place.paths) == 0 {
		r.entry = entry
	}
	if r.from = entry.place.of(referrer.Path.At(i)); r.from != nil {
		r.class = r.from.class
	}
}

func (a *Acquirer) lookup(host []byte) *hostEntry {
	hash := maphash.Bytes(a.seed, host)
	entry := &a.hosts[hash%cacheSlots]
	if entry.hash == hash {
		return entry
	}
	*entry = hostEntry{hash: hash, place: a.rules.sources.find(host, a.suffixes)}
	for rest := host; len(rest) > 0 && !entry.internal; {
		entry.internal = a.rules.internal[string(rest)]
		_, rest, _ = bytes.Cut(rest, dot)
	}
	return entry
}

// searchTerm returns the term in a query, nil if there is none. It lies in scratch memory until the next row.
func (a *Acquirer) searchTerm(s *source, query []byte) []byte {
	for _, param := range s.params {
		for name, value, rest, ok := form.Next(query); ok; name, value, rest, ok = form.Next(rest) {
			if string(name) != param || len(value) == 0 {
				continue
			}
			a.term = form.AppendDecodeBytes(a.term[:0], value)
			if utf8.Valid(a.term) {
				return a.term
			}
			end, encoding := len(a.term), s.encoding
			if encoding == nil {
				encoding = charset.UTF8
			}
			a.term = encoding.AppendDecode(a.term, a.term[:end:end])
			return a.term[end:]
		}
	}
	return nil
}

// tag finds the parameters of row i that lists have.
func (a *Acquirer) tag(i int, page *columns.Columns) {
	r, p := &a.row, &page.Params
	for e := int(p.Offsets[i]); e < int(p.Offsets[i+1]); e++ {
		entry := a.rules.params.find(p.Keys.At(e))
		if entry == nil {
			continue
		}
		column := paramColumns[entry.field]
		if r.set>>column&1 != 0 && r.found[entry.field].rank <= entry.rank {
			continue
		}
		if value := p.Values.At(e); len(value) > 0 {
			r.found[entry.field] = entry
			r.put(column, value)
		}
	}
}

// paramColumns are the columns of the fields of parameters.
var paramColumns = [numParamFields]Column{Source, Medium, Campaign, Term, Content, CampaignID, ClickID}

// merge takes source and medium from the first that has either: the parameters of a campaign, a click id that is paid for, the
// referrer. A visit that goes on has none.
func (a *Acquirer) merge() {
	r := &a.row
	var click *param
	if r.set>>ClickID&1 != 0 {
		click = r.found[fieldClick]
		r.put(ClickNetwork, click.network)
	}
	r.origin = unknownOrigin
	switch {
	case r.set&(1<<Source|1<<Medium) != 0:
	case click != nil && click.source != nil:
		r.put(Source, click.source)
		r.put(Medium, click.medium)
	case r.class == none:
		r.come(direct, noMedium)
	case r.class == search:
		r.come(r.from.tag, organic)
	case r.class != internal && r.host != nil:
		r.come(bytes.TrimPrefix(r.host, www), referral)
	}
}

// come sets source and medium to those of the referrer.
func (r *row) come(source, medium []byte) {
	r.put(Source, source)
	r.put(Medium, medium)
	r.origin = r.class
}

// assign sets the channel of row i, null for a visit that goes on. Without parameters it depends on the referrer alone, unless a rule
// looks at the page, and is remembered beside the host.
func (a *Acquirer) assign(i int, page *columns.Columns) {
	r := &a.row
	if a.wanted>>Channel&1 == 0 || r.set&(1<<Source|1<<Medium) == 0 {
		return
	}
	var known *[]byte
	if r.origin != unknownOrigin && r.set&tags == 0 && !a.rules.channels.byPage {
		switch {
		case r.class == none:
			known = &a.direct
		case r.entry != nil:
			known = &r.entry.channel
		}
	}
	switch {
	case known == nil:
		r.put(Channel, a.findChannel(i, page))
		return
	case *known == nil:
		*known = a.findChannel(i, page)
	}
	r.put(Channel, *known)
}

// findChannel returns the channel of row i by all that rules look at.
func (a *Acquirer) findChannel(i int, page *columns.Columns) []byte {
	r, rules := &a.row, a.rules.channels
	a.keys = append(a.keys[:0], byte(r.class), byte(r.origin))
	for _, field := range rules.fields {
		value := a.value(field, i, page)
		a.values[field] = value
		if field == fieldSourceClass && rules.bySource {
			continue // the source is among the keys, of which it is the class
		}
		if value == nil {
			a.keys = append(a.keys, 0xFE) // as 0xFF in no UTF-8
		}
		a.keys = append(append(a.keys, value...), 0xFF)
	}
	hash := maphash.Bytes(a.seed, a.keys)
	entry := &a.channels[hash%cacheSlots]
	if entry.hash != hash {
		*entry = channelEntry{hash, a.channel()}
	}
	return entry.name
}

// value returns the value that a rule's field has in row i, nil if it has none.
func (a *Acquirer) value(field, i int, page *columns.Columns) []byte {
	r := &a.row
	switch {
	case field < fieldClick:
		return r.at(paramColumns[field])
	case field == fieldReferrerClass:
		return r.at(ReferrerClass)
	case field == fieldReferrerSource:
		return r.at(ReferrerSource)
	case field == fieldClickNetwork:
		return r.at(ClickNetwork)
	case field == fieldSourceClass:
		return r.at(Source) // of which channel finds the class
	case field == fieldDomain:
		if page.RegistrableDomain.IsValid(i) {
			return page.RegistrableDomain.At(i)
		}
		return page.Host.At(i)
	}
	p, name := &page.Params, a.rules.channels.params[field-numFields]
	for e := int(p.Offsets[i]); e < int(p.Offsets[i+1]); e++ {
		if string(p.Keys.At(e)) == name {
			return p.Values.At(e)
		}
	}
	return nil
}

// channel returns the channel for values.
func (a *Acquirer) channel() []byte {
	a.lower = a.lower[:0]
	for _, field := range a.rules.channels.fields {
		start := len(a.lower)
		a.lower = appendLower(a.lower, a.values[field])
		switch {
		case field == fieldSourceClass:
			class := a.row.origin
			if class == unknownOrigin {
				class = a.rules.sources.classOf(a.lower[start:], a.suffixes)
			}
			a.lower = append(a.lower[:start], classNames[class]...)
		case a.values[field] == nil:
			a.lower = append(a.lower, notSet...)
		}
		a.ends = append(a.ends, len(a.lower))
	}
	start := 0
	for k, field := range a.rules.channels.fields {
		a.values[field] = a.lower[start:a.ends[k]]
		start = a.ends[k]
	}
	a.ends = a.ends[:0]
	if name := a.rules.channels.find(a.values); name != nil {
		return name
	}
	return unassigned
}

var (
	direct, noMedium = []byte("(direct)"), []byte("(none)")
	organic          = []byte("organic")
	referral         = []byte("referral")
	unassigned       = []byte("Unassigned")
	www, dot         = []byte("www."), []byte(".")
)

// unknownOrigin is the class of a source that is yet to be looked up.
const unknownOrigin class = 0xFF

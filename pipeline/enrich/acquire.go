package enrich

import (
	"bytes"
	"hash/maphash"
	"math"
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
	wanted   []Column

	row    row
	keys   []byte // scratch: what a channel is remembered by,
	lower  []byte // and the values of its fields,
	ends   []int  // which lie in lower, and end there
	values [][]byte
	term   []byte // scratch of a search term

	seed     maphash.Seed
	hosts    []hostEntry
	channels []channelEntry
}

// row is what is known of a row. Its texts are nil for a null.
type row struct {
	text   [NumColumns][]byte
	class  class   // of the referrer
	from   *source // the referrer, nil if no line has it
	origin class   // of the source
	host   []byte  // of the referrer, nil if it has none
	found  [numParamFields]*param
}

// What was looked up is remembered by a hash, so often as there are slots, and replaced by what comes later. The seed is the
// process's own: nobody can choose two hosts that are taken for one.
type hostEntry struct {
	hash     uint64
	place    place
	internal bool
}

type channelEntry struct {
	hash uint64
	name []byte
}

const (
	cacheSlots  = 4096
	cacheMemory = cacheSlots * (64 + 24)
)

// NewAcquirer returns one that makes the wanted columns.
func NewAcquirer(wanted []Column) *Acquirer {
	return &Acquirer{wanted: wanted, seed: maphash.MakeSeed()}
}

// use forgets what was remembered by other rules or another list of suffixes.
func (a *Acquirer) use(rules *Rules, suffixes *psl.List) {
	if a.rules == rules && a.suffixes == suffixes {
		return
	}
	a.rules, a.suffixes = rules, suffixes
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
	for _, c := range a.wanted {
		t := &a.out[c]
		t.Data, t.Offsets, t.Nulls = t.Data[:0], append(t.Offsets[:0], 0), 0
		t.Valid = slices.Grow(t.Valid[:0], (rows+7)/8)[:(rows+7)/8]
		clear(t.Valid)
	}
	template, pageType := slices.Contains(a.wanted, PathTemplate), slices.Contains(a.wanted, PageTypeColumn)
	for i := range rows {
		r := &a.row
		*r = row{}
		if page.Path.IsValid(i) {
			a.refer(i, page, field, referrer)
			a.tag(i, page)
			a.merge()
			a.assign(i, page)
			if pageType {
				r.text[PageTypeColumn] = firstPath(rules.pageTypes, page.Path.At(i))
			}
		}
		for _, c := range a.wanted {
			t := &a.out[c]
			switch {
			case c == PathTemplate && template && page.Path.IsValid(i):
				t.Data = a.appendTemplate(t.Data, page.Path.At(i))
				t.Valid[i/8] |= 1 << (i % 8)
			case r.text[c] != nil:
				t.Data = append(t.Data, r.text[c]...)
				t.Valid[i/8] |= 1 << (i % 8)
			default:
				t.Nulls++
			}
			if len(t.Data) > math.MaxInt32 {
				return columns.ErrTooLarge
			}
			t.Offsets = append(t.Offsets, int32(len(t.Data)))
		}
	}
	return nil
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

// refer finds what the referrer of row i is.
func (a *Acquirer) refer(i int, page *columns.Columns, field *pipeline.Values, referrer *columns.Columns) {
	r := &a.row
	if field != nil && field.Valid[i] && len(field.Text.At(i)) > 0 {
		r.class = other
		if referrer.Host.IsValid(i) {
			a.place(i, page, referrer)
		}
	}
	r.text[ReferrerClass] = classTexts[r.class]
	if r.from != nil {
		r.text[ReferrerSource] = r.from.name
		if len(r.from.params) > 0 && referrer.Query.IsValid(i) {
			r.text[SearchTerm] = a.searchTerm(r.from, referrer.Query.At(i))
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
	entry := a.lookup(host)
	mine, theirs := &page.RegistrableDomain, &referrer.RegistrableDomain
	if !mine.IsValid(i) {
		mine, theirs = &page.Host, &referrer.Host
	}
	if entry.internal || mine.IsValid(i) && bytes.Equal(mine.At(i), theirs.At(i)) {
		r.class = internal
		return
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
		if had := r.found[entry.field]; had != nil && had.rank <= entry.rank {
			continue
		}
		if value := p.Values.At(e); len(value) > 0 {
			r.found[entry.field] = entry
			r.text[paramColumns[entry.field]] = value
		}
	}
}

// paramColumns are the columns of the fields of parameters.
var paramColumns = [numParamFields]Column{Source, Medium, Campaign, Term, Content, CampaignID, ClickID}

// merge takes source and medium from the first that has either: the parameters of a campaign, a click id that is paid for, the
// referrer. A visit that goes on has none.
func (a *Acquirer) merge() {
	r := &a.row
	click := r.found[fieldClick]
	if click != nil {
		r.text[ClickNetwork] = click.network
	}
	r.origin = unknownOrigin
	switch {
	case r.text[Source] != nil || r.text[Medium] != nil:
	case click != nil && click.source != nil:
		r.text[Source], r.text[Medium] = click.source, click.medium
	case r.class == none:
		r.text[Source], r.text[Medium], r.origin = direct, noMedium, none
	case r.class == search:
		r.text[Source], r.text[Medium], r.origin = r.from.tag, organic, search
	case r.class != internal && r.host != nil:
		r.text[Source], r.text[Medium], r.origin = bytes.TrimPrefix(r.host, www), referral, r.class
	}
}

// assign sets the channel of row i, null for a visit that goes on.
func (a *Acquirer) assign(i int, page *columns.Columns) {
	r, rules := &a.row, a.rules.channels
	if r.text[Source] == nil && r.text[Medium] == nil {
		return
	}
	a.keys = append(a.keys[:0], byte(r.class), byte(r.origin))
	for _, field := range rules.fields {
		value := a.value(field, i, page)
		a.values[field] = value
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
	r.text[Channel] = entry.name
}

// value returns the value that a rule's field has in row i, nil if it has none.
func (a *Acquirer) value(field, i int, page *columns.Columns) []byte {
	r := &a.row
	switch {
	case field < fieldClick:
		return r.text[paramColumns[field]]
	case field == fieldReferrerClass:
		return r.text[ReferrerClass]
	case field == fieldReferrerSource:
		return r.text[ReferrerSource]
	case field == fieldClickNetwork:
		return r.text[ClickNetwork]
	case field == fieldSourceClass:
		return r.text[Source] // of which channel finds the class
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

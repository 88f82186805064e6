package enrich

import (
	"hash/maphash"
	"slices"
	"unsafe"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/enrich/address"
	"github.com/urlmill/urlmill/pipeline/enrich/agents"
	"github.com/urlmill/urlmill/urlcore/columns"
)

// ClientColumn is one of the columns of the client.
type ClientColumn int

// The columns, in their order: those of the user agent, of the address, and of both.
const (
	UABrowser ClientColumn = iota
	UABrowserVersion
	UAOS
	UAOSVersion
	UADeviceClass
	UADevice
	Bot
	BotName
	BotVerified
	GeoCountry
	GeoRegion
	GeoCity
	GeoLat
	GeoLon
	ASN
	ASOrg
	EnrichError
	NumClientColumns
)

// maxUserAgent is how long a user agent may be.
const maxUserAgent = 2048

// The errors of a row, the first of which counts.
var (
	agentMissing     = []byte("user-agent-missing")
	agentMalformed   = []byte("user-agent-malformed")
	hintsMalformed   = []byte("client-hints-malformed")
	addressMissing   = []byte("address-missing")
	addressMalformed = []byte("address-malformed")
)

// Number is a column of one kind of numbers.
type Number struct {
	columns.Validity
	Ints   []int64   // of [ASN]
	Floats []float64 // of [GeoLat] and [GeoLon]
	Bits   []byte    // of [BotVerified]
}

// Describer makes the columns of clients of batches. It belongs to one goroutine, and its columns are valid until it is used again.
type Describer struct {
	wanted  uint32 // a bit for each column
	texts   [NumClientColumns]columns.Text
	numbers [NumClientColumns]Number
	scanner agents.Scanner
	full    bool // a text has become too large

	clients *Clients // that known is of
	seed    maphash.Seed
	known   []knownAddress
	hinted  []hintedAgent
	key     []byte // of hinted
}

// hintedAgent is what a user agent is by its text and its Client Hints, remembered by a seeded hash of all of them.
type hintedAgent struct {
	hash  uint64
	known bool
	agent *agents.Agent // nil for a malformed text
	fault []byte
}

// knownAddress is the place of an address, which is remembered by a seeded hash of its text, as in [agents.Cache].
type knownAddress struct {
	hash  uint64
	wrong []byte
	place *address.Place
}

// nowhere is the place of an address that is none.
var nowhere = new(address.Place)

const (
	knownSlots  = 1 << 14
	knownMemory = knownSlots * int64(unsafe.Sizeof(knownAddress{}))

	hintedSlots = 1024
	// Of an agent, the texts are shared with the cache but for what the hints say.
	hintedMemory = hintedSlots * (int64(unsafe.Sizeof(hintedAgent{})+unsafe.Sizeof(agents.Agent{})) + agents.MaxHints/4)
)

// NewDescriber returns one that makes the wanted columns.
func NewDescriber(wanted []ClientColumn) *Describer {
	d := &Describer{seed: maphash.MakeSeed()}
	for _, c := range wanted {
		d.wanted |= 1 << c
	}
	return d
}

// Text returns a column of texts that Fill has made, which is the Describer's.
func (d *Describer) Text(c ClientColumn) *columns.Text { return &d.texts[c] }

// Number returns one of numbers.
func (d *Describer) Number(c ClientColumn) *Number { return &d.numbers[c] }

// Memory returns the bytes that the columns hold.
func (d *Describer) Memory() (n int) {
	for c := range NumClientColumns {
		t, v := &d.texts[c], &d.numbers[c]
		n += cap(t.Data) + 4*cap(t.Offsets) + cap(t.Valid) + cap(v.Valid) + 8*(cap(v.Ints)+cap(v.Floats)) + cap(v.Bits)
	}
	return n
}

// IsNumber reports whether a column is none of texts.
func (c ClientColumn) IsNumber() bool {
	return c == BotVerified || c == GeoLat || c == GeoLon || c == ASN
}

// Fields are the carried fields that the columns are made of, nil where there is none.
type Fields struct {
	UserAgent  *pipeline.Values
	Hints      *[agents.NumHints]*pipeline.Values // nil where there is none at all
	BotAddress *pipeline.Values                   // for [BotVerified]
	Address    *pipeline.Values
}

// Fill makes the columns of a batch. The error is [columns.ErrTooLarge].
func (d *Describer) Fill(clients *Clients, rows int, f Fields) error {
	d.full = false
	if d.clients != clients {
		d.clients, d.known = clients, zeros(d.known, knownSlots)
		if f.Hints != nil {
			d.hinted = zeros(d.hinted, hintedSlots)
		}
	}
	for c := range NumClientColumns {
		switch {
		case !d.wants(c):
		case c.IsNumber():
			d.numbers[c].reset(c, rows)
		default:
			reset(&d.texts[c], rows)
		}
	}
	for i := range rows {
		var fault []byte
		if clients.agents != nil && f.UserAgent != nil {
			fault = d.agent(&f, i)
		}
		if clients.places != nil && f.Address != nil {
			if wrong := d.setPlace(f.Address, i); fault == nil {
				fault = wrong
			}
		}
		d.put(EnrichError, i, fault)
	}
	for c := range NumClientColumns {
		if d.wants(c) && !c.IsNumber() {
			skipTo(&d.texts[c], rows)
		}
	}
	if d.full {
		return columns.ErrTooLarge
	}
	return nil
}

func (d *Describer) wants(c ClientColumn) bool { return d.wanted>>c&1 != 0 }

// missing reports whether row i has no value, or a dash, which logs have for none.
func missing(field *pipeline.Values, i int) bool {
	if !field.Valid[i] {
		return true
	}
	text := field.Text.At(i)
	return len(text) == 0 || len(text) == 1 && text[0] == '-'
}

// agent sets the columns of the user agent of row i, or returns what is wrong with it.
func (d *Describer) agent(f *Fields, i int) (fault []byte) {
	var text []byte
	hints := f.Hints != nil && d.takeHints(f.Hints, i)
	if !missing(f.UserAgent, i) {
		text = f.UserAgent.Text.At(i)
	} else if fault = agentMissing; !hints {
		return fault
	}
	if len(text) > maxUserAgent {
		return agentMalformed
	}
	var a *agents.Agent
	if hints {
		var wrong []byte
		if a, wrong = d.refined(f.Hints, text, i); fault == nil {
			fault = wrong
		}
	} else {
		a = d.clients.agents.Find(&d.scanner, text)
	}
	if a == nil {
		return agentMalformed
	}
	d.putText(UABrowser, i, a.Browser)
	d.putText(UABrowserVersion, i, a.BrowserVersion)
	d.putText(UAOS, i, a.OS)
	d.putText(UAOSVersion, i, a.OSVersion)
	d.putText(UADeviceClass, i, a.DeviceClass)
	d.putText(UADevice, i, a.Device)
	if a.Bot == "" {
		return fault
	}
	d.putText(Bot, i, a.Bot)
	d.putText(BotName, i, a.BotName)
	ranges := d.clients.ranges[a.BotName]
	if ranges == nil || !d.wants(BotVerified) || f.BotAddress == nil || missing(f.BotAddress, i) {
		return fault
	}
	if addr, ok := address.Parse(f.BotAddress.Text.At(i)); ok {
		n := &d.numbers[BotVerified]
		if n.valid(i); ranges.Has(addr) {
			n.Bits[i/8] |= 1 << (i % 8)
		}
	}
	return fault
}

// takeHints reports whether row i has a Client Hint, and puts what hints are remembered by into d.key.
func (d *Describer) takeHints(fields *[agents.NumHints]*pipeline.Values, i int) (some bool) {
	d.key = d.key[:0]
	for _, field := range fields {
		var hint []byte
		if field != nil && !missing(field, i) {
			some, hint = true, field.Text.At(i)
		}
		d.key = append(d.key, byte(len(hint)), byte(len(hint)>>8)) // so that no two records with other hints have the same key
		if d.key = append(d.key, hint[:min(len(hint), agents.MaxHints+1)]...); len(d.key) > agents.MaxHints {
			return true
		}
	}
	return some
}

// refined returns what the user agent of row i is by its text and its hints, and what is wrong with those.
func (d *Describer) refined(fields *[agents.NumHints]*pipeline.Values, text []byte, i int) (*agents.Agent, []byte) {
	if len(d.key) > agents.MaxHints {
		return d.clients.agents.Find(&d.scanner, text), hintsMalformed
	}
	d.key = append(d.key, text...)
	hash := maphash.Bytes(d.seed, d.key)
	known := &d.hinted[hash%hintedSlots]
	if !known.known || known.hash != hash {
		var hints agents.Hints
		for k, field := range fields {
			if field != nil && !missing(field, i) {
				hints[k] = field.Text.At(i)
			}
		}
		a, ok := d.clients.agents.Refine(&d.scanner, text, &hints)
		*known = hintedAgent{hash: hash, known: true, agent: a}
		if !ok {
			known.fault = hintsMalformed
		}
	}
	return known.agent, known.fault
}

// setPlace sets the columns of the address of row i, or returns what is wrong with it.
func (d *Describer) setPlace(field *pipeline.Values, i int) []byte {
	if missing(field, i) {
		return addressMissing
	}
	text := field.Text.At(i)
	hash := maphash.Bytes(d.seed, text)
	known := &d.known[hash%knownSlots]
	if known.hash != hash || known.place == nil {
		*known = knownAddress{hash, nil, nowhere}
		if addr, ok := address.Parse(text); ok {
			known.place = d.clients.places.Find(addr)
		} else {
			known.wrong = addressMalformed
		}
	}
	p := known.place
	d.putText(GeoCountry, i, p.Country)
	d.putText(GeoRegion, i, p.Region)
	d.putText(GeoCity, i, p.City)
	d.putText(ASOrg, i, p.Org)
	if p.HasPoint {
		d.putFloat(GeoLat, i, p.Lat)
		d.putFloat(GeoLon, i, p.Lon)
	}
	if p.ASN != 0 && d.wants(ASN) {
		n := &d.numbers[ASN]
		n.Ints[i] = p.ASN
		n.valid(i)
	}
	return known.wrong
}

func (d *Describer) putFloat(c ClientColumn, i int, value float64) {
	if d.wants(c) {
		n := &d.numbers[c]
		n.Floats[i] = value
		n.valid(i)
	}
}

// putText sets a text of row i, null if it is empty.
func (d *Describer) putText(c ClientColumn, i int, text string) {
	if text == "" || !d.wants(c) {
		return
	}
	t := &d.texts[c]
	skipTo(t, i)
	t.Data = append(t.Data, text...)
	d.full = !end(t, i) || d.full
}

func (d *Describer) put(c ClientColumn, i int, text []byte) {
	if len(text) > 0 && d.wants(c) {
		d.full = !put(&d.texts[c], i, text) || d.full
	}
}

// reset prepares a column for rows, all of which are null.
func (n *Number) reset(c ClientColumn, rows int) {
	n.Nulls = rows
	n.Valid = zeros(n.Valid, (rows+7)/8)
	switch c {
	case BotVerified:
		n.Bits = zeros(n.Bits, (rows+7)/8)
	case ASN:
		n.Ints = zeros(n.Ints, rows)
	default:
		n.Floats = zeros(n.Floats, rows)
	}
}

// zeros returns n zeros, in the memory of s if they fit.
func zeros[E any](s []E, n int) []E {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// valid says that row i is not null.
func (n *Number) valid(i int) {
	n.Valid[i/8] |= 1 << (i % 8)
	n.Nulls--
}

package enrich

import (
	"hash/maphash"
	"net/netip"
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
	BotAddress *pipeline.Values // for [BotVerified]
	Address    *pipeline.Values
}

// Fill makes the columns of a batch. The error is [columns.ErrTooLarge].
func (d *Describer) Fill(clients *Clients, rows int, f Fields) error {
	d.full = false
	if d.clients != clients {
		d.clients, d.known = clients, zeros(d.known, knownSlots)
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
			fault = d.agent(clients, f.UserAgent, f.BotAddress, i)
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

// addressOf returns the address of row i, or what is wrong with it.
func addressOf(field *pipeline.Values, i int) (netip.Addr, []byte) {
	if field == nil || missing(field, i) {
		return netip.Addr{}, addressMissing
	}
	addr, ok := address.Parse(field.Text.At(i))
	if !ok {
		return netip.Addr{}, addressMalformed
	}
	return addr, nil
}

// missing reports whether row i has no value, or a dash, which logs have for none.
func missing(field *pipeline.Values, i int) bool {
	if !field.Valid[i] {
		return true
	}
	text := field.Text.At(i)
	return len(text) == 0 || len(text) == 1 && text[0] == '-'
}

// agent sets the columns of the user agent of row i, or returns what is wrong with it.
func (d *Describer) agent(clients *Clients, field, addresses *pipeline.Values, i int) []byte {
	if missing(field, i) {
		return agentMissing
	}
	text := field.Text.At(i)
	if len(text) > maxUserAgent {
		return agentMalformed
	}
	a := clients.agents.Find(&d.scanner, text)
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
		return nil
	}
	d.putText(Bot, i, a.Bot)
	d.putText(BotName, i, a.BotName)
	ranges := clients.ranges[a.BotName]
	if ranges == nil || !d.wants(BotVerified) {
		return nil
	}
	if addr, wrong := addressOf(addresses, i); wrong == nil {
		n := &d.numbers[BotVerified]
		if n.valid(i); ranges.Has(addr) {
			n.Bits[i/8] |= 1 << (i % 8)
		}
	}
	return nil
}

// setPlace sets the columns of the address of row i, or returns what is wrong with it.
func (d *Describer) setPlace(field *pipeline.Values, i int) []byte {
	if missing(field, i) {
		return addressMissing
	}
	hash := maphash.Bytes(d.seed, field.Text.At(i))
	known := &d.known[hash%knownSlots]
	if known.hash != hash || known.place == nil {
		addr, wrong := addressOf(field, i)
		*known = knownAddress{hash, wrong, nowhere}
		if wrong == nil {
			known.place = d.clients.places.Find(addr)
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

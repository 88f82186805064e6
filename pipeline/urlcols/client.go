package urlcols

import (
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/enrich"
	"github.com/urlmill/urlmill/pipeline/enrich/agents"
)

// clientColumn is one of the columns of the client.
type clientColumn struct {
	name, comment string
	typ           arrow.DataType
}

// clientNames are the columns of the client, in the order of [enrich.ClientColumn].
var clientNames = [enrich.NumClientColumns]clientColumn{
	{"ua_browser", "the browser, by uap-core; null where it knows none", utf8Type},
	{"ua_browser_version", "its version, as far as it is said", utf8Type},
	{"ua_os", "the operating system; null where uap-core knows none", utf8Type},
	{"ua_os_version", "its version, as far as it is said", utf8Type},
	{"ua_device_class", "desktop, mobile, tablet, tv, console, wearable or bot; null where it is not known", utf8Type},
	{"ua_device", "the device, such as iPhone or Samsung SM-G991B; null where uap-core knows none", utf8Type},
	{"bot", "what the bot is for: search, ai_training, ai_assistant, ai_search, preview, monitor, seo, tool or unknown; null for others", utf8Type},
	{"bot_name", "the bot's name; null where bot is, or none is known", utf8Type},
	{"bot_verified", "whether the address is one of the bot's published ranges; null for bots without ranges, and without a bot or an address", boolType},
	{"geo_country", "country of the address, ISO 3166-1 in two letters; null where the files do not say it", utf8Type},
	{"geo_region", "region of the address, ISO 3166-2 without the country where the file has it, or else its name", utf8Type},
	{"geo_city", "city of the address, in English", utf8Type},
	{"geo_lat", "latitude of the place, in degrees", arrow.PrimitiveTypes.Float64},
	{"geo_lon", "longitude of the place, in degrees", arrow.PrimitiveTypes.Float64},
	{"asn", "number of the autonomous system that the address is in", int64Type},
	{"as_org", "who has the autonomous system", utf8Type},
	{"enrich_error", "why columns of the user agent or the address are null: user-agent-missing, user-agent-malformed, client-hints-malformed, address-missing or address-malformed", utf8Type},
}

// clientFields are indices of Options.Carried, counted from 1; 0 where there is no such field.
type clientFields struct {
	userAgent, botAddress, address int
	hints                          [agents.NumHints]int
}

// clientColumns lists the columns of opts.UserAgent and opts.Address.
func clientColumns(opts Options) (cols []column) {
	for id, named := range clientNames {
		id := enrich.ClientColumn(id)
		if id <= enrich.BotVerified && opts.UserAgent == nil || id > enrich.BotVerified && id < enrich.EnrichError && opts.Address == nil {
			continue
		}
		c := column{name: named.name, typ: named.typ, nullable: true, comment: named.comment, client: id, described: true}
		c.build = func(s *state) *array.Data { return s.clientColumn(id, named.typ) }
		cols = append(cols, c)
	}
	return cols
}

// findClient finds the carried fields of the user agent and the address.
func (o *Options) findClient() (errs []error) {
	find := func(option, named string, usual []string, at *int) error {
		names := usual
		if named != "" {
			names = []string{named}
		}
		for _, name := range names {
			is := func(f pipeline.Field) bool { return f.Name == name && f.Type == pipeline.String }
			if *at = 1 + slices.IndexFunc(o.Carried, is); *at > 0 {
				return nil
			}
		}
		if named == "" {
			named = usual[0]
		}
		return notCarried(option, named)
	}
	if u := o.UserAgent; u != nil {
		errs = append(errs, find("user_agent", u.Field, enrich.UserAgentFields, &o.clientFields.userAgent), o.findHints(u))
		err := find("user_agent.address", u.Address, enrich.AddressFields, &o.clientFields.botAddress)
		if err != nil && (u.Address != "" || len(u.BotRanges) > 0) {
			errs = append(errs, err)
		}
	}
	if a := o.Address; a != nil {
		errs = append(errs, find("address", a.Field, enrich.AddressFields, &o.clientFields.address))
	}
	return errs
}

// findHints finds the carried fields of Client Hints.
func (o *Options) findHints(u *enrich.UserAgent) error {
	names := enrich.HintFields
	if u.Hints != "" {
		names = []string{u.Hints}
	}
	found := false
	for k, behind := range agents.HintNames {
		for _, name := range names {
			is := func(f pipeline.Field) bool { return f.Name == name+behind && f.Type == pipeline.String }
			if at := 1 + slices.IndexFunc(o.Carried, is); at > 0 {
				o.clientFields.hints[k], found = at, true
				break
			}
		}
	}
	if u.Hints != "" && !found {
		return &OptionError{"user_agent.hints", u.Hints, "no text is carried along from the record whose name is this, or this with _platform or the name of another hint behind it", true}
	}
	return nil
}

// initDescriber prepares a state for the columns of the client that the plan has.
func (s *state) initDescriber() {
	var wanted []enrich.ClientColumn
	for _, c := range s.plan.columns {
		if c.described {
			wanted = append(wanted, c.client)
		}
	}
	if wanted != nil {
		s.derived.describer = enrich.NewDescriber(wanted)
	}
}

// describedBy returns the columns of the client of this record.
func (s *state) describedBy() *enrich.Describer {
	d := &s.derived
	if d.describedReady {
		return d.describer
	}
	d.describedReady = true
	carried := func(at int) *pipeline.Values {
		if at == 0 {
			return nil
		}
		return &s.batch.Carried[at-1]
	}
	f := s.plan.opts.clientFields
	fields := enrich.Fields{UserAgent: carried(f.userAgent), BotAddress: carried(f.botAddress), Address: carried(f.address)}
	if f.hints != [agents.NumHints]int{} {
		fields.Hints = &d.hints
		for k, at := range f.hints {
			d.hints[k] = carried(at)
		}
	}
	if err := d.describer.Fill(s.lists.clients, s.batch.Len(), fields); err != nil {
		s.fault = err
	}
	return d.describer
}

func (s *state) clientColumn(id enrich.ClientColumn, typ arrow.DataType) *array.Data {
	d := s.describedBy()
	if !id.IsNumber() {
		return s.text(d.Text(id))
	}
	n := d.Number(id)
	values := n.Bits
	switch id {
	case enrich.ASN:
		return s.data(typ, s.batch.Len(), n.Nulls, s.validBuffer(&n.Validity), s.ints64(n.Ints))
	case enrich.GeoLat, enrich.GeoLon:
		values = arrow.Float64Traits.CastToBytes(n.Floats)
	}
	return s.data(typ, s.batch.Len(), n.Nulls, s.validBuffer(&n.Validity), s.buffer(values))
}

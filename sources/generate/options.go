package generate

import (
	"cmp"
	"time"

	"github.com/urlmill/urlmill/pipeline"
)

// Format is how a record is written.
type Format string

const (
	// NDJSON records are clicks: ts (RFC 3339), user_id (integer), session, url, referer (null for none),
	// status (integer) and country.
	NDJSON Format = "ndjson"
	// Lines are URLs and nothing else.
	Lines Format = "lines"
)

// Profile is what kind of collection the URLs are like.
type Profile string

const (
	// Clickstream is what a web analytics pipeline receives.
	Clickstream Profile = "clickstream"
	// Crawl is what the frontier of a crawler holds.
	Crawl Profile = "crawl"
)

const (
	// DefaultFormat is the format of records of which none is said.
	DefaultFormat = NDJSON
	// DefaultProfile is the profile of which none is said.
	DefaultProfile = Clickstream
	// DefaultCrawlRepeats is the share of repeats in the crawl profile.
	DefaultCrawlRepeats = 0.1
	// maxRepeats leaves enough records that may be repeated.
	maxRepeats = 0.9
	// DefaultRepeatsWithin is how many records back those are that are repeated.
	DefaultRepeatsWithin = 1 << 17
	// maxRepeatsWithin is what random numbers have the bits for.
	maxRepeatsWithin = 1 << 32
	// maxLanes bounds Options.Lanes.
	maxLanes = 1 << 16
)

// DefaultStart is the time of the first record.
var DefaultStart = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// Options configures a generator. The same options give the same records, byte by byte; record n is the same
// whatever the number of lanes.
type Options struct {
	// Records is how many records there are in all lanes together, 0 for no end.
	Records int64
	// Seed makes the data another one.
	Seed uint64
	// Lanes is how many lanes the source has, 1 by default. Lane i of n has every n-th record from the i-th
	// on.
	Lanes int
	// Rate is how many records the source hands out a second, in all lanes together; 0 for as many as it
	// can.
	Rate float64
	// Format is DefaultFormat by default.
	Format Format
	// Profile is DefaultProfile by default.
	Profile Profile
	// Mix changes the shares of classes, from 0 to 1, by their names. What all classes leave is ordinary
	// pages.
	Mix map[string]float64
	// Repeats is the share of records that repeat the page of an earlier one, DefaultCrawlRepeats by
	// default in the crawl profile and 0 in the other; negative for none. It is at most 0.9.
	Repeats float64
	// RepeatsWithin is how many records back those are that are repeated, at most: DefaultRepeatsWithin by default, and
	// 2^32 as the largest.
	RepeatsWithin int64
	// Visits adds user_agent to NDJSON records, the same in a session, and draws referrers from a longer list. All else stays the same.
	Visits bool
	// Start is the time of the first record, DefaultStart by default. They come a millisecond apart.
	Start time.Time
}

// Validate returns every problem of o, joined, each a [*pipeline.FieldError].
func (o Options) Validate() error {
	o = o.withDefaults()
	var p pipeline.Problems
	_, err := mixOf(o)
	p.Join(err)
	if o.Records < 0 {
		p.Value("records", o.Records, "is negative").Advise("leave it out for records without end")
	}
	if o.Lanes < 0 || o.Lanes > maxLanes {
		p.Value("lanes", o.Lanes, "is not between 1 and %d", maxLanes)
	}
	if !(o.Rate >= 0) {
		p.Value("rate", o.Rate, "is negative").Advise("leave it out for no limit")
	}
	if o.Format != NDJSON && o.Format != Lines {
		p.Value("format", o.Format, "is neither %s nor %s", NDJSON, Lines)
	}
	if o.Profile != Clickstream && o.Profile != Crawl {
		p.Value("profile", o.Profile, "is neither %s nor %s", Clickstream, Crawl)
	}
	if !(o.Repeats <= maxRepeats) {
		p.Value("repeats", o.Repeats, "is more than %v", maxRepeats)
	}
	if o.RepeatsWithin < 0 || o.RepeatsWithin > maxRepeatsWithin {
		p.Value("repeats_within", o.RepeatsWithin, "is not between 1 and %d", int64(maxRepeatsWithin))
	}
	if y := o.Start.UTC().Year(); y < 1 || y > 9000 {
		p.Add("start", "the year %d is not between 1 and 9000", y)
	}
	return p.Err()
}

func (o Options) withDefaults() Options {
	o.Lanes = cmp.Or(o.Lanes, 1)
	o.Format = cmp.Or(o.Format, DefaultFormat)
	o.Profile = cmp.Or(o.Profile, DefaultProfile)
	if o.Repeats == 0 && o.Profile == Crawl {
		o.Repeats = DefaultCrawlRepeats
	}
	o.RepeatsWithin = cmp.Or(o.RepeatsWithin, DefaultRepeatsWithin)
	if o.Start.IsZero() {
		o.Start = DefaultStart
	}
	return o
}

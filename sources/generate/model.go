package generate

import "math"

// seeds are those of the parts of a model, which come from the seed of the options.
type seeds struct{ hosts, idns, users, sessions, records uint64 }

func newSeeds(seed uint64) seeds {
	r := newRNG(mix(seed), 0)
	return seeds{r.next(), r.next(), r.next(), r.next(), r.next()}
}

// model is what all generators of the same options share. It does not change.
type model struct {
	seeds                seeds
	lines, crawl, visits bool

	hosts hosts
	idns  []idn

	suffixes, sections, extensions, parameters, countries, statuses, agents, referrers sampler

	counts            alias // of parameters, less one
	queries, trackers int   // share of pages with ordinary parameters and with trackers, in percent
	classes           alias
	repeats           uint64 // share of repeats, of 2^32
	within            uint64 // how many records back they repeat, at most
	start             int64  // time of the first record in µs since 1970
}

func newModel(o Options) (*model, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	weights, _ := mixOf(o) // validated above
	m := &model{
		seeds: newSeeds(o.Seed), lines: o.Format == Lines, crawl: o.Profile == Crawl, visits: o.Visits,
		suffixes: newSampler("suffixes"), sections: newSampler("sections"), extensions: newSampler("extensions"),
		parameters: newSampler("parameters"), countries: newSampler("countries"), statuses: newSampler("statuses"),
		agents: newSampler("agents"), referrers: newSampler("referrers"),
		counts: newAlias([]float64{34, 25, 16, 10, 6, 4, 2, 1.5, 1, 0.5}), queries: 50, trackers: 26,
		classes: newAlias(weights), repeats: uint64(math.Max(o.Repeats, 0) * (1 << 32)), within: uint64(o.RepeatsWithin),
		start: o.Start.UnixMicro(),
	}
	size, exponent := 20_000, 0.95
	if m.crawl {
		size, exponent = 100_000, 0.6
	}
	m.hosts = newHosts(m.seeds.hosts, size, exponent)
	var err error
	m.idns, err = newIDNs(m.seeds.idns, 500)
	return m, err
}

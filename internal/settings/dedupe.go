package settings

import (
	"math"
	"time"

	"github.com/urlmill/urlmill/config"
)

// Dedupe finds rows whose canonical URL was there before.
type Dedupe struct {
	Path string // folder of the state
	Mode string // "mark" or "drop"
	// Memory bounds the store and the keys of rows that are not committed; the filters of Approximate come on top.
	Memory      int64
	Approximate *Approximate
	Window      DedupeWindow
	// HideKey leaves url_key out of the output. There is no key for it.
	HideKey bool
	// AnyOutput says that the state is not that of one output. There is no key for it.
	AnyOutput bool
}

// Approximate keeps filters instead of keys.
type Approximate struct {
	Memory int64
	Keys   int64 // how many different keys are expected in all, or within the window
}

// DedupeWindow bounds how far back duplicates are found; zero: not at all.
type DedupeWindow struct {
	Time time.Duration
	By   string // column of timestamps; "" for timestamp, or else the time of processing
	Keys int64
}

// DefaultDedupe returns the defaults of finding duplicates.
func DefaultDedupe() Dedupe { return Dedupe{Mode: "mark", Memory: 128 << 20} }

func dedupeSchema(c *Dedupe) config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "path", Doc: "Folder of the state, on a local disk. One process at a time uses it.", Value: config.Text(&c.Path, "/var/lib/urlmill/seen"), Example: "path: seen"},
		{Name: "mode", Doc: "mark writes duplicates with is_duplicate = true; drop does not write them.", Value: config.Names(&c.Mode, "mark", "drop")},
		{Name: "memory", Doc: "Memory for the store, and for the keys of rows that are not committed; approximate.memory comes on top.", Value: config.Size(&c.Memory, 8<<20, 1<<40)},
		{Name: "approximate", Doc: "Keeps filters instead of keys: less disk, but some new rows are taken for duplicates.", Value: config.Optional(&c.Approximate, func() Approximate { return Approximate{} }, approximateSchema)},
		{Name: "window", Doc: "How far back duplicates are found: by time or by number of keys; for ever without.", Value: config.Map(windowSchema(&c.Window))},
	}}
}

func approximateSchema(a *Approximate) config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "memory", Doc: "Memory of all filters; 10 bits a key take about 1 % of new rows for duplicates.", Value: config.Size(&a.Memory, 1<<20, 1<<40), Example: "memory: 128MiB"},
		{Name: "keys", Doc: "How many different keys are expected in all, or within the window.", Value: config.Int(&a.Keys, 1, math.MaxInt64), Example: "keys: 100000000"},
	}}
}

func windowSchema(w *DedupeWindow) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "time", Doc: "How long after a row its duplicates are found; up to an eighth longer.", Value: config.Duration(&w.Time, time.Second, 10*365*24*time.Hour)},
			{Name: "by", Doc: "Column of timestamps that time is measured by. Default timestamp if there is one, else the time of processing.", Value: config.Text(&w.By, "fetched_at")},
			{Name: "keys", Doc: "How many keys back duplicates are found; up to an eighth more.", Value: config.Int(&w.Keys, 1, math.MaxInt64/16)},
		},
		Check: func(d *config.Check) {
			length, keys, by := "time", "keys", "by"
			if d.Given(length) && d.Given(keys) {
				d.Conflict(keys, []string{length}, "window has both time and keys; keep one of them")
			}
			if d.Given(by) && !d.Given(length) {
				d.Conflict(by, []string{length}, "by has no effect without time; add time: 24h, or take it out")
			}
		},
	}
}

// checkDedupe reports that there is nothing to find duplicates by.
func checkDedupe(d *config.Check, c *Config) {
	if c.Dedupe != nil && c.Columns.Canonical == nil {
		d.Conflict("dedupe", []string{"columns", "columns.canonical"},
			"dedupe compares canonical URLs, and there are none; add columns: {canonical: {form: dedupe}}")
	}
}

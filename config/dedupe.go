package config

import (
	"math"
	"time"
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

func dedupeSchema(c *Dedupe) object {
	return object{fields: []field{
		{name: "path", value: text(&c.Path, "/var/lib/urlmill/seen"), example: "path: seen"},
		{name: "mode", value: names(&c.Mode, "mark", "drop")},
		{name: "memory", value: size(&c.Memory, 8<<20, 1<<40)},
		{name: "approximate", value: optional(&c.Approximate, func() Approximate { return Approximate{} }, approximateSchema)},
		{name: "window", value: section(&c.Window, windowSchema)},
	}}
}

func approximateSchema(a *Approximate) object {
	return object{fields: []field{
		{name: "memory", value: size(&a.Memory, 1<<20, 1<<40), example: "memory: 128MiB"},
		{name: "keys", value: integer(&a.Keys, 1, math.MaxInt64), example: "keys: 100000000"},
	}}
}

func windowSchema(w *DedupeWindow) object {
	return object{
		fields: []field{
			{name: "time", value: duration(&w.Time, time.Second, 10*365*24*time.Hour)},
			{name: "by", value: text(&w.By, "fetched_at")},
			{name: "keys", value: integer(&w.Keys, 1, math.MaxInt64/16)},
		},
		check: func(d *decoder, path string) {
			length, keys, by := join(path, "time"), join(path, "keys"), join(path, "by")
			if d.given(length) && d.given(keys) {
				d.conflict(keys, []string{length}, "window has both time and keys; keep one of them")
			}
			if d.given(by) && !d.given(length) {
				d.conflict(by, []string{length}, "by has no effect without time; add time: 24h, or take it out")
			}
		},
	}
}

// checkDedupe reports that there is nothing to find duplicates by.
func checkDedupe(d *decoder, c *Config) {
	if c.Dedupe != nil && c.Columns.Canonical == nil {
		d.conflict("dedupe", []string{"columns", "columns.canonical"},
			"dedupe compares canonical URLs, and there are none; add columns: {canonical: {form: dedupe}}")
	}
}

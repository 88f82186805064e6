package dedupe

import (
	"math"
	"time"

	"github.com/urlmill/urlmill/config"
)

// Default returns the options of a configuration that says nothing.
func Default() Options { return Options{Mode: defaultMode, Memory: defaultMemory} }

// Section binds the options that a user gives to the section of a configuration.
func (o *Options) Section() config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "path", Doc: "Folder of the state, on a local disk. One process at a time uses it. With shard, the folder of copies of it, which an output in a bucket needs.", Value: config.Text(&o.Path, "/var/lib/urlmill/seen")},
		{Name: "shard", Doc: "partition gives each partition of a topic a state of its own, in the output, which moves with the partition from process to process. Duplicates are then found within a partition. Not set: all partitions of this process have one state, in path.", Value: config.Names(&o.Shard, ByPartition)},
		{Name: "mode", Doc: "mark writes duplicates with is_duplicate = true; drop does not write them.", Value: config.Names(&o.Mode, Mark, Drop)},
		{Name: "memory", Doc: "Memory for the store, and for the keys of rows that are not committed; approximate.memory comes on top.", Value: config.Size(&o.Memory, minMemory, 1<<40)},
		{Name: "approximate", Doc: "Keeps filters instead of keys: less disk, but some new rows are taken for duplicates.", Value: config.Optional(&o.Approximate, func() Approximate { return Approximate{} }, (*Approximate).section)},
		{Name: "window", Doc: "How far back duplicates are found: by time or by number of keys; for ever without.", Value: config.Map(o.window())},
	}, Check: func(c *config.Check) {
		if o.Path == "" && o.Shard == "" {
			c.Conflict("", []string{"path"}, "the state has no folder; add path: seen, or shard: %s", ByPartition)
		}
	}}
}

func (a *Approximate) section() config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "memory", Doc: "Memory of all filters; 10 bits a key take about 1 % of new rows for duplicates.", Value: config.Size(&a.Memory, 1<<20, 1<<40), Example: "memory: 128MiB"},
		{Name: "keys", Doc: "How many different keys are expected in all, or within the window.", Value: config.Int(&a.Keys, 1, math.MaxInt64), Example: "keys: 100000000"},
	}}
}

func (o *Options) window() config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "time", Doc: "How long after a row its duplicates are found; up to an eighth longer.", Value: config.Duration(&o.Within, time.Second, 10*365*24*time.Hour)},
			{Name: "by", Doc: "Column of timestamps that time is measured by. Default timestamp if there is one, else the time of processing.", Value: config.Text(&o.TimeColumn, "fetched_at")},
			{Name: "keys", Doc: "How many keys back duplicates are found; up to an eighth more.", Value: config.Int(&o.Last, 1, math.MaxInt64/16)},
		},
		Check: func(c *config.Check) {
			if by := "by"; c.Given(by) && o.Within == 0 {
				c.Conflict(by, []string{"time"}, "by has no effect without time; add time: 24h, or take it out")
			}
		},
	}
}

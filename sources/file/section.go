package file

import (
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources"
	"github.com/urlmill/urlmill/sources/codec"
)

// DefaultRelist is the default of Options.Relist.
const DefaultRelist = 10 * time.Minute

// DefaultRelistNotified is that default where the store says which objects are new.
const DefaultRelistNotified = 24 * time.Hour

// Auto is the Options.Shard of processes that divide the objects among themselves.
const Auto = "auto"

// DefaultClaimTTL is the default of Options.ClaimTTL.
const DefaultClaimTTL = time.Minute

// Kind returns the source of files, and of objects in stores of some kinds.
func Kind(stores ...objstore.Kind) sources.Kind {
	return sources.Kind{Name: "file", Doc: "Files, objects in a bucket, or standard input.", New: func() sources.Options {
		o := &Options{MaxRecordBytes: DefaultMaxRecordBytes, OnChanged: Stop, kinds: stores, buckets: map[string]objstore.Options{}}
		for _, k := range stores {
			o.buckets[k.Name] = k.New()
		}
		return o
	}}
}

// Section implements [sources.Options].
func (o *Options) Section() config.Section {
	aliases := map[string]string{}
	for _, other := range []string{"path", "files", "glob", "globs", "pattern", "patterns", "input", "inputs", "include", "dir", "directory", "folder"} {
		aliases[other] = "paths"
	}
	s := config.Section{Aliases: aliases, Check: o.checkSection, Fields: []config.Field{
		{Name: "paths", Doc: "Files, folders with all below them, patterns (** is any number of folders), and - for standard input; or objects of one bucket, such as s3://bucket/logs/**/*.gz, gs://bucket/logs or az://account/container/logs; or files of one server, such as https://example.com/logs/a.gz.", Value: config.Texts(&o.Paths, "[logs/, 'more/*.gz']"), Example: "paths: [urls.txt]"},
		{Name: "parallel", Doc: "Files or objects that are read at a time. Not set: one for each CPU.", Value: config.Int(&o.Parallel, 1, 1024)},
		{Name: "max_record_bytes", Doc: "The longest record; a longer one is a row with the error record-too-large.", Value: config.Size(&o.MaxRecordBytes, 1<<10, MaxMaxRecordBytes)},
		{Name: "on_changed", Doc: "What to do with a file that was delivered and has changed since: stop (the others are read), whole (read it once more, as a new file), or skip it.", Value: config.Names(&o.OnChanged, Stop, Whole, Skip)},
		{Name: "poll", Doc: "How often a bucket is looked at for new objects; 0s: the run ends when all that there are have been read.", Value: config.Duration(&o.Poll, 0, 24*time.Hour)},
		{Name: "relist", Doc: "How often all keys are listed, to find those that came late, where that takes more than 10 requests; between, only keys behind the last one are. Not set: 10m, or 24h with notifications.", Value: config.Duration(&o.Relist, time.Second, 7*24*time.Hour)},
		{Name: "partitions", Doc: "Conditions that the directories KEY=VALUE of objects have to hold, all of them: with =, !=, <, <=, >, >=; numbers are compared as such, all else by its bytes. Only directories that can hold them are listed.", Value: config.Texts(&o.Partitions, "['dt>=2026-11-20', region=eu]")},
		{Name: "shard", Doc: "The share of a bucket's objects that this process reads, where several share them: one such as 1/4, or auto, which divides them among the processes that run. Not set: all of them.", Value: config.Text(&o.Shard, "1/4")},
		{Name: "claim_ttl", Doc: "With shard: auto, after what time without a word of a process others take its share over. Not set: 1m.", Value: config.Duration(&o.ClaimTTL, time.Second, time.Hour)},
	}}
	for _, k := range o.kinds {
		s.Fields = append(s.Fields, config.Field{Name: k.Name, Doc: k.Doc, Value: config.Map(o.buckets[k.Name].Section())})
	}
	return s
}

// checkSection reports settings for objects where files are read.
func (o *Options) checkSection(d *config.Check) {
	if d.Given("claim_ttl") && o.objects() && o.Shard != Auto {
		d.Conflict("claim_ttl", []string{"paths", "shard"}, "%s has no effect, as shard is not %s; give shard: %[2]s, or take it out", d.Path("claim_ttl"), Auto)
	}
	for _, k := range o.kinds {
		in := slices.ContainsFunc(o.Paths, func(path string) bool {
			return strings.HasPrefix(path, k.Scheme) || k.Plain != "" && strings.HasPrefix(path, k.Plain)
		})
		if !in && d.Given(k.Name) {
			d.Conflict(k.Name, []string{"paths"}, "%s has no effect, as no path begins with %s; give such a one, or take it out", d.Path(k.Name), k.Scheme)
		}
	}
	for _, key := range []string{"poll", "relist", "partitions", "shard", "claim_ttl"} {
		if d.Given(key) && !o.objects() && len(o.kinds) > 0 {
			d.Conflict(key, []string{"paths"}, "%s has no effect, as no path is in a bucket; give paths: [s3://bucket/prefix], or take it out", d.Path(key))
		}
	}
}

// perFile is the memory that a file takes while it is read: buffers, and the window of its compression.
const perFile = 10 << 20

// Asks implements [sources.Options].
func (o *Options) Asks() sources.Asks {
	atOnce := o.Parallel
	if atOnce == 0 {
		atOnce = runtime.GOMAXPROCS(0)
	}
	memory := int64(atOnce) * perFile
	if o.objects() { // small ones are fetched before their turn, and large ones in parts
		memory = int64(min(atOnce, objectLanes))*(perFile+rangesAhead*rangeSize) + objectLanes*(aheadObjects+2)*smallObject
	}
	return sources.Asks{Origin: sources.Files, Paths: o.Paths, Objects: o.objects(), Memory: memory, LowerKey: "parallel"}
}

// Open implements [sources.Options].
func (o *Options) Open(e sources.Env, f codec.Factory) (pipeline.Source, error) {
	c := *o
	c.Stdin = e.In
	if !c.objects() {
		return New(c, f, e.Log)
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c, log := c.withDefaults(e.Log)
	return newObjects(c, f, log)
}

// OpenSample implements [sources.Sampler].
func (o *Options) OpenSample(e sources.Env, f codec.Factory, _ int64) (pipeline.Source, error) {
	c := *o
	if c.sample = true; c.Shard == Auto { // a trial claims nothing
		c.Shard = ""
	}
	return c.Open(e, f)
}

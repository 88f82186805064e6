package generate

import (
	"fmt"
	"math"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources"
	"github.com/urlmill/urlmill/sources/codec"
)

// Kind is the source of records that are made up.
var Kind = sources.Kind{Name: "generate", Doc: "A made-up clickstream or crawl, the same for the same seed.", New: func() sources.Options {
	return &Options{Seed: 1, Lanes: 4, Format: DefaultFormat, Profile: DefaultProfile, RepeatsWithin: DefaultRepeatsWithin}
}}

// Section implements [sources.Options].
func (o *Options) Section() config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "records", Doc: "How many records there are; 0 is without end.", Value: config.Int(&o.Records, 0, math.MaxInt64)},
		{Name: "seed", Doc: "What the records are made from.", Value: config.Int(&o.Seed, 0, math.MaxUint64)},
		{Name: "lanes", Doc: "How many streams of records there are side by side, like the partitions of a topic.", Value: config.Int(&o.Lanes, 1, 1024)},
		{Name: "rate", Live: true, Doc: "Records per second in all lanes; 0 is as fast as they are taken.", Value: config.Number(&o.Rate, 0, 1e9, "a number of records per second from 0 (no limit) to 1e9")},
		{Name: "format", Doc: "JSON objects, or plain URLs.", Value: config.Names(&o.Format, NDJSON, Lines)},
		{Name: "profile", Doc: "What the records look like.", Value: config.Names(&o.Profile, Clickstream, Crawl)},
		{Name: "repeats", Doc: "Share of records that repeat the page of an earlier one, in the same words or others; 0 is what the profile has, which is 0.1 in a crawl.", Value: config.Number(&o.Repeats, 0, maxRepeats, "a share from 0 to 0.9")},
		{Name: "repeats_within", Doc: "How many records back the page is that is repeated, at most.", Value: config.Int(&o.RepeatsWithin, 1, maxRepeatsWithin)},
	}}
}

// Asks implements [sources.Options].
func (o *Options) Asks() sources.Asks {
	if o.Format == NDJSON {
		return sources.Asks{Codec: clickCodec(), Rate: o.Rate}
	}
	return sources.Asks{Rate: o.Rate}
}

// clickCodec returns the codec of records in NDJSON.
func clickCodec() codec.Factory {
	f, err := codec.NewNDJSON(codec.NDJSONOptions{
		URL: "/url", Base: "/referer",
		Carry: []codec.CarriedField{
			{Name: "ts", Pointer: "/ts", Type: pipeline.Timestamp},
			{Name: "user_id", Pointer: "/user_id", Type: pipeline.Int64},
			{Name: "session", Pointer: "/session"},
			{Name: "status", Pointer: "/status", Type: pipeline.Int64},
			{Name: "country", Pointer: "/country"},
		},
	})
	if err != nil {
		panic(err) // the options are constant
	}
	return f
}

// CheckCodec implements [sources.Records]. It returns why the codec of a name does not read the records, "" if it does.
func (o *Options) CheckCodec(name string) string {
	other := map[string]Format{codec.LinesKind.Name: NDJSON, codec.NDJSONKind.Name: Lines}[name]
	if other == "" || other != o.Format {
		return ""
	}
	return fmt.Sprintf("the codec is %s, but source.generate.format is %s; take the codec out, or make them the same", name, other)
}

// Open implements [sources.Options].
func (o *Options) Open(_ sources.Env, f codec.Factory) (pipeline.Source, error) { return New(*o, f) }

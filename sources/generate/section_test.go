package generate

import (
	"reflect"
	"testing"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/sources"
)

func configured(t *testing.T, text string) *Options {
	t.Helper()
	o := Kind.New().(*Options)
	if _, err := config.Parse("c.yaml", []byte(text), config.Env{}, o.Section()); err != nil {
		t.Fatal(err)
	}
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
	return o
}

func TestSection(t *testing.T) {
	if got, want := configured(t, "{}"), (&Options{Seed: 1, Lanes: 4, Format: NDJSON, Profile: Clickstream, RepeatsWithin: DefaultRepeatsWithin}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	got := configured(t, "{records: 5, seed: 18446744073709551615, lanes: 2, rate: 1.5, format: lines, profile: crawl, repeats: 0.9, repeats_within: 4294967296}")
	want := &Options{Records: 5, Seed: 1<<64 - 1, Lanes: 2, Rate: 1.5, Format: Lines, Profile: Crawl, Repeats: 0.9, RepeatsWithin: 1 << 32}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if s, err := got.Open(sources.Env{}, nil); err != nil || s == nil {
		t.Errorf("%v %v", s, err)
	}
}

// TestCodecs: records in NDJSON bring their codec, and no other source's does.
func TestCodecs(t *testing.T) {
	clicks, lines := configured(t, "{}"), configured(t, "format: lines")
	if f := clicks.Asks().Codec; f == nil || len(f.Fields()) != 5 || !f.HasBase() {
		t.Errorf("%+v", f)
	}
	if f := lines.Asks().Codec; f != nil {
		t.Errorf("%+v", f)
	}
	for _, test := range []struct {
		o           *Options
		codec, want string
	}{
		{clicks, "ndjson", ""},
		{clicks, "avro", ""},
		{clicks, "lines", "the codec is lines, but source.generate.format is ndjson; take the codec out, or make them the same"},
		{lines, "lines", ""},
		{lines, "ndjson", "the codec is ndjson, but source.generate.format is lines; take the codec out, or make them the same"},
	} {
		if got := test.o.CheckCodec(test.codec); got != test.want {
			t.Errorf("%s of %s: %s", test.codec, test.o.Format, got)
		}
	}
}

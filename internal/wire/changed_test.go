package wire

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/urlmill/urlmill/config"
)

func TestChanges(t *testing.T) {
	parse := func(text string) *Config {
		c, err := Standard().Parse("c.yaml", []byte(text), testEnv())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	const file, out = "source: {file: {paths: [a]}}\n", "sink: {parquet: {path: out}}\n"
	base := parse(file + out)
	for text, want := range map[string][]string{
		file + out + "log: {level: debug}":             {"log.level"},
		"# other words\n" + out + file:                 nil,
		"source: {file: {paths: [b]}}\n" + out:         {"!source.file.paths"},
		"source: {generate: {}}\n" + out:               {"!source.file", "!source.generate"},
		file + out + "log: {format: json}":             {"!log.format"},
		file + out + "pipeline: {rate: 5, workers: 7}": {"!pipeline.workers", "pipeline.rate"},
		file + out + "admin: {}":                       {"!admin"},
		file + out + "columns: {tracking: separate, tracking_rules: x, public_suffix_list: y, other_urls: [{field: a}]}":                                       {"!columns.tracking", "!columns.other_urls", "columns.tracking_rules", "columns.public_suffix_list"},
		file + "sink: {parquet: {path: out, dead_letters: {kafka: {brokers: [a:1], topic: t}}}, roll: {rows: 1}}\nmemory_limit: 1GiB\non_error: dead_letter\n": {"!on_error", "!sink.parquet.dead_letters", "!sink.roll.rows", "!memory_limit"},
	} {
		var got []string
		for _, c := range config.Changes(base.Section(), parse(text).Section()) {
			if c.Reason != "" {
				c.Path = "!" + c.Path
			}
			got = append(got, c.Path)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// TestEveryKeyChanges changes every scalar key of the fullest configuration by its default, and looks for its name.
func TestEveryKeyChanges(t *testing.T) {
	text, err := os.ReadFile("testdata/good/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	full, err := Standard().Parse("testdata/good/full.yaml", text, testEnv())
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, k := range config.Keys(Standard().New().Section()) {
		known[k.Path] = true
	}
	plain, err := Standard().Parse("", []byte(`
source:
  kafka: {brokers: [a:1], topics: [t], group: g, sasl: {mechanism: plain, username: u, password: p}}
  codec: {ndjson: {url: /u}}
sink: {parquet: {path: p}}
admin: {}
tracing: {endpoint: "http://127.0.0.1:1"}
`), testEnv())
	if err != nil {
		t.Fatal(err)
	}
	changes := config.Changes(full.Section(), plain.Section())
	if len(changes) < 50 {
		t.Errorf("%d changes", len(changes))
	}
	for _, c := range changes {
		if !known[c.Path] {
			t.Errorf("%s is no key", c.Path)
		}
	}
	for _, f := range Standard().New().Section().Fields {
		if f.Fixed == "" {
			t.Errorf("%s: nothing says why it cannot change", f.Name)
		}
	}
}

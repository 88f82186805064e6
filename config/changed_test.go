package config

import (
	"log/slog"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChanged(t *testing.T) {
	parse := func(text string) *Config {
		c, err := Parse("c.yaml", []byte(text), testEnv())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	base := parse("source: {file: {paths: [a]}}\nsink: {parquet: {path: out}}\n")
	for text, want := range map[string][]string{
		"source: {file: {paths: [a]}}\nsink: {parquet: {path: out}}\nlog: {level: debug}":                                 nil,
		"# other words\nsink: {parquet: {path: out}}\nsource: {file: {paths: [a]}}":                                       nil,
		"source: {file: {paths: [b]}}\nsink: {parquet: {path: out}}":                                                      {"source"},
		"source: {file: {paths: [a]}}\nsink: {parquet: {path: out}, roll: {rows: 1}}\nmemory_limit: 1GiB\non_error: drop": {"on_error", "sink", "memory_limit"},
		"source: {file: {paths: [a]}}\nsink: {parquet: {path: out}}\nlog: {format: json}":                                 {"log"},
	} {
		if diff := cmp.Diff(want, base.Changed(parse(text))); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	if other := parse("source: {file: {paths: [a]}}\nsink: {parquet: {path: out}}\nlog: {level: debug}"); other.Log.Level != slog.LevelDebug {
		t.Error("the other configuration was changed")
	}
}

// TestSectionNames checks that every field of Config has the name of a key.
func TestSectionNames(t *testing.T) {
	c := Default()
	o := rootSchema(&c)
	for i := range reflect.TypeFor[Config]().NumField() {
		if f := reflect.TypeFor[Config]().Field(i); f.IsExported() {
			if _, ok := o.field(sectionName(f.Name)); !ok {
				t.Errorf("%s is no key: %s", sectionName(f.Name), f.Name)
			}
		}
	}
}

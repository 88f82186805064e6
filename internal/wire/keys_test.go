package wire

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/urlmill/urlmill/config"
)

func TestEveryKeyIsDocumented(t *testing.T) {
	keys := config.Keys(Standard().New().Section())
	if len(keys) < 100 {
		t.Fatalf("%d keys", len(keys))
	}
	for _, k := range keys {
		if k.Doc == "" {
			t.Errorf("%s has no doc", k.Path)
		}
		if k.Want == "" {
			t.Errorf("%s wants nothing", k.Path)
		}
	}
}

// TestReferenceIsFresh compares docs/reference.md with what it is generated from.
func TestReferenceIsFresh(t *testing.T) {
	got, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, config.Reference(Standard().New().Section())) {
		t.Error("docs/reference.md is not what the keys are; run: make docs")
	}
}

func TestDefaultsAreShown(t *testing.T) {
	want := map[string]string{
		"source.kafka.session_timeout": "30s",
		"source.kafka.start":           "committed",
		"source.kafka.max_bytes":       "1MiB",
		"source.kafka.tls.enabled":     "false",
		"source.file.parallel":         "", // 0 cannot be given
		"source.generate.rate":         "0",
		"sink.parquet.compression":     "zstd",
		"sink.roll.every":              "1m",
		"log.level":                    "info",
		"source.kafka.sasl.password":   "",
	}
	for _, k := range config.Keys(Standard().New().Section()) {
		if d, ok := want[k.Path]; ok {
			if k.Default != d {
				t.Errorf("%s: default %q, want %q", k.Path, k.Default, d)
			}
			delete(want, k.Path)
		}
	}
	if len(want) > 0 {
		t.Errorf("no such keys: %v", want)
	}
}

// compileSchema returns the schema of configurations.
func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(config.JSONSchema(Standard().New().Section())))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("urlmill.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("urlmill.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// instance reads a YAML file as editors do, which have another YAML library than config.
func instance(t *testing.T, file string) (any, error) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(text))
}

// TestSchemaTakesWhatLoadTakes checks the schema with the configurations that are right.
func TestSchemaTakesWhatLoadTakes(t *testing.T) {
	schema := compileSchema(t)
	good, _ := filepath.Glob("testdata/good/*.yaml")
	examples, _ := filepath.Glob("../../examples/*.yaml")
	if len(good) < 8 || len(examples) < 6 {
		t.Fatalf("%d good configurations, %d examples", len(good), len(examples))
	}
	for _, file := range slices.Concat(good, examples) {
		doc, err := instance(t, file)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestSchemaRefuses checks that the schema says something.
func TestSchemaRefuses(t *testing.T) {
	schema := compileSchema(t)
	for name, text := range map[string]string{
		"unknown key":   `{"source": {"file": {"paths": ["x"]}}, "sink": {"parquet": {"path": "out"}}, "sinc": 1}`,
		"missing":       `{"source": {"file": {}}, "sink": {"parquet": {"path": "out"}}}`,
		"two sources":   `{"source": {"file": {"paths": ["x"]}, "generate": {}}, "sink": {"parquet": {"path": "out"}}}`,
		"wrong type":    `{"source": {"file": {"paths": ["x"], "parallel": "many"}}, "sink": {"parquet": {"path": "out"}}}`,
		"out of range":  `{"source": {"file": {"paths": ["x"], "parallel": 0}}, "sink": {"parquet": {"path": "out"}}}`,
		"not in a list": `{"source": {"file": {"paths": ["x"]}}, "sink": {"parquet": {"path": "out", "compression": "zip"}}}`,
		"no unit":       `{"source": {"file": {"paths": ["x"]}}, "sink": {"parquet": {"path": "out"}, "roll": {"bytes": 12}}}`,
	} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if schema.Validate(doc) == nil {
			t.Errorf("%s: taken", name)
		}
	}
	good, _ := jsonschema.UnmarshalJSON(strings.NewReader(`{"source": {"file": {"paths": "${INPUT}", "parallel": "${N}"}}, "sink": {"parquet": {"path": "out"}}}`))
	if err := schema.Validate(good); err != nil {
		t.Errorf("variables: %v", err)
	}
	var doc map[string]any
	if err := json.Unmarshal(config.JSONSchema(Standard().New().Section()), &doc); err != nil || doc["$schema"] == nil {
		t.Errorf("the schema is not JSON: %v", err)
	}
}

// TestAliases checks that what other programs call a key leads to one that is there, and hides none.
func TestAliases(t *testing.T) {
	c := Standard()
	sections := map[string]config.Section{"": c.New().Section(), "codec": c.New().codecSection(), "sink": c.New().sinkSection()}
	for _, k := range c.Sources {
		sections["source."+k.Name] = k.New().Section()
	}
	for _, k := range c.Sinks {
		sections["sink."+k.Name] = k.New().Section()
	}
	checked := 0
	for name, s := range sections {
		there := map[string]bool{}
		for _, k := range config.Keys(s) {
			there[k.Path] = true
		}
		for alias, keys := range s.Aliases {
			checked++
			if there[alias] && !strings.Contains(alias, ".") {
				t.Errorf("%s: the alias %s is a key", name, alias)
			}
			for key := range strings.FieldsFuncSeq(keys, func(r rune) bool { return r == ' ' || r == ',' }) {
				if key != "and" && key != "or" && !there[key] {
					t.Errorf("%s: the alias %s leads to %s, which is no key", name, alias, key)
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("%d aliases", checked)
	}
}

package wire

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sources/codec"
)

// tally is a sink as CONTRIBUTING.md says how to make one: it counts rows into a file.
type tally struct {
	Path string
	Unit string
}

var tallyKind = sinks.Kind{Name: "tally", Doc: "The number of rows.", New: func() sinks.Options { return &tally{Unit: "rows"} }}

func (t *tally) Section() config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "path", Doc: "The file that has it.", Value: config.Text(&t.Path, "tally.txt"), Example: "path: tally.txt"},
		{Name: "unit", Doc: "What is counted.", Value: config.Names(&t.Unit, "rows", "records")},
	}}
}

func (t *tally) Asks() sinks.Asks              { return sinks.Asks{Place: t.Path} }
func (t *tally) With(sinks.Env) sinks.Sink     { c := *t; return &c }
func (t *tally) Validate() error               { return nil }
func (t *tally) CheckRows(*arrow.Schema) error { return nil }
func (t *tally) Open() (pipeline.Sink, error)  { return &counter{tally: t}, nil }

// counter is the open sink, and the writer of all its lanes.
type counter struct {
	*tally
	rows atomic.Int64
}

func (c *counter) Start(context.Context, pipeline.Schemas) error { return nil }
func (c *counter) Open(context.Context, pipeline.LaneID) (pipeline.Writer, int64, error) {
	return c, pipeline.Unknown, nil
}

func (c *counter) Write(_ context.Context, _ pipeline.Table, r arrow.Record, _ pipeline.Span) error {
	c.rows.Add(r.NumRows())
	return nil
}
func (c *counter) Size() pipeline.Size                   { return pipeline.Size{} }
func (c *counter) Commit(context.Context) (int64, error) { return pipeline.Unknown, nil }
func (c *counter) Abandon() error                        { return nil }
func (c *counter) Close() error {
	return os.WriteFile(c.Path, fmt.Appendf(nil, "%d %s", c.rows.Load(), c.Unit), 0o600)
}

// tail is a codec as CONTRIBUTING.md says how to make one: a line ends with its URL. It is its own factory, and has no state.
type tail struct {
	codec.Shape
	Behind string
}

var tailKind = codec.Kind{Name: "tail", Doc: "A line that ends with its URL.", New: func() codec.Options { return &tail{Behind: "space"} }}

func (t *tail) Section() config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "behind", Doc: "What stands before the URL.", Value: config.Names(&t.Behind, "space", "comma")},
	}}
}

func (t *tail) Factory() (codec.Factory, error) { c := *t; return &c, nil }
func (t *tail) New() codec.Codec                { return t }
func (t *tail) Decode(b *pipeline.Batch, record []byte) bool {
	b.URLs.Append(record[bytes.LastIndexByte(record, map[string]byte{"space": ' ', "comma": ','}[t.Behind])+1:])
	return true
}

// TestRecipe: a component of a few lines, with an option that is written down once, is in everything that is made of options, and
// runs.
func TestRecipe(t *testing.T) {
	r := Standard()
	r.Sinks, r.Codecs = append(r.Sinks, tallyKind), append(r.Codecs, tailKind)
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.txt"), filepath.Join(dir, "tally.txt")
	if err := os.WriteFile(in, []byte("a,https://h/\nb c,https://h/\nhttps://h/,d\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const lines = "on_error: drop\nsource: {file: {paths: ['%s']}, codec: {tail: {behind: %s}}}\nsink: {tally: {path: '%s', unit: %s}}\n"
	fill := func(behind, unit string) string { return fmt.Sprintf(lines, in, behind, out, unit) }
	inAllSurfaces(t, r, fill("comma", "records"), map[string]string{
		"The number of rows.":            "", // a kind is no setting
		"What is counted.":               "sink.tally.unit: records",
		"A line that ends with its URL.": "",
		"What stands before the URL.":    "source.codec.tail.behind: comma",
	})
	refuses(t, r, fill("commas", "records"), `behind is the text "commas"; give one of space or comma (did you mean "comma"?)`)
	refuses(t, r, fill("comma", "record"), `unit is the text "record"; give one of rows or records (did you mean "records"?)`)
	runs(t, r, fill("comma", "records"))
	if text, err := os.ReadFile(out); err != nil || string(text) != "2 records" { // of three lines, one ends with something else
		t.Errorf("%s, %v", text, err)
	}
}

// inAllSurfaces checks that the reference and the schema have the sentences of said, and the status page of a pipeline the settings.
func inAllSurfaces(t *testing.T, r Components, text string, said map[string]string) {
	t.Helper()
	root := r.New().Section()
	reference, schema := string(config.Reference(root)), string(config.JSONSchema(root))
	c, err := r.Parse("x.yaml", []byte(text), config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	page := "\n"
	for _, s := range config.Settings(c.Section()) {
		page += s.Path + ": " + s.Value + "\n"
	}
	for doc, setting := range said {
		if !strings.Contains(reference, doc) || !strings.Contains(schema, doc) {
			t.Errorf("the reference or the schema does not have %q", doc)
		}
		if setting != "" && !strings.Contains(page, "\n"+setting+"\n") {
			t.Errorf("the status page lacks %s:%s", setting, page)
		}
	}
}

// refuses checks what is said of a configuration when it is read.
func refuses(t *testing.T, r Components, text, want string) {
	t.Helper()
	if _, err := r.Parse("x.yaml", []byte(text), config.Env{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("lint: %v; want %s", err, want)
	}
}

// runs runs a pipeline to the end of its input.
func runs(t *testing.T, r Components, text string) {
	t.Helper()
	c, err := r.Parse("x.yaml", []byte(text), config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(c, Setting{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

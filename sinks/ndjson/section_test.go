package ndjson

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/google/go-cmp/cmp"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/internal/filesink"
	"github.com/urlmill/urlmill/sinks/internal/kindtest"
)

// hole is a place for dead letters, which are gone then.
type hole struct{ Deep bool }

func (h *hole) Section() config.Section {
	return config.Section{Fields: []config.Field{{Name: "deep", Doc: "How.", Value: config.Bool(&h.Deep)}}}
}
func (h *hole) Topic() sinks.Topic { return sinks.Topic{Topic: "hole", Brokers: []string{"a:1"}} }
func (h *hole) With(sinks.Env) sinks.LetterBox {
	return box{deep: h.Deep}
}

type box struct {
	sinks.Stream
	deep bool
}

func (b box) Validate() error {
	if !b.deep {
		return pipeline.FieldErrorf("deep", "has to be")
	}
	return nil
}
func (b box) Open() (sinks.Stream, error)                { return b, nil }
func (b box) Start(context.Context, *arrow.Schema) error { return errors.New("the hole is there") }
func (b box) Close() error                               { return nil }

var kind = Kind(&sinks.Letters{Name: "hole", Doc: "None.", Want: "a hole such as {hole: {deep: true}}", New: func() sinks.LetterOptions { return &hole{} }})

func TestSection(t *testing.T) {
	o, err := kindtest.Parse(kind, `{path: out, dead_letters: dead, delivery: at_least_once, partition_by: ["date(ts)", n], late: {path: late}}`)
	if err != nil {
		t.Fatal(err)
	}
	got := o.(*Options)
	if got.Path != "out" || got.DeadLetters != "dead" || got.Delivery != commit.AtLeastOnce || len(got.PartitionBy) != 2 ||
		got.Late != (filesink.Late{Path: "late", After: 24 * time.Hour}) || got.ToStdout {
		t.Errorf("%+v", got)
	}
}

func TestProblems(t *testing.T) {
	e := sinks.Env{Out: io.Discard, CheckPlace: func(at string) error { return errors.New(at + " is bad") }}
	for text, want := range map[string]string{
		"{path: out}":    "",
		"{stdout: true}": "",
		"{path: out, dead_letters: dead, late: {path: late}, partition_by: ['date(ts)']}": "",
		"{path: out, dead_letters: {hole: {deep: true}}}":                                 "",
		"{}":                                     "ndjson: ndjson does not say where to; add path: out, or stdout: true",
		"{stdout: false}":                        "ndjson: ndjson does not say where to; add path: out, or stdout: true",
		"{path: out, stdout: true}":              "ndjson.stdout: cannot be given together with path; keep one of them",
		"{stdout: true, delivery: exactly_once}": "ndjson.delivery: what went to standard output cannot be taken back; leave it out, or give a directory for the output files",
		"{path: s3://a/b, dead_letters: s3://c}": "ndjson.path: s3://a/b is bad\nndjson.dead_letters: s3://c is bad",
		"{path: 'ftp://a', late: {path: 'hdfs://a'}}": `ndjson.path: "ftp://a" is an address that urlmill cannot reach; give a folder, s3://bucket/prefix, gs://bucket/prefix or az://account/container/prefix` + "\n" +
			`ndjson.late.path: "hdfs://a" is an address that urlmill cannot reach; give a folder, s3://bucket/prefix, gs://bucket/prefix or az://account/container/prefix`,
		"{path: out, dead_letters: out/dead}":             "ndjson.dead_letters: lies in path, where it would be read as rows; give a folder beside it",
		"{path: out, late: {path: out/late}}":             "ndjson.late.path: it and path lie in each other; give a folder beside it",
		"{path: out/rows, late: {path: out}}":             "ndjson.late.path: it and path lie in each other; give a folder beside it",
		"{path: out, late: {path: d}, dead_letters: d/e}": "ndjson.late.path: it and dead_letters lie in each other; give a folder beside it",
		"{path: out, late: {}}":                           `ndjson.late.path: ndjson.late has no "path"; add it, such as path: out-late`,
		"{path: out, dead_letters: {hole: {}}}":           "ndjson.dead_letters.hole.deep: has to be",
		"{path: out, dead_letters: [a]}":                  "ndjson.dead_letters: dead_letters is a list; give a folder such as /var/lib/urlmill/dead, or a hole such as {hole: {deep: true}}",
	} {
		if got := kindtest.Problems(kind, text, e); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
	}
	if got := kindtest.Problems(Kind(nil), "{path: out, dead_letters: {hole: {}}}", e); got == "" {
		t.Error("there is a hole, of which the kind does not know")
	}
}

func TestAsks(t *testing.T) {
	abs, err := filepath.Abs("out")
	if err != nil {
		t.Fatal(err)
	}
	dead := sinks.DeadLetters{Key: "dead_letters", Want: "the folder for the dead letters there"}
	given := dead
	given.Given = true
	for text, want := range map[string]sinks.Asks{
		"{stdout: true}": {DeadLetters: dead},
		"{path: out}":    {Place: abs, Positions: true, Keeps: true, Folders: []sinks.Folder{{Key: "path", Path: "out"}}, DeadLetters: dead},
		"{path: s3://a/b, delivery: at_least_once, dead_letters: d, late: {path: l}, partition_by: [n]}": {
			Place: "s3://a/b", Partitioned: true, DeadLetters: given,
			Folders: []sinks.Folder{{Key: "path", Path: "s3://a/b"}, {Key: "late.path", Path: "l"}, {Key: "dead_letters", Path: "d"}},
		},
		"{stdout: true, dead_letters: {hole: {}}}": {
			DeadLetters: given, Topics: []sinks.Topic{{Key: "dead_letters.hole", Topic: "hole", Brokers: []string{"a:1"}}},
		},
	} {
		o, err := kindtest.Parse(kind, text)
		if err != nil {
			t.Fatal(err)
		}
		got := o.Asks()
		if len(got.Folders) == 0 {
			got.Folders = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// TestOpen has rows go to standard output, and dead letters to what the letters open.
func TestOpen(t *testing.T) {
	o, err := kindtest.Parse(kind, "{stdout: true, dead_letters: {hole: {deep: true}}}")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s, err := o.With(sinks.Env{Log: slog.New(slog.DiscardHandler), Out: &out}).Open()
	if err != nil {
		t.Fatal(err)
	}
	rows := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	if err := s.Start(t.Context(), pipeline.Schemas{rows, rows}); err == nil || err.Error() != "the hole is there" {
		t.Errorf("%v", err)
	}
	if o.(*Options).Stdout != nil {
		t.Error("the options have changed")
	}
}

func TestIntoFolder(t *testing.T) {
	o, err := kindtest.Parse(kind, "{stdout: true, dead_letters: {hole: {}}}")
	if err != nil {
		t.Fatal(err)
	}
	c := o.(sinks.Trial).IntoFolder("dir")
	want := []sinks.Folder{{Key: "path", Path: filepath.Join("dir", "rows")}, {Key: "dead_letters", Path: filepath.Join("dir", "dead")}}
	if a := c.Asks(); !cmp.Equal(a.Folders, want) || len(a.Topics) > 0 || a.Positions {
		t.Errorf("%+v", a)
	}
	if err := c.With(sinks.Env{}).Validate(); err != nil {
		t.Error(err)
	}
	if o.Asks().Place != "" || len(o.Asks().Topics) != 1 {
		t.Error("the options have changed")
	}
}

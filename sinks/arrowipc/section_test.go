package arrowipc

import (
	"io"
	"testing"

	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sinks/internal/kindtest"
)

func TestSection(t *testing.T) {
	kind, e := Kind(nil), sinks.Env{Out: io.Discard, Version: "1.2"}
	for text, want := range map[string]string{
		"{path: out}":                                  "",
		"{path: out, compression: zstd}":               "",
		"{stdout: true, dictionaries: [host]}":         "",
		"{path: out, dictionaries: [host]}":            "arrowipc.dictionaries: files have none, since theirs cannot grow; leave it out, or write to standard output",
		"{path: out, stdout: true}":                    "arrowipc.stdout: cannot be given together with path; keep one of them",
		"{path: out, compression: 7, dead_letters: a}": `arrowipc.compression: compression is the number 7; give one of none, lz4 or zstd`,
	} {
		if got := kindtest.Problems(kind, text, e); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
	}
	o, err := kindtest.Parse(kind, "{stdout: true, dictionaries: [host], compression: lz4}")
	if err != nil {
		t.Fatal(err)
	}
	if got := o.With(e).(configured); got.Stdout == nil || got.Version != "1.2" || got.Compression != "lz4" {
		t.Errorf("%+v", got)
	}
	if err := o.(sinks.Trial).IntoFolder(t.TempDir()).With(e).Validate(); err != nil {
		t.Errorf("in a trial: %v", err)
	}
}

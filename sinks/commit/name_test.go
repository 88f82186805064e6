package commit

import (
	"path"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
)

// awkward are streams with names that are no good file names.
var awkward = []string{
	"", "_schemas", "schemas", ".schemas", "-schemas", "-", "stdin", "/data/a b.gz", "/data/a_b.gz", "données", "\xff", "\x00",
	strings.Repeat("x", 300), strings.Repeat("x", 301), strings.Repeat("/", 300), ".", "..", "../../etc", "a\nb", "漢字", "%", "%25", "a%2F", "a/", "~",
	"clicks-3", "Clicks", "clicks",
}

func TestLaneNames(t *testing.T) {
	for stream, want := range map[string]string{
		"clicks.v2_eu-west": "clicks.v2_eu-west/3", "/data/a.gz": "%2Fdata%2Fa.gz/3", "..": "%2E./3", "": "%/3", "é": "%C3%A9/3",
	} {
		if got := laneName(pipeline.LaneID{Stream: stream, Partition: 3}); got != want {
			t.Errorf("%q: got %s, want %s", stream, got, want)
		}
	}
	one, other := pipeline.LaneID{Stream: "-", Session: "0123abcd"}, pipeline.LaneID{Stream: "-", Session: "4567abcd"}
	if laneName(one) != "-@0123abcd/0" || filePrefix(one) != "stdin-0123abcd-0-" || filePrefix(one) == filePrefix(other) {
		t.Errorf("%s, %s", laneName(one), filePrefix(one))
	}
	seen := map[string]string{}
	for _, s := range awkward {
		got := laneName(pipeline.LaneID{Stream: s, Partition: 1})
		dir := path.Dir(got)
		if len(dir) > 255 || dir == "." || dir == ".." || strings.ContainsAny(dir, "/\x00\n \\*?[]") || path.Clean(got) != got {
			t.Errorf("%q: %q is no good directory", s, got)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("%q and %q are both %q", s, other, got)
		}
		seen[got] = s
	}
}

func TestFileNames(t *testing.T) {
	id := pipeline.LaneID{Stream: "clicks", Partition: 3}
	got := FileName(id, 5, "0123abcd", 12, "parquet")
	if want := "clicks-3-00000000000000000005-0123abcd0012.parquet"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	seen := map[string]string{}
	for _, s := range awkward {
		id := pipeline.LaneID{Stream: s, Partition: 7}
		name := FileName(id, 1<<40, "0123abcd", 12345, "ndjson")
		if len(name) > 220 || strings.ContainsAny(name, "/\x00\n \\*?[]") || strings.ContainsAny(name[:1], "._-~") {
			t.Errorf("%q: %q is no good name", s, name)
		}
		prefix, first, ok := ParseFileName(name)
		if prefix != filePrefix(id) || first != 1<<40 || !ok {
			t.Errorf("%s: parsed as %q, %d, %t", name, prefix, first, ok)
		}
		if other, ok := seen[name]; ok {
			t.Errorf("%q and %q are both %q", s, other, name)
		}
		seen[name] = s
	}
	for _, name := range []string{
		"", "part-0.parquet", "clicks-3-5-0123abcd0012.parquet", "_clicks-3-00000000000000000005-0123abcd0012.parquet",
		"clicks-3-99999999999999999999-0123abcd0012.parquet", "clicks-3-00000000000000000005-0123abcd0012.parquet.tmp.x",
	} {
		if _, _, ok := ParseFileName(name); ok {
			t.Errorf("%q passes", name)
		}
	}
}

func TestPositions(t *testing.T) {
	for name, want := range map[string]int64{"00000000000000000500.json": 500, "09223372036854775807.json": 1<<63 - 1} {
		if got, ok := position(name, ".json"); got != want || !ok {
			t.Errorf("%s: %d, %t", name, got, ok)
		}
	}
	for _, name := range []string{"500.json", "start.json", "00000000000000000500.jsonl", "-0000000000000000500.json", "0000000000000000050x.json", "99999999999999999999.json"} {
		if _, ok := position(name, ".json"); ok {
			t.Errorf("%s passes", name)
		}
	}
}

package convert

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/urlmill/urlmill/sinks/sinktest"
)

// TestNDJSON sends rows through NDJSON and back by the types that they had. JSON has no infinities.
func TestNDJSON(t *testing.T) {
	dir := t.TempDir()
	want := withoutInfinities(rowsOf(t, table(700)))
	name := convert(t, table(700), dir, "a.ndjson")
	_, got := read(t, name, Options{Schema: sinktest.AllTypes(), BatchRows: 300})
	compare(t, "NDJSON", want, got)
}

func withoutInfinities(rows []sinktest.Row) []sinktest.Row {
	for _, row := range rows {
		if f, ok := row["f32"].(float64); ok && math.IsInf(f, 0) {
			row["f32"] = nil
		}
	}
	return rows
}

func TestInfer(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	text := `{"a":1,"b":null,"c":{"d":[{"e":true},{"f":"x"}]},"n":1}
{"g":9223372036854775807,"n":1.5,"a":-9223372036854775808}

{"a":null,"h":12345678901234567890,"l":[]}`
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	schema, rows := read(t, name, Options{})
	var types []string
	for _, f := range schema.Fields() {
		types = append(types, f.Name+" "+f.Type.String())
	}
	want := []string{
		"a int64", "b utf8", "c struct<d: list<item: struct<e: bool, f: utf8>, nullable>>", "n float64", "g int64", "h uint64",
		"l list<item: utf8, nullable>",
	}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Error(diff)
	}
	if len(rows) != 3 || rows[1]["a"] != int64(math.MinInt64) || rows[1]["g"] != int64(math.MaxInt64) || rows[0]["n"] != 1.0 {
		t.Errorf("%v", rows)
	}
	for text, want := range map[string]string{
		"{\"a\":1}\n{\"a\":\"x\"}": "line 2: a is a string here and an integer before; give --schema",
		"{\"a\":1}\n[]":            "line 2: an array, and not an object",
		"{\"a\":1}\nnull":          "line 2: no JSON object",
		"{\"a\":1}\n{\"a\":":       "line 2: EOF",
		"{\"a\":1e999}":            "a: the number 1e999 is beyond any type",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(name, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// TestInferDigits checks that no digit of an integer is lost, whatever else is in its column.
func TestInferDigits(t *testing.T) {
	const max64 = "18446744073709551615"
	for _, c := range []struct{ typ, values string }{
		{"int64", "9223372036854775807 -9223372036854775808"},
		{"uint64", "1 9223372036854775808 " + max64},
		{"utf8", "-1 " + max64},
		{"utf8", max64 + " -1"},
		{"utf8", "1 18446744073709551616"},
		{"utf8", "-9223372036854775809 2"},
		{"float64", "9007199254740992 -9007199254740992 0.5"},
		{"utf8", "9007199254740993 0.50"},
		{"utf8", "0.50 1e2 -9007199254740993"},
		{"utf8", "0.5 " + max64},
	} {
		for _, shape := range []string{`{"a":%s}`, `{"b":{"a":[%s]}}`} {
			dir := t.TempDir()
			in, out := filepath.Join(dir, "in.ndjson"), filepath.Join(dir, "out.ndjson")
			var text, want strings.Builder
			for _, v := range strings.Fields(c.values) {
				fmt.Fprintf(&text, shape+"\n", v)
				if c.typ == "utf8" {
					v = `"` + v + `"`
				}
				fmt.Fprintf(&want, shape+"\n", v)
			}
			if err := os.WriteFile(in, []byte(text.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := Open(in, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Schema().Field(0).Type.String(); !strings.Contains(got, c.typ) {
				t.Errorf("%s: %s, want %s", c.values, got, c.typ)
			}
			_, err = Write(t.Context(), Target{Path: out, Format: NDJSON, Log: slog.New(slog.DiscardHandler)}, r)
			if err = errors.Join(err, r.Close()); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.String(), string(got)); diff != "" {
				t.Errorf("%s: %s", c.values, diff)
			}
		}
	}
}

// TestDeepNDJSON: a line that nests deeply is an error in time and memory of its length.
func TestDeepNDJSON(t *testing.T) {
	const depth = 20_000
	dir := t.TempDir()
	for name, text := range map[string]string{
		"lists":   `{"a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + "}\n",
		"objects": strings.Repeat(`{"abcdefgh":`, depth) + "1" + strings.Repeat("}", depth) + "\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Open(path, Options{Format: NDJSON})
		runtime.ReadMemStats(&after)
		if err == nil || !strings.HasPrefix(err.Error(), path+": line 1: ") || !strings.Contains(err.Error(), "more than 64 levels below each other") {
			t.Errorf("%s: %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(4*len(text)+4<<20) {
			t.Errorf("%s: %d bytes allocated %d", name, len(text), n)
		}
	}
}

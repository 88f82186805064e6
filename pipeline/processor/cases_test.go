package processor_test

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/urlmill/urlmill/pipeline/processor"
	"github.com/urlmill/urlmill/urlcore/canon"
)

// TestCases has the cases that the tests of other hosts have as well: members that are missing are null.
func TestCases(t *testing.T) {
	file, err := os.Open("../../plugins/testdata/functions.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	columns := []string{
		"href", "scheme", "has_username", "host", "port", "origin", "registrable_domain", "public_suffix", "path", "query", "params", "fragment",
		"url_error", "url_error_pos", "surt_key",
	}
	with := mustNew(t, processor.Options{Include: columns[:len(columns)-1], Base: "base"})
	forms := map[string]*processor.Processor{}
	for name, form := range map[string]canon.Form{"strict": canon.Strict, "dedupe": canon.Dedupe, "surt-ia": canon.SURTIA, "surt-cc": canon.SURTCC} {
		forms[name] = mustNew(t, processor.Options{Include: append([]string{"canonical_url"}, columns...), Canonical: &canon.Options{Form: form}})
	}
	cases := bufio.NewScanner(file)
	for cases.Scan() {
		var want map[string]any
		if err := json.Unmarshal(cases.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		url, ok := want["url"].(string)
		if !ok {
			continue // a null is an error of a record here
		}
		got := map[string]any{}
		if base, ok := want["base"].(string); ok {
			got = only(t, with, url, &base)
		} else {
			canonical := map[string]any{}
			for name, p := range forms {
				got = only(t, p, url, nil)
				if got["canonical_url"] != nil {
					canonical[name] = got["canonical_url"]
				}
			}
			got["surt"] = got["surt_key"]
			if len(canonical) > 0 {
				got["canonical"] = canonical
			}
		}
		delete(got, "surt_key")
		delete(got, "canonical_url")
		delete(want, "url")
		delete(want, "base")
		for _, m := range []map[string]any{got, want} {
			for k, v := range m {
				if v == nil {
					delete(m, k)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", url, diff)
		}
	}
	if cases.Err() != nil {
		t.Fatal(cases.Err())
	}
}

// only returns what becomes of one URL.
func only(t *testing.T, p *processor.Processor, url string, base *string) map[string]any {
	t.Helper()
	urls := build(t, memory.DefaultAllocator, arrow.BinaryTypes.String, []string{url}, []bool{true})
	defer urls.Release()
	var bases arrow.Array
	if base != nil {
		bases = build(t, memory.DefaultAllocator, arrow.BinaryTypes.String, []string{*base}, []bool{true})
		defer bases.Release()
	}
	r, err := p.Parse(urls, bases)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	text, err := array.RecordToStructArray(r).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	return rows[0]
}

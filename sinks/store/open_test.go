package store_test

import (
	"testing"

	"github.com/urlmill/urlmill/sinks/store"
)

func TestRel(t *testing.T) {
	for _, tc := range []struct{ base, target, rel string }{
		{"/out/rows", "/out/dead", "../dead"},
		{"out", "out", "."},
		{"s3://bucket/out/rows", "s3://bucket/out/dead", "../dead"},
		{"s3://bucket/rows", "s3://bucket", ".."},
		{"s3://bucket", "s3://bucket/dead", "dead"},
		{"s3://bucket/rows", "s3://other/dead", "s3://other/dead"},
		{"/out/rows", "s3://bucket/dead", "s3://bucket/dead"},
		{"s3://bucket/rows", "/out/dead", "/out/dead"},
	} {
		if got := store.Rel(tc.base, tc.target); got != tc.rel {
			t.Errorf("Rel(%q, %q) = %q", tc.base, tc.target, got)
		}
		if got := store.Join(tc.base, tc.rel); got != tc.target {
			t.Errorf("Join(%q, %q) = %q", tc.base, tc.rel, got)
		}
	}
}

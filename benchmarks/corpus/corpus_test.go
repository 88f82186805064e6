package corpus

import (
	"slices"
	"strings"
	"testing"
)

func TestSeeded(t *testing.T) {
	for _, kind := range Kinds() {
		if !slices.Equal(Generate(kind, 100, 7), Generate(kind, 100, 7)) {
			t.Errorf("%s: the same seed gives two lists", kind)
		}
		if slices.Equal(Generate(kind, 100, 7), Generate(kind, 100, 8)) {
			t.Errorf("%s: two seeds give one list", kind)
		}
	}
}

func TestFit(t *testing.T) {
	for _, want := range []struct {
		kind        Kind
		size, query float64
	}{{Web, 45, 0.05}, {Browser, 132, 0.42}, {Unseen, 110, 0.57}} {
		urls := Generate(want.kind, 200_000, 1)
		size, query := 0, 0
		for _, u := range urls {
			size += len(u)
			if strings.Contains(u, "?") {
				query++
			}
		}
		n := float64(len(urls))
		gotSize, gotQuery := float64(size)/n, float64(query)/n
		t.Logf("%s: %.1f bytes, %.1f %% with a query", want.kind, gotSize, 100*gotQuery)
		if gotSize < want.size-2 || gotSize > want.size+2 || gotQuery < want.query-0.01 || gotQuery > want.query+0.01 {
			t.Errorf("%s: %.1f bytes and %.3f with a query, want %v and %v", want.kind, gotSize, gotQuery, want.size, want.query)
		}
	}
}

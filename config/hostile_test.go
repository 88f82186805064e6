package config

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// merges is a configuration whose mappings each merge the one before many times, through so many levels.
func merges(times, levels int, before string) string {
	out := "x0: &a0 {k: v}\n"
	for i := 1; i <= levels; i++ {
		out += fmt.Sprintf("x%d: &a%d\n  <<: [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), times), ","))
	}
	return out + before + fmt.Sprintf("milk:\n  <<: *a%d\n", levels)
}

// TestMerges: merge keys do not make entries without number.
func TestMerges(t *testing.T) {
	text := merges(12, 7, "")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Parse("x.yaml", []byte(text), Env{}, newBrewery().section())
	runtime.ReadMemStats(&after)
	if err == nil {
		t.Error("unknown keys were taken")
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 32<<20 {
		t.Errorf("%d bytes allocated %d", len(text), n)
	}
	// The first mapping that has a key gives its value, however often it is merged.
	b := newBrewery()
	text = "x: &a {fat: 3}\ny: &b\n  <<: *a\n  fat: 4\nmilk:\n  <<: [*b, *a, *b]\n"
	if _, err := Parse("x.yaml", []byte(text), Env{}, b.section()); err == nil || b.Milk == nil || b.Milk.Fat != 4 {
		t.Errorf("%+v, %v", b.Milk, err)
	}
	// Those that merge each other are an error.
	_, err = Parse("x.yaml", []byte("milk: &a\n  <<: &b\n    fat: 3\n    <<: *a\n"), Env{}, newBrewery().section())
	if err == nil || !strings.Contains(err.Error(), "refer to each other") {
		t.Error(err)
	}
}

// TestManyLines: what the YAML parser takes the square of is refused before it sees it.
func TestManyLines(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"documents": {strings.Repeat("---\na: 1\n", 50_000), "more than 10000 lines"},
		"entries":   {strings.Repeat("a: 1\n", 200_000), "more than 10000 lines"},
		"keys":      {"a:\n" + strings.Repeat("  ? a\n", 100_000), "more than 10000 lines"},
		"dashes":    {strings.Repeat("- ", 200_000), "more than 500 lists"},
		"indented":  {"a:\n" + strings.Repeat("  ", 400) + strings.Repeat("- ? ", 300), "more than 500 lists"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse("x.yaml", []byte(c.text), Env{}, newBrewery().section())
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
			t.Errorf("%s: %d bytes allocated %d", name, len(c.text), n)
		}
	}
	text := "milk: {fat: 3}\n" + strings.Repeat("# "+strings.Repeat("-", 600)+"\n", 9000)
	if _, err := Parse("x.yaml", []byte(text), Env{}, newBrewery().section()); err != nil && strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
}

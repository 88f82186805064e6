package scan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Pairs and names that end near the end of a window over a bitmap, from every bit of a byte on, with every end of a
// query behind them.
func TestSplitAtWindows(t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		for skip := range 8 {
			for length := 50; length <= 70; length++ {
				for _, last := range []string{"x", "=", "+"} {
					for _, behind := range []string{"", "&", "&&", "&y", "=", "+"} {
						query := strings.Repeat("s", skip) + "&" + strings.Repeat("x", length-1) + last + behind
						got, want := splitOne(query), []string(nil)
						for i, pair := range slices.DeleteFunc(strings.Split(query, "&"), func(s string) bool { return s == "" }) {
							name, value, _ := strings.Cut(pair, "=")
							want = append(want, fmt.Sprint(i, name, "=", value, strings.Contains(pair, "+")))
						}
						if !slices.Equal(got, want) {
							t.Fatalf("%q: %q, want %q", query, got, want)
						}
					}
				}
			}
		}
	})
}

func splitOne(query string) (pairs []string) {
	q := Queries{Text: append(make([]byte, 0, len(query)+Slack), query...), Ends: []int32{int32(len(query))}, Counts: make([]int32, 1)}
	q.Split()
	for i, p := range q.Pairs[:q.Counts[0]] {
		pairs = append(pairs, fmt.Sprint(i, query[p.Key.Start:p.Key.End], "=", query[p.Value.Start:p.Value.End], slices.Contains(q.Escaped, int32(i))))
	}
	return pairs
}

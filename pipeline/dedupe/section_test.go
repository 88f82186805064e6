package dedupe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/urlmill/urlmill/config"
)

func TestSection(t *testing.T) {
	for text, want := range map[string]Options{
		"{path: a}": {Path: "a", Mode: Mark, Memory: 128 << 20},
		"{path: a, mode: drop, memory: 8MiB, approximate: {memory: 2MiB, keys: 1000}, window: {time: 24h, by: seen}}": {
			Path: "a", Mode: Drop, Memory: 8 << 20, Approximate: &Approximate{Memory: 2 << 20, Keys: 1000}, Within: 24 * time.Hour, TimeColumn: "seen",
		},
		"{shard: partition}":           {Shard: ByPartition, Mode: Mark, Memory: 128 << 20},
		"{path: a, window: {keys: 7}}": {Path: "a", Mode: Mark, Memory: 128 << 20, Last: 7},
	} {
		o := Default()
		if _, err := config.Parse("", []byte(text), config.Env{}, o.Section()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, o, cmpopts.IgnoreUnexported(Options{})); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
		o.Keeps, o.Topics = true, true
		if err := o.Validate(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"{}":                                ` the state has no folder; add path: seen, or shard: partition`,
		"{path: a, window: {by: seen}}":     "1:24: by has no effect without time; add time: 24h, or take it out",
		"{path: a, approximate: {keys: 1}}": `1:11: approximate has no "memory"; add it, such as memory: 128MiB`,
	} {
		o := Default()
		if _, err := config.Parse("a", []byte(text), config.Env{}, o.Section()); err == nil || err.Error() != "a:"+want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

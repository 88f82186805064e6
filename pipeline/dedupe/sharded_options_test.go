package dedupe

import (
	"strings"
	"testing"
	"time"
)

// TestShardOptions has options that a state for each partition cannot have.
func TestShardOptions(t *testing.T) {
	good := Options{Shard: ByPartition, Keeps: true, Topics: true}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Options){
		`shard: "host" is not known; give partition`:                   func(o *Options) { o.Shard = "host" },
		"needs partitions, and the source has none; give source.kafka": func(o *Options) { o.Topics = false },
		"the sink cannot do that; give a sink of files":                func(o *Options) { o.Keeps = false },
		"window: cannot be given with shard: partition":                func(o *Options) { o.Within = time.Hour },
		"approximate: cannot be given with shard: partition":           func(o *Options) { o.Approximate = &Approximate{Memory: 1 << 20, Keys: 1000} },
		"path: missing: the output is in a bucket":                     func(o *Options) { o.Bucket = true },
	} {
		o := good
		change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

package parquet

import (
	"github.com/urlmill/urlmill/sinks/internal/rowbuf"
)

// maxSample bounds the values that are looked at to decide on a dictionary.
const maxSample = 16 << 10

// wantsDictionary decides from the first values of a column whether they repeat enough to be worth a
// dictionary. Arrow would otherwise begin every column with one and give it up where it gets too large,
// which costs the hashing for nothing, and splits the chunk.
func wantsDictionary(c *rowbuf.Column) bool {
	n := 0
	seen := make(map[string]struct{})
	for i := 0; i < c.Len && n < maxSample; i++ {
		if len(c.Valid) > 0 && !c.Valid[i] {
			continue
		}
		n++
		switch c.Kind {
		case rowbuf.Binary:
			seen[string(c.Data[c.Offsets[i]:c.Offsets[i+1]])] = struct{}{}
		case rowbuf.Fixed:
			seen[string(c.Data[i*c.Width:(i+1)*c.Width])] = struct{}{}
		default:
			return false // a boolean is smaller than an index
		}
		// Give up early on a column like an identifier or a full URL.
		if n == 512 && len(seen) > 460 {
			return false
		}
	}
	return len(seen) <= n/2
}

package dedupe

import (
	"fmt"
	"log/slog"

	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/bloom"
)

// openStore opens the store, and makes it when there is none.
func openStore(opts Options) (*pebble.DB, error) {
	memtable := min(max(opts.Memory/12, 1<<20), 64<<20)
	// The store takes its memtables off the cache, but for one that it keeps to use again.
	cache := pebble.NewCache(opts.Memory - opts.claimsMemory() - opts.sieveMemory() - opts.hotMemory() - memtable)
	defer cache.Unref() // the store has its own reference
	// A table's filter is one block, a twentieth of the table. It has to fit into a shard of the cache, of which
	// there are four to a CPU, or it is read again and again.
	table := min(max(opts.Memory/128, 1<<20), 8<<20)
	levels := make([]pebble.LevelOptions, 7)
	for i := range levels {
		levels[i] = pebble.LevelOptions{
			// With windows, most look-ups are for keys that are not there: filters at the last level as well spare them the disk.
			FilterPolicy: bloom.FilterPolicy(filterBits), FilterType: pebble.TableFilter,
			TargetFileSize: table << min(i, 3), BlockSize: 4 << 10, IndexBlockSize: 256 << 10,
			Compression: pebble.NoCompression, // keys are hashes
		}
	}
	if opts.sieveMemory() > 0 {
		// What gets through the sieve is there, and the last level is where it is if it is at no other one.
		levels[6].FilterPolicy = nil
	}
	o := &pebble.Options{
		FS: opts.fs, Cache: cache, Comparer: comparer(), Levels: levels, MaxOpenFiles: 500,
		// Keys are hashes, so that every compaction of the first level rewrites all of
		// the next one: the more it begins with, the fewer times each key is rewritten.
		MemTableSize:          uint64(memtable),
		L0CompactionThreshold: 12, L0StopWritesThreshold: 48,
		// What is above the last level has filters, which have to fit.
		LBaseMaxBytes:      min(opts.Memory/4, 64<<20),
		FormatMajorVersion: pebble.FormatNewest, Logger: storeLog{opts.Log},
	}
	o.Experimental.ReadSamplingMultiplier = -1 // look-ups do not ask for compactions
	return pebble.Open(opts.fs.PathJoin(opts.Path, "db"), o)
}

// filterBits is how many bits the store's filters have for a key.
const filterBits = 10

// comparer is the order of bytes. Filters are asked about keys as a whole.
func comparer() *pebble.Comparer {
	c := *pebble.DefaultComparer
	c.Name = "urlmill.dedupe"
	c.Split = func(key []byte) int { return len(key) }
	c.ImmediateSuccessor = func(dst, key []byte) []byte { return append(append(dst, key...), 0) }
	return &c
}

// storeLog passes on what goes wrong in the store; what it does otherwise is its own matter.
type storeLog struct{ log *slog.Logger }

func (l storeLog) Infof(string, ...any) {}

func (l storeLog) Errorf(format string, args ...any) {
	l.log.Warn("state of dedupe", "problem", fmt.Sprintf(format, args...))
}

// Fatalf must not return: the store calls it when it cannot go on.
func (l storeLog) Fatalf(format string, args ...any) {
	panic("state of dedupe: " + fmt.Sprintf(format, args...))
}

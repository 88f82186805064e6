package dedupe

import (
	"io"
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/bloom"
	"github.com/cockroachdb/pebble/vfs"
)

// slowDisk is how long a call to the disk takes to be worth a warning.
const slowDisk = 5 * time.Second

// watched returns the file system of the state, and what is closed after it.
func watched(opts Options, failed *failure) (vfs.FS, io.Closer) {
	fs, closeFS := vfs.WithDiskHealthChecks(opts.fs, slowDisk, func(info vfs.DiskSlowInfo) {
		opts.Log.Warn("the disk of the state of dedupe is slow", "path", info.Path, "call", info.OpType.String(), "since", info.Duration)
	})
	return haltingFS{fs, failed}, closeFS
}

// openStore opens the store, and makes it when there is none.
func openStore(opts Options, failed *failure, fs vfs.FS) (*pebble.DB, error) {
	share, memtables := opts.Memory-opts.claimsMemory()-opts.setMemory(), int64(12)
	if opts.inRuns() {
		memtables = 32 // of journals alone
	}
	memtable := min(max(opts.Memory/memtables, 1<<20), 64<<20)
	// The store takes its memtables off the cache, but for one that it keeps to use again.
	cache := pebble.NewCache(max(share-memtable, 1<<20))
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
	o := &pebble.Options{
		FS: fs, EventListener: listener(opts.Log, failed), Cache: cache, Comparer: comparer(), Levels: levels, MaxOpenFiles: 500,
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

// listener hears what the store does by itself. What goes wrong there it would try again at once and for ever.
func listener(log *slog.Logger, failed *failure) *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: failed.note,
		WriteStallBegin: func(info pebble.WriteStallBeginInfo) {
			log.Debug("the state of dedupe has to wait for its disk", "reason", info.Reason)
		},
	}
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

package encode

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
)

// busy counts the goroutines of the process that encode. Columns are only encoded side by side where cores would be idle
// otherwise.
var busy atomic.Int32

// work distributes the leaves of a writer over goroutines.
type work struct {
	w        *Writer
	from, to int
	finishes bool
	next     atomic.Int32
	wg       sync.WaitGroup
	mu       sync.Mutex
	err      error
	help     func()
	pool     *sync.Pool // of compressors
}

// worthHelp is the least number of values, or so, for which a goroutine is started.
const worthHelp = 32 << 10

func (k *work) init(w *Writer) {
	k.w = w
	k.pool = compressorsOf(w.opts.Codec, w.opts.Level)
	k.help = func() {
		defer k.wg.Done()
		defer busy.Add(-1)
		k.run()
	}
}

// add adds the rows from:to of the attached record to all leaves.
func (k *work) add(from, to int) error {
	k.from, k.to, k.finishes = from, to, false
	return k.all((to - from) * len(k.w.leaves))
}

// finish finishes all chunks.
func (k *work) finish() error {
	k.finishes = true
	return k.all(int(k.w.rows) * len(k.w.leaves))
}

func (k *work) all(values int) error {
	k.next.Store(0)
	k.err = nil
	limit := int32(runtime.GOMAXPROCS(0))
	busy.Add(1)
	if values >= worthHelp {
		for range len(k.w.leaves) - 1 {
			if busy.Add(1) > limit {
				busy.Add(-1)
				break
			}
			k.wg.Add(1)
			go k.help()
		}
	}
	k.run()
	busy.Add(-1)
	k.wg.Wait()
	return k.err
}

// run takes leaves until there are none.
func (k *work) run() {
	s := getScratch()
	defer putScratch(s)
	pool := k.pool
	err := error(nil)
	if k.w.opts.Codec != None {
		c, ok := pool.Get().(compressor)
		if !ok {
			c, err = newCompressor(k.w.opts.Codec, k.w.opts.Level)
		}
		if err == nil {
			s.codec = c
			defer func() {
				s.codec = nil
				pool.Put(c)
			}()
		}
	}
	for err == nil {
		i := int(k.next.Add(1)) - 1
		if i >= len(k.w.leaves) {
			return
		}
		if l := k.w.leaves[i]; k.finishes {
			err = l.finishChunk(s)
		} else {
			err = l.add(k.from, k.to, s)
		}
	}
	k.mu.Lock()
	k.err = errors.Join(k.err, err)
	k.mu.Unlock()
}

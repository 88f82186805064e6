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

// work distributes the leaves of a writer over goroutines: that of the caller and, for a large piece of work, helpers. They
// take the next leaf from a counter until there is none, so that one slow column does not leave the others waiting behind it.
//
// w, from, to, finishes and pool are written before helpers start, which only read them. Only the goroutine that has taken
// the number of a leaf uses it; all returns after every helper has ended, and the leaves are the caller's again.
type work struct {
	w        *Writer
	from, to int  // rows to add
	finishes bool // finish the chunks instead
	next     atomic.Int32
	wg       sync.WaitGroup // of helpers
	mu       sync.Mutex     // guards err
	err      error
	help     func()     // what a helper runs; made once, since a closure for each call would be allocated
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

// add adds the rows from:to of the attached record to all leaves. After an error some leaves have the rows and others do
// not: the writer is of no use any more.
func (k *work) add(from, to int) error {
	k.from, k.to, k.finishes = from, to, false
	return k.all((to - from) * len(k.w.leaves))
}

// finish finishes all chunks.
func (k *work) finish() error {
	k.finishes = true
	return k.all(int(k.w.rows) * len(k.w.leaves))
}

// all starts helpers where they pay, works along with them, and returns when all of them have ended: every leaf is done, or one
// has failed. values is about how many values there are to work on.
func (k *work) all(values int) error {
	k.next.Store(0)
	k.err = nil
	limit := int32(runtime.GOMAXPROCS(0))
	busy.Add(1) // the caller works in any case, also where there is no idle core
	if values >= worthHelp {
		for range len(k.w.leaves) - 1 {
			// Counted first and looked at afterwards: writers that ask at the same time must not take the same core.
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

// run takes leaves until there are none, or one fails. Scratch and compressor are borrowed for as long as it runs: there are
// as many of them as goroutines that encode, however many writers are open.
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

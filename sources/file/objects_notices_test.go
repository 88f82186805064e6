package file

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/pipeline"
)

// post is a queue in memory.
type post struct {
	mu      sync.Mutex
	letters map[string]*letter
	number  int
	fails   error // of every request
	deleted func(keys []string)
	live    *postReader // the last one; others are dead
}

type letter struct {
	keys     []string
	alien    string
	until    time.Time // nobody sees it before
	handle   string
	received int
	held     int // times that who has it has asked for more time
}

func newPost() *post { return &post{letters: map[string]*letter{}} }

// send puts a message about objects into the queue.
func (p *post) send(keys ...string) { p.put(&letter{keys: keys}) }

func (p *post) put(l *letter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.number++
	p.letters[fmt.Sprint(p.number)] = l
}

// left returns the number of messages that are there, and the greatest number of times that one was received.
func (p *post) left() (n, received int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.letters {
		received = max(received, l.received)
	}
	return len(p.letters), received
}

func (p *post) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fails = err
}

// reader returns the queue as a process sees it.
func (p *post) reader() *postReader {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live = &postReader{post: p}
	return p.live
}

// postReader implements [objstore.Queue].
type postReader struct {
	*post
	killed atomic.Bool
}

func (r *postReader) begin() (end func(), err error) {
	r.mu.Lock()
	if r.killed.Load() {
		return r.mu.Unlock, errKilled
	}
	return r.mu.Unlock, r.fails
}

// Check implements [objstore.Queue].
func (r *postReader) Check(context.Context) error {
	end, err := r.begin()
	defer end()
	return err
}

// Receive implements [objstore.Queue].
func (r *postReader) Receive(ctx context.Context, hold time.Duration) (got []*objstore.Message, err error) {
	time.Sleep(time.Millisecond)
	end, err := r.begin()
	defer end()
	if err != nil {
		return nil, err
	}
	for id, l := range r.letters { // in any order
		if len(got) == 10 || ctx.Err() != nil {
			break
		}
		if now := time.Now(); now.After(l.until) {
			l.received++
			l.until, l.handle = now.Add(hold), fmt.Sprint(id, "-", l.received)
			got = append(got, &objstore.Message{ID: id, Handle: l.handle, Keys: l.keys, Alien: l.alien})
		}
	}
	return got, ctx.Err()
}

// Hold implements [objstore.Queue].
func (r *postReader) Hold(_ context.Context, messages []*objstore.Message, d time.Duration) error {
	end, err := r.begin()
	defer end()
	for _, m := range messages {
		if l := r.letters[m.ID]; err == nil && l != nil && l.handle == m.Handle {
			l.until = time.Now().Add(d)
			l.held++
		}
	}
	return err
}

// Delete implements [objstore.Queue].
func (r *postReader) Delete(_ context.Context, messages []*objstore.Message) error {
	end, err := r.begin()
	defer end()
	for _, m := range messages {
		if l := r.letters[m.ID]; err == nil && l != nil && l.handle == m.Handle {
			delete(r.letters, m.ID)
			if r.deleted != nil {
				r.deleted(l.keys)
			}
		}
	}
	return err
}

// has returns what fails a test when a message is deleted whose objects are in the bucket and not in the output.
func (k *chains) has(t *testing.T, c *cloud) func(keys []string) {
	return func(keys []string) {
		k.mu.Lock()
		defer k.mu.Unlock()
		for _, key := range keys {
			c.mu.Lock()
			text, there := c.content[key]
			c.mu.Unlock()
			n := 0
			for _, row := range k.rows {
				if strings.HasPrefix(row, "s3://b/"+key+" ") {
					n++
				}
			}
			if want := strings.Count(string(text), "\n"); there && strings.HasPrefix(key, "p/") && n != want {
				t.Errorf("the message of %s was deleted with %d of %d rows", key, n, want)
			}
		}
	}
}

// Messages that come twice, late, or never, and a process that is killed after any commit: every object is there once, and no message
// is deleted before its objects are durable.
func TestObjectsNotified(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 2))
		c, k := &cloud{queue: newPost()}, newChains()
		k.every, k.maxRows = 1+r.IntN(6), 1+r.IntN(40)
		c.queue.deleted = k.has(t, c)
		n := 0
		add := func() {
			key := fmt.Sprintf("p/%03d-%d", r.IntN(1000), n)
			n++
			c.put(key, lines(fmt.Sprintf("o%d", n), n%31))
			switch r.IntN(4) {
			case 0: // its message is lost
			case 1:
				c.queue.send(key)
				fallthrough
			default:
				c.queue.send(key, "other/key", "p/_hidden", "p/is/not/there")
			}
		}
		for range 60 {
			add()
		}
		c.put("p/large", lines("large", 5000))
		c.queue.send("p/large")
		alien := &letter{alien: "it is of another program"}
		c.queue.put(alien)
		for run := range 12 {
			k.mu.Lock()
			k.commits, k.dies = 0, 1+r.IntN(60)
			if run == 11 {
				k.dies, k.every = 0, 1
			}
			k.mu.Unlock()
			s, err := openCloud(c, func(o *Options) { o.Relist, o.Parallel = time.Second, 1+r.IntN(5) }, "s3://b/p/")
			if err != nil {
				t.Fatal(err)
			}
			queue := c.queue.live
			s.hold, s.turn = 40*time.Millisecond, 1+r.IntN(10)
			s.Resume(k)
			drain, done := make(chan struct{}), make(chan error, 1)
			go func() {
				done <- s.Run(t.Context(), drain, func(ctx context.Context, l pipeline.Lane) error {
					err := k.each(ctx, l)
					if errors.Is(err, errKilled) {
						queue.killed.Store(true)
					}
					return err
				})
			}()
			for range 10 {
				add()
			}
			if run < 11 {
				time.Sleep(time.Duration(r.IntN(60)) * time.Millisecond)
				close(drain)
			} else {
				want := 0
				for _, text := range c.content {
					want += strings.Count(string(text), "\n")
				}
				within(t, time.Minute, "all rows", func() bool {
					k.mu.Lock()
					defer k.mu.Unlock()
					return len(k.rows) >= want
				})
				within(t, time.Minute, "all messages", func() bool { left, _ := c.queue.left(); return left == 1 })
				close(drain)
			}
			if err := <-done; err != nil && !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
		}
		k.holds(t, c)
		if alien.received == 0 {
			t.Error("nobody has seen the message of another program")
		}
	}
}

// listen runs a source until the test ends it.
func listen(t *testing.T, k *chains, c *cloud, change func(*ObjectSource, *Options)) (end func() error) {
	t.Helper()
	var o *Options
	s, err := openCloud(c, func(options *Options) { o = options; change(nil, o) }, "s3://b/p/")
	if err != nil {
		t.Fatal(err)
	}
	change(s, nil)
	s.Resume(k)
	drain, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- s.Run(t.Context(), drain, k.each) }()
	return func() error { close(drain); return <-done }
}

func (k *chains) rowCount() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.rows)
}

// A start with notifications reads a new object before the listing of all others has come to it.
func TestObjectsNotifiedFirst(t *testing.T) {
	c, k := &cloud{queue: newPost()}, newChains()
	k.every = 1
	for i := range 3000 {
		c.put(fmt.Sprintf("p/%05d", i), "")
	}
	c.put("p/9", lines("new", 3))
	var hang sync.WaitGroup
	hang.Add(1)
	probed := false
	c.onList = func(_, after string) error {
		if probed && after != "" {
			hang.Wait()
		}
		probed = true
		return nil
	}
	end := listen(t, k, c, func(*ObjectSource, *Options) {})
	c.queue.send("p/9")
	within(t, time.Minute, "the new object", func() bool { return k.rowCount() == 3 })
	hang.Done()
	if err := end(); err != nil {
		t.Fatal(err)
	}
}

// While a large object is read, its message stays with the process.
func TestObjectsNotifiedHeld(t *testing.T) {
	c, k := &cloud{queue: newPost()}, newChains()
	k.every = 1
	var hang sync.WaitGroup
	hang.Add(1)
	end := listen(t, k, c, func(s *ObjectSource, _ *Options) {
		if s != nil {
			s.hold = 10 * tidyNotices
		}
	})
	c.onOpen = func(objstore.Object, int64) error { hang.Wait(); return nil }
	c.put("p/large", lines("large", 3))
	c.queue.send("p/large")
	within(t, time.Minute, "the message", func() bool { _, received := c.queue.left(); return received == 1 })
	within(t, 2*time.Minute, "its time to be made longer", func() bool {
		c.queue.mu.Lock()
		defer c.queue.mu.Unlock()
		return c.queue.letters["1"].held > 1
	})
	_, received := c.queue.left()
	hang.Done()
	within(t, time.Minute, "the end of the message", func() bool { left, _ := c.queue.left(); return left == 0 })
	if err := end(); err != nil || received != 1 {
		t.Errorf("received %d times: %v", received, err)
	}
}

// A queue that is deleted while it is read is said, and new objects are found by listing.
func TestObjectsNotifiedDeleted(t *testing.T) {
	c, k := &cloud{queue: newPost()}, newChains()
	k.every = 1
	c.put("p/0", lines("0", 1))
	var source *ObjectSource
	end := listen(t, k, c, func(s *ObjectSource, o *Options) {
		if source = s; o != nil {
			o.Relist = 50 * time.Millisecond
		}
	})
	within(t, time.Minute, "the first object", func() bool { return k.rowCount() == 1 })
	gone := errors.New("there is no such queue")
	c.queue.fail(gone)
	within(t, time.Minute, "the error", func() bool { _, err := source.notices.Load().trouble(); return errors.Is(err, gone) })
	c.put("p/1", lines("1", 1))
	within(t, time.Minute, "the second object", func() bool { return k.rowCount() == 2 })
	c.queue.fail(nil)
	c.put("p/2", lines("2", 1))
	c.queue.send("p/2")
	within(t, time.Minute, "the queue", func() bool { _, err := source.notices.Load().trouble(); return err == nil })
	within(t, time.Minute, "the third object", func() bool { left, _ := c.queue.left(); return k.rowCount() == 3 && left == 0 })
	if err := end(); err != nil {
		t.Fatal(err)
	}
}

// An object that cannot be read yet is tried again when its message comes again.
func TestObjectsNotifiedUnreadable(t *testing.T) {
	c, k := &cloud{queue: newPost()}, newChains()
	k.every = 1
	var tries atomic.Int64
	c.onOpen = func(objstore.Object, int64) error {
		if tries.Add(1) < 4 {
			return objstore.ErrUnreadable
		}
		return nil
	}
	end := listen(t, k, c, func(s *ObjectSource, _ *Options) {
		if s != nil {
			s.hold = 20 * time.Millisecond
		}
	})
	c.put("p/archived", lines("archived", 2))
	c.queue.send("p/archived")
	within(t, time.Minute, "the object", func() bool { left, _ := c.queue.left(); return k.rowCount() == 2 && left == 0 })
	if err := end(); err == nil || strings.Count(err.Error(), "reading failed") != 1 {
		t.Errorf("reported as %v", err)
	}
}

// Processes that share the objects hand on what they hear about those of others.
func TestObjectsNotifiedShared(t *testing.T) {
	c, o := &cloud{queue: newPost()}, newOutput()
	o.every = 1
	c.queue.deleted = func([]string) {}
	change := func(o *Options) { o.Relist = time.Hour }
	first, second := o.start(t, "a", c, change), o.start(t, "b", c, change)
	within(t, time.Minute, "two processes", func() bool { return o.has([]int{8, 8}, first, second) })
	time.Sleep(100 * time.Millisecond) // the last listing
	want := 0
	for i := range 60 {
		key := fmt.Sprintf("p/%02d", i)
		c.put(key, lines(fmt.Sprint(i), 3))
		c.queue.send(key)
		want += 3
	}
	within(t, time.Minute, "all rows", func() bool { return o.committed() == want })
	within(t, time.Minute, "all messages", func() bool { left, _ := c.queue.left(); return left == 0 })
	within(t, time.Minute, "all claims", func() bool {
		o.claimMu.Lock()
		defer o.claimMu.Unlock()
		for name := range o.claims {
			if strings.HasPrefix(name, noticeKind) {
				return false
			}
		}
		return true
	})
	first.end(t)
	second.end(t)
	o.holds(t, c)
}

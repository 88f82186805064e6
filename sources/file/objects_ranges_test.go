package file

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	stdhash "hash"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/urlmill/urlmill/internal/objstore"
)

// A large object is read by requests side by side, each at its ETag, and its records are in order, also when requests break off
// anywhere.
func TestObjectsLarge(t *testing.T) {
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(seed, 5))
		c, k := new(cloud), newChains()
		k.maxRows = 5000
		c.put("p/large", string(noise(5<<20)))
		c.put("p/large.gz", string(blocked(t, noise(6<<20), gzip.NoCompression)))
		c.put("p/multiple", string(noise(3 * rangeSize)[:3*rangeSize]))
		var most, now atomic.Int64
		c.onOpen = func(o objstore.Object, off int64) error {
			if off%rangeSize == 0 && off > 0 {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(5 * time.Millisecond)
				now.Add(-1)
			}
			return nil
		}
		breaks := map[int64]int64{}
		for range 30 {
			breaks[r.Int64N(10)*rangeSize] = 1 + r.Int64N(rangeSize)
		}
		c.cut = func(_ objstore.Object, off int64) int64 {
			if n, there := breaks[off]; there && seed > 0 {
				return n
			}
			return -1
		}
		s, err := openCloud(c, nil, "s3://b/p/")
		if err := k.read(t, s, err); err != nil {
			t.Fatal(err)
		}
		if most.Load() < 2 {
			t.Errorf("%d requests at a time", most.Load())
		}
		c.content["p/large.gz"] = noise(6 << 20)
		k.holds(t, c)
	}
}

// A large object that is replaced while it is read is not read on in any of its parts.
func TestObjectsLargeReplaced(t *testing.T) {
	for _, key := range []string{"p/a", "p/a.gz"} {
		c, k := new(cloud), newChains()
		k.maxRows = 1000
		old, fresh := noise((rangesAhead+4)*rangeSize), strings.Repeat("https://new.example/\n", 1000)
		content := old
		if key == "p/a.gz" {
			content = blocked(t, old, gzip.NoCompression)
		}
		c.put(key, string(content))
		var replaced atomic.Bool
		c.onOpen = func(_ objstore.Object, off int64) error {
			if off > rangesAhead*rangeSize && !replaced.Swap(true) {
				c.remove(key)
				c.put(key, fresh)
			}
			return nil
		}
		s, err := openCloud(c, func(o *Options) { o.OnChanged = Whole }, "s3://b/p/")
		if err := k.read(t, s, err); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(old), "\n")
		n := len(k.rows) - 1000
		if n <= 0 || n >= len(lines)-1 {
			t.Fatalf("%d rows of the old content", n)
		}
		want := strings.Split(strings.TrimSpace(fresh), "\n")
		for i, row := range k.rows {
			if i < n && row != fmt.Sprintf("s3://b/%s %d %s", key, i, lines[i]) || i >= n && row != fmt.Sprintf("s3://b/%s %d %s", key, i-n, want[i-n]) {
				t.Fatalf("row %d is %.100q", i, row)
			}
		}
	}
}

// A large object whose lane is cancelled in the middle is not taken for one that has ended, and leaves no request behind.
func TestObjectsLargeCancelled(t *testing.T) {
	c := new(cloud)
	c.put("p/a", string(noise(24<<20)))
	s, err := openCloud(c, nil, "s3://b/p/")
	if err != nil {
		t.Fatal(err)
	}
	page, _, _ := c.List(t.Context(), "p/a", "", 1)
	for range 50 {
		ctx, cancel := context.WithCancelCause(t.Context())
		r := s.ranges(ctx, page[0])
		go cancel(errKilled)
		n, err := io.Copy(io.Discard, r)
		if n < page[0].Size && !errors.Is(err, errKilled) && !errors.Is(err, context.Canceled) {
			t.Fatalf("%d of %d bytes: %v", n, page[0].Size, err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The bytes of a large object are compared with the checksum that the store has of all of them, if it has one.
func TestObjectsLargeSum(t *testing.T) {
	for _, tc := range []struct {
		change byte
		err    error
		want   string
	}{{want: ""}, {change: 1, want: "its bytes have another checksum"}, {change: 1, err: errKilled}} {
		c := new(cloud)
		content := noise(largeObject + 1000)
		c.put("p/a", string(content))
		s, err := openCloud(summing{c, tc.err}, nil, "s3://b/p/")
		if err != nil {
			t.Fatal(err)
		}
		page, _, _ := c.List(t.Context(), "p/a", "", 1)
		c.content["p/a"][rangeSize+7] ^= tc.change
		r := s.ranges(t.Context(), page[0])
		n, err := io.Copy(io.Discard, r)
		if n != page[0].Size || (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%d of %d bytes, %v", n, page[0].Size, err)
		}
		_ = r.Close()
	}
}

// summing has the checksums of its objects in their ETags, or fails to say them.
type summing struct {
	*cloud
	err error
}

func (s summing) Sum(_ context.Context, o objstore.Object) ([]byte, stdhash.Hash, error) {
	want, _ := hex.DecodeString(strings.Trim(o.ETag, `"`))
	return want, md5.New(), s.err
}

// slow is a store each of whose requests waits, and then sends so many bytes a second.
type slow struct {
	*cloud
	wait time.Duration
	rate int64
}

func (s slow) Open(ctx context.Context, o objstore.Object, off, n int64) (io.ReadCloser, error) {
	time.Sleep(s.wait)
	body, err := s.cloud.Open(ctx, o, off, n)
	return struct {
		io.Reader
		io.Closer
	}{&slowly{body, s.rate, time.Now(), 0}, io.NopCloser(nil)}, err
}

type slowly struct {
	r     io.Reader
	rate  int64
	since time.Time
	n     int64
}

func (s *slowly) Read(p []byte) (int, error) {
	n, err := s.r.Read(p[:min(len(p), 64<<10)])
	s.n += int64(n)
	time.Sleep(time.Duration(s.n)*time.Second/time.Duration(s.rate) - time.Since(s.since))
	return n, err
}

// The time that one object takes is compared with that of one request for all of it: with URLMILL_LARGE, the number of MiB, for a store
// that takes 30 ms for a request and sends 50 MB/s. Objects that are not large are read by one request.
func TestObjectsLargeRate(t *testing.T) {
	size := 24
	if n, err := strconv.Atoi(os.Getenv("URLMILL_LARGE")); err == nil {
		size = n
	}
	c := new(cloud)
	c.put("p/a", string(noise(size<<20)))
	c.put("p/small", string(noise(largeObject - 1000)[:largeObject-1000]))
	store := slow{c, 30 * time.Millisecond, 50e6}
	s, err := openCloud(store, nil, "s3://b/p/")
	if err != nil {
		t.Fatal(err)
	}
	page, _, _ := c.List(t.Context(), "p/", "", 2)
	read := func(r io.ReadCloser, want int64) (took time.Duration, requests int64) {
		start, before := time.Now(), c.gets.Load()
		n, err := io.Copy(io.Discard, r)
		if err != nil || n != want {
			t.Fatalf("%d bytes: %v", n, err)
		}
		_ = r.Close()
		return time.Since(start), c.gets.Load() - before
	}
	one, requests := read(s.body(t.Context(), page[0], 0, page[0].Size), page[0].Size)
	if requests != 1 {
		t.Errorf("%d requests", requests)
	}
	var many time.Duration
	for try := 0; try == 0 || try < 5 && many >= one; try++ { // a busy machine may hold up one of them for as long
		content, err := s.content(t.Context(), &fetched{Object: page[0]})
		if err != nil {
			t.Fatal(err)
		}
		many, requests = read(content, page[0].Size)
	}
	if most := page[0].Size/rangeSize + 1; requests > most || many >= one {
		t.Errorf("%d requests, want at most %d; %v, and %v by one", requests, most, many, one)
	}
	content, err := s.content(t.Context(), &fetched{Object: page[1]})
	if err != nil {
		t.Fatal(err)
	}
	if _, n := read(content, page[1].Size); n != 1 {
		t.Errorf("%d requests for an object that is not large", n)
	}
	t.Logf("%d MiB: %v by one request, %.0f MB/s; %v by %d, %.0f MB/s", size, one, float64(page[0].Size)/1e6/one.Seconds(),
		many, requests, float64(page[0].Size)/1e6/many.Seconds())
}

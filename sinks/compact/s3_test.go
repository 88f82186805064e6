package compact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/urlmill/urlmill/internal/dev/azuretest"
	"github.com/urlmill/urlmill/internal/dev/gcstest"
	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/commit/verify"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/azure"
	storebucket "github.com/urlmill/urlmill/sinks/store/bucket"
	"github.com/urlmill/urlmill/sinks/store/gcs"
	"github.com/urlmill/urlmill/sinks/store/s3"
)

// bucket is a place in a bucket.
type bucket struct {
	t         *testing.T
	root      string
	transport http.RoundTripper
	open      func(http.RoundTripper) store.Opener
}

func newS3(t *testing.T) *bucket {
	server, direct := s3test.Direct(t)
	return &bucket{t, s3.Scheme + server.Bucket, direct, func(transport http.RoundTripper) store.Opener {
		return s3.Opener(s3.Options{
			Endpoint: server.Endpoint, Region: server.Region, Transport: transport,
			Credentials: credentials.NewStaticCredentialsProvider(server.AccessKey, server.SecretKey, ""),
			Options:     storebucket.Options{Attempts: 3, Timeout: time.Hour, Pause: func(int) time.Duration { return 0 }},
		})
	}}
}

func newGCS(t *testing.T) *bucket {
	server, direct := gcstest.Direct()
	return &bucket{t, gcs.Scheme + server.Bucket, direct, func(transport http.RoundTripper) store.Opener {
		o := gcs.Default()
		o.Endpoint, o.Attempts, o.Timeout, o.Transport, o.Pause = server.Endpoint, 3, time.Hour, transport, func(int) time.Duration { return 0 }
		return gcs.Opener(o)
	}}
}

func newAzure(t *testing.T) *bucket {
	server, direct := azuretest.Direct()
	return &bucket{t, server.Place, direct, func(transport http.RoundTripper) store.Opener {
		o := azure.Default()
		o.Endpoint, o.Attempts, o.Timeout, o.Transport, o.Pause = server.Endpoint, 3, time.Hour, transport, func(int) time.Duration { return 0 }
		return azure.Opener(o)
	}}
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// stores are those of a process with its own transport.
func (b *bucket) stores(transport http.RoundTripper) stores {
	open := b.open(transport)
	return func(dir string) store.Store {
		if !strings.HasPrefix(dir, b.root) {
			dir = b.root + dir
		}
		s, err := open(dir, quiet)
		if err != nil {
			b.t.Error(err)
		}
		return s
	}
}

// rows returns the rows of the files that count, or of all that can be seen, sorted.
func (b *bucket) rows(all bool) []string {
	b.t.Helper()
	s := b.stores(b.transport)
	root := s(rowsDir)
	places := commit.NewPlaces(root, s.open, quiet)
	var names []string
	if all {
		for _, dir := range []string{"dt=even", "dt=odd"} {
			entries, err := root.List(context.Background(), dir, "")
			must(b.t, err)
			for _, e := range entries {
				names = append(names, dir+"/"+e.Name)
			}
		}
	} else {
		snap, err := commit.ReadSnapshot(context.Background(), root, places.Get)
		must(b.t, err)
		for _, f := range snap.Files {
			if f.Place == "" {
				names = append(names, f.Name)
			}
		}
	}
	var rows []string
	for _, name := range names {
		content, err := root.Read(context.Background(), name)
		must(b.t, err)
		rows = append(rows, strings.Fields(string(content))...)
	}
	slices.Sort(rows)
	return rows
}

// A compaction in a bucket ends before each of its requests. The next one finishes it.
func TestS3(t *testing.T)    { interruptedAtEveryRequest(t, newS3) }
func TestGCS(t *testing.T)   { interruptedAtEveryRequest(t, newGCS) }
func TestAzure(t *testing.T) { interruptedAtEveryRequest(t, newAzure) }

func interruptedAtEveryRequest(t *testing.T, newBucket func(*testing.T) *bucket) {
	step := every(2, 11)
	for at := 0; ; at += step {
		b := newBucket(t)
		must(t, deliver(t.Context(), b.stores(b.transport), lanes[0], 3))
		want := b.rows(true)
		var mu sync.Mutex // several requests are on their way at the same time
		requests, reached := 0, false
		var what string
		_, err := Run(t.Context(), options(b.stores(transportFunc(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			requests++
			dead := requests > at
			if dead && !reached {
				reached, what = true, r.Method+" "+r.URL.String()
			}
			mu.Unlock()
			if dead {
				return nil, errors.New("dead")
			}
			return b.transport.RoundTrip(r)
		}))))
		if got := b.rows(false); !slices.Equal(got, want) {
			t.Fatalf("before request %d, %s: %v, want %v", at, what, got, want)
		}
		if reached == (err == nil) {
			t.Fatalf("before request %d, %s: %v", at, what, err)
		}
		if _, err := Run(t.Context(), options(b.stores(b.transport))); err != nil {
			t.Fatalf("before request %d, %s: the next one: %v", at, what, err)
		}
		if got := b.rows(true); !slices.Equal(got, want) {
			t.Fatalf("before request %d, %s: %v, want %v", at, what, got, want)
		}
		s := b.stores(b.transport)
		r, err := verify.Run(t.Context(), verify.Options{Root: s(rowsDir), Open: s.open, Log: quiet, Counters: map[string]verify.RowCounter{"txt": countLines}})
		must(t, err)
		if !r.OK || r.Compacted.Files != 2 {
			t.Fatalf("before request %d, %s: %+v %+v", at, what, r.Problems, r.Compacted)
		}
		if !reached {
			t.Logf("%d requests", requests)
			return
		}
	}
}

func countLines(r io.ReaderAt, size int64) (int64, error) {
	content := make([]byte, size)
	if n, err := r.ReadAt(content, 0); int64(n) < size {
		return 0, fmt.Errorf("%d bytes: %w", n, err)
	}
	return int64(strings.Count(string(content), "\n")), nil
}

// On S3 nobody knows who lives, so that partitions are not replaced there. What is there stays.
func TestReplaceOnS3(t *testing.T) {
	b := newS3(t)
	s := b.stores(b.transport)
	must(t, deliver(t.Context(), s, lanes[0], 3))
	want := b.rows(true)
	_, err := Begin(t.Context(), ReplaceOptions{Root: s(rowsDir), Open: s.open, Identity: "week", Log: quiet})
	if err == nil || !strings.Contains(err.Error(), "cannot be told in a bucket") || !slices.Equal(b.rows(true), want) {
		t.Errorf("%v", err)
	}
}

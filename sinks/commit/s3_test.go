package commit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/urlmill/urlmill/internal/dev/azuretest"
	"github.com/urlmill/urlmill/internal/dev/gcstest"
	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/azure"
	storebucket "github.com/urlmill/urlmill/sinks/store/bucket"
	"github.com/urlmill/urlmill/sinks/store/gcs"
	"github.com/urlmill/urlmill/sinks/store/s3"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// bucket is a place in a bucket that processes of a test deliver to. Requests are made one at a time.
type bucket struct {
	t         *testing.T
	root      string
	transport http.RoundTripper
	open      func(http.RoundTripper) store.Opener
	// uploads returns the keys of uploads that are not completed, of probes as well.
	uploads func() ([]string, error)
}

func newS3(t *testing.T) *bucket {
	server, transport := s3test.Direct(t)
	o := s3.Options{
		Endpoint: server.Endpoint, Region: server.Region,
		Credentials: credentials.NewStaticCredentialsProvider(server.AccessKey, server.SecretKey, ""),
		Options:     storebucket.Options{Attempts: 3, Timeout: time.Hour, Pause: func(int) time.Duration { return 0 }},
	}
	return &bucket{
		t: t, root: s3.Scheme + server.Bucket, transport: transport,
		open: func(transport http.RoundTripper) store.Opener { o := o; o.Transport = transport; return s3.Opener(o) },
		uploads: func() (keys []string, err error) {
			c := awss3.New(awss3.Options{
				BaseEndpoint: &o.Endpoint, Region: o.Region, UsePathStyle: true, Credentials: o.Credentials, HTTPClient: &http.Client{Transport: transport},
			})
			out, err := c.ListMultipartUploads(context.Background(), &awss3.ListMultipartUploadsInput{Bucket: &server.Bucket})
			if err == nil {
				for _, u := range out.Uploads {
					keys = append(keys, aws.ToString(u.Key))
				}
			}
			return keys, err
		},
	}
}

func newGCS(t *testing.T) *bucket {
	server, transport := gcstest.Direct()
	o := gcs.Default()
	o.Endpoint, o.Attempts, o.Timeout, o.Pause = server.Endpoint, 3, time.Hour, func(int) time.Duration { return 0 }
	return &bucket{
		t: t, root: gcs.Scheme + server.Bucket, transport: transport,
		open:    func(transport http.RoundTripper) store.Opener { o := o; o.Transport = transport; return gcs.Opener(o) },
		uploads: func() ([]string, error) { return stagedIn(server.Names(transport)), nil },
	}
}

func newAzure(t *testing.T) *bucket {
	server, transport := azuretest.Direct()
	o := azure.Default()
	o.Endpoint, o.Attempts, o.Timeout, o.Pause = server.Endpoint, 3, time.Hour, func(int) time.Duration { return 0 }
	return &bucket{
		t: t, root: server.Place, transport: transport,
		open: func(transport http.RoundTripper) store.Opener {
			o := o
			o.Transport = transport
			return azure.Opener(o)
		},
		uploads: func() ([]string, error) { return stagedIn(azuretest.Names(transport)), nil },
	}
}

// stagedIn returns the names of the files that objects of uploads below _tmp are of.
func stagedIn(names []string) (files []string) {
	for _, name := range names {
		if m := staged.FindStringSubmatch(name); m != nil {
			files = append(files, m[1])
		}
	}
	return files
}

var staged = regexp.MustCompile(`/_tmp/[0-9a-f]{8}(/.+)/[^/]+$`)

// transportFunc is a transport.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// stores returns the directories of a process with its own transport.
func (b *bucket) stores(transport http.RoundTripper) func(dir string) store.Store {
	open := b.open(transport)
	return func(dir string) store.Store {
		s, err := open(b.root+dir, quiet)
		if err != nil {
			b.t.Error(err)
		}
		return s
	}
}

// client returns a process that looks at the unfinished files of others however young they are.
func (b *bucket) client(transport http.RoundTripper) *client {
	c := newClientOf(b.stores(transport))
	c.old = new(time.Duration)
	return c
}

// launch starts a process that asks before each of its requests. What it would have sent when it was killed is kept in
// late.
func (b *bucket) launch(end int64, late **http.Request) *actor {
	return launchOn(func(before func(storetest.Call) error) *client {
		return b.client(transportFunc(func(r *http.Request) (*http.Response, error) {
			if err := before(storetest.Call{Op: r.Method, Path: r.URL.Path + "?" + r.URL.RawQuery}); err != nil {
				if late != nil && *late == nil {
					*late = r.Clone(context.Background())
					if r.Body != nil {
						content, _ := io.ReadAll(r.Body) // from memory
						(*late).Body = io.NopCloser(bytes.NewReader(content))
					}
				}
				return nil, err
			}
			return b.transport.RoundTrip(r)
		}))
	}, func() {}, end)
}

// deliverRest has a process finish the work undisturbed, and another one start after it, and returns what is wrong with
// the outcome.
func (b *bucket) deliverRest(end int64) error {
	for range 2 {
		if err := b.client(b.transport).run(context.Background(), clicks, end); err != nil {
			return fmt.Errorf("a last process: %w", err)
		}
	}
	if err := checkStores(b.stores(b.transport), clicks, end, nil); err != nil {
		return err
	}
	return b.noUploads()
}

// noUploads returns an error if there are unfinished uploads of data files. Those of the probe at the start have another
// day to live.
func (b *bucket) noUploads() error {
	keys, err := b.uploads()
	if err != nil {
		return err
	}
	for _, key := range keys {
		if !strings.Contains(key, "/_tmp/") {
			return fmt.Errorf("the upload of %s is left", key)
		}
	}
	return nil
}

// A process is killed before each of its requests in turn, and another takes over. The request that it was about to make
// is never made, or arrives when the others have finished, as requests do that were on their way.
func TestS3InterruptedAtEveryRequest(t *testing.T)    { interruptedAtEveryRequest(t, newS3) }
func TestGCSInterruptedAtEveryRequest(t *testing.T)   { interruptedAtEveryRequest(t, newGCS) }
func TestAzureInterruptedAtEveryRequest(t *testing.T) { interruptedAtEveryRequest(t, newAzure) }

func interruptedAtEveryRequest(t *testing.T, newBucket func(*testing.T) *bucket) {
	const end = firstPosition + 8
	for _, arrives := range []bool{false, true} {
		t.Run(fmt.Sprintf("arrives late %t", arrives), func(t *testing.T) {
			step := stride(1, 5)
			if arrives {
				step = stride(2, 7)
			}
			for at := 0; ; at += step {
				b := newBucket(t)
				var late *http.Request
				a := b.launch(end, &late)
				for a.calls < at && !a.done {
					a.step()
				}
				if a.done {
					t.Logf("before each of %d requests, by %d: %v", a.calls, step, a.err)
					return
				}
				what := a.next
				a.kill()
				err := b.deliverRest(end)
				if err == nil && arrives {
					err = b.arrive(late, end)
				}
				if err != nil {
					t.Fatalf("before request %d, %v: %v", at, what, err)
				}
			}
		})
	}
}

// arrive makes a request of a process that is long dead.
func (b *bucket) arrive(late *http.Request, end int64) error {
	if late == nil {
		return errors.New("the request that was not made is unknown")
	}
	answer, err := b.transport.RoundTrip(late)
	if err != nil {
		return err
	}
	if err := answer.Body.Close(); err != nil {
		return err
	}
	return checkStores(b.stores(b.transport), clicks, end, nil)
}

// The answer to each request in turn is lost, so that nobody knows whether it has had an effect. The process makes it
// again, and goes on as if nothing had been.
func TestS3AnswersLost(t *testing.T)    { answersLost(t, newS3) }
func TestGCSAnswersLost(t *testing.T)   { answersLost(t, newGCS) }
func TestAzureAnswersLost(t *testing.T) { answersLost(t, newAzure) }

func answersLost(t *testing.T, newBucket func(*testing.T) *bucket) {
	const end = firstPosition + 8
	for at := 1; ; at += stride(1, 5) {
		b := newBucket(t)
		n := 0
		what := ""
		c := b.client(transportFunc(func(r *http.Request) (*http.Response, error) {
			answer, err := b.transport.RoundTrip(r)
			if n++; n == at {
				what = r.Method + " " + r.URL.Path + "?" + r.URL.RawQuery
				return nil, errors.New("connection reset by peer")
			}
			return answer, err
		}))
		err := c.run(t.Context(), clicks, end)
		if err == nil {
			err = b.deliverRest(end)
		}
		if err != nil || c.fenced > 0 {
			t.Fatalf("answer %d, to %s: %v; fenced %d times", at, what, err, c.fenced)
		}
		if n < at {
			t.Logf("each of %d answers", at-1)
			return
		}
	}
}

// Which requests lie between reading the head and creating a key, so that a process that stops there is fenced, is the
// code's: strides that step over all of them are made shorter.
func TestS3TwoProcesses(t *testing.T)    { twoProcessesIn(t, newS3) }
func TestGCSTwoProcesses(t *testing.T)   { twoProcessesIn(t, newGCS) }
func TestAzureTwoProcesses(t *testing.T) { twoProcessesIn(t, newAzure) }

func twoProcessesIn(t *testing.T, newBucket func(*testing.T) *bucket) {
	for step := stride(13, 17); twoProcesses(t, newBucket, step) == 0; step = step * 2 / 3 {
		if step < 5 {
			t.Fatal("no process ever was fenced")
		}
	}
}

// twoProcesses has, of two processes, one stop before every step-th of its requests, the other make so many of its own, and then
// both go on one after the other; or the first makes one more and is killed. It returns how often one was fenced.
func twoProcesses(t *testing.T, newBucket func(*testing.T) *bucket, step int) (fenced int) {
	const end = firstPosition + 5
	runs := 0
	for first := 1; ; first += step {
		for second := 0; ; second += step {
			b := newBucket(t)
			one, two := b.launch(end, nil), b.launch(end, nil)
			for _, a := range []*actor{one, two} {
				a.every = 1
			}
			for one.calls < first && !one.done {
				one.step()
			}
			for two.calls < second && !two.done {
				two.step()
			}
			last, exhausted := one.done, two.done
			what := fmt.Sprintf("after %d and %d requests, with %v and %v ahead", one.calls, two.calls, one.next, two.next)
			if runs%2 == 1 {
				one.step() // is all that arrives of it
				one.kill()
			}
			one.finish()
			two.finish()
			if err := errors.Join(one.err, two.err); err != nil && !errors.Is(err, storetest.ErrDead) {
				t.Fatalf("%s: %v", what, err)
			}
			if err := b.deliverRest(end); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			runs++
			fenced += one.fenced + two.fenced
			if last {
				t.Logf("every %d requests: %d runs, fenced %d times", step, runs, fenced)
				return fenced
			}
			if exhausted {
				break
			}
		}
	}
}

// A server that does not create objects exclusively is refused at the start.
func TestS3Probe(t *testing.T) {
	for want, answer := range map[string]func(b *bucket, r *http.Request) (*http.Response, error){
		"lets two processes create the same file": func(b *bucket, r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			r.Header.Del("If-None-Match")
			return b.transport.RoundTrip(r)
		},
		"cannot create a file that must not be there yet": func(b *bucket, r *http.Request) (*http.Response, error) {
			if r.Header.Get("If-None-Match") == "" {
				return b.transport.RoundTrip(r)
			}
			return &http.Response{
				StatusCode: http.StatusNotImplemented, Header: http.Header{}, Request: r,
				Body: io.NopCloser(strings.NewReader("<Error><Code>NotImplemented</Code><Message>no such header</Message></Error>")),
			}, nil
		},
	} {
		b := newS3(t)
		c := b.client(transportFunc(func(r *http.Request) (*http.Response, error) { return answer(b, r) }))
		err := c.open(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "set delivery: at_least_once") {
			t.Errorf("got %v, want %q", err, want)
		}
		must(t, c.close())
	}
}

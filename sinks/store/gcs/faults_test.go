package gcs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/oauth2"

	"github.com/urlmill/urlmill/internal/dev/gcstest"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// transportFunc is a transport.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// operation returns what a request is.
func operation(r *http.Request) string {
	switch {
	case strings.HasPrefix(r.URL.Path, "/upload/"):
		return "objects.insert"
	case strings.HasSuffix(r.URL.Path, "/compose"):
		return "objects.compose"
	case r.Method == http.MethodDelete:
		return "objects.delete"
	case strings.HasSuffix(r.URL.Path, "/o"):
		return "objects.list"
	}
	return "objects.get"
}

type breakage = func(*http.Request, http.RoundTripper) (*http.Response, error)

// says answers with a status and a reason, and a message of the service.
func says(status int, reason string) breakage {
	return func(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
		body := fmt.Sprintf(`{"error":{"code":%d,"message":"for the test","errors":[{"reason":%q}]}}`, status, reason)
		return &http.Response{
			StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, Header: http.Header{},
			Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
		}, nil
	}
}

// half sends a half of a request.
func half(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.CopyN(io.Discard, r.Body, r.ContentLength/2)
		_ = r.Body.Close()
	}
	return nil, io.ErrUnexpectedEOF
}

// silent never answers. It belongs into a bubble.
func silent(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// deaf has the request served and its answer lost.
func deaf(r *http.Request, next http.RoundTripper) (*http.Response, error) {
	a, err := next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	return nil, errors.Join(a.Body.Close(), io.ErrUnexpectedEOF)
}

// skewed refuses with the time of another clock.
func skewed(r *http.Request, next http.RoundTripper) (*http.Response, error) {
	a, err := says(http.StatusForbidden, "forbidden")(r, next)
	a.Header.Set("Date", time.Now().Add(-2*time.Hour).UTC().Format(http.TimeFormat))
	return a, err
}

// brokenOff ends an answer early.
func brokenOff(r *http.Request, next http.RoundTripper) (*http.Response, error) {
	a, err := next.RoundTrip(r)
	if err == nil && a.ContentLength > 0 {
		a.Body = io.NopCloser(io.LimitReader(a.Body, a.ContentLength/2))
	}
	return a, err
}

const (
	attempts = 3
	// timeout is longer than any machine holds up a request that is answered. Tests that wait for its end do so in a bubble.
	timeout = time.Hour
)

// faulty is a server whose answers to one kind of request are wrong, so many times.
type faulty struct {
	*bucket.Store
	opts       Options
	left, seen atomic.Int64
}

func newFaulty(t *testing.T, op string, wrong breakage) *faulty {
	t.Helper()
	server, direct := gcstest.Direct()
	f := &faulty{}
	f.opts = options(server, transportFunc(func(r *http.Request) (*http.Response, error) {
		if operation(r) == op && f.left.Add(-1) >= 0 {
			f.seen.Add(1)
			return wrong(r, direct)
		}
		return direct.RoundTrip(r)
	}))
	f.opts.Attempts, f.opts.Timeout, f.opts.Trouble = attempts, timeout, new(bucket.Trouble)
	f.opts.Pause = func(int) time.Duration { return time.Millisecond }
	f.Store = open(t, f.opts, Scheme+server.Bucket+"/out")
	must(t, f.Prepare(t.Context()))
	return f
}

// deliver writes and publishes a file, and creates an object that says so in between, as a commit does.
func (f *faulty) deliver(t *testing.T) error {
	t.Helper()
	file, err := f.Begin(t.Context(), "a-"+f.Run()+"0001.txt")
	if err != nil {
		return err
	}
	_, err = file.Write([]byte("content"))
	must(t, err)
	p, err := file.Finish()
	if err != nil {
		return errors.Join(err, file.Discard())
	}
	all := []store.Pending{p}
	if err := f.Settle(t.Context(), all); err != nil {
		return errors.Join(err, f.Discard(t.Context(), all))
	}
	if err := f.Create(t.Context(), "_commits/1.json", []byte("{}")); err != nil {
		return errors.Join(err, f.Discard(t.Context(), all))
	}
	if err := f.Publish(t.Context(), all); err != nil {
		f.left.Store(0)
		if err := f.Publish(t.Context(), all); err != nil { // what the next start does
			t.Errorf("publishing it again gave %v", err)
		}
		return err
	}
	return nil
}

// check looks at what a delivery has left: the file and its record, or neither.
func (f *faulty) check(t *testing.T) {
	t.Helper()
	f.left.Store(0)
	_, record := f.Read(t.Context(), "_commits/1.json")
	content, found := f.Read(t.Context(), "a-"+f.Run()+"0001.txt")
	if !errors.Is(record, found) && (!errors.Is(record, fs.ErrNotExist) || !errors.Is(found, fs.ErrNotExist)) || found == nil && string(content) != "content" {
		t.Errorf("the record: %v, the file: %q, %v", record, content, found)
	}
	must(t, f.Sweep(t.Context(), func(store.Leftover) bool { return true }))
	must(t, f.Close())
}

// Requests that fail are made again, and in the end nothing was committed, or all of it, and the error says what to do.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		fault breakage
		final bool   // is not tried again
		says  string // in the end; "" for no error
	}{
		"500":         {says(500, "backendError"), false, "failed after 3 attempts; the server is in trouble"},
		"503":         {says(503, "backendError"), false, "the server cannot take so many requests: lower parallel in the section gcs"},
		"429":         {says(429, "rateLimitExceeded"), false, "the server cannot take so many requests"},
		"401":         {says(401, "authError"), true, "the server does not accept the credentials, or they have expired: renew them"},
		"403":         {says(403, "forbidden"), true, "give them the role that docs/gcs.md names in gs://fake/out"},
		"kept":        {says(403, "retentionPolicyNotMet"), true, "give a bucket without"},
		"clock":       {skewed, true, "the clock of this machine is wrong"},
		"half sent":   {half, false, "failed after 3 attempts; the server cannot be reached"},
		"no answer":   {silent, false, "does not answer in 1h0m0s"},
		"broken off":  {brokenOff, false, ""},
		"answer lost": {deaf, false, ""},
	} {
		for _, op := range []string{"objects.insert", "objects.list", "objects.compose", "objects.delete"} {
			if name == "broken off" && op == "objects.delete" {
				continue // has no content to break off
			}
			t.Run(name+" "+op, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					if !c.final {
						f := newFaulty(t, op, c.fault)
						f.left.Store(attempts - 1)
						if err := f.deliver(t); err != nil || f.seen.Load() != attempts-1 {
							t.Errorf("after %d failures: %v", f.seen.Load(), err)
						}
						if _, err := f.opts.Trouble.Get(); err != nil || f.opts.Trouble.Retries() == 0 {
							t.Errorf("trouble: %v, %d retries", err, f.opts.Trouble.Retries())
						}
						f.check(t)
					}
					if c.says == "" {
						return
					}
					f := newFaulty(t, op, c.fault)
					f.left.Store(1000)
					err := f.deliver(t)
					if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), op) {
						t.Errorf("got %v", err)
					}
					f.check(t)
				})
			})
		}
	}
}

// What a bucket does not allow is said before anything starts.
func TestRefused(t *testing.T) {
	for want, c := range map[string]struct {
		op    string
		fault breakage
	}{
		"there is no bucket fake: create it, or correct the path":           {"objects.list", says(404, "notFound")},
		"(this was objects.insert)":                                         {"objects.insert", says(403, "forbidden")},
		"(this was objects.delete)":                                         {"objects.delete", says(403, "forbidden")},
		"completes no upload":                                               {"objects.compose", says(412, "conditionNotMet")},
		"does not say of an upload which parts it has":                      {"objects.list", says(200, "")},
		"the bucket has its requesters pay":                                 {"objects.list", says(400, "userProjectMissing")},
		"the project has no billing account":                                {"objects.list", says(403, "accountDisabled")},
		"as Google Cloud Storage does: give another one (docs/gcs.md lists": {"objects.list", endless},
		"the answer of the server is not JSON":                              {"objects.list", garbled},
	} {
		server, direct := gcstest.Direct()
		o := options(server, transportFunc(func(r *http.Request) (*http.Response, error) {
			if operation(r) == c.op {
				return c.fault(r, direct)
			}
			return direct.RoundTrip(r)
		}))
		o.Attempts, o.Pause = attempts, func(int) time.Duration { return 0 }
		err := open(t, o, Scheme+server.Bucket+"/out").Prepare(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func endless(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
	return with(r, `{"nextPageToken":"again"}`)
}

func garbled(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
	return with(r, "<html>")
}

func with(r *http.Request, body string) (*http.Response, error) {
	a, err := says(http.StatusOK, "")(r, nil)
	a.Body, a.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	return a, err
}

type tokenFunc func() (*oauth2.Token, error)

func (f tokenFunc) Token() (*oauth2.Token, error) { return f() }

// Credentials sign requests over TLS alone, and are looked up anew when the server refuses them.
func TestCredentials(t *testing.T) {
	server, direct := gcstest.Direct()
	found, seen := 0, map[string]int{}
	o := options(server, transportFunc(func(r *http.Request) (*http.Response, error) {
		seen[r.Header.Get("Authorization")]++
		if r.Header.Get("Authorization") == "Bearer 1" {
			return says(401, "authError")(r, nil)
		}
		return direct.RoundTrip(r)
	}))
	o.Credentials = func() (oauth2.TokenSource, error) {
		found++
		return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: fmt.Sprint(found)}), nil
	}
	o.Trouble = new(bucket.Trouble)
	o.Pause = func(int) time.Duration { return 0 }
	s := open(t, o, Scheme+server.Bucket)
	must(t, s.Prepare(t.Context()), s.Close())
	if found != 0 || len(seen) != 1 || seen[""] == 0 {
		t.Errorf("without TLS: %v", seen)
	}
	o.Endpoint = "https://gcs.invalid"
	s = open(t, o, Scheme+server.Bucket)
	clear(seen)
	must(t, s.Prepare(t.Context()), s.Close())
	if found != 2 || seen["Bearer 1"] != 1 || seen["Bearer 2"] == 0 || seen[""] != 0 || o.Trouble.Retries() != 1 {
		t.Errorf("%d found, %v", found, seen)
	}
	for text, want := range map[string]string{
		"google: could not find default credentials. See":              "no credentials were found: set GOOGLE_APPLICATION_CREDENTIALS",
		"Token must be a short-lived token: check your iat and exp":    "the clock of this machine is wrong: set it",
		`oauth2: "invalid_grant" "Token has been expired or revoked."`: "have expired or were revoked",
		"metadata: something else":                                     "the credentials cannot be used: renew them",
	} {
		o.Credentials = func() (oauth2.TokenSource, error) {
			return tokenFunc(func() (*oauth2.Token, error) { return nil, errors.New(text) }), nil
		}
		if err := open(t, o, Scheme+server.Bucket).Prepare(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

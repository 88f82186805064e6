package azure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/urlmill/urlmill/internal/dev/azuretest"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// transportFunc is a transport.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// operation returns what a request is.
func operation(r *http.Request) string {
	switch comp := r.URL.Query().Get("comp"); {
	case comp == "list":
		return "List Blobs"
	case comp == "block":
		return "Put Block"
	case comp == "blocklist" && r.Method == http.MethodPut:
		return "Put Block List"
	case comp == "blocklist":
		return "Get Block List"
	case r.Method == http.MethodPut:
		return "Put Blob"
	case r.Method == http.MethodDelete:
		return "Delete Blob"
	case r.Method == http.MethodHead:
		return "Get Blob Properties"
	}
	return "Get Blob"
}

type breakage = func(*http.Request, http.RoundTripper) (*http.Response, error)

// says answers with a status and a reason, and a message of the service.
func says(status int, reason string) breakage {
	return func(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
		body := "<Error><Code>" + reason + "</Code><Message>for the test\nRequestId:1</Message></Error>"
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
	a, err := says(http.StatusForbidden, "AuthenticationFailed")(r, next)
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
	server, direct := azuretest.Direct()
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
	f.Store = open(t, f.opts, server.Place+"/out")
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
		"500":         {says(500, "InternalError"), false, "failed after 3 attempts; the server is in trouble"},
		"503":         {says(503, "ServerBusy"), false, "the server cannot take so many requests: lower parallel in the section azure"},
		"429":         {says(429, "TooManyRequests"), false, "the server cannot take so many requests"},
		"401":         {says(401, "InvalidAuthenticationInfo"), true, "the server does not accept the credentials, or they have expired: correct AZURE_STORAGE_KEY"},
		"403":         {says(403, "AuthorizationPermissionMismatch"), true, "give them the role Storage Blob Data Contributor in az://fake/container/out"},
		"kept":        {says(409, "BlobImmutableDueToPolicy"), true, "give a container without"},
		"clock":       {skewed, true, "the clock of this machine is wrong"},
		"half sent":   {half, false, "failed after 3 attempts; the server cannot be reached"},
		"no answer":   {silent, false, "does not answer in 1h0m0s"},
		"broken off":  {brokenOff, false, ""},
		"answer lost": {deaf, false, ""},
	} {
		for _, op := range []string{"Put Blob", "Put Block", "Get Block List", "Put Block List", "List Blobs", "Delete Blob"} {
			if name == "broken off" && op != "List Blobs" && op != "Get Block List" {
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
		"there is no container container in the account fake: create it, or correct the path": {"List Blobs", says(404, "ContainerNotFound")},
		"(this was Put Blob)":                                               {"Put Blob", says(403, "AuthorizationPermissionMismatch")},
		"(this was Put Block)":                                              {"Put Block", says(403, "AuthorizationPermissionMismatch")},
		"(this was Delete Blob)":                                            {"Delete Blob", says(403, "AuthorizationPermissionMismatch")},
		"the account does not let this machine in":                          {"List Blobs", says(403, "AuthorizationFailure")},
		"the account is disabled":                                           {"List Blobs", says(409, "AccountIsDisabled")},
		"completes no upload":                                               {"Put Block List", says(409, "BlobAlreadyExists")},
		"does not say of an upload which parts it has":                      {"Get Block List", empty},
		"there is no storage account fake":                                  {"List Blobs", unknown},
		"as Azure Blob Storage does: give another one (docs/azure.md lists": {"List Blobs", endless},
		"the answer of the server is not XML":                               {"List Blobs", garbled},
	} {
		server, direct := azuretest.Direct()
		o := options(server, transportFunc(func(r *http.Request) (*http.Response, error) {
			if operation(r) == c.op {
				return c.fault(r, direct)
			}
			return direct.RoundTrip(r)
		}))
		o.Attempts, o.Pause = attempts, func(int) time.Duration { return 0 }
		err := open(t, o, server.Place+"/out").Prepare(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func endless(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
	return with(r, "<EnumerationResults><NextMarker>again</NextMarker></EnumerationResults>")
}

func empty(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
	return with(r, "<BlockList></BlockList>")
}

func garbled(r *http.Request, _ http.RoundTripper) (*http.Response, error) { return with(r, "{}") }

func unknown(*http.Request, http.RoundTripper) (*http.Response, error) {
	return nil, &net.DNSError{Err: "no such host", Name: "fake.blob.core.windows.net", IsNotFound: true}
}

func with(r *http.Request, body string) (*http.Response, error) {
	a, err := says(http.StatusOK, "")(r, nil)
	a.Body, a.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	return a, err
}

// identity gives the same token always, or an error.
type identity struct{ token, err string }

func (i identity) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	if i.err != "" {
		return azcore.AccessToken{}, errors.New(i.err)
	}
	return azcore.AccessToken{Token: i.token, ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// Tokens and signatures that are sent as they are go over TLS alone; tokens are kept, and looked up anew when the server refuses them.
func TestCredentials(t *testing.T) {
	server, direct := azuretest.Direct()
	found, seen := 0, map[string]int{}
	o := options(server, transportFunc(func(r *http.Request) (*http.Response, error) {
		how, _, _ := strings.Cut(r.Header.Get("Authorization"), ":")
		if r.URL.Query().Get("sig") != "" {
			how = "SAS"
		}
		seen[how]++
		if how == "Bearer 1" {
			return says(401, "InvalidAuthenticationInfo")(r, nil)
		}
		return direct.RoundTrip(r)
	}))
	o.Trouble, o.Pause = new(bucket.Trouble), func(int) time.Duration { return 0 }
	prepare := func(o Options) {
		t.Helper()
		clear(seen)
		s := open(t, o, server.Place)
		must(t, s.Prepare(t.Context()), s.Close())
	}
	t.Setenv(sasVariable, "?sv=1&sig=x")
	prepare(o)
	if len(seen) != 1 || seen[""] == 0 {
		t.Errorf("without TLS: %v", seen)
	}
	o.Endpoint = "https://azure.invalid"
	prepare(o)
	if len(seen) != 1 || seen["SAS"] == 0 {
		t.Errorf("with a shared access signature: %v", seen)
	}
	t.Setenv(keyVariable, "a2V5")
	prepare(o)
	if len(seen) != 1 || seen["SharedKey fake"] == 0 {
		t.Errorf("with a key: %v", seen)
	}
	o.Credentials = func() (azcore.TokenCredential, error) {
		found++
		return identity{token: fmt.Sprint(found)}, nil
	}
	prepare(o)
	if found != 2 || seen["Bearer 1"] != 1 || seen["Bearer 2"] == 0 || len(seen) != 2 || o.Trouble.Retries() != 1 {
		t.Errorf("%d found, %v", found, seen)
	}
	o.Credentials = func() (azcore.TokenCredential, error) { return identity{err: "failed to acquire a token."}, nil }
	if err := open(t, o, server.Place).Prepare(t.Context()); err == nil || !strings.Contains(err.Error(), "no identity gives credentials: set AZURE_STORAGE_KEY") {
		t.Error(err)
	}
	o.Credentials = nil
	t.Setenv(keyVariable, "not base64")
	if _, err := Opener(o)(server.Place, quiet); err == nil || !strings.Contains(err.Error(), "is not base64") || strings.Contains(err.Error(), "not base64:") && strings.Contains(err.Error(), `"not`) {
		t.Error(err)
	}
}

package gcs

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/urlmill/urlmill/internal/dev/gcstest"
	"github.com/urlmill/urlmill/sinks/store/bucket"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

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

// says answers with a status and a reason, and a message of the service.
func says(status int, reason string) storetest.Breakage {
	return storetest.Says(status, fmt.Sprintf(`{"error":{"code":%d,"message":"for the test","errors":[{"reason":%q}]}}`, status, reason))
}

var skewed = storetest.Skewed(says(http.StatusForbidden, "forbidden"))

func newFaulty(t *testing.T, op string, wrong storetest.Breakage) *storetest.Faulty {
	t.Helper()
	server, direct := gcstest.Direct()
	f := &storetest.Faulty{Trouble: new(bucket.Trouble)}
	o := options(server, f.Transport(direct, func(r *http.Request) bool { return operation(r) == op }, wrong))
	o.Attempts, o.Timeout, o.Trouble = storetest.Attempts, storetest.Timeout, f.Trouble
	o.Pause = func(int) time.Duration { return time.Millisecond }
	f.Store = open(t, o, Scheme+server.Bucket+"/out")
	must(t, f.Prepare(t.Context()))
	return f
}

func TestFaults(t *testing.T) {
	storetest.Faults(t, []string{"objects.insert", "objects.list", "objects.compose", "objects.delete"}, map[string]storetest.Fault{
		"500":         {Wrong: says(500, "backendError"), Says: "failed after 3 attempts; the server is in trouble"},
		"503":         {Wrong: says(503, "backendError"), Says: "the server cannot take so many requests: lower parallel in the section gcs"},
		"429":         {Wrong: says(429, "rateLimitExceeded"), Says: "the server cannot take so many requests"},
		"401":         {Wrong: says(401, "authError"), Final: true, Says: "the server does not accept the credentials, or they have expired: renew them"},
		"403":         {Wrong: says(403, "forbidden"), Final: true, Says: "give them the role that docs/gcs.md names in gs://fake/out"},
		"kept":        {Wrong: says(403, "retentionPolicyNotMet"), Final: true, Says: "give a bucket without"},
		"clock":       {Wrong: skewed, Final: true, Says: "the clock of this machine is wrong"},
		"half sent":   {Wrong: storetest.HalfSent, Says: "failed after 3 attempts; the server cannot be reached"},
		"no answer":   {Wrong: storetest.Silent, Says: "does not answer in 1h0m0s"},
		"answer lost": {Wrong: storetest.Deaf},
	}, newFaulty, nil)
	broken := map[string]storetest.Fault{"broken off": {Wrong: storetest.BrokenOff}} // others have no content in their answers
	storetest.Faults(t, []string{"objects.insert", "objects.list", "objects.compose"}, broken, newFaulty, nil)
}

// What a bucket does not allow is said before anything starts.
func TestRefused(t *testing.T) {
	for want, c := range map[string]struct {
		op    string
		fault storetest.Breakage
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
		o := options(server, storetest.Transport(func(r *http.Request) (*http.Response, error) {
			if operation(r) == c.op {
				return c.fault(r, direct)
			}
			return direct.RoundTrip(r)
		}))
		o.Attempts, o.Pause = storetest.Attempts, func(int) time.Duration { return 0 }
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
	return storetest.Answer(r, http.StatusOK, body), nil
}

type tokenFunc func() (*oauth2.Token, error)

func (f tokenFunc) Token() (*oauth2.Token, error) { return f() }

// Credentials sign requests over TLS alone, and are looked up anew when the server refuses them.
func TestCredentials(t *testing.T) {
	server, direct := gcstest.Direct()
	found, seen := 0, map[string]int{}
	o := options(server, storetest.Transport(func(r *http.Request) (*http.Response, error) {
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

package azure

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/urlmill/urlmill/internal/dev/azuretest"
	"github.com/urlmill/urlmill/sinks/store/bucket"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

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

// says answers with a status and a reason, and a message of the service.
func says(status int, reason string) storetest.Breakage {
	return storetest.Says(status, "<Error><Code>"+reason+"</Code><Message>for the test\nRequestId:1</Message></Error>")
}

var skewed = storetest.Skewed(says(http.StatusForbidden, "AuthenticationFailed"))

func newFaulty(t *testing.T, op string, wrong storetest.Breakage) *storetest.Faulty {
	t.Helper()
	server, direct := azuretest.Direct()
	f := &storetest.Faulty{Trouble: new(bucket.Trouble)}
	o := options(server, f.Transport(direct, func(r *http.Request) bool { return operation(r) == op }, wrong))
	o.Attempts, o.Timeout, o.Trouble = storetest.Attempts, storetest.Timeout, f.Trouble
	o.Pause = func(int) time.Duration { return time.Millisecond }
	f.Store = open(t, o, server.Place+"/out")
	must(t, f.Prepare(t.Context()))
	return f
}

func TestFaults(t *testing.T) {
	storetest.Faults(t, []string{"Put Blob", "Put Block", "Get Block List", "Put Block List", "List Blobs", "Delete Blob"}, map[string]storetest.Fault{
		"500":         {Wrong: says(500, "InternalError"), Says: "failed after 3 attempts; the server is in trouble"},
		"503":         {Wrong: says(503, "ServerBusy"), Says: "the server cannot take so many requests: lower parallel in the section azure"},
		"429":         {Wrong: says(429, "TooManyRequests"), Says: "the server cannot take so many requests"},
		"401":         {Wrong: says(401, "InvalidAuthenticationInfo"), Final: true, Says: "the server does not accept the credentials, or they have expired: correct AZURE_STORAGE_KEY"},
		"403":         {Wrong: says(403, "AuthorizationPermissionMismatch"), Final: true, Says: "give them the role Storage Blob Data Contributor in az://fake/container/out"},
		"kept":        {Wrong: says(409, "BlobImmutableDueToPolicy"), Final: true, Says: "give a container without"},
		"clock":       {Wrong: skewed, Final: true, Says: "the clock of this machine is wrong"},
		"half sent":   {Wrong: storetest.HalfSent, Says: "failed after 3 attempts; the server cannot be reached"},
		"no answer":   {Wrong: storetest.Silent, Says: "does not answer in 1h0m0s"},
		"answer lost": {Wrong: storetest.Deaf},
	}, newFaulty, nil)
	broken := map[string]storetest.Fault{"broken off": {Wrong: storetest.BrokenOff}} // others have no content in their answers
	storetest.Faults(t, []string{"List Blobs", "Get Block List"}, broken, newFaulty, nil)
}

// What a bucket does not allow is said before anything starts.
func TestRefused(t *testing.T) {
	for want, c := range map[string]struct {
		op    string
		fault storetest.Breakage
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
		o := options(server, storetest.Transport(func(r *http.Request) (*http.Response, error) {
			if operation(r) == c.op {
				return c.fault(r, direct)
			}
			return direct.RoundTrip(r)
		}))
		o.Attempts, o.Pause = storetest.Attempts, func(int) time.Duration { return 0 }
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
	return storetest.Answer(r, http.StatusOK, body), nil
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
	o := options(server, storetest.Transport(func(r *http.Request) (*http.Response, error) {
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

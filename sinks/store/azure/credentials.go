package azure

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// Variables by which Azure's command line takes a key or a shared access signature.
const (
	keyVariable = "AZURE_STORAGE_KEY"
	sasVariable = "AZURE_STORAGE_SAS_TOKEN"
)

// The account of the emulator and its key, which Microsoft documents.
const (
	emulator    = "devstoreaccount1"
	emulatorKey = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

const (
	scope      = "https://storage.azure.com/.default"
	apiVersion = "2021-12-02"
	// early is how long before its end a token is renewed.
	early = 5 * time.Minute
)

// signing returns what signs requests to an account, and what looks credentials up anew, nil where there are no others: the key of the
// account, a shared access signature, or an identity. The last two are sent as they are, and so over TLS alone.
func signing(o Options, account, endpoint string) (sign func(*http.Request) error, renew func(), err error) {
	key, plain := os.Getenv(keyVariable), strings.HasPrefix(endpoint, "http:")
	if plain && account == emulator {
		key = cmp.Or(key, emulatorKey)
	}
	switch sas := strings.TrimPrefix(os.Getenv(sasVariable), "?"); {
	case o.anonymous:
		return stamp, nil, nil
	case o.Credentials != nil && !plain:
	case key != "":
		secret, err := base64.StdEncoding.DecodeString(key)
		if err != nil {
			return nil, nil, errors.New("the key of the account in " + keyVariable + " is not base64: copy it again from the account's access keys")
		}
		return func(r *http.Request) error { return signShared(r, account, secret) }, nil, nil
	case plain:
		return stamp, nil, nil
	case sas != "":
		return func(r *http.Request) error {
			r.URL.RawQuery = strings.TrimPrefix(r.URL.RawQuery+"&"+sas, "&")
			return stamp(r)
		}, nil, nil
	}
	t := &tokens{find: o.Credentials}
	if t.find == nil {
		t.find = func() (azcore.TokenCredential, error) { return azidentity.NewDefaultAzureCredential(nil) }
	}
	return t.sign, t.renew, nil
}

// stamp adds what every request has.
func stamp(r *http.Request) error {
	r.Header.Set("x-ms-date", time.Now().UTC().Format(http.TimeFormat))
	r.Header.Set("x-ms-version", apiVersion)
	return nil
}

// signShared signs a request with the key of the account.
// https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key
func signShared(r *http.Request, account string, key []byte) error {
	_ = stamp(r)
	length := ""
	if r.ContentLength > 0 {
		length = fmt.Sprint(r.ContentLength)
	}
	h := r.Header
	lines := []string{
		r.Method, h.Get("Content-Encoding"), h.Get("Content-Language"), length, h.Get("Content-MD5"), h.Get("Content-Type"), "",
		h.Get("If-Modified-Since"), h.Get("If-Match"), h.Get("If-None-Match"), h.Get("If-Unmodified-Since"), h.Get("Range"),
	}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, "x-ms-") {
			lines = append(lines, lower+":"+h.Get(name))
		}
	}
	lines = append(lines, "/"+account+r.URL.EscapedPath())
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		lines = append(lines, name+":"+strings.Join(query[name], ","))
	}
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(strings.Join(lines, "\n")))
	h.Set("Authorization", "SharedKey "+account+":"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return nil
}

// tokens signs requests with those of an identity.
type tokens struct {
	find func() (azcore.TokenCredential, error)

	mu       sync.Mutex
	identity azcore.TokenCredential // nil before the first request, and after one that was refused
	token    azcore.AccessToken
}

func (t *tokens) sign(r *http.Request) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.identity == nil {
		identity, err := t.find()
		if err != nil {
			return err
		}
		t.identity, t.token = identity, azcore.AccessToken{}
	}
	if time.Until(t.token.ExpiresOn) < early { // not every kind of identity keeps its tokens
		token, err := t.identity.GetToken(context.WithoutCancel(r.Context()), policy.TokenRequestOptions{Scopes: []string{scope}})
		if err != nil {
			t.identity = nil
			return err
		}
		t.token = token
	}
	r.Header.Set("Authorization", "Bearer "+t.token.Token)
	return stamp(r)
}

func (t *tokens) renew() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.identity = nil
}

// fault returns the code and the message of an answer that is an error. Those to HEAD have no body.
func fault(h http.Header, body []byte) (code, message string) {
	var answer struct{ Code, Message, AuthenticationErrorDetail string }
	_ = xml.Unmarshal(body, &answer) // what is not XML says nothing
	message, _, _ = strings.Cut(answer.Message, "\n")
	if d := answer.AuthenticationErrorDetail; d != "" && !strings.Contains(d, "signature") {
		message += " " + d
	}
	return cmp.Or(h.Get("x-ms-error-code"), answer.Code), message
}

// advise says what to do about an error, where Azure has reasons of its own.
func advise(account, container, endpoint string) func(op string, err error) string {
	return func(_ string, err error) string {
		var answer *bucket.StatusError
		var dns *net.DNSError
		var credentials *bucket.CredentialsError
		switch {
		case errors.As(err, &answer):
		case errors.As(err, &credentials) && strings.Contains(err.Error(), "failed to acquire a token"):
			return "no identity gives credentials: set " + keyVariable + " or " + sasVariable + ", call az login, or give this machine a managed identity"
		case errors.As(err, &dns) && dns.IsNotFound && credentials == nil:
			return "there is no storage account " + account + ": correct the path, or " + endpoint
		default:
			return ""
		}
		switch answer.Code {
		case "ContainerNotFound", "ResourceNotFound", "ContainerBeingDeleted":
			return fmt.Sprintf("there is no container %s in the account %s: create it, or correct the path", container, account)
		case "AuthenticationFailed", "InvalidAuthenticationInfo", "NoAuthenticationInformation":
			return fmt.Sprintf("the server does not accept the credentials, or they have expired: correct %s or %s, or renew the identity (docs/azure.md, Credentials)", keyVariable, sasVariable)
		case "AuthorizationFailure", "PublicAccessNotPermitted":
			return fmt.Sprintf("the account does not let this machine in: see its networking rules and whether it allows such credentials, in %s", account)
		case "BlobImmutableDueToPolicy":
			return "the container keeps its blobs for a time (immutability policy or legal hold), and what a commit leaves has to be deleted: give a container without"
		case "BlobArchived", "BlobBeingRehydrated":
			return "it is archived: rehydrate it, or leave it out of the paths"
		case "BlobUsesCustomerSpecifiedEncryption":
			return "it is encrypted with a key that requests have to bring, which urlmill cannot: leave it out of the paths"
		case "AccountIsDisabled":
			return "the account is disabled: enable it"
		}
		return ""
	}
}

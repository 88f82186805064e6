package gcs

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// What tokens are asked for: for objects, and for the messages of a queue.
const (
	scope      = "https://www.googleapis.com/auth/devstorage.read_write"
	queueScope = "https://www.googleapis.com/auth/pubsub"
)

// tokens signs requests.
type tokens struct {
	find  func() (oauth2.TokenSource, error) // nil: requests are not signed
	payer string

	mu     sync.Mutex
	source oauth2.TokenSource // nil before the first request, and after one that was refused
}

// newTokens returns what signs requests to a server.
func newTokens(o Options, endpoint, scope string) *tokens {
	if o.anonymous || strings.HasPrefix(endpoint, "http:") { // anybody on the way would have them
		return &tokens{payer: o.payer}
	}
	if o.Credentials != nil {
		return &tokens{find: o.Credentials, payer: o.payer}
	}
	return &tokens{payer: o.payer, find: func() (oauth2.TokenSource, error) {
		return google.DefaultTokenSource(context.WithValue(context.Background(), oauth2.HTTPClient, &http.Client{Timeout: o.Timeout}), scope)
	}}
}

func (t *tokens) sign(r *http.Request) error {
	if t.payer != "" {
		r.Header.Set("X-Goog-User-Project", t.payer)
	}
	if t.find == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.source == nil {
		source, err := t.find()
		if err != nil {
			return err
		}
		t.source = source
	}
	token, err := t.source.Token()
	if err != nil {
		t.source = nil // whoever corrects the file that it comes from is heard
		return err
	}
	token.SetAuthHeader(r)
	return nil
}

// renew returns what makes the next request look for other credentials, nil if none are used.
func (t *tokens) renew() func() {
	if t.find == nil {
		return nil
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.source = nil
	}
}

// fault returns the code and the message of an answer that is an error.
func fault(_ http.Header, body []byte) (code, message string) {
	var answer struct {
		Error struct {
			Message string `json:"message"`
			Errors  []struct {
				Reason string `json:"reason"`
			} `json:"errors"`
			Status string `json:"status"` // of Pub/Sub
		} `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return "", ""
	}
	if code = answer.Error.Status; len(answer.Error.Errors) > 0 {
		code = answer.Error.Errors[0].Reason
	}
	return code, answer.Error.Message
}

// advise says what to do about an error, where Google Cloud Storage has reasons of its own.
func (o Options) advise(name string) func(op string, err error) string {
	return func(op string, err error) string {
		var answer *bucket.StatusError
		if errors.As(err, &answer) {
			switch {
			case answer.Status == http.StatusNotFound:
				return "there is no bucket " + name + ": create it, or correct the path"
			case answer.Code == "retentionPolicyNotMet" || answer.Code == "objectUnderActiveHold":
				return "the bucket keeps its objects for a time (retention policy or hold), and what a commit leaves has to be deleted: give a bucket without"
			case answer.Code == customerKey:
				return "it is encrypted with a key that requests have to bring, which urlmill cannot: leave it out of the paths"
			case strings.HasPrefix(answer.Code, kmsKey):
				return "its key of encryption cannot be used: let the service account of Cloud Storage use it, or enable it"
			case answer.Code == "userProjectMissing" && o.section != "":
				return "the bucket has its requesters pay: set " + o.section + ".user_project to the project that is to"
			case answer.Code == "userProjectMissing":
				return "the bucket has its requesters pay, which a sink cannot: give another bucket"
			case answer.Status == http.StatusForbidden && (answer.Code == "accountDisabled" || answer.Code == "userProjectAccountProblem"):
				return "the project has no billing account that is open: open one"
			}
			return ""
		}
		var credentials *bucket.CredentialsError
		switch {
		case !errors.As(err, &credentials):
			return ""
		case strings.Contains(err.Error(), "could not find default credentials"):
			return "no credentials were found: set GOOGLE_APPLICATION_CREDENTIALS, call gcloud auth application-default login, or give this machine a service account"
		case strings.Contains(err.Error(), "iat and exp"):
			return "the clock of this machine is wrong: set it"
		case strings.Contains(err.Error(), "invalid_grant"), strings.Contains(err.Error(), "invalid_rapt"):
			return "the credentials have expired or were revoked: renew them, such as by gcloud auth application-default login, and start again"
		}
		return ""
	}
}

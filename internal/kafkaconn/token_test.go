package kafkaconn

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/urlmill/urlmill/config"
)

// jwt returns a token without a signature that says when it begins and ends.
func jwt(from, until time.Time) string {
	claims := fmt.Sprintf(`{"nbf":%d,"exp":%d}`, from.Unix(), until.Unix())
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".sig"
}

// failsWith checks that a login gives up with words, for good or until a later try, and shows no secret.
func failsWith(t *testing.T, o *OAuth, fatal bool, words ...string) {
	t.Helper()
	m, err := SASL{Mechanism: MechanismOAuthBearer, OAuth: o}.NewMechanism()
	if err != nil {
		t.Fatal(err)
	}
	patience := 2 * time.Minute
	if len(words) == 0 || strings.Contains(words[0], "within dial_timeout") { // which it waits for
		patience = time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, _, err = m.Start(ctx)
	if err == nil {
		t.Fatal("a token came")
	}
	explained := Explain(err, SASL{Mechanism: MechanismOAuthBearer}, func(kafkago.Error) string { return "" })
	if IsFatal(explained) != fatal || strings.Contains(explained.Error(), "s3cret") {
		t.Errorf("fatal: %v: %v", IsFatal(explained), explained)
	}
	for _, word := range words {
		if !strings.Contains(explained.Error(), word) {
			t.Errorf("%v: not with %q", explained, word)
		}
	}
}

func TestTokenURL(t *testing.T) {
	var asked atomic.Int64
	var answer atomic.Value // func(http.ResponseWriter, *http.Request); an answer may go on behind its test
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		answer.Load().(func(http.ResponseWriter, *http.Request))(w, r)
	}))
	defer server.Close()
	o := &OAuth{TokenURL: server.URL, ClientID: "mill", ClientSecret: "s3cret", Scopes: []string{"kafka", "more"}, Extensions: map[string]string{"logicalCluster": "lkc-1", "a": "b"}}
	says := func(status int, kind, body string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body)) // the client may have gone
		}
	}
	t.Run("good", func(t *testing.T) {
		answer.Store(func(w http.ResponseWriter, r *http.Request) {
			id, secret, _ := r.BasicAuth()
			if id != "mill" || secret != "s3cret" || r.FormValue("grant_type") != "client_credentials" || r.FormValue("scope") != "kafka more" {
				t.Errorf("%q, %v", id, r.Form)
			}
			says(200, "application/json", `{"access_token":"abc","token_type":"bearer","expires_in":3600}`)(w, r)
		})
		m, err := SASL{Mechanism: MechanismOAuthBearer, OAuth: o}.NewMechanism()
		if err != nil {
			t.Fatal(err)
		}
		for range 3 { // connections share a token
			_, first, err := m.Start(t.Context())
			if want := "n,,\x01auth=Bearer abc\x01a=b\x01logicalCluster=lkc-1\x01\x01"; err != nil || string(first) != want {
				t.Errorf("%q, %v", first, err)
			}
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, test := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request)
		fatal  bool
		words  []string
	}{
		"secret":   {says(401, "application/json", `{"error":"invalid_client","error_description":"bad secret"}`), true, []string{"401, invalid_client bad secret", "check client_id and client_secret"}},
		"scope":    {says(400, "application/json", `{"error":"invalid_scope"}`), true, []string{"invalid_scope", "check scopes"}},
		"audience": {says(400, "application/json", `{"error":"invalid_target"}`), true, []string{"asks for something else"}},
		"path":     {says(404, "text/html", "<html>s3cret"), true, []string{"404", "check the address"}},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://example.com/s3cret", http.StatusTemporaryRedirect)
		}, true, []string{"307"}},
		"trouble":     {says(503, "text/plain", "s3cret"), false, []string{"503", "retrying"}},
		"no JSON":     {says(200, "application/json", "<html>s3cret"), false, []string{"gives no token", "check the address"}},
		"no token":    {says(200, "application/json", `{"id_token":"s3cret"}`), false, []string{"missing access_token"}},
		"no b64token": {says(200, "application/json", `{"access_token":"s3cret\u0001auth=x"}`), false, []string{"is no token"}},
		"ended":       {says(200, "application/json", `{"access_token":"`+jwt(time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour))+`"}`), false, []string{"has ended at", "1h0m", "the clock"}},
		"clock":       {says(200, "application/json", `{"access_token":"`+jwt(time.Now().Add(time.Hour), time.Now().Add(2*time.Hour))+`"}`), false, []string{"begins at", "check the clocks"}},
		"echo":        {says(401, "application/json", `{"error":"invalid_client","error_description":"`+strings.Repeat("s3cret", 20)+`\u001b[31m"}`), true, []string{"[redacted]"}},
		"hangs": {func(_ http.ResponseWriter, r *http.Request) {
			_ = r.ParseForm() // the server does not see a client go before that
			<-r.Context().Done()
		}, false, []string{"does not answer within dial_timeout"}},
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			for block := []byte(strings.Repeat("s3cret ", 1<<14)); ; {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}, false, []string{"gives no token"}},
	} {
		t.Run(name, func(t *testing.T) {
			answer.Store(test.answer)
			failsWith(t, o, test.fatal, test.words...)
		})
	}
	t.Run("down", func(t *testing.T) {
		failsWith(t, &OAuth{TokenURL: gone.URL, ClientID: "mill"}, false, "gives no token", "refused", "can be reached")
	})
}

func TestTokenFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "token")
	o := &OAuth{TokenFile: name}
	failsWith(t, o, false, "token_file", "no such file", "what writes it")
	write := func(text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for text, words := range map[string][]string{
		"":                                {"the token is empty"},
		"one two":                         {"is no token"},
		strings.Repeat("x", maxBearer+10): {"longer than"},
		jwt(time.Now().Add(-time.Hour), time.Now().Add(-time.Minute)): {"has ended", "check what renews it"},
	} {
		write(text)
		failsWith(t, o, false, words...)
	}
	failsWith(t, &OAuth{TokenFile: t.TempDir()}, false, "no regular file")
}

// TestTokensAreRenewed: a token is asked for again before it ends, and the last one does until its end where that fails.
func TestTokensAreRenewed(t *testing.T) {
	begin := time.Now()
	now, n, fails := begin, 0, false
	tokens := newTokens(func(context.Context) (token, error) {
		if n++; fails {
			return token{}, errors.New("down")
		}
		return token{config.Secret(fmt.Sprint("t", n)), now.Add(100 * time.Second)}, nil
	})
	tokens.now = func() time.Time { return now }
	for _, step := range []struct {
		at    int // seconds
		fails bool
		want  string
		n     int
	}{
		{0, false, "t1", 1},
		{79, false, "t1", 1},
		{81, false, "t2", 2},
		{165, true, "t2", 3},
		{166, true, "t2", 3}, // not for every connection
		{175, true, "t2", 4},
		{182, true, "", 5},
		{183, false, "t6", 6},
	} {
		now, fails = begin.Add(time.Duration(step.at)*time.Second), step.fails
		got, err := tokens.get(t.Context())
		if got.Reveal() != step.want || (err != nil) != (step.want == "") || n != step.n {
			t.Errorf("at %d: %q, %v, asked %d times", step.at, got.Reveal(), err, n)
		}
	}
}

func TestRefusedToken(t *testing.T) {
	m, err := SASL{Mechanism: MechanismOAuthBearer, OAuth: &OAuth{TokenCommand: []string{"echo", "abc"}}}.NewMechanism()
	if err != nil {
		t.Fatal(err)
	}
	state, _, err := m.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if done, more, err := state.Next(t.Context(), nil); !done || more != nil || err != nil {
		t.Errorf("let in: %v, %q, %v", done, more, err)
	}
	secret := strings.Repeat("s3cret", 10)
	_, _, err = state.Next(t.Context(), []byte(`{"status":"invalid_token","token":"`+secret+"\"}\x1b"))
	for _, login := range []error{err, fmt.Errorf("%w: no such token: %s", kafkago.SASLAuthenticationFailed, secret)} {
		err = Explain(login, SASL{Mechanism: MechanismOAuthBearer}, func(kafkago.Error) string { return "" })
		if !IsFatal(err) || !strings.Contains(err.Error(), "audience and scope") || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "\x1b") {
			t.Error(err)
		}
	}
}

package kafkaconn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/urlmill/urlmill/config"
)

// fetcher returns what gets a token.
func (o *OAuth) fetcher() func(context.Context) (token, error) {
	switch {
	case o.TokenFile != "":
		return func(context.Context) (token, error) { return fileToken(o.TokenFile) }
	case len(o.TokenCommand) > 0:
		return func(ctx context.Context) (token, error) { return commandToken(ctx, o.TokenCommand) }
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // no secret goes elsewhere
	c := &clientcredentials.Config{ClientID: o.ClientID, ClientSecret: o.ClientSecret.Reveal(), TokenURL: o.TokenURL, Scopes: o.Scopes}
	return func(ctx context.Context) (token, error) {
		defer client.CloseIdleConnections()
		got, err := c.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
		if err != nil {
			return token{}, endpointError(ctx, err)
		}
		return token{config.Secret(got.AccessToken), got.Expiry}, nil
	}
}

// endpointError returns the error of an identity provider with what to do. It shows nothing of an answer but the error in it:
// there may be a token in the rest.
func endpointError(ctx context.Context, err error) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		if ctx.Err() != nil {
			return &tokenError{"token_url does not answer within dial_timeout", "check that the identity provider can be reached from here, or raise dial_timeout"}
		}
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err // the address may come from a variable
		}
		return &tokenError{"token_url gives no token: " + clip(withoutTokens(err.Error())), "check the address, and that the identity provider can be reached from here"}
	}
	status := refused.Response.StatusCode
	what := fmt.Errorf("token_url answers %d", status)
	if refused.ErrorCode != "" {
		what = fmt.Errorf("%w, %s", what, clip(withoutTokens(strings.TrimSpace(refused.ErrorCode+" "+refused.ErrorDescription))))
	}
	advice := "check the address of token_url"
	switch refused.ErrorCode {
	case "invalid_client", "unauthorized_client":
		advice = "check client_id and client_secret, and that the client may ask for tokens by client credentials"
	case "invalid_scope":
		advice = "check scopes"
	case "invalid_request", "invalid_target":
		advice = "check scopes and client_id: the identity provider asks for something else"
	}
	if status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout {
		return &tokenError{what.Error(), "the identity provider has trouble of its own; retrying"}
	}
	return &FatalError{what, advice}
}

// clip returns the beginning of a text from outside, on one line.
func clip(s string) string { return strings.Map(printed, s[:min(len(s), 300)]) }

// fileToken reads a token from a file.
func fileToken(name string) (token, error) {
	fails := func(err error) (token, error) {
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		return token{}, &tokenError{fmt.Sprintf("token_file %q cannot be read: %v", name, err), "check its path, its rights, and what writes it"}
	}
	info, err := os.Stat(name)
	if err != nil {
		return fails(err)
	}
	if !info.Mode().IsRegular() { // reading from others may never end
		return fails(errors.New("it is no regular file"))
	}
	f, err := os.Open(name)
	if err != nil {
		return fails(err)
	}
	defer f.Close()                                         // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxBearer+3)) // with a line's end, and one more to notice
	if err != nil {
		return fails(err)
	}
	// The file may be renewed at any time, so that the next login reads it again.
	return token{text: config.Secret(bytes.TrimSpace(text))}, nil
}

// commandToken runs a program that prints a token.
func commandToken(ctx context.Context, argv []string) (token, error) {
	out, complaints := &bounded{most: maxBearer + 3}, &bounded{most: 1 << 10, rest: true}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // the user's own program
	cmd.Stdout, cmd.Stderr = out, complaints
	cmd.WaitDelay = time.Second // what it has started may go on and hold the pipes
	err := cmd.Run()
	if err == nil {
		return token{text: config.Secret(bytes.TrimSpace(out.b))}, nil
	}
	what, advice := fmt.Sprintf("token_command %q: %v", argv[0], err), "run it by hand as the user that urlmill runs as"
	switch {
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist):
		return token{}, &FatalError{fmt.Errorf("token_command: there is no program %q", argv[0]), "give its full path"}
	case ctx.Err() != nil:
		what, advice = fmt.Sprintf("token_command %q did not end within dial_timeout", argv[0]), "raise dial_timeout, or find out what it waits for"
	case len(out.b) == out.most: // which has ended it
		what, advice = fmt.Sprintf("token_command %q prints more than %d bytes", argv[0], maxBearer), "it has to print the token, and nothing else"
	case len(complaints.b) > 0:
		line, _, _ := strings.Cut(strings.TrimSpace(string(complaints.b)), "\n")
		what += ": " + clip(withoutTokens(line))
	}
	return token{}, &tokenError{what, advice}
}

var errTooMuch = errors.New("too much")

// bounded keeps so many bytes at most. What comes behind them is an error, which ends the program that writes it, or with rest
// is left out.
type bounded struct {
	b    []byte
	most int
	rest bool
}

func (w *bounded) Write(b []byte) (int, error) {
	w.b = append(w.b, b[:min(len(b), w.most-len(w.b))]...)
	if len(w.b) == w.most && !w.rest {
		return 0, errTooMuch
	}
	return len(b), nil
}

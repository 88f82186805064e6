package kafkaconn

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/segmentio/kafka-go/sasl"

	"github.com/urlmill/urlmill/config"
)

// token is what a client shows to be let in.
type token struct {
	text config.Secret
	ends time.Time // zero if that is not known
}

// tokens gives the logins of all connections the same token as long as that is good. Its methods may be called from several
// goroutines.
type tokens struct {
	fetch func(context.Context) (token, error)
	now   func() time.Time

	turn    chan struct{} // holds one value: whoever takes it may use the next two
	current token
	renew   time.Time
}

func newTokens(fetch func(context.Context) (token, error)) *tokens {
	t := &tokens{fetch: fetch, now: time.Now, turn: make(chan struct{}, 1)}
	t.turn <- struct{}{}
	return t
}

// unknownLife is how long a token is used that does not say when it ends.
const unknownLife = time.Minute

// get returns a token. It asks for another one when four fifths of the life of the last one are over, and is content with the
// last one until its end if there is no other.
func (t *tokens) get(ctx context.Context) (config.Secret, error) {
	select {
	case <-t.turn:
	case <-ctx.Done():
		return "", &tokenError{"waiting for a token: " + ctx.Err().Error(), "raise dial_timeout, or find out why tokens take so long"}
	}
	defer func() { t.turn <- struct{}{} }()
	began := t.now()
	if began.Before(t.renew) {
		return t.current.text, nil
	}
	next, err := t.fetch(ctx)
	if err == nil {
		err = next.check(t.now())
	}
	switch {
	case err == nil:
		life := unknownLife
		if !next.ends.IsZero() {
			life = next.ends.Sub(began) * 4 / 5
		}
		t.current, t.renew = next, began.Add(life)
	case !t.current.ends.IsZero() && t.now().Before(t.current.ends):
		t.renew = t.now().Add(min(unknownLife, t.current.ends.Sub(t.now())/4)) // this one is still good
	default:
		return "", err
	}
	return t.current.text, nil
}

// tokenError is the error of a token that cannot be had now. A later try may succeed.
type tokenError struct{ what, advice string }

func (e *tokenError) Error() string { return e.what + ": " + e.advice }

// maxBearer bounds a token: brokers take no requests without end before a login either.
const maxBearer = 32 << 10

var bearerText = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// check returns an error for a text that is no token (RFC 6750, section 2.1), and for one whose time is over. It sets ends where
// the token is one that says it itself.
func (t *token) check(now time.Time) error {
	text := t.text.Reveal()
	switch {
	case text == "":
		return &tokenError{"the token is empty", "check what gives it"}
	case len(text) > maxBearer:
		return &tokenError{fmt.Sprintf("the token is longer than %d bytes", maxBearer), "check what gives it"}
	case !bearerText.MatchString(text):
		return &tokenError{"what came is no token: it has spaces, lines or other characters that no token has", "check that nothing else is given with it"}
	}
	from, until := claimedTimes(text)
	if t.ends.IsZero() || !until.IsZero() && until.Before(t.ends) {
		t.ends = until
	}
	switch {
	case !t.ends.IsZero() && !now.Before(t.ends):
		return &tokenError{
			fmt.Sprintf("the token has ended at %s, %v ago by the clock of this machine", t.ends.UTC().Format(time.RFC3339), now.Sub(t.ends).Round(time.Second)),
			"check what renews it, and the clock",
		}
	case from.Sub(now) > maxSkew:
		return &tokenError{
			fmt.Sprintf("the token begins at %s, %v from now by the clock of this machine", from.UTC().Format(time.RFC3339), from.Sub(now).Round(time.Second)),
			"check the clocks of this machine and of what gives the token",
		}
	}
	return nil
}

// maxSkew is how far the clock of an identity provider may be ahead of ours before we say so.
const maxSkew = time.Minute

// claimedTimes returns from when until when a token is good by what it says itself, if it is a JWT, and zero times otherwise.
func claimedTimes(text string) (from, until time.Time) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return from, until
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return from, until
	}
	var claims struct {
		From  float64 `json:"nbf"`
		Until float64 `json:"exp"`
	}
	if json.Unmarshal(body, &claims) != nil {
		return from, until
	}
	return claimedTime(claims.From), claimedTime(claims.Until)
}

// claimedTime returns a time in seconds since 1970, zero for one that is not between then and the year 9999.
func claimedTime(seconds float64) time.Time {
	if !(seconds > 0 && seconds < 253402300800) {
		return time.Time{}
	}
	return time.UnixMilli(int64(seconds * 1000))
}

// bearer is the mechanism OAUTHBEARER (RFC 7628).
type bearer struct {
	tokens     *tokens
	extensions map[string]string
	advice     string // what to do when the brokers refuse a token
}

// Name implements [sasl.Mechanism].
func (b bearer) Name() string { return "OAUTHBEARER" }

// Start implements [sasl.Mechanism].
func (b bearer) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	secret, err := b.tokens.get(ctx)
	if err != nil {
		return nil, nil, err
	}
	first := []byte("n,,\x01auth=Bearer " + secret.Reveal() + "\x01")
	for _, name := range slices.Sorted(maps.Keys(b.extensions)) {
		first = append(first, name+"="+b.extensions[name]+"\x01"...)
	}
	return bearerState{b.advice}, append(first, 1), nil
}

type bearerState struct{ advice string }

// Next implements [sasl.StateMachine]. Where the broker does not let us in it says why in its answer, and waits for one byte to
// say so again without the reason; it gets none.
func (s bearerState) Next(_ context.Context, answer []byte) (bool, []byte, error) {
	if len(answer) == 0 {
		return true, nil, nil
	}
	why := withoutTokens(strings.Map(printed, string(answer[:min(len(answer), 300)])))
	return false, nil, &FatalError{fmt.Errorf("login: the broker refused the token: %s", why), s.advice}
}

// printed replaces what no terminal should get.
func printed(r rune) rune {
	if r < ' ' || r > '~' {
		return '?'
	}
	return r
}

var longWord = regexp.MustCompile(`[A-Za-z0-9._~+/=-]{32,}`)

// withoutTokens returns a text without words that are as long as tokens: some brokers repeat what they refuse.
func withoutTokens(text string) string { return longWord.ReplaceAllString(text, "[redacted]") }

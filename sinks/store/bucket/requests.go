package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"time"
)

// Requests sends the requests of a protocol that is plain HTTP, and makes those again that may succeed later.
type Requests struct {
	Place
	Service
	Options
	HTTP *http.Client
	// Sign adds credentials to a request. Its body is not to be read.
	Sign func(*http.Request) error
	// Renew looks credentials up anew, after an answer that refuses them; nil where there are no others.
	Renew func()
	// Refused reports whether an answer with a code, other than 401, refuses credentials that Renew may replace; nil: none does.
	Refused func(code string) bool
	// Fault returns the code and the message of an answer that is an error.
	Fault func(h http.Header, body []byte) (code, message string)
	// Advise says what to do about an answer or about credentials, or "" for what is said of all services.
	Advise func(op string, err error) string
	// Role is what the credentials have to have, for messages.
	Role string
}

// Call is a request.
type Call struct {
	Operation string
	Key       string // relative to the place; "" for none
	Object    bool   // 404 says that the object is missing, and not the bucket
	Method    string
	URL       string
	Header    http.Header
	Body      [][]byte      // sent one after the other
	Into      []byte        // what the answer has to fill; nil takes any answer, up to [MaxRead]
	Wait      time.Duration // that the server may take beside Timeout, where the call waits for something to come
}

// Answer is the answer to a call.
type Answer struct {
	Header http.Header
	Body   []byte
}

// StatusError is an answer that is an error.
type StatusError struct {
	Status  int
	Code    string
	Message string
	skew    time.Duration // of the clocks, as far as the answer says
}

func (e *StatusError) Error() string {
	if e.Message == "" {
		e.Message = http.StatusText(e.Status)
	}
	return fmt.Sprintf("StatusCode: %d, %s: %s", e.Status, e.Code, e.Message)
}

// status returns the status of the answer that was an error, 0 if there was none.
func status(err error) int {
	var e *StatusError
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// CredentialsError is the error of credentials that cannot be had.
type CredentialsError struct{ Err error }

func (e *CredentialsError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *CredentialsError) Unwrap() error { return e.Err }

// errTooLarge is the error of an answer that has more than anything that is read whole.
var errTooLarge = fmt.Errorf("the answer has more than %d MiB, which nothing has that is read whole", MaxRead>>20)

// errorBody is as much as is read of an answer that is an error.
const errorBody = 64 << 10

// Do makes a call. Its error is explained.
func (q *Requests) Do(ctx context.Context, c Call) (*Answer, error) {
	return repeat(ctx, q, c, q.try)
}

// repeat makes attempts of a call.
func repeat[T any](ctx context.Context, q *Requests, c Call, try func(context.Context, Call) (T, error)) (none T, _ error) {
	r := &Request{Operation: c.Operation, Service: q.Name, Log: q.Log}
	defer q.Trouble.End(r)
	for attempt := 1; ; attempt++ {
		answer, err := try(ctx, c)
		if err == nil {
			return answer, nil
		}
		if ctx.Err() != nil {
			return none, context.Cause(ctx)
		}
		expired := q.Renew != nil && q.refused(err)
		if !expired && !passes(err) {
			return none, q.explain(c, err, false)
		}
		advice := ""
		if expired {
			q.Renew()
			advice = "renew them where they come from (" + q.Docs + ", Credentials)"
		}
		q.Trouble.Failed(r, err, advice)
		if attempt >= q.Attempts || !q.Wait(ctx, attempt) {
			return none, q.explain(c, err, true)
		}
	}
}

// refused reports whether an answer refuses the credentials.
func (q *Requests) refused(err error) bool {
	var answer *StatusError
	return errors.As(err, &answer) && (answer.Status == http.StatusUnauthorized || q.Refused != nil && q.Refused(answer.Code))
}

// passes reports whether what failed may succeed later.
func passes(err error) bool {
	switch s := status(err); {
	case s == http.StatusRequestTimeout, s == http.StatusTooManyRequests:
		return true
	case s == http.StatusNotImplemented, s == http.StatusInsufficientStorage:
		return false
	case s != 0:
		return s >= http.StatusInternalServerError
	}
	var credentials *CredentialsError
	return !errors.Is(err, errTooLarge) && !errors.Is(err, errWhole) && (!errors.As(err, &credentials) || isNetwork(err))
}

func isNetwork(err error) bool {
	var e net.Error
	return errors.As(err, &e)
}

// try makes one attempt of a call, its answer included.
func (q *Requests) try(ctx context.Context, c Call) (*Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, q.Timeout+c.Wait)
	defer cancel()
	resp, err := q.send(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer := &Answer{Header: resp.Header}
	if c.Into != nil {
		_, err := io.ReadFull(resp.Body, c.Into)
		return answer, err
	}
	answer.Body, err = readBody(resp)
	return answer, err
}

// send sends a call once. The caller closes the body of the answer, which is no error.
func (q *Requests) send(ctx context.Context, c Call) (*http.Response, error) {
	body, size := func() (io.ReadCloser, error) {
		readers := make([]io.Reader, 0, len(c.Body))
		for _, b := range c.Body {
			readers = append(readers, bytes.NewReader(b))
		}
		return io.NopCloser(io.MultiReader(readers...)), nil
	}, 0
	for _, b := range c.Body {
		size += len(b)
	}
	req, err := http.NewRequestWithContext(ctx, c.Method, c.URL, http.NoBody)
	if err != nil {
		return nil, err
	}
	for name, values := range c.Header {
		req.Header[name] = values
	}
	if size > 0 {
		req.Body, _ = body()
		req.GetBody, req.ContentLength = body, int64(size)
	}
	if q.Sign != nil {
		if err := q.Sign(req); err != nil {
			return nil, &CredentialsError{err}
		}
	}
	resp, err := q.HTTP.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		defer func() { _ = resp.Body.Close() }()
		return nil, q.fault(resp)
	}
	return resp, nil
}

// readBody reads an answer to its end, and does not take a part of it for the whole. The buffer grows with what arrives: the length
// is no more than what the server claims.
func readBody(resp *http.Response) ([]byte, error) {
	if resp.Request.Method == http.MethodHead {
		return nil, nil
	}
	if resp.ContentLength > MaxRead {
		return nil, errTooLarge
	}
	content, err := io.ReadAll(io.LimitReader(resp.Body, MaxRead+1))
	switch {
	case err != nil:
		return nil, err
	case len(content) > MaxRead:
		return nil, errTooLarge
	case resp.ContentLength >= 0 && int64(len(content)) != resp.ContentLength:
		return nil, io.ErrUnexpectedEOF
	}
	return content, nil
}

// fault returns the error that an answer is.
func (q *Requests) fault(resp *http.Response) error {
	content, err := io.ReadAll(io.LimitReader(resp.Body, errorBody))
	if err != nil {
		content = nil // the status says enough
	}
	e := &StatusError{Status: resp.StatusCode}
	e.Code, e.Message = q.Fault(resp.Header, content)
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		e.skew = time.Since(at)
	}
	return e
}

// explain adds to an error what was being done and what to do about it.
func (q *Requests) explain(c Call, err error, again bool) error {
	if status(err) == http.StatusNotFound && c.Object {
		return &Explained{Text: fmt.Sprintf("%s %s: no such object", c.Operation, q.URL(c.Key)), Kind: fs.ErrNotExist, Cause: err}
	}
	advice := q.advice(c, err)
	if again {
		advice = fmt.Sprintf("failed after %d attempts; %s", q.Attempts, advice)
	}
	e := &Explained{Text: fmt.Sprintf("%s %s: %s: %v", c.Operation, q.URL(c.Key), advice, err), Cause: err}
	if status(err) == http.StatusForbidden {
		e.Kind = fs.ErrPermission
	}
	return e
}

// clockSkew is more than services let pass.
const clockSkew = 5 * time.Minute

// skewed reports whether the server refuses a request, whatever it is about, because its clock is another.
func (e *StatusError) skewed() bool {
	return (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden) && e.skew.Abs() > clockSkew
}

// advice says what to do about an error.
func (q *Requests) advice(c Call, err error) string {
	var answer *StatusError
	if errors.As(err, &answer) && answer.skewed() {
		return "the clock of this machine is wrong: set it"
	}
	if advice := q.Advise(c.Operation, err); advice != "" {
		return advice
	}
	switch s := status(err); {
	case s == http.StatusUnauthorized:
		return "the server does not accept the credentials, or they have expired: renew them where they come from (" + q.Docs + ", Credentials) and start again"
	case s == http.StatusForbidden:
		return fmt.Sprintf("the credentials do not allow this: give them %s in %s (this was %s)", q.Role, q.Location(), c.Operation)
	case s == http.StatusInsufficientStorage:
		return "the server has no space left for this: free some, raise the quota, or give another path"
	case s == http.StatusTooManyRequests || s == http.StatusServiceUnavailable:
		return "the server cannot take so many requests: " + q.Relief()
	case s == http.StatusNotImplemented:
		return "the server does not know such a request"
	case s >= http.StatusInternalServerError:
		return "the server is in trouble: look into its log or its status page, and start again when it is well"
	case s != 0, errors.Is(err, errTooLarge), errors.Is(err, errWhole):
		return "the server refuses this"
	}
	var credentials *CredentialsError
	if errors.As(err, &credentials) && !isNetwork(err) {
		return "the credentials cannot be used: renew them where they come from (" + q.Docs + ", Credentials) and start again"
	}
	return fmt.Sprintf("the server cannot be reached, or does not answer in %v: correct %s, look at the network, or raise timeout there",
		q.Timeout, q.Option("endpoint"))
}

// Endless explains a listing whose pages repeat.
func (q *Requests) Endless(op, dir string) error {
	return &Explained{
		Text:  fmt.Sprintf("%s %s: the server does not list its keys as %s does: give another one (%s lists servers that were tried): %v", op, q.URL(dir), q.Name, q.Docs, ErrEndless),
		Cause: ErrEndless,
	}
}

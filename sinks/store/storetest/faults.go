package storetest

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// Transport is a function as a transport.
type Transport func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f Transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Breakage answers a request, or does not, in the place of next or with its help.
type Breakage = func(r *http.Request, next http.RoundTripper) (*http.Response, error)

// Answer returns a server's answer.
func Answer(r *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// Says answers with a status and a body.
func Says(status int, body string) Breakage {
	return func(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
		return Answer(r, status, body), nil
	}
}

// HalfSent sends a half of a request.
func HalfSent(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.CopyN(io.Discard, r.Body, r.ContentLength/2)
		_ = r.Body.Close()
	}
	return nil, io.ErrUnexpectedEOF
}

// Silent never answers. It belongs into a bubble.
func Silent(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// Deaf has the request served and its answer lost.
func Deaf(r *http.Request, next http.RoundTripper) (*http.Response, error) {
	a, err := next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	return nil, errors.Join(a.Body.Close(), io.ErrUnexpectedEOF)
}

// BrokenOff ends an answer early.
func BrokenOff(r *http.Request, next http.RoundTripper) (*http.Response, error) {
	a, err := next.RoundTrip(r)
	if err == nil && a.ContentLength > 0 {
		a.Body = io.NopCloser(io.LimitReader(a.Body, a.ContentLength/2))
	}
	return a, err
}

// Skewed has the answer of a clock that is two hours behind.
func Skewed(wrong Breakage) Breakage {
	return func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		a, err := wrong(r, next)
		a.Header.Set("Date", time.Now().Add(-2*time.Hour).UTC().Format(http.TimeFormat))
		return a, err
	}
}

const (
	// Attempts is how often a request is made in tests of faults.
	Attempts = 3
	// Timeout is longer than any machine holds up a request that is answered. Tests that wait for its end do so in a bubble,
	// where it takes no time.
	Timeout = time.Hour
)

// Faulty is a store whose server breaks the next Left requests of one kind.
type Faulty struct {
	store.Store
	Left, Seen atomic.Int64
	Trouble    *bucket.Trouble // that of the options of the store
}

// Transport returns the one for the store: requests of the kind are broken, all others go to direct.
func (f *Faulty) Transport(direct http.RoundTripper, kind func(*http.Request) bool, wrong Breakage) Transport {
	return func(r *http.Request) (*http.Response, error) {
		if kind(r) && f.Left.Add(-1) >= 0 {
			f.Seen.Add(1)
			return wrong(r, direct)
		}
		return direct.RoundTrip(r)
	}
}

func (f *Faulty) file() string { return "a-" + f.Run() + "0001.txt" }

// Deliver writes and publishes a file, and creates an object that says so in between, as a commit does.
func (f *Faulty) Deliver(t *testing.T) error {
	t.Helper()
	ctx := t.Context()
	file, err := f.Begin(ctx, f.file())
	if err != nil {
		return err
	}
	if _, err := file.Write([]byte("content")); err != nil {
		t.Fatal(err)
	}
	p, err := file.Finish()
	if err != nil {
		return errors.Join(err, file.Discard())
	}
	all := []store.Pending{p}
	if err := f.Settle(ctx, all); err != nil {
		return errors.Join(err, f.Discard(ctx, all))
	}
	if err := f.Create(ctx, "_commits/1.json", []byte("{}")); err != nil {
		return errors.Join(err, f.Discard(ctx, all))
	}
	if err := f.Publish(ctx, all); err != nil {
		f.Left.Store(0)
		if err := f.Publish(ctx, all); err != nil { // what the next start does
			t.Errorf("publishing it again gave %v", err)
		}
		return err
	}
	return nil
}

// Check looks at what a delivery has left, the file and its record or neither, takes away what is unfinished, and closes the store. It
// reports whether the delivery was committed.
func (f *Faulty) Check(t *testing.T) bool {
	t.Helper()
	f.Left.Store(0)
	_, record := f.Read(t.Context(), "_commits/1.json")
	content, found := f.Read(t.Context(), f.file())
	if !errors.Is(record, found) && (!errors.Is(record, fs.ErrNotExist) || !errors.Is(found, fs.ErrNotExist)) || found == nil && string(content) != "content" {
		t.Errorf("the record: %v, the file: %q, %v", record, content, found)
	}
	if err := f.Sweep(t.Context(), func(store.Leftover) bool { return true }); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	return found == nil
}

// Fault is a breakage, and what becomes of requests that meet it.
type Fault struct {
	Wrong Breakage
	Final bool   // is not tried again
	Says  string // in the end; "" for no error
}

// Faults tests that requests of each operation that fail are made again, and that in the end nothing was committed, or all of it, and the
// error says what to do. The stores that broken opens are prepared, and make each request [Attempts] times. If left is not nil, it looks at
// what a delivery that failed for good has left, and whether it was committed.
func Faults(t *testing.T, operations []string, faults map[string]Fault, broken func(t *testing.T, op string, wrong Breakage) *Faulty, left func(t *testing.T, op string, f *Faulty, committed bool, err error)) {
	for name, c := range faults {
		for _, op := range operations {
			t.Run(name+" "+op, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					if !c.Final {
						c.passes(t, broken(t, op, c.Wrong))
					}
					if c.Says == "" {
						return
					}
					f := broken(t, op, c.Wrong)
					f.Left.Store(1000)
					err := f.Deliver(t)
					if err == nil || !strings.Contains(err.Error(), c.Says) || !strings.Contains(err.Error(), op) {
						t.Errorf("got %v", err)
					}
					want := int64(Attempts)
					if c.Final {
						want = 1
					}
					if n := f.Seen.Load(); n != want && n != 2*want { // what was begun may be discarded by the same requests
						t.Errorf("tried %d times instead of %d", n, want)
					}
					if committed := f.Check(t); left != nil {
						left(t, op, f, committed, err)
					}
				})
			})
		}
	}
}

// passes has the fault as often as other attempts make up for it.
func (c Fault) passes(t *testing.T, f *Faulty) {
	t.Helper()
	f.Left.Store(Attempts - 1)
	if err := f.Deliver(t); err != nil || f.Seen.Load() != Attempts-1 {
		t.Errorf("after %d failures: %v", f.Seen.Load(), err)
	}
	if _, err := f.Trouble.Get(); err != nil || f.Trouble.Retries() == 0 {
		t.Errorf("trouble: %v, %d retries", err, f.Trouble.Retries())
	}
	if !f.Check(t) {
		t.Error("not committed")
	}
}

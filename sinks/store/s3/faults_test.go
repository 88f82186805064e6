package s3

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/sinks/store"
)

// transportFunc is a transport.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// operation tells what a request is, as far as these tests tell requests apart.
func operation(r *http.Request) string {
	q := r.URL.Query()
	switch {
	case q.Has("partNumber"):
		return "UploadPart"
	case q.Has("uploads") && r.Method == http.MethodPost:
		return "CreateMultipartUpload"
	case q.Has("uploadId") && r.Method == http.MethodPost:
		return "CompleteMultipartUpload"
	case q.Has("uploadId") && r.Method == http.MethodGet:
		return "ListParts"
	case q.Has("uploadId") && r.Method == http.MethodDelete:
		return "AbortMultipartUpload"
	case r.Method == http.MethodPut:
		return "PutObject"
	case r.Method == http.MethodGet && !q.Has("list-type") && !q.Has("uploads"):
		return "GetObject"
	}
	return r.Method
}

// answer makes a server's answer.
func answer(r *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/xml"}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

func refusal(code string) string {
	return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>" + code + "</Code><Message>for the test</Message></Error>"
}

// faulty is a server whose answers to one kind of request are wrong, so many times after arm.
type faulty struct {
	*Store
	direct http.RoundTripper
	op     string
	fault  func(r *http.Request, next http.RoundTripper) (*http.Response, error)
	left   atomic.Int64
	seen   atomic.Int64
}

const (
	attempts = 3
	// timeout is longer than any machine holds up a request that is answered. Tests that wait for its end do so in a bubble,
	// where it takes no time.
	timeout = time.Hour
)

func newFaulty(t *testing.T, op string, fault func(*http.Request, http.RoundTripper) (*http.Response, error)) *faulty {
	t.Helper()
	server, direct := s3test.Direct(t)
	o := options(t, server)
	f := &faulty{op: op, fault: fault, direct: direct}
	o.Attempts, o.Timeout = attempts, timeout
	o.Pause = func(int) time.Duration { return time.Millisecond }
	o.Transport = transportFunc(func(r *http.Request) (*http.Response, error) {
		if operation(r) == f.op {
			if f.left.Add(-1) >= 0 {
				f.seen.Add(1)
				return f.fault(r, direct)
			}
		}
		return direct.RoundTrip(r)
	})
	f.Store = open(t, o, Scheme+server.Bucket+"/out")
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

func says(code int, body string) func(*http.Request, http.RoundTripper) (*http.Response, error) {
	return func(r *http.Request, _ http.RoundTripper) (*http.Response, error) { return answer(r, code, body), nil }
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

var faults = map[string]wrong{
	"500":           {says(500, refusal("InternalError")), false, "failed after 3 attempts; the server is in trouble"},
	"503":           {says(503, refusal("SlowDown")), false, "the server cannot take so many requests: lower parallel"},
	"403":           {says(403, refusal("AccessDenied")), true, "allow the actions that docs/s3.md lists in s3://fake/out"},
	"expired":       {says(400, refusal("ExpiredToken")), false, "failed after 3 attempts; the credentials have expired"},
	"key":           {says(403, refusal("InvalidAccessKeyId")), true, "the server does not accept the credentials"},
	"region":        {says(301, refusal("PermanentRedirect")), true, "the bucket is in another region: set region"},
	"full":          {says(507, refusal("InsufficientStorage")), true, "no space left"},
	"half sent":     {half, false, "failed after 3 attempts; the server cannot be reached"},
	"no answer":     {silent, false, "does not answer in 1h0m0s"},
	"not XML":       {says(502, "<html>Bad Gateway"), false, "failed after 3 attempts; the server is in trouble"},
	"answer lost":   {deaf, false, ""},
	"empty failure": {says(500, ""), false, "the server is in trouble"},
}

// Requests that fail are made again, and in the end nothing was committed and the error says what to do.
func TestFaults(t *testing.T) {
	for name, tc := range faults {
		for _, op := range []string{"CreateMultipartUpload", "UploadPart", "ListParts", "PutObject", "CompleteMultipartUpload"} {
			t.Run(name+" "+op, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { tc.of(t, op) })
			})
		}
	}
}

// wrong is a fault, and what becomes of requests that meet it.
type wrong struct {
	fault func(*http.Request, http.RoundTripper) (*http.Response, error)
	final bool   // is not tried again
	says  string // in the end; "" for no error
}

// of has it in one operation: as often as other attempts make up for it, and for good.
func (c wrong) of(t *testing.T, op string) {
	if !c.final {
		f := newFaulty(t, op, c.fault)
		f.left.Store(attempts - 1)
		if err := f.deliver(t); err != nil || f.seen.Load() != attempts-1 {
			t.Errorf("after %d failures: %v", f.seen.Load(), err)
		}
		must(t, f.Close())
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
	want := int64(attempts)
	if c.final {
		want = 1
	}
	if f.seen.Load() != want {
		t.Errorf("tried %d times instead of %d", f.seen.Load(), want)
	}
	if strings.Contains(fmt.Sprint(err), f.secret(t)) {
		t.Errorf("the secret is in %v", err)
	}
	f.left.Store(0)
	f.check(t, op)
}

// check looks at what a failed delivery has left: nothing but what was committed.
func (f *faulty) check(t *testing.T, op string) {
	t.Helper()
	committed := op == "CompleteMultipartUpload"
	_, err := f.Read(t.Context(), "_commits/1.json")
	_, found := f.Read(t.Context(), "a-"+f.Run()+"0001.txt")
	if committed && (err != nil || found != nil) || !committed && !(errors.Is(err, fs.ErrNotExist) && errors.Is(found, fs.ErrNotExist)) {
		t.Errorf("the record: %v, the file: %v", err, found)
	}
	must(t, f.Sweep(t.Context(), func(store.Leftover) bool { return true }))
	must(t, f.Close())
	if entries, err := f.List(t.Context(), "_tmp", ""); err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

func (f *faulty) secret(t *testing.T) string {
	t.Helper()
	c, err := f.opts.Credentials.Retrieve(t.Context())
	must(t, err)
	return c.SecretAccessKey
}

// An exclusive create that met another is tried again, and then there is one or not.
func TestConflict(t *testing.T) {
	f := newFaulty(t, "PutObject", says(409, refusal("ConditionalRequestConflict")))
	f.left.Store(1)
	must(t, f.Create(t.Context(), "a", nil))
	f.left.Store(1)
	if err := f.Create(t.Context(), "a", nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	f.left.Store(attempts)
	if err := f.Create(t.Context(), "b", nil); err == nil || errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	must(t, f.Close())
}

// CompleteMultipartUpload may begin its answer with 200 and go on with an error, or not at all.
func TestErrorsWithin200(t *testing.T) {
	for name, body := range map[string]string{
		"error": refusal("InternalError"), "nothing": "", "half": `<?xml version="1.0"?><CompleteMultipartUploadResult><Loc`,
		"spaces": "    ", "no tag": `<CompleteMultipartUploadResult></CompleteMultipartUploadResult>`,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFaulty(t, "CompleteMultipartUpload", says(200, body))
			f.left.Store(1000)
			err := f.deliver(t)
			if err == nil || !strings.Contains(err.Error(), "CompleteMultipartUpload") && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("got %v", err)
			}
			f.check(t, "CompleteMultipartUpload")
		})
	}
}

// An answer that breaks off is not taken for the whole object.
func TestBrokenOff(t *testing.T) {
	f := newFaulty(t, "GetObject", func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		a, err := next.RoundTrip(r)
		if err == nil {
			a.Body = io.NopCloser(io.LimitReader(a.Body, 3))
		}
		return a, err
	})
	must(t, f.Create(t.Context(), "a", []byte("content")))
	o, err := f.Open(t.Context(), "a")
	must(t, err)
	for _, n := range []int64{attempts - 1, attempts} {
		f.left.Store(n)
		got, err := f.Read(t.Context(), "a")
		if n < attempts && (err != nil || string(got) != "content") || n == attempts && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d times: %q, %v", n, got, err)
		}
		f.left.Store(n)
		p := make([]byte, 5)
		_, err = o.ReadAt(p, 1)
		if n < attempts && (err != nil || string(p) != "onten") || n == attempts && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d times: %q, %v", n, p, err)
		}
	}
	must(t, f.Close())
}

// A server that does not do with uploads what it has to is refused, and what was tried is taken away.
func TestUnfit(t *testing.T) {
	for want, tc := range map[string]struct {
		op   string
		body string
	}{
		"does not say of an upload which parts it has": {"ListParts", "<ListPartsResult></ListPartsResult>"},
		"completes no upload":                          {"CompleteMultipartUpload", refusal("InvalidPart")},
	} {
		server, direct := s3test.Direct(t)
		o := options(t, server)
		o.Pause = func(int) time.Duration { return 0 }
		o.Transport = transportFunc(func(r *http.Request) (*http.Response, error) {
			if operation(r) == tc.op {
				return answer(r, 200, tc.body), nil
			}
			return direct.RoundTrip(r)
		})
		s := open(t, o, Scheme+server.Bucket+"/out")
		err := s.Prepare(t.Context())
		if err == nil || !strings.Contains(err.Error(), "the S3 server of s3://fake/out "+want) || !strings.Contains(err.Error(), "docs/s3.md") {
			t.Errorf("got %v", err)
		}
		if entries, err := s.List(t.Context(), ".", ""); err != nil || len(entries) != 0 {
			t.Errorf("left: %v, %v", entries, err)
		}
	}
}

package s3

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

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

func refusal(code string) string {
	return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>" + code + "</Code><Message>for the test</Message></Error>"
}

func newFaulty(t *testing.T, op string, fault storetest.Breakage) *storetest.Faulty {
	t.Helper()
	server, direct := s3test.Direct(t)
	f := &storetest.Faulty{}
	o := options(t, server)
	o.Attempts, o.Timeout = storetest.Attempts, storetest.Timeout
	o.Pause = func(int) time.Duration { return time.Millisecond }
	o.Transport = f.Transport(direct, func(r *http.Request) bool { return operation(r) == op }, fault)
	s := open(t, o, Scheme+server.Bucket+"/out")
	f.Store, f.Trouble = s, s.opts.Trouble
	must(t, f.Prepare(t.Context()))
	return f
}

func storeOf(f *storetest.Faulty) *Store { return f.Store.(*Store) }

// Errors keep the secret, and nothing is left of a delivery that failed before its record.
func TestFaults(t *testing.T) {
	faults := map[string]storetest.Fault{
		"500":           {Wrong: storetest.Says(500, refusal("InternalError")), Says: "failed after 3 attempts; the server is in trouble"},
		"503":           {Wrong: storetest.Says(503, refusal("SlowDown")), Says: "the server cannot take so many requests: lower parallel"},
		"403":           {Wrong: storetest.Says(403, refusal("AccessDenied")), Final: true, Says: "allow the actions that docs/s3.md lists in s3://fake/out"},
		"expired":       {Wrong: storetest.Says(400, refusal("ExpiredToken")), Says: "failed after 3 attempts; the credentials have expired"},
		"key":           {Wrong: storetest.Says(403, refusal("InvalidAccessKeyId")), Final: true, Says: "the server does not accept the credentials"},
		"region":        {Wrong: storetest.Says(301, refusal("PermanentRedirect")), Final: true, Says: "the bucket is in another region: set region"},
		"full":          {Wrong: storetest.Says(507, refusal("InsufficientStorage")), Final: true, Says: "no space left"},
		"half sent":     {Wrong: storetest.HalfSent, Says: "failed after 3 attempts; the server cannot be reached"},
		"no answer":     {Wrong: storetest.Silent, Says: "does not answer in 1h0m0s"},
		"not XML":       {Wrong: storetest.Says(502, "<html>Bad Gateway"), Says: "failed after 3 attempts; the server is in trouble"},
		"answer lost":   {Wrong: storetest.Deaf},
		"empty failure": {Wrong: storetest.Says(500, ""), Says: "the server is in trouble"},
	}
	ops := []string{"CreateMultipartUpload", "UploadPart", "ListParts", "PutObject", "CompleteMultipartUpload"}
	storetest.Faults(t, ops, faults, newFaulty, func(t *testing.T, op string, f *storetest.Faulty, committed bool, err error) {
		if publishes := op == "CompleteMultipartUpload"; committed != publishes {
			t.Errorf("committed: %t", committed)
		}
		c, none := storeOf(f).opts.Credentials.Retrieve(t.Context())
		must(t, none)
		if strings.Contains(fmt.Sprint(err), c.SecretAccessKey) {
			t.Errorf("the secret is in %v", err)
		}
		if entries, err := f.List(t.Context(), "_tmp", ""); err != nil || len(entries) != 0 {
			t.Errorf("left: %v, %v", entries, err)
		}
	})
}

// An exclusive create that met another is tried again, and then there is one or not.
func TestConflict(t *testing.T) {
	f := newFaulty(t, "PutObject", storetest.Says(409, refusal("ConditionalRequestConflict")))
	f.Left.Store(1)
	must(t, f.Create(t.Context(), "a", nil))
	f.Left.Store(1)
	if err := f.Create(t.Context(), "a", nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	f.Left.Store(storetest.Attempts)
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
			f := newFaulty(t, "CompleteMultipartUpload", storetest.Says(200, body))
			f.Left.Store(1000)
			err := f.Deliver(t)
			if err == nil || !strings.Contains(err.Error(), "CompleteMultipartUpload") && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("got %v", err)
			}
			if !f.Check(t) {
				t.Error("not committed")
			}
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
	for _, n := range []int64{storetest.Attempts - 1, storetest.Attempts} {
		f.Left.Store(n)
		got, err := f.Read(t.Context(), "a")
		if n < storetest.Attempts && (err != nil || string(got) != "content") || n == storetest.Attempts && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d times: %q, %v", n, got, err)
		}
		f.Left.Store(n)
		p := make([]byte, 5)
		_, err = o.ReadAt(p, 1)
		if n < storetest.Attempts && (err != nil || string(p) != "onten") || n == storetest.Attempts && !errors.Is(err, io.ErrUnexpectedEOF) {
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
		o.Transport = storetest.Transport(func(r *http.Request) (*http.Response, error) {
			if operation(r) == tc.op {
				return storetest.Answer(r, 200, tc.body), nil
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

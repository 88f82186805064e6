package s3

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/bucket"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// fuzzedAnswers is a server that gives the same answer so many times, and then none.
type fuzzedAnswers struct {
	status int
	etag   string
	body   string
	length string // that the answer claims, "" for none
	left   int
}

func (a *fuzzedAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.left--; a.left < 0 {
		return nil, context.Canceled
	}
	resp := storetest.Answer(r, a.status, a.body)
	if resp.ContentLength = -1; a.length != "" {
		resp.Header.Set("Content-Length", a.length)
	}
	resp.Header.Set("ETag", a.etag)
	resp.Header.Set("X-Amz-Meta-"+creationKey, a.etag)
	if r.Method == http.MethodHead {
		resp.Body = http.NoBody
	}
	return resp, nil
}

// FuzzAnswers does all that a store does with a server that answers anything, of a length that it says, rightly or not, or does not say.
func FuzzAnswers(f *testing.F) {
	const head = `<?xml version="1.0" encoding="UTF-8"?>`
	f.Add(200, `"a"`, head+`<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>`+
		`<Contents><Key>out/dir/a</Key><Size>3</Size><LastModified>2026-01-02T03:04:05.000Z</LastModified></Contents>`+
		`<CommonPrefixes><Prefix>out/dir/b/</Prefix></CommonPrefixes></ListBucketResult>`)
	f.Add(200, ``, head+`<ListPartsResult><IsTruncated>false</IsTruncated><Part><PartNumber>1</PartNumber><ETag>"a"</ETag><Size>3</Size></Part></ListPartsResult>`)
	f.Add(200, ``, head+`<ListMultipartUploadsResult><Upload><Key>out/a</Key><UploadId>u</UploadId><Initiated>2026-01-02T03:04:05.000Z</Initiated></Upload></ListMultipartUploadsResult>`)
	f.Add(200, `"a"`, head+`<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>`)
	f.Add(200, ``, refusal("InternalError"))
	f.Add(404, ``, refusal("NoSuchUpload"))
	f.Add(412, ``, refusal("PreconditionFailed"))
	f.Add(301, ``, refusal("PermanentRedirect"))
	server := &fuzzedAnswers{}
	s := answeredBy(f, server)
	f.Fuzz(func(t *testing.T, status int, etag, body string) {
		server.length = []string{"", strconv.Itoa(len(body)), "9223372036854775807"}[len(body)%3]
		if strings.ContainsAny(etag, "\r\n\x00") {
			return // what no header has
		}
		const most = 4 // answers to a call
		server.status, server.etag, server.body = 200+((status-200)%400+400)%400, etag, body
		pending := []store.Pending{{Name: "a", Token: "u", Bytes: 3, Checksum: "crc32c:00000000"}}
		calls := storetest.Calls(t, s, pending, "a", func(content []byte) {
			if string(content) != body {
				t.Fatalf("%q was read of %q", content, body)
			}
		})
		alloctest.Bound(t, most*len(calls)*(len(etag)+len(body)), 512, 32<<20, func() {
			for _, call := range calls {
				server.left = most
				call()
			}
		})
	})
}

// TestLengths reads an object from servers that say, do not say, or make up how long it is.
func TestLengths(t *testing.T) {
	for name, c := range map[string]struct{ length, want string }{
		"said": {"7", ""}, "not said": {"", ""},
		"too much": {"8", "unexpected EOF"}, "far too much": {"9000000000000000000", "more than 256 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			server := &fuzzedAnswers{status: 200, body: "content", length: c.length, left: 1}
			s := answeredBy(t, server)
			alloctest.Bound(t, 0, 0, 4<<20, func() {
				content, err := s.Read(t.Context(), "a")
				if c.want == "" && (err != nil || string(content) != server.body) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("%q, %v; it should say %q", content, err, c.want)
				}
			})
		})
	}
}

// TestEndlessListings asks for listings whose next page is the one that was given.
func TestEndlessListings(t *testing.T) {
	pending := []store.Pending{{Name: "a", Token: "u"}}
	for name, c := range map[string]struct {
		body string
		call func(s store.Store) error
	}{
		"objects": {
			`<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></ListBucketResult>`,
			func(s store.Store) error { _, err := s.List(t.Context(), "dir", ""); return err },
		},
		"claims": {
			`<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></ListBucketResult>`,
			func(s store.Store) error { return s.Sweep(t.Context(), func(store.Leftover) bool { return true }) },
		},
		"parts": {
			`<ListPartsResult><IsTruncated>true</IsTruncated><NextPartNumberMarker>1</NextPartNumberMarker></ListPartsResult>`,
			func(s store.Store) error { return s.Settle(t.Context(), pending) },
		},
		"uploads": {
			`<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>a</NextKeyMarker></ListMultipartUploadsResult>`,
			func(s store.Store) error { return s.Sweep(t.Context(), func(store.Leftover) bool { return true }) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := &fuzzedAnswers{status: 200, body: c.body, length: strconv.Itoa(len(c.body)), left: 100}
			if err := c.call(answeredBy(t, server)); !errors.Is(err, bucket.ErrEndless) {
				t.Errorf("after %d answers: %v", 100-server.left, err)
			}
		})
	}
}

func answeredBy(t testing.TB, server http.RoundTripper) store.Store {
	t.Helper()
	s, err := Opener(Options{
		Endpoint: "http://s3.example", Region: "r", Options: bucket.Options{Attempts: 1, Pause: func(int) time.Duration { return 0 }}, Transport: server, Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	})(Scheme+"bucket/out", quiet)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

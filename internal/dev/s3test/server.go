package s3test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Server is where an S3 server is, and what lets one in. All of them address buckets by path.
type Server struct {
	Endpoint  string // such as http://127.0.0.1:7070
	Region    string
	AccessKey string
	SecretKey string
	Bucket    string // empty when the server starts
}

// Environ returns the environment variables by which S3 clients find the credentials and the region, as NAME=value.
// The others that they know are emptied, so that nothing of the developer's own gets in.
func (s *Server) Environ() []string {
	return []string{
		"AWS_ACCESS_KEY_ID=" + s.AccessKey, "AWS_SECRET_ACCESS_KEY=" + s.SecretKey, "AWS_SESSION_TOKEN=",
		"AWS_REGION=" + s.Region, "AWS_DEFAULT_REGION=", "AWS_PROFILE=", "AWS_ENDPOINT_URL=", "AWS_ENDPOINT_URL_S3=",
		"AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull, "AWS_EC2_METADATA_DISABLED=true",
	}
}

// Setenv sets what Environ returns for the time of a test.
func (s *Server) Setenv(tb testing.TB) {
	tb.Helper()
	for _, v := range s.Environ() {
		name, value, _ := strings.Cut(v, "=")
		tb.Setenv(name, value)
	}
}

// Fake runs gofakes3 within the test, with everything in memory. It takes any credentials.
func Fake(tb testing.TB) *Server {
	tb.Helper()
	server := httptest.NewServer(newFake(tb))
	tb.Cleanup(server.Close)
	return &Server{Endpoint: server.URL, Region: "us-east-1", AccessKey: "fake", SecretKey: "fake-test-secret", Bucket: fakeBucket}
}

// Direct is gofakes3 without a network: the transport has every request answered by the time that it returns.
func Direct(tb testing.TB) (*Server, http.RoundTripper) {
	tb.Helper()
	return &Server{Endpoint: "http://s3.invalid", Region: "us-east-1", AccessKey: "fake", SecretKey: "fake-test-secret", Bucket: fakeBucket},
		direct{newFake(tb)}
}

const fakeBucket = "fake"

func newFake(tb testing.TB) http.Handler {
	tb.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket(fakeBucket); err != nil {
		tb.Fatal(err)
	}
	return gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
}

type direct struct{ handler http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) { return RoundTrip(d.handler, r) }

// RoundTrip is [http.RoundTripper]'s method for a handler that answers without a network.
func RoundTrip(handler http.Handler, r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	answer := httptest.NewRecorder()
	r = r.Clone(r.Context())
	if r.Body == nil {
		r.Body = http.NoBody // as servers see it
	}
	r.Header.Set("Content-Length", strconv.FormatInt(r.ContentLength, 10))
	handler.ServeHTTP(answer, r)
	resp := answer.Result()
	if resp.Request, resp.ContentLength = r, int64(answer.Body.Len()); r.Method == http.MethodHead {
		resp.Body = http.NoBody
	}
	return resp, r.Body.Close()
}

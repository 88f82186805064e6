package s3test

import (
	"fmt"
	"net/http/httptest"
	"os"
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
	const bucket = "fake"
	backend := s3mem.New()
	if err := backend.CreateBucket(bucket); err != nil {
		tb.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server())
	tb.Cleanup(server.Close)
	return &Server{Endpoint: server.URL, Region: "us-east-1", AccessKey: "fake", SecretKey: fmt.Sprintf("%032d", 0), Bucket: bucket}
}

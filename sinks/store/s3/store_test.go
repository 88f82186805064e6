package s3

import (
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/urlmill/urlmill/internal/dev/leaktest"
	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/bucket"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var quiet = slog.New(slog.DiscardHandler)

// must ends the test at the first error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// onEach runs a test on every server.
func onEach(t *testing.T, test func(t *testing.T, server *s3test.Server)) {
	t.Run("gofakes3", func(t *testing.T) { test(t, s3test.Fake(t)) })
	t.Run("versitygw", func(t *testing.T) { test(t, &s3test.Start(t).Server) })
}

// options returns those for a server. Its connections end with the test.
func options(t *testing.T, server *s3test.Server) Options {
	t.Helper()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	return Options{
		Endpoint: server.Endpoint, Region: server.Region,
		Transport: transport, Credentials: credentials.NewStaticCredentialsProvider(server.AccessKey, server.SecretKey, ""),
		Options: bucket.Options{Attempts: 4, Pause: func(attempt int) time.Duration { return time.Duration(attempt*attempt) * 25 * time.Millisecond }},
	}
}

// open returns the store of a prefix.
func open(t *testing.T, o Options, location string) *Store {
	t.Helper()
	return openLogged(t, o, location, quiet)
}

func openLogged(t *testing.T, o Options, location string, log *slog.Logger) *Store {
	t.Helper()
	s, err := Opener(o)(location, log)
	must(t, err)
	return s.(*Store)
}

func TestConformance(t *testing.T) {
	onEach(t, func(t *testing.T, server *s3test.Server) {
		storetest.Conformance(t, func(t *testing.T) func() store.Store {
			o := options(t, server)
			return func() store.Store { return open(t, o, Scheme+server.Bucket+"/"+t.Name()+"/out") }
		})
	})
}

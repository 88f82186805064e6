package gcs

import (
	"bytes"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/dev/gcstest"
	"github.com/urlmill/urlmill/internal/dev/leaktest"
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

// options returns those for a server.
func options(server *gcstest.Server, transport http.RoundTripper) Options {
	o := Default()
	o.Endpoint, o.Transport, o.Attempts = server.Endpoint, transport, 4
	o.Pause = func(attempt int) time.Duration { return time.Duration(attempt*attempt) * 25 * time.Millisecond }
	return o
}

// open returns the store of a prefix.
func open(t *testing.T, o Options, location string) *bucket.Store {
	t.Helper()
	s, err := Opener(o)(location, quiet)
	must(t, err)
	return s.(*bucket.Store)
}

// onEach runs a test on every server. Connections end with it.
func onEach(t *testing.T, test func(t *testing.T, o Options, root string)) {
	t.Run("memory", func(t *testing.T) {
		server, direct := gcstest.Direct()
		test(t, options(server, direct), Scheme+server.Bucket)
	})
	t.Run("fake-gcs-server", func(t *testing.T) {
		server := gcstest.Start(t)
		transport := http.DefaultTransport.(*http.Transport).Clone()
		t.Cleanup(transport.CloseIdleConnections)
		test(t, options(server, transport), Scheme+server.Bucket)
	})
}

func TestConformance(t *testing.T) {
	onEach(t, func(t *testing.T, o Options, root string) {
		storetest.Conformance(t, func(t *testing.T) func() store.Store {
			return func() store.Store { return open(t, o, root+"/"+strings.ToLower(t.Name())+"/out") }
		})
	})
}

// A file of more parts than one request composes arrives whole, and another process can publish it. Nothing else is left.
func TestParts(t *testing.T) {
	content := make([]byte, 1<<20+12345)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content)
	onEach(t, func(t *testing.T, o Options, root string) {
		o.PartSize = 16 << 10
		one, two := open(t, o, root+"/out"), open(t, o, root+"/out")
		must(t, one.Prepare(t.Context()), two.Prepare(t.Context()))
		f, err := one.Begin(t.Context(), "dt=1/a-"+one.Run()+"0001.bin")
		must(t, err)
		_, err = f.Write(content)
		must(t, err)
		p, err := f.Finish()
		must(t, err)
		all := []store.Pending{p}
		must(t, one.Settle(t.Context(), all), two.Settle(t.Context(), all), two.Publish(t.Context(), all), one.Publish(t.Context(), all))
		got, err := one.Read(t.Context(), p.Name)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		must(t, one.Close(), two.Close())
		if left, err := one.List(t.Context(), "_tmp", ""); err != nil || len(left) != 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	})
}

// A request to publish a file that is late does not bring it back after a compaction has removed it.
func TestLateCompose(t *testing.T) {
	server, direct := gcstest.Direct()
	var late *http.Request
	dies := false
	o := options(server, storetest.Transport(func(r *http.Request) (*http.Response, error) {
		if operation(r) == "objects.compose" && late == nil {
			late = r.Clone(t.Context())
			late.Body, _ = r.GetBody()
		}
		if dies && r.Method == http.MethodDelete { // between the file and what it was made of
			return says(http.StatusForbidden, "")(r, nil)
		}
		return direct.RoundTrip(r)
	}))
	s := open(t, o, Scheme+server.Bucket)
	must(t, s.Prepare(t.Context()))
	late = nil
	f, err := s.Begin(t.Context(), "a-"+s.Run()+"0001.txt")
	must(t, err)
	_, err = f.Write([]byte("content"))
	must(t, err)
	p, err := f.Finish()
	must(t, err)
	dies = true
	if err := s.Publish(t.Context(), []store.Pending{p}); err == nil {
		t.Error("not killed")
	}
	dies = false
	must(t, s.Delete(t.Context(), p.Name))
	answer, err := direct.RoundTrip(late)
	must(t, err, answer.Body.Close())
	if answer.StatusCode != http.StatusNotFound {
		t.Errorf("the late request got %s", answer.Status)
	}
}

// What a record says of an upload leads nowhere else.
func TestForeignToken(t *testing.T) {
	server, direct := gcstest.Direct()
	s := open(t, options(server, direct), Scheme+server.Bucket)
	must(t, s.Prepare(t.Context()), s.Create(t.Context(), "out/a.txt", nil))
	for _, token := range []string{".", "out", "_tmp", "_tmp/../out/a.txt", "out/a.txt", "_tmp/0123abcd/b.txt", "_tmp/a.txt", "_tmp/x/y/a.txt", ""} {
		f := []store.Pending{{Name: "a.txt", Token: token}}
		if err := s.Discard(t.Context(), f); err == nil {
			t.Errorf("%q was discarded", token)
		}
		if err := s.Publish(t.Context(), f); err == nil {
			t.Errorf("%q was published", token)
		}
	}
	must(t, s.Close())
}

func TestSection(t *testing.T) {
	o := Default()
	if _, err := config.Parse("", []byte("{endpoint: http://a, part_size: 16MiB, parallel: 2, attempts: 3, timeout: 5s}"), config.Env{}, o.Section()); err != nil {
		t.Fatal(err)
	}
	want := Options{Endpoint: "http://a", Options: bucket.Options{PartSize: 16 << 20, Parallel: 2, Attempts: 3, Timeout: 5 * time.Second}}
	if diff := cmp.Diff(want, o, cmpopts.IgnoreUnexported(Options{})); diff != "" {
		t.Error(diff)
	}
	o.Endpoint = "localhost:4443"
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "endpoint: is not the URL of a server") {
		t.Error(err)
	}
}

func TestParseLocation(t *testing.T) {
	for location, want := range map[string][2]string{"gs://lake": {"lake", ""}, "gs://lake/": {"lake", ""}, "gs://b.c-d_e/e/f=1/": {"b.c-d_e", "e/f=1"}} {
		if name, prefix, err := ParseLocation(location); err != nil || name != want[0] || prefix != want[1] {
			t.Errorf("%s: %q, %q, %v", location, name, prefix, err)
		}
	}
	for _, location := range []string{"gs://", "gs:///x", "gs://b", "gs://Lake", "gs://lake/../x", "gs://lake//x", "/x", "s3://lake/x", "gs://u:p@lake/x"} {
		if _, _, err := ParseLocation(location); err == nil {
			t.Errorf("%s is taken", location)
		}
	}
}

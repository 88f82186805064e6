package s3

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

func all(store.Leftover) bool { return true }

// An output somewhere below another one keeps its uploads.
func TestSweepSparesOthers(t *testing.T) {
	f := newFaulty(t, "", nil)
	below, err := Opener(storeOf(f).opts)(f.Location()+"/below", quiet)
	must(t, err, below.Prepare(t.Context()))
	w, err := below.Begin(t.Context(), "a-0-00000000000000000001-"+below.Run()+"0001.txt")
	must(t, err)
	_, err = w.Write([]byte("content"))
	must(t, err)
	p, err := w.Finish()
	must(t, err, f.Sweep(t.Context(), func(l store.Leftover) bool {
		t.Errorf("seen %+v", l)
		return true
	}))
	must(t, below.Publish(t.Context(), []store.Pending{p}), below.Close(), f.Close())
}

// Marks of runs that are over go after a week, what a probe has left after a day, and a mark in use is renewed.
func TestClaims(t *testing.T) {
	server, direct := s3test.Direct(t)
	o := options(t, server)
	dies := false
	var puts atomic.Int32
	o.Transport = storetest.Transport(func(r *http.Request) (*http.Response, error) {
		if dies && operation(r) != "CreateMultipartUpload" && operation(r) != "PutObject" && r.Method != http.MethodHead {
			return nil, errors.New("killed")
		}
		if operation(r) == "PutObject" {
			puts.Add(1)
		}
		return direct.RoundTrip(r)
	})
	o.Pause = func(int) time.Duration { return 0 }
	location := Scheme + server.Bucket + "/out"
	dies = true
	if err := open(t, o, location).Prepare(t.Context()); err == nil {
		t.Fatal("not killed")
	}
	dies = false
	s := open(t, o, location)
	must(t, s.Prepare(t.Context()))
	probes := func() (found int) {
		t.Helper()
		out, err := s.client.ListMultipartUploads(t.Context(), &s3.ListMultipartUploadsInput{Bucket: &server.Bucket})
		must(t, err)
		return len(out.Uploads)
	}
	claims := func() int {
		t.Helper()
		runs, err := s.List(t.Context(), "_tmp", "")
		must(t, err)
		return len(runs)
	}
	if n := claims(); n != 2 {
		t.Errorf("%d runs", n)
	}
	must(t, s.Sweep(t.Context(), all))
	if n := claims(); n != 2 || probes() != 1 {
		t.Errorf("%d runs after the first look", n)
	}
	s.Now = func() time.Time { return time.Now().Add(8 * 24 * time.Hour) }
	puts.Store(0)
	f, err := s.Begin(t.Context(), "a-"+s.Run()+"0001.txt") // renews its mark
	must(t, err, f.Discard(), s.Sweep(t.Context(), all))
	if n := claims(); n != 1 || probes() != 0 || puts.Load() != 1 {
		t.Errorf("%d runs a week later, claimed %d times", n, puts.Load())
	}
	must(t, s.Close())
	if n := claims(); n != 0 {
		t.Errorf("%d runs in the end", n)
	}
}

// What cannot be removed is logged, and stays.
func TestSweepErrors(t *testing.T) {
	f := newFaulty(t, "AbortMultipartUpload", storetest.Says(403, refusal("AccessDenied")))
	other := open(t, storeOf(f).opts, f.Location())
	must(t, other.Prepare(t.Context()))
	w, err := other.Begin(t.Context(), "a-0-00000000000000000001-"+other.Run()+"0001.txt")
	must(t, err)
	_, err = w.Write([]byte("content"))
	must(t, err)
	_, err = w.Finish()
	var log bytes.Buffer
	f.Left.Store(1000)
	must(t, err, openLogged(t, storeOf(f).opts, f.Location(), slog.New(slog.NewTextHandler(&log, nil))).Sweep(t.Context(), all))
	if !strings.Contains(log.String(), "cannot abort an unfinished upload") {
		t.Errorf("logged %q", log.String())
	}
	f.Left.Store(0)
	must(t, f.Sweep(t.Context(), all), f.Close(), other.Close())
}

package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// newReader returns the bucket of a server for reading.
func newReader(t *testing.T, o Options, server *s3test.Server) objstore.Store {
	t.Helper()
	r := NewReader()
	section := r.section
	r.Options = o
	r.section = section
	b, _, err := r.Open(server.Bucket, quiet)
	must(t, err)
	return b
}

func TestReader(t *testing.T) {
	onEach(t, func(t *testing.T, server *s3test.Server) {
		b := newReader(t, options(t, server), server)
		storetest.Reader(t, b, b.(*reader).at.Put, b.(*reader).at.Delete)
	})
}

// A server that cannot take every tenth request is asked again: nothing is left out, and nothing else is read.
func TestReaderTenth(t *testing.T) {
	onEach(t, func(t *testing.T, server *s3test.Server) {
		o := options(t, server)
		tenth := &storetest.Tenth{To: o.Transport}
		o.Transport = tenth
		b := newReader(t, o, server)
		storetest.Reader(t, b, b.(*reader).at.Put, b.(*reader).at.Delete)
		if tenth.Failed() == 0 {
			t.Error("no request has failed")
		}
	})
}

// What servers answer becomes what the source acts on, and says what to do.
func TestReaderErrors(t *testing.T) {
	for code, tc := range map[string]struct {
		status int
		is     error
		want   string
	}{
		"InvalidObjectState":   {403, objstore.ErrUnreadable, "it is archived"},
		"AccessDenied":         {403, fs.ErrPermission, "the credentials do not allow this"},
		"ExpiredToken":         {400, nil, "the credentials have expired"},
		"RequestTimeTooSkewed": {403, nil, "the clock of this machine is wrong"},
		"PermanentRedirect":    {301, nil, "set source.file.s3.region"},
		"SlowDown":             {503, nil, "lower source.file.parallel"},
		"NoSuchBucket":         {404, nil, "there is no bucket"},
	} {
		t.Run(code, func(t *testing.T) {
			server, _ := s3test.Direct(t)
			o := options(t, server)
			o.Attempts = 2
			o.Transport = storetest.Transport(func(r *http.Request) (*http.Response, error) {
				body := fmt.Sprintf("<Error><Code>%s</Code><Message>no</Message></Error>", code)
				return &http.Response{StatusCode: tc.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
			})
			_, err := newReader(t, o, server).Open(t.Context(), objstore.Object{Key: "k", ETag: `"e"`}, 0, -1)
			if err == nil || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.want) {
				t.Error(err)
			}
			if unreadable := errors.Is(err, objstore.ErrUnreadable); unreadable != (tc.is != nil) {
				t.Errorf("about the object alone: %t", unreadable)
			}
		})
	}
}

// A server that is overloaded is asked again, and bytes with another checksum than the store has are an error at their end.
func TestReaderFaults(t *testing.T) {
	var requests atomic.Int64
	server, _ := s3test.Direct(t)
	o := options(t, server)
	o.Transport = storetest.Transport(func(r *http.Request) (*http.Response, error) {
		if requests.Add(1) == 1 {
			return &http.Response{StatusCode: 503, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
		}
		header := http.Header{"X-Amz-Checksum-Crc32c": {"AAAAAA=="}, "Etag": {`"e"`}}
		return &http.Response{StatusCode: 200, Header: header, ContentLength: 7, Body: io.NopCloser(bytes.NewReader([]byte("damaged"))), Request: r}, nil
	})
	body, err := newReader(t, o, server).Open(context.Background(), objstore.Object{Key: "k", Size: 7, ETag: `"e"`}, 0, -1)
	must(t, err)
	if got, err := io.ReadAll(body); err == nil {
		t.Errorf("%q is taken", got)
	}
	must(t, body.Close())
	if requests.Load() != 2 {
		t.Errorf("%d requests", requests.Load())
	}
	if _, err := newReader(t, o, server).Open(context.Background(), objstore.Object{Key: "k", Size: 7, ETag: `"e"`}, 3, 2); !errors.Is(err, errWhole) {
		t.Errorf("the whole object for a part: %v", err)
	}
}

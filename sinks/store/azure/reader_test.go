package azure

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/azuretest"
	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/sinks/store/bucket"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// newReader returns the bucket at root for reading.
func newReader(t *testing.T, o Options, root string) objstore.Store {
	t.Helper()
	r := NewReader()
	o.section = r.section
	r.Options = o
	b, _, err := r.Open(strings.TrimPrefix(root, Scheme), quiet)
	must(t, err)
	return b
}

func TestReader(t *testing.T) {
	onEach(t, func(t *testing.T, o Options, root string) {
		b := newReader(t, o, root)
		storetest.Reader(t, b, b.(*reader).Put, b.(*reader).Delete)
	})
}

// A server that cannot take every tenth request is asked again: nothing is left out, and nothing else is read.
func TestReaderTenth(t *testing.T) {
	onEach(t, func(t *testing.T, o Options, root string) {
		tenth := &storetest.Tenth{To: o.Transport}
		o.Transport = tenth
		b := newReader(t, o, root)
		storetest.Reader(t, b, b.(*reader).Put, b.(*reader).Delete)
		if tenth.Failed() == 0 {
			t.Error("no request has failed")
		}
	})
}

// A listing whose pages are empty and have the same mark is refused.
func TestReaderEndless(t *testing.T) {
	server, _ := azuretest.Direct()
	o := options(server, storetest.Transport(func(r *http.Request) (*http.Response, error) {
		body := `<EnumerationResults><Blobs></Blobs><NextMarker>next</NextMarker></EnumerationResults>`
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}))
	b := newReader(t, o, server.Place)
	if _, _, err := b.List(t.Context(), "in/", "in/a", 10); !errors.Is(err, bucket.ErrEndless) {
		t.Error(err)
	}
}

// What servers answer becomes what the source acts on, and says what to do.
func TestReaderErrors(t *testing.T) {
	for code, tc := range map[string]struct {
		status int
		is     error
		want   string
	}{
		"InvalidAuthenticationInfo":       {401, nil, "or they have expired"},
		"clock":                           {403, nil, "the clock of this machine is wrong"},
		"AuthorizationPermissionMismatch": {403, fs.ErrPermission, "give them the role Storage Blob Data Reader"},
		"BlobArchived":                    {409, objstore.ErrUnreadable, "rehydrate it"},
		"AuthenticationFailed":            {403, nil, "correct AZURE_STORAGE_KEY"},
		"ServerBusy":                      {503, nil, "lower source.file.parallel"},
	} {
		t.Run(code, func(t *testing.T) {
			answer := says(tc.status, code)
			if code == "clock" {
				answer = skewed
			}
			server, direct := azuretest.Direct()
			o := options(server, storetest.Transport(func(r *http.Request) (*http.Response, error) { return answer(r, direct) }))
			o.Attempts, o.Endpoint = 2, "http://store.invalid"
			_, err := newReader(t, o, server.Place).Open(t.Context(), objstore.Object{Key: "k", ETag: "1"}, 0, -1)
			if err == nil || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.want) {
				t.Error(err)
			}
			if alone := errors.Is(err, objstore.ErrUnreadable); alone != (tc.is != nil) {
				t.Errorf("about the object alone: %t", alone)
			}
		})
	}
}

// A server that is overloaded is asked again. Bytes with another checksum than the store has, a body that breaks off, and a whole object
// where a part was asked for, are errors.
func TestReaderFaults(t *testing.T) {
	server, direct := azuretest.Direct()
	requests, sum := 0, "mgNkuembtIDdJeHwKEyFVQ=="
	o := options(server, storetest.Transport(func(r *http.Request) (*http.Response, error) {
		if requests++; requests == 1 {
			return says(http.StatusServiceUnavailable, "")(r, direct)
		}
		h := http.Header{"Content-Md5": {sum}}
		return &http.Response{StatusCode: http.StatusOK, Header: h, ContentLength: 7, Body: io.NopCloser(strings.NewReader("content")), Request: r}, nil
	}))
	b := newReader(t, o, server.Place)
	read := func() error {
		body, err := b.Open(t.Context(), objstore.Object{Key: "k", Size: 7, ETag: "1"}, 0, -1)
		must(t, err)
		_, err = io.ReadAll(body)
		must(t, body.Close())
		return err
	}
	must(t, read())
	sum = "AAAAAAAAAAAAAAAAAAAAAA=="
	if err := read(); err == nil || requests != 3 {
		t.Errorf("%v after %d requests", err, requests)
	}
	if _, err := b.Open(t.Context(), objstore.Object{Key: "k", Size: 7, ETag: "1"}, 3, -1); err == nil || !strings.Contains(err.Error(), "does not send a part") || requests != 4 {
		t.Errorf("%v after %d requests", err, requests)
	}
}

// A name that is out of order, as in an account with a hierarchical namespace, is handed on, so that the caller sees it, and never left out.
func TestReaderOrder(t *testing.T) {
	server, _ := azuretest.Direct()
	o := options(server, storetest.Transport(func(r *http.Request) (*http.Response, error) {
		name, next := "b", "<NextMarker>m</NextMarker>"
		if r.URL.Query().Has("marker") {
			name, next = "a", ""
		}
		return with(r, "<EnumerationResults><Blobs><Blob><Name>"+name+"</Name></Blob></Blobs>"+next+"</EnumerationResults>")
	}))
	b := newReader(t, o, server.Place)
	for after, want := range map[string]string{"": "b", "b": "a"} {
		if page, _, err := b.List(t.Context(), "", after, 10); err != nil || len(page) != 1 || page[0].Key != want {
			t.Errorf("behind %q: %v, %v", after, page, err)
		}
	}
}

package web

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
	"github.com/urlmill/urlmill/internal/dev/leaktest"
	"github.com/urlmill/urlmill/internal/objstore"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// open returns the reader of a server.
func open(t *testing.T, server *httptest.Server, change func(*Options)) objstore.Store {
	t.Helper()
	o := NewReader()
	o.Attempts, o.Pause, o.Transport = 2, func(int) time.Duration { return 0 }, server.Client().Transport
	if change != nil {
		change(o)
	}
	must(t, o.Validate())
	s, _, err := o.Open(server.URL, slog.New(slog.DiscardHandler))
	must(t, err)
	return s
}

// serve answers with a content that has an ETag, or a time of its last change.
func serve(w http.ResponseWriter, r *http.Request, etag string, modified time.Time, content string) {
	if etag != "" {
		w.Header().Set("ETag", etag)
	}
	http.ServeContent(w, r, "", modified, strings.NewReader(content))
}

func read(t *testing.T, s objstore.Store, o objstore.Object, off, n int64) (string, error) {
	t.Helper()
	body, err := s.Open(t.Context(), o, off, n)
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(body)
	return string(content), errors.Join(err, body.Close())
}

// A file is read from any byte as it was listed, by a strong ETag or by the time of its last change, and one that was replaced is not.
func TestReader(t *testing.T) {
	var version atomic.Int64
	day := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := version.Load()
		content := fmt.Sprintf("content %d of %s", v, r.URL.Path)
		switch r.URL.Path {
		case "/strong":
			serve(w, r, fmt.Sprintf(`"%d"`, v), day, content)
		case "/weak":
			serve(w, r, fmt.Sprintf(`W/"%d"`, v), day.Add(time.Duration(v)*time.Hour), content)
		case "/modified":
			serve(w, r, "", day.Add(time.Duration(v)*time.Hour), content)
		case "/deaf": // to conditions and ranges
			w.Header().Set("ETag", fmt.Sprintf(`"%d"`, v))
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			_, _ = io.WriteString(w, content)
		case "/moved":
			http.Redirect(w, r, "/strong", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	for _, key := range []string{"strong", "weak", "modified", "deaf", "moved"} {
		t.Run(key, func(t *testing.T) {
			version.Store(1)
			s := open(t, server, nil)
			page, more, err := s.List(t.Context(), key, "", 1)
			must(t, err)
			if len(page) != 1 || more || page[0].ETag == "" {
				t.Fatalf("%+v, more %t", page, more)
			}
			path := "/" + key
			if key == "moved" {
				path = "/strong"
			}
			want := "content 1 of " + path
			for _, c := range []struct {
				off, n int64
				want   string
			}{{0, -1, want}, {3, -1, want[3:]}, {0, 4, want[:4]}, {3, 4, want[3:7]}} {
				got, err := read(t, s, page[0], c.off, c.n)
				if key == "deaf" && c.off > 0 && c.n >= 0 {
					if err == nil || !strings.Contains(err.Error(), "does not send a part") {
						t.Error(err)
					}
				} else if err != nil || got != c.want {
					t.Errorf("%d from %d: %q, %v", c.n, c.off, got, err)
				}
			}
			if whole := s.(objstore.Whole).Whole(); whole != (key == "deaf") {
				t.Errorf("whole: %t", whole)
			}
			version.Store(2)
			for _, off := range []int64{0, 5} {
				if got, err := read(t, s, page[0], off, -1); !errors.Is(err, objstore.ErrChanged) {
					t.Errorf("replaced: %q, %v", got, err)
				}
			}
		})
	}
	s := open(t, server, nil)
	if page, _, err := s.List(t.Context(), "nowhere", "", 1); err != nil || len(page) > 0 {
		t.Errorf("%v, %v", page, err)
	}
	if _, err := s.Open(t.Context(), objstore.Object{Key: "nowhere", ETag: `"1"`}, 0, -1); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// What nobody could read exactly is refused.
func TestRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/endless":
			w.Header().Set("ETag", `"1"`)
			w.(http.Flusher).Flush()
		case "/forbidden":
			w.WriteHeader(http.StatusForbidden)
		case "/busy":
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			w.Header().Set("Content-Length", "4")
			_, _ = io.WriteString(w, "text")
		}
	}))
	defer server.Close()
	for key, want := range map[string]string{
		"nothing": "set source.file.http.unverified: true", "endless": "does not say how long", "forbidden": "does not let everybody read this",
		"busy": "lower source.file.parallel",
	} {
		if _, _, err := open(t, server, nil).List(t.Context(), key, "", 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", key, err, want)
		}
	}
	o := NewReader()
	o.Attempts = 1
	s, _, err := o.Open("http://127.0.0.1:1", slog.New(slog.DiscardHandler))
	must(t, err)
	if _, err := s.Stat(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "correct the address") {
		t.Error(err)
	}
	s = open(t, server, func(o *Options) { o.Unverified = true })
	page, _, err := s.List(t.Context(), "nothing", "", 1)
	must(t, err)
	if got, err := read(t, s, page[0], 0, -1); err != nil || got != "text" {
		t.Errorf("%q, %v", got, err)
	}
	for keys, want := range map[string]string{"": "is no file", "a/": "is no file", "a?b=1": "question mark", "a*.gz": "is a pattern", "a/b.gz": ""} {
		if err := NewReader().CheckKeys(keys); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", keys, err, want)
		}
	}
	for _, name := range []string{"", "user:secret@host", "a b"} {
		if err := NewReader().CheckBucket(name); err == nil {
			t.Errorf("%q is a server", name)
		}
	}
}

// A list has what there is: addresses, or what is behind the base. Files that are gone are left out.
func TestList(t *testing.T) {
	var zipped bytes.Buffer
	var lists atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/paths.gz":
			lists.Add(1)
			_, _ = w.Write(zipped.Bytes())
		case strings.Contains(r.URL.Path, "gone"):
			http.NotFound(w, r)
		default:
			serve(w, r, `"1"`, time.Time{}, r.URL.Path)
		}
	}))
	defer server.Close()
	z := gzip.NewWriter(&zipped)
	var want []string
	for i := range 150 {
		name := fmt.Sprintf("data/%03d.gz", 149-i)
		if i%7 == 0 {
			_, _ = fmt.Fprintf(z, "gone-%s\n", name)
		}
		if want = append(want, name); i%2 == 0 {
			name = server.URL + "/" + name
		}
		_, _ = fmt.Fprintf(z, "%s\r\n\n", name)
	}
	must(t, z.Close())
	slices.Sort(want)
	local := filepath.Join(t.TempDir(), "paths.gz")
	must(t, os.WriteFile(local, zipped.Bytes(), 0o600))
	for _, list := range []string{server.URL + "/paths.gz", local} {
		s := open(t, server, func(o *Options) { o.List = list })
		var got []string
		for after, more := "", true; more; {
			page, next, err := s.List(t.Context(), "data/", after, 1000)
			must(t, err)
			for _, o := range page {
				got, after = append(got, o.Key), o.Key
			}
			more = next
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if page, more, err := s.List(t.Context(), "gone-", "", 1000); err != nil || len(page) > 0 || more {
			t.Errorf("%v, %t, %v", page, more, err)
		}
		must(t, s.Dirs(t.Context(), "", func(dirs []string) bool {
			if !slices.Equal(dirs, []string{"data/", "gone-data/"}) {
				t.Errorf("directories %q", dirs)
			}
			return true
		}))
	}
	if lists.Load() != 2 { // one for each look at everything
		t.Errorf("the list was fetched %d times", lists.Load())
	}
	for text, want := range map[string]string{"https://elsewhere.example/a": "is not on " + server.URL, "a?b=1": "has a query", "%zz": "neither an address nor a path"} {
		must(t, os.WriteFile(local, []byte(text), 0o600))
		_, _, err := open(t, server, func(o *Options) { o.List = local }).List(t.Context(), "", "", 1000)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	_, _, err := open(t, server, func(o *Options) { o.List = server.URL + "/gone" }).List(t.Context(), "", "", 1000)
	if err == nil || !strings.Contains(err.Error(), "correct source.file.http.list") {
		t.Error(err)
	}
}

// No list stops the source or takes more memory than a multiple of its size.
func FuzzList(f *testing.F) {
	f.Add([]byte("a\nhttps://h/b\n\n"))
	f.Add([]byte("https://other/b"))
	f.Add([]byte("%zz\x00?#"))
	f.Fuzz(func(t *testing.T, content []byte) {
		var keys []string
		var err error
		alloctest.Bound(t, len(content), 512, 256<<10, func() { keys, err = parseList(content, "https://h/x/", "https://h") })
		if err == nil && !slices.IsSorted(keys) {
			t.Errorf("%q", keys)
		}
	})
}

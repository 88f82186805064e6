package iceberg

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// flaky is a catalog before which answers go wrong.
type flaky struct {
	*restServer
	mu     sync.Mutex
	faults []fault // for the next requests of their method, each once
	seen   map[string][]time.Time
}

// fault is what comes of a request.
type fault struct {
	method     string
	status     int // 0 breaks the connection
	retryAfter string
	made       bool   // the request reaches the catalog, and its answer is lost
	then       func() // something else that happens
}

func (f *flaky) next(method string) (fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen[method] = append(f.seen[method], time.Now())
	for i, x := range f.faults {
		if x.method == method {
			f.faults = append(f.faults[:i:i], f.faults[i+1:]...)
			return x, true
		}
	}
	return fault{}, false
}

func (f *flaky) set(faults ...fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults, f.seen = faults, map[string][]time.Time{}
}

func (f *flaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x, wrong := f.next(r.Method)
	if !wrong {
		f.restServer.ServeHTTP(w, r)
		return
	}
	if x.made {
		f.restServer.ServeHTTP(httptest.NewRecorder(), r)
	}
	_, _ = io.Copy(io.Discard, r.Body)
	if x.then != nil {
		x.then()
	}
	if x.status == 0 {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Retry-After", x.retryAfter)
	w.WriteHeader(x.status)
}

// newFlaky returns a catalog and a process with a table of one commit in it.
func newFlaky(t *testing.T) (*flaky, *process, func(to int64)) {
	t.Helper()
	f := &flaky{restServer: &restServer{t: t}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.set(fault{method: "GET", status: 503}, fault{method: "POST", status: 429}) // at the start as well
	out := filepath.Join(t.TempDir(), "out")
	o := Options{Table: "web.raw.clicks", Every: time.Hour, REST: &REST{URI: server.URL + "/cat", Warehouse: "lake", Token: "t"}}
	p, err := begin(t.Context(), out, o, nil, rowsSchema)
	if err != nil {
		t.Fatal(err)
	}
	write := func(to int64) {
		t.Helper()
		if err := p.write(t.Context(), rowsSchema, 0, to); err != nil {
			t.Fatal(err)
		}
	}
	write(10)
	if err := p.follower.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f, p, write
}

// check checks what the table has, and that all that its current snapshot names is there.
func (f *flaky) check(t *testing.T, p *process, commits int, rows string) {
	t.Helper()
	last := f.now.meta.snapshot(f.now.meta.Current)
	if f.commits != commits || last.Summary["total-records"] != rows {
		t.Errorf("%d commits, %v, want %d with %s rows", f.commits, last.Summary, commits, rows)
	}
	if _, _, err := p.follower.table.dataFiles(t.Context(), last); err != nil {
		t.Error(err)
	}
	if err := p.sink.Close(); err != nil {
		t.Error(err)
	}
}

func TestRESTRetries(t *testing.T) {
	for name, c := range map[string]struct {
		faults []fault
		posts  int // with the one that succeeds
	}{
		"load":                    {[]fault{{method: "GET", status: 500}, {method: "GET", status: 502}, {method: "GET", status: 429, retryAfter: "0"}}, 1},
		"commit refused":          {[]fault{{method: "POST", status: 429}, {method: "POST", status: 429}}, 3},
		"commit not made":         {[]fault{{method: "POST", status: 502}, {method: "POST", status: 503}}, 3},
		"commit made":             {[]fault{{method: "POST", status: 504, made: true}}, 1},
		"commit made, cut off":    {[]fault{{method: "POST", made: true}}, 1},
		"refused, not made, made": {[]fault{{method: "POST", status: 429}, {method: "POST", status: 500}, {method: "POST", status: 500, made: true}}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			f, p, write := newFlaky(t)
			f.set(c.faults...)
			write(20)
			if err := p.follower.flush(t.Context()); err != nil {
				t.Error(err)
			}
			if n := len(f.seen["POST"]); n != c.posts || len(f.faults) > 0 {
				t.Errorf("%d requests to commit, %d faults left", n, len(f.faults))
			}
			f.check(t, p, 2, "20")
		})
	}
}

// TestRESTOvertaken has the outcome of a commit be unknown, and somebody else commit meanwhile: what was written for the first
// attempt stays if it was made, and all rows are in the table once.
func TestRESTOvertaken(t *testing.T) {
	for _, made := range []bool{false, true} {
		f, p, write := newFlaky(t)
		other := func() { // another one commits a snapshot without files
			f.restServer.mu.Lock()
			defer f.restServer.mu.Unlock()
			s := *f.now.meta.snapshot(f.now.meta.Current)
			s.ID, s.Parent, s.Sequence = newSnapshotID(), f.now.meta.Current, f.now.meta.LastSequence+1
			raw, err := apply(f.now, change{snapshot: &s})
			if err != nil {
				t.Error(err)
			}
			f.restServer.set(raw)
		}
		f.set(fault{method: "POST", status: 502, made: made, then: other})
		write(20)
		if err := p.follower.flush(t.Context()); err != nil {
			t.Error(err)
		}
		f.check(t, p, 2, "20")
	}
}

// TestRESTRetryAfter waits for as long as it is told to, and no longer than is reasonable.
func TestRESTRetryAfter(t *testing.T) {
	f, p, write := newFlaky(t)
	f.set(fault{method: "GET", status: 503, retryAfter: "1"})
	write(20)
	if err := p.follower.flush(t.Context()); err != nil {
		t.Error(err)
	}
	if gets := f.seen["GET"]; len(gets) != 2 || gets[1].Sub(gets[0]) < time.Second {
		t.Errorf("asked at %v", gets)
	}
	f.set(fault{method: "GET", status: 503, retryAfter: "3600"})
	write(30)
	if err := p.follower.flush(t.Context()); !isStatus(err, 503) || len(f.seen["GET"]) != 1 {
		t.Errorf("%v, asked %d times", err, len(f.seen["GET"]))
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the process ends")
	f.set(fault{method: "GET", status: 503, retryAfter: "30", then: func() { cancel(stop) }})
	if err := p.follower.flush(ctx); !errors.Is(err, stop) && !errors.Is(err, context.Canceled) || len(f.seen["GET"]) != 1 {
		t.Errorf("%v, asked %d times", err, len(f.seen["GET"]))
	}
	var always []fault
	for range 2 * maxRequests {
		always = append(always, fault{method: "GET", status: 500})
	}
	f.set(always...)
	if err := p.follower.flush(t.Context()); !isStatus(err, 500) || len(f.seen["GET"]) != maxRequests {
		t.Errorf("%v, asked %d times", err, len(f.seen["GET"]))
	}
	f.set(fault{method: "GET", status: 501})
	if err := p.follower.flush(t.Context()); !isStatus(err, 501) || len(f.seen["GET"]) != 1 {
		t.Errorf("%v, asked %d times", err, len(f.seen["GET"]))
	}
	f.set()
	if err := p.follower.flush(t.Context()); err != nil {
		t.Error(err)
	}
	f.check(t, p, 3, "30")
}

// TestRESTConfig has catalogs say how they want to be asked.
func TestRESTConfig(t *testing.T) {
	for name, c := range map[string]struct {
		defaults, overrides map[string]string
		want, wantError     string
	}{
		"nothing":           {want: "/cat/v1/namespaces/web%1Fraw/tables/clicks"},
		"prefix":            {overrides: map[string]string{"prefix": "catalogs/lake"}, want: "/cat/v1/catalogs/lake/namespaces/web%1Fraw/tables/clicks"},
		"escaped prefix":    {defaults: map[string]string{"prefix": "/main%7Clake/"}, want: "/cat/v1/main%7Clake/namespaces/web%1Fraw/tables/clicks"},
		"odd prefix":        {overrides: map[string]string{"prefix": "100%/a b?#"}, want: "/cat/v1/100%25/a%20b%3F%23/namespaces/web%1Fraw/tables/clicks"},
		"separator":         {defaults: map[string]string{"namespace-separator": "%2E"}, want: "/cat/v1/namespaces/web%2Eraw/tables/clicks"},
		"uri":               {overrides: map[string]string{"uri": "HOST/other/"}, want: "/other/v1/namespaces/web%1Fraw/tables/clicks"},
		"default uri":       {defaults: map[string]string{"uri": "HOST/other"}, want: "/cat/v1/namespaces/web%1Fraw/tables/clicks"},
		"oauth2-server-uri": {overrides: map[string]string{"oauth2-server-uri": "HOST/login"}, want: "/login"},
		"relative":          {defaults: map[string]string{"oauth2-server-uri": "v1/tokens"}, want: "/cat/v1/tokens"},
		"no address":        {overrides: map[string]string{"uri": "file:///etc"}, wantError: `its configuration gives "file:///etc" as uri, which is not an address`},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			var server *httptest.Server
			server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.URL.EscapedPath())
				config := map[string]map[string]string{"defaults": c.defaults, "overrides": {}}
				for k, v := range c.overrides {
					config["overrides"][k] = strings.Replace(v, "HOST", server.URL, 1)
				}
				switch {
				case strings.HasSuffix(r.URL.Path, "/config"):
					_ = json.NewEncoder(w).Encode(config)
				case r.FormValue("grant_type") != "": // a token that has to be asked for anew at once
					_, _ = w.Write([]byte(`{"access_token": "t", "expires_in": -1}`))
				default:
					w.WriteHeader(http.StatusNotFound)
				}
			}))
			defer server.Close()
			r, err := openREST(t.Context(), REST{URI: server.URL + "/cat", Credential: "id:secret"})
			if c.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), c.wantError) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			r.token = "" // as if it had expired
			if _, err := r.load(t.Context(), []string{"web", "raw", "clicks"}); !errors.Is(err, errNoTable) {
				t.Error(err)
			}
			if got := asked[len(asked)-1]; got != c.want && asked[len(asked)-2] != c.want {
				t.Errorf("asked %q, want %s", asked, c.want)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	_, err := (&rest{opts: REST{URI: "https://catalog.example"}}).address("uri", "http://catalog.example")
	if err == nil || !strings.Contains(err.Error(), "without encryption") {
		t.Errorf("from https to http: %v", err)
	}
}

// TestExposedLogin: a login goes nowhere in the clear but to this machine, and to no other host by a redirect.
func TestExposedLogin(t *testing.T) {
	validate := func(r REST) error { return Options{Table: "web.clicks", REST: &r}.Validate() }
	for _, c := range []struct {
		rest REST
		want string // "" for none
	}{
		{REST{URI: "http://catalog.example"}, ""},
		{REST{URI: "http://127.0.0.1:1", Token: "s3cret"}, ""},
		{REST{URI: "http://localhost:1", Credential: "id:s3cret"}, ""},
		{REST{URI: "https://catalog.example", Token: "s3cret"}, ""},
		{REST{URI: "http://catalog.example", Token: "s3cret"}, "rest.uri: it is not encrypted"},
		{REST{URI: "https://catalog.example", AuthURI: "http://login.example", Credential: "s3cret"}, "rest.auth_uri: it is not encrypted"},
		{REST{URI: "https://u:s3cret@catalog.example"}, "rest.uri: it holds a user name"},
		{REST{URI: "ftp://u:s3cret@catalog.example"}, "rest.uri: it holds a user name"},
		{REST{URI: "https://catalog.example", AuthURI: "https://s3cret@login.example"}, "rest.auth_uri: it holds a user name"},
	} {
		err := validate(c.rest)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%s: %v, want %q", c.rest.URI, err, c.want)
		}
	}
	local := &rest{opts: REST{URI: "http://127.0.0.1:1", Token: "s3cret"}}
	for _, at := range []string{"http://catalog.example", "https://u:s3cret@catalog.example"} {
		if _, err := local.address("uri", at); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", at, err)
		}
	}
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the other host was asked, with %q", r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1), http.StatusTemporaryRedirect)
	}))
	t.Cleanup(server.Close)
	for _, r := range []REST{{URI: server.URL, Token: "s3cret"}, {URI: server.URL, Credential: "id:s3cret"}} {
		if _, err := openREST(t.Context(), r); err == nil || !strings.Contains(err.Error(), "it redirects to") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v", err)
		}
	}
}

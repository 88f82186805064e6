package iceberg

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	iceberg "github.com/apache/iceberg-go"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
)

// fuzzedAnswers is a catalog that gives the same answer to every request.
type fuzzedAnswers struct {
	status int
	after  string
	body   []byte
}

func (a *fuzzedAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: a.status, Status: http.StatusText(a.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Retry-After": {a.after}}, Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: -1,
	}, nil
}

// tableSeed is the metadata of a table with a snapshot.
func tableSeed(f *testing.F) []byte {
	fields, err := schemaOf(rowsSchema)
	if err != nil {
		f.Fatal(err)
	}
	raw := newTable(creation{location: "file:///out", schema: fields, lastColumn: 20, spec: iceberg.UnpartitionedSpec, properties: map[string]string{pruneKey: "true"}})
	m, err := parseMetadata("1.json", raw)
	if err != nil {
		f.Fatal(err)
	}
	raw, err = apply(&state{location: "file:///out/_iceberg/1.json", raw: raw, meta: m}, change{
		properties: map[string]string{positionsKey: `{"clicks/3":43}`},
		snapshot:   &snapshot{ID: 7, Sequence: 1, Time: 1, ManifestList: "m", Summary: map[string]string{positionsKey: `{"clicks/3":43}`}},
	})
	if err != nil {
		f.Fatal(err)
	}
	return raw
}

// FuzzAnswers asks a catalog that answers anything for its configuration, a token and a table.
func FuzzAnswers(f *testing.F) {
	f.Add(200, "", []byte(`{"defaults":{"prefix":"a b?#%","namespace-separator":"%2E"},"overrides":{"uri":"https://u:p@other.example/x/","oauth2-server-uri":"v1/tokens"}}`))
	f.Add(200, "", []byte(`{"access_token":"t","expires_in":9223372036854775807}`))
	f.Add(200, "", append(append([]byte(`{"metadata-location":"file:///out/_iceberg/2.json","metadata":`), tableSeed(f)...), '}'))
	f.Add(409, "-1", []byte(`{"error":{"message":"conflict","code":409}}`))
	f.Add(503, "Fri, 31 Dec 9999 23:59:59 GMT", []byte(`{"error":"invalid_client","error_description":"who is that"}`))
	f.Fuzz(func(t *testing.T, status int, after string, body []byte) {
		catalog := &fuzzedAnswers{200 + ((status-200)%400+400)%400, after, body}
		alloctest.Bound(t, len(body), 2<<10, 4<<20, func() {
			c := &rest{opts: REST{URI: "https://catalog.example/cat", Credential: "id:secret"}, client: http.Client{Transport: catalog}, uri: "https://catalog.example/cat"}
			_, _ = c.authorize(t.Context())
			c.token = "t"
			var config restConfig
			err := c.once(t.Context(), http.MethodGet, "config", nil, &config)
			if _, again := pauseAfter(err, 1); again {
				return // it would be asked again later
			}
			if err == nil {
				_ = c.configure(config)
			}
			s, err := c.load(t.Context(), []string{"web", "raw", "clicks"})
			if err == nil && s.meta == nil || errors.Is(err, errNoTable) && catalog.status != http.StatusNotFound {
				t.Fatalf("%d %q: %v", catalog.status, body, err)
			}
		})
	})
}

// FuzzMetadata reads the metadata of a table, and changes it.
func FuzzMetadata(f *testing.F) {
	f.Add(tableSeed(f))
	f.Add([]byte(`{"format-version":2,"snapshots":[{"snapshot-id":1,"parent-snapshot-id":2},{"snapshot-id":2}],"current-snapshot-id":1,"schemas":[null],"partition-specs":[null]}`))
	at := &tableOf{base: "file:///out"}
	f.Fuzz(func(t *testing.T, raw []byte) {
		alloctest.Bound(t, len(raw), 4<<10, 4<<20, func() {
			m, err := parseMetadata("1.json", raw)
			if err != nil {
				return
			}
			_, _ = m.schema()
			_, _ = m.spec(m.DefaultSpec)
			_, _ = at.positions(m)
			base := &state{location: "file:///out/_iceberg/1.json", raw: raw, meta: m}
			_ = forgotten(base)
			if after, err := apply(base, change{properties: map[string]string{"a": "b"}, snapshot: &snapshot{ID: 3}}); err == nil {
				if !json.Valid(after) {
					t.Fatalf("%s becomes %s", raw, after)
				}
				if now, err := parseMetadata("2.json", after); err == nil && now.snapshot(now.Current) == nil {
					t.Fatalf("%s becomes %s, without the snapshot", raw, after)
				}
			}
		})
	})
}

// TestBadMetadata reads metadata that other writers have made, and changes what can be used.
func TestBadMetadata(t *testing.T) {
	const good = `"format-version":2,"schemas":[{"type":"struct","schema-id":0,"fields":[]}],"partition-specs":[{"spec-id":0,"fields":[]}]`
	at := &tableOf{base: "file:///out"}
	for name, c := range map[string]struct{ raw, want string }{
		"good":           {`{` + good + `}`, ""},
		"refs null":      {`{` + good + `,"refs":null,"snapshots":null}`, ""},
		"refs a number":  {`{` + good + `,"refs":5}`, "refs"},
		"null schema":    {`{` + good + `,"schemas":[null]}`, "null is among its schemas"},
		"null spec":      {`{` + good + `,"partition-specs":[null]}`, "null is among its partition-specs"},
		"null snapshot":  {`{` + good + `,"snapshots":[null]}`, "null is among its snapshots"},
		"null log entry": {`{` + good + `,"metadata-log":[null]}`, "null is among its metadata-log"},
		"own parent":     {`{` + good + `,"current-snapshot-id":1,"snapshots":[{"snapshot-id":1,"parent-snapshot-id":1}]}`, "its snapshot 1 is an ancestor of itself"},
		"own ancestor": {`{` + good + `,"current-snapshot-id":1,"snapshots":[{"snapshot-id":1,"parent-snapshot-id":2},{"snapshot-id":2,"parent-snapshot-id":3},` +
			`{"snapshot-id":3,"parent-snapshot-id":2}]}`, "an ancestor of itself"},
		"positions null": {`{` + good + `,"properties":{"urlmill.positions":"null"}}`, "urlmill.positions is null"},
		"no schema":      {`{"format-version":2}`, "it does not have its current schema, 0"},
		"no JSON":        {`{`, "file:///out/1.json, cannot be used"},
	} {
		t.Run(name, func(t *testing.T) {
			err := func() error {
				m, err := parseMetadata("file:///out/1.json", []byte(c.raw))
				if err != nil {
					return err
				}
				_, err = m.schema()
				if err == nil {
					_, err = m.spec(0)
				}
				if err == nil {
					_, err = at.positions(m)
				}
				if err != nil {
					return err
				}
				after, err := apply(&state{location: "file:///out/1.json", raw: []byte(c.raw), meta: m}, change{snapshot: &snapshot{ID: 3}})
				if err == nil && !strings.Contains(string(after), `"refs":{"main":{"snapshot-id":3,"type":"branch"}}`) {
					t.Errorf("it became %s", after)
				}
				return err
			}()
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "1.json")) {
				t.Errorf("%v; it should say %q and the file", err, c.want)
			}
		})
	}
}

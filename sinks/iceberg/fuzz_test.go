package iceberg

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
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
	m, err := parseMetadata(raw)
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
			m, err := parseMetadata(raw)
			if err != nil {
				return
			}
			var parts struct {
				Refs map[string]json.RawMessage `json:"refs"`
			}
			if err := json.Unmarshal(raw, &parts); err != nil || parts.Refs == nil || slices.Contains(m.Schemas, nil) {
				return // a schema that is null, and no references at all, are not expected
			}
			_, _ = m.schema()
			_, _ = m.spec(m.DefaultSpec)
			if !circular(m) {
				_, _ = at.positions(m)
			}
			base := &state{location: "file:///out/_iceberg/1.json", raw: raw, meta: m}
			_ = forgotten(base)
			if after, err := apply(base, change{properties: map[string]string{"a": "b"}, snapshot: &snapshot{ID: 3}}); err == nil {
				if !json.Valid(after) {
					t.Fatalf("%s becomes %s", raw, after)
				}
				if now, err := parseMetadata(after); err == nil && now.snapshot(now.Current) == nil {
					t.Fatalf("%s becomes %s, without the snapshot", raw, after)
				}
			}
		})
	})
}

// circular reports whether snapshots are their own ancestors, which positions would follow for ever.
func circular(m *metadata) bool {
	n := 0
	for s := m.snapshot(m.Current); s != nil; s = m.snapshot(s.Parent) {
		if n++; n > len(m.Snapshots) {
			return true
		}
	}
	return false
}

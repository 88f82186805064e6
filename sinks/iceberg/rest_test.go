package iceberg

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	iceberg "github.com/apache/iceberg-go"
)

// restServer is a REST catalog of one table, as strict about requirements as the specification.
type restServer struct {
	t         *testing.T
	mu        sync.Mutex
	now       *state // nil before the table is there
	conflicts int    // commits that somebody else gets ahead of
	lost      int    // commits that are made, and whose answer is lost
	logins    int
	commits   int // that were made
}

func (s *restServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := func(status int, v any) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	refuse := func(status int, message string) {
		answer(status, map[string]any{"error": map[string]any{"message": message, "code": status}})
	}
	if r.URL.Path == "/cat/v1/oauth/tokens" {
		if r.FormValue("client_id") != "id" || r.FormValue("client_secret") != "s:ecret" || r.FormValue("scope") != "catalog" {
			answer(http.StatusUnauthorized, map[string]any{"error": "invalid_client", "error_description": "who is that"})
			return
		}
		s.logins++
		answer(http.StatusOK, map[string]any{"access_token": "t", "expires_in": 3600})
		return
	}
	if r.Header.Get("Authorization") != "Bearer t" {
		refuse(http.StatusUnauthorized, "no token")
		return
	}
	const tables = "/cat/v1/lake/namespaces/web\x1fraw/tables"
	switch r.Method + " " + r.URL.Path {
	case "GET /cat/v1/config":
		answer(http.StatusOK, map[string]any{"defaults": map[string]string{}, "overrides": map[string]string{"prefix": r.FormValue("warehouse")}})
	case "POST /cat/v1/lake/namespaces":
		answer(http.StatusOK, map[string]any{})
	case "GET " + tables + "/clicks":
		if s.now == nil {
			refuse(http.StatusNotFound, "no such table")
			return
		}
		answer(http.StatusOK, map[string]any{"metadata-location": s.now.location, "metadata": json.RawMessage(s.now.raw)})
	case "POST " + tables:
		s.create(r, answer)
	case "POST " + tables + "/clicks":
		status, message := s.commit(r)
		if status != http.StatusOK {
			refuse(status, message)
			return
		}
		answer(status, map[string]any{"metadata-location": s.now.location, "metadata": json.RawMessage(s.now.raw)})
	default:
		refuse(http.StatusNotImplemented, r.Method+" "+r.URL.Path)
	}
}

func (s *restServer) create(r *http.Request, answer func(int, any)) {
	var in struct {
		Location   string                `json:"location"`
		Schema     *iceberg.Schema       `json:"schema"`
		Spec       iceberg.PartitionSpec `json:"partition-spec"`
		Properties map[string]string     `json:"properties"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Properties["format-version"] != "2" {
		s.t.Errorf("create: %v, %v", in, err)
	}
	delete(in.Properties, "format-version")
	s.set(newTable(creation{in.Location, in.Schema, in.Schema.HighestFieldID(), &in.Spec, in.Properties}))
	answer(http.StatusOK, map[string]any{})
}

func (s *restServer) set(raw []byte) {
	m, err := parseMetadata("", raw)
	if err != nil {
		s.t.Error(err)
		return
	}
	s.now = &state{location: "somewhere/1-x.metadata.json", raw: raw, meta: m}
}

// restCommit is a change as it comes.
type restCommit struct {
	Requirements []map[string]any `json:"requirements"`
	Updates      []struct {
		Action     string            `json:"action"`
		Schema     *iceberg.Schema   `json:"schema"`
		LastColumn int               `json:"last-column-id"`
		SchemaID   int               `json:"schema-id"`
		Snapshot   *snapshot         `json:"snapshot"`
		Ref        string            `json:"ref-name"`
		SnapshotID int64             `json:"snapshot-id"`
		Updates    map[string]string `json:"updates"`
	} `json:"updates"`
}

// commit makes a change as it came.
func (s *restServer) commit(r *http.Request) (int, string) {
	var in restCommit
	d := json.NewDecoder(r.Body)
	d.UseNumber()
	if err := d.Decode(&in); err != nil {
		return http.StatusBadRequest, err.Error()
	}
	if s.conflicts > 0 {
		s.conflicts--
		return http.StatusConflict, "somebody was faster"
	}
	if conflict := s.check(&in); conflict != "" {
		return http.StatusConflict, conflict
	}
	c, wrong := in.change()
	if wrong != "" {
		return http.StatusBadRequest, wrong
	}
	raw, err := apply(s.now, c)
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	s.set(raw)
	s.commits++
	if s.lost > 0 {
		s.lost--
		return http.StatusServiceUnavailable, "the answer is lost"
	}
	return http.StatusOK, ""
}

// check says which requirement is not met.
func (s *restServer) check(in *restCommit) (conflict string) {
	want := map[string]string{
		"assert-table-uuid": s.now.meta.UUID, "assert-current-schema-id": string(encode(s.now.meta.CurrentSchema)),
		"assert-last-assigned-field-id": string(encode(s.now.meta.LastColumn)), "assert-ref-snapshot-id": string(encode(s.now.meta.Current)),
	}
	keys := map[string]string{
		"assert-table-uuid": "uuid", "assert-current-schema-id": "current-schema-id",
		"assert-last-assigned-field-id": "last-assigned-field-id", "assert-ref-snapshot-id": "snapshot-id",
	}
	for _, q := range in.Requirements {
		kind := q["type"].(string)
		got := strings.Trim(string(encode(q[keys[kind]])), `"`)
		if expected, ok := want[kind]; !ok || got != expected {
			return kind + ": " + got + " is not " + expected
		}
	}
	return ""
}

// change returns what the updates come to, or what is wrong with them.
func (in *restCommit) change() (c change, wrong string) {
	for _, u := range in.Updates {
		switch u.Action {
		case "add-schema":
			c.schema, c.lastColumn = u.Schema, u.LastColumn
		case "add-snapshot":
			c.snapshot = u.Snapshot
		case "set-properties":
			c.properties = u.Updates
		case "set-current-schema":
			if u.SchemaID != -1 {
				return c, "which schema"
			}
		case "set-snapshot-ref":
			if u.Ref != "main" || c.snapshot == nil || u.SnapshotID != c.snapshot.ID {
				return c, "which snapshot"
			}
		default:
			return c, u.Action
		}
	}
	return c, ""
}

// TestREST has a table in a REST catalog, which others change as well, and whose answers get lost.
func TestREST(t *testing.T) {
	s := &restServer{t: t, conflicts: 2}
	server := httptest.NewServer(s)
	defer server.Close()
	out := filepath.Join(t.TempDir(), "out")
	o := Options{Table: "web.raw.clicks", Every: time.Hour, REST: &REST{URI: server.URL + "/cat/", Warehouse: "lake", Credential: "id:s:ecret"}}
	p, err := begin(t.Context(), out, o, nil, rowsSchema)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.write(t.Context(), rowsSchema, 0, 10), p.follower.flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	s.lost = 1
	if err := errors.Join(p.write(t.Context(), rowsSchema, 0, 20), p.write(t.Context(), rowsSchema, 1, 5)); err != nil {
		t.Fatal(err)
	}
	if err := p.follower.flush(t.Context()); err != nil || s.commits != 2 { // the table tells that it was made
		t.Fatalf("%d commits, %v", s.commits, err)
	}
	if err := errors.Join(p.follower.flush(t.Context()), p.write(t.Context(), rowsSchema, 1, 10), p.sink.Close()); err != nil {
		t.Fatal(err)
	}
	last := s.now.meta.snapshot(s.now.meta.Current)
	if last.Summary["total-records"] != "30" || len(s.now.meta.Snapshots) != 3 || s.logins != 1 {
		t.Errorf("%d snapshots, %d logins, %v", len(s.now.meta.Snapshots), s.logins, last.Summary)
	}
	if held := s.now.meta.Properties[positionsKey]; held != `{"clicks/0":20,"clicks/1":10}` {
		t.Errorf("positions %s", held)
	}
	o.REST = &REST{URI: server.URL + "/cat", Warehouse: "lake", Token: "wrong"}
	if _, err := begin(t.Context(), out, o, nil, rowsSchema); err == nil || !strings.Contains(err.Error(), "the catalog answers 401 Unauthorized: no token") {
		t.Errorf("a wrong token: %v", err)
	}
}

// TestRESTColumns adds columns through a REST catalog.
func TestRESTColumns(t *testing.T) {
	s := &restServer{t: t}
	server := httptest.NewServer(s)
	defer server.Close()
	out := filepath.Join(t.TempDir(), "out")
	o := Options{Table: "web.raw.clicks", REST: &REST{URI: server.URL + "/cat", Warehouse: "lake", Token: "t"}}
	for i, schema := range []int{1, rowsSchema.NumFields()} {
		sc := arrow.NewSchema(rowsSchema.Fields()[:schema], nil)
		p, err := begin(t.Context(), out, o, nil, sc)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(p.write(t.Context(), sc, 0, int64(10*(i+1))), p.sink.Close()); err != nil {
			t.Fatal(err)
		}
	}
	now, err := s.now.meta.schema()
	if err != nil || now.NumFields() != rowsSchema.NumFields() || s.now.meta.CurrentSchema != 1 {
		t.Errorf("%v, %v", now, err)
	}
}

package iceberg

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// restTimeout bounds a request to a catalog.
const restTimeout = time.Minute

// rest is a REST catalog.
//
// Source: https://github.com/apache/iceberg/blob/main/open-api/rest-catalog-open-api.yaml
type rest struct {
	opts   REST
	client http.Client
	// uri is the catalog's address, and auth that of its tokens, "" for one below it; they, prefix and separator, which are
	// escaped as in paths, are what the catalog wants.
	uri, auth, prefix, separator string

	mu      sync.Mutex
	token   string
	expires time.Time // of token, zero for never
}

// restError is an answer that is no success.
type restError struct {
	status  int
	message string
	after   time.Duration // for which it is not to be asked again, 0 if it does not say
}

func (e *restError) Error() string {
	return fmt.Sprintf("the catalog answers %d %s: %s", e.status, http.StatusText(e.status), e.message)
}

// openREST asks a catalog for its configuration.
func openREST(ctx context.Context, o REST) (*rest, error) {
	c := &rest{opts: o, client: http.Client{Timeout: restTimeout, CheckRedirect: checkRedirect}, token: o.Token.Reveal(), uri: strings.TrimSuffix(o.URI, "/"), auth: o.AuthURI}
	query := url.Values{}
	if o.Warehouse != "" {
		query.Set("warehouse", o.Warehouse)
	}
	var config restConfig
	err := c.do(ctx, http.MethodGet, "config?"+query.Encode(), nil, &config)
	if err == nil {
		err = c.configure(config)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the catalog %s: %w", o.URI, err), c.Close())
	}
	return c, nil
}

func (c *rest) Close() error {
	c.client.CloseIdleConnections()
	return nil
}

// checkRedirect refuses what would send a login, which may be in the body, to another host or without encryption.
func checkRedirect(to *http.Request, via []*http.Request) error {
	if from := via[0].URL; to.URL.Host != from.Host || to.URL.Scheme != from.Scheme {
		return fmt.Errorf("it redirects to %q, where the login is not sent: give that address", to.URL.Scheme+"://"+to.URL.Host)
	}
	if len(via) >= 10 {
		return errors.New("it redirects without end")
	}
	return nil
}

// at returns the path of a namespace and of what is below it.
func (c *rest) at(namespace []string, more ...string) string {
	p := "namespaces"
	if c.prefix != "" {
		p = c.prefix + "/" + p
	}
	for i, n := range namespace {
		p += []string{"/", c.separator}[min(i, 1)] + url.PathEscape(n)
	}
	for _, m := range more {
		p += "/" + url.PathEscape(m)
	}
	return p
}

func parts(table []string) (namespace []string, name string) {
	return table[:len(table)-1], table[len(table)-1]
}

func (c *rest) load(ctx context.Context, table []string) (*state, error) {
	namespace, name := parts(table)
	var answer struct {
		Location string          `json:"metadata-location"`
		Metadata json.RawMessage `json:"metadata"`
	}
	err := c.do(ctx, http.MethodGet, c.at(namespace, "tables", name), nil, &answer)
	if isStatus(err, http.StatusNotFound) {
		return nil, errNoTable
	}
	if err != nil {
		return nil, err
	}
	s := &state{location: answer.Location, raw: answer.Metadata}
	s.meta, err = parseMetadata(answer.Location, answer.Metadata)
	return s, err
}

func (c *rest) create(ctx context.Context, table []string, n creation) error {
	namespace, name := parts(table)
	err := c.do(ctx, http.MethodPost, c.at(nil), map[string]any{"namespace": namespace, "properties": map[string]string{}}, nil)
	if err != nil && !isStatus(err, http.StatusConflict) {
		return fmt.Errorf("making the namespace %s: %w", dotted(namespace), err)
	}
	properties := map[string]string{"format-version": fmt.Sprint(formatVersion)}
	for k, v := range n.properties {
		properties[k] = v
	}
	err = c.do(ctx, http.MethodPost, c.at(namespace, "tables"), map[string]any{
		"name": name, "location": n.location, "schema": n.schema, "partition-spec": n.spec, "properties": properties,
	}, nil)
	if isStatus(err, http.StatusConflict) {
		return errExists
	}
	return err
}

func (c *rest) commit(ctx context.Context, table []string, base *state, ch change) error {
	type object = map[string]any
	requirements := []object{{"type": "assert-table-uuid", "uuid": base.meta.UUID}}
	var updates []any
	if ch.schema != nil {
		requirements = append(requirements,
			object{"type": "assert-current-schema-id", "current-schema-id": base.meta.CurrentSchema},
			object{"type": "assert-last-assigned-field-id", "last-assigned-field-id": base.meta.LastColumn})
		updates = append(updates, object{"action": "add-schema", "schema": ch.schema, "last-column-id": ch.lastColumn},
			object{"action": "set-current-schema", "schema-id": -1})
	}
	if ch.snapshot != nil {
		requirements = append(requirements, object{"type": "assert-ref-snapshot-id", "ref": mainBranch, "snapshot-id": base.meta.Current})
		updates = append(updates, object{"action": "add-snapshot", "snapshot": ch.snapshot}, struct {
			Action string `json:"action"`
			Name   string `json:"ref-name"`
			ref
		}{"set-snapshot-ref", mainBranch, base.meta.mainRef(ch.snapshot.ID)})
	}
	if len(ch.expired) > 0 {
		for _, name := range slices.Sorted(maps.Keys(base.meta.Refs)) {
			requirements = append(requirements, object{"type": "assert-ref-snapshot-id", "ref": name, "snapshot-id": base.meta.Refs[name].Snapshot})
		}
		updates = append(updates, object{"action": "remove-snapshots", "snapshot-ids": ch.expired})
	}
	if len(ch.properties) > 0 {
		updates = append(updates, object{"action": "set-properties", "updates": ch.properties})
	}
	namespace, name := parts(table)
	return c.update(ctx, table, base, ch.snapshot, object{
		"identifier": object{"namespace": namespace, "name": name}, "requirements": requirements, "updates": updates,
	})
}

func isStatus(err error, status int) bool {
	var e *restError
	return errors.As(err, &e) && e.status == status
}

// once makes a request and reads the answer into out, which may be nil.
func (c *rest) once(ctx context.Context, method, path string, in, out any) error {
	token, err := c.authorize(ctx)
	if err != nil {
		return err
	}
	var body io.Reader
	if in != nil {
		content, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(content)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.uri+"/v1/"+path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return c.send(r, out)
}

// maxAnswer bounds what is read of an answer; metadata with thousands of snapshots has some megabytes.
const maxAnswer = 256 << 20

func (c *rest) send(r *http.Request, out any) error {
	answer, err := c.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return err
	}
	if answer.StatusCode/100 != 2 {
		var e struct {
			Error       json.RawMessage `json:"error"`
			Description string          `json:"error_description"`
		}
		var inner struct {
			Message string `json:"message"`
		}
		_ = json.Unmarshal(content, &e)
		_ = json.Unmarshal(e.Error, &inner)
		message := inner.Message
		if message == "" {
			message = strings.TrimSpace(string(e.Error) + " " + e.Description)
		}
		return &restError{answer.StatusCode, message, retryAfter(answer.Header)}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(content, out)
}

// authorize returns the token for requests, after it has asked for one if need be.
func (c *rest) authorize(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opts.Credential == "" || c.token != "" && (c.expires.IsZero() || time.Now().Before(c.expires)) {
		return c.token, nil
	}
	id, secret, both := strings.Cut(c.opts.Credential.Reveal(), ":")
	if !both {
		id, secret = "", id
	}
	scope := c.opts.Scope
	if scope == "" {
		scope = "catalog"
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_secret": {secret}, "scope": {scope}}
	if id != "" {
		form.Set("client_id", id)
	}
	at := c.auth
	if at == "" {
		at = c.uri + "/v1/oauth/tokens"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var answer struct {
		Token   string `json:"access_token"`
		Expires int64  `json:"expires_in"`
	}
	if err := c.send(r, &answer); err != nil {
		return "", fmt.Errorf("logging in: %w", err)
	}
	c.token, c.expires = answer.Token, time.Time{}
	if answer.Expires > 0 { // a new one in good time
		c.expires = time.Now().Add(time.Duration(answer.Expires) * time.Second * 4 / 5)
	}
	return c.token, nil
}

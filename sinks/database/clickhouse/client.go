package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/urlmill/urlmill/sinks/database"
)

const (
	// queryTimeout bounds a request.
	queryTimeout = 5 * time.Minute
	// maxAnswer bounds an answer; the longest has a line for each lane.
	maxAnswer = 16 << 20
	// maxMessage bounds what is kept of the answer that an error is.
	maxMessage = 4 << 10
)

// escape is how names and texts have what would end them.
var escape = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "`", "\\`")

// serverError is an answer that is no success.
type serverError struct {
	status  int
	message string
}

func (e *serverError) Error() string { return e.message }

// client speaks ClickHouse's HTTP interface, which all versions have.
type client struct {
	base   url.URL // with the user, without a query
	params url.Values
	http   http.Client
}

func newClient(o Options) (*client, error) {
	u, err := url.Parse(o.URL.Reveal())
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("it is not the address of a server; give that of the HTTP interface, such as http://user@localhost:8123/database")
	}
	c := &client{base: *u, params: u.Query(), http: http.Client{
		Timeout: queryTimeout, Transport: http.DefaultTransport.(*http.Transport).Clone(),
		// The user and the password are headers, and would go wherever a redirect leads.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if database := strings.Trim(u.Path, "/"); database != "" {
		c.params.Set("database", database)
	}
	c.base.RawQuery, c.base.Path = "", "/"
	return c, nil
}

func (c *client) close() { c.http.CloseIdleConnections() }

// query runs a statement. body, if it is not nil, returns what an INSERT inserts, and settings are for this query alone.
func (c *client) query(ctx context.Context, statement string, body func() io.Reader, settings map[string]string) (string, error) {
	params := url.Values{}
	for k, v := range c.params {
		params[k] = v
	}
	for k, v := range settings {
		params.Set(k, v)
	}
	var content io.Reader = strings.NewReader(statement)
	if body != nil {
		params.Set("query", statement)
		content = body()
	}
	at := c.base
	at.RawQuery = params.Encode()
	user := at.User
	at.User = nil
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), content)
	if err != nil {
		return "", err
	}
	if user != nil {
		r.Header.Set("X-ClickHouse-User", user.Username())
		if password, ok := user.Password(); ok {
			r.Header.Set("X-ClickHouse-Key", password)
		}
	}
	if body != nil { // for a connection that the server has just closed
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(body()), nil }
	}
	answer, err := c.http.Do(r)
	if err != nil {
		var in *url.Error
		if errors.As(err, &in) {
			err = in.Err // its text would have the whole address
		}
		return "", temporary(ctx, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 == 3 {
		return "", fmt.Errorf("ClickHouse: the server answers %d and leads elsewhere (%s), where the login is not sent: give the address of the server itself",
			answer.StatusCode, target(answer))
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err != nil {
		return "", temporary(ctx, err)
	}
	if len(text) > maxAnswer {
		return "", fmt.Errorf("ClickHouse: an answer of more than %d bytes, as no query of urlmill has", maxAnswer)
	}
	if answer.StatusCode != http.StatusOK || answer.Header.Get("X-ClickHouse-Exception-Code") != "" {
		return "", classify(&serverError{answer.StatusCode, strings.TrimSpace(string(text[:min(len(text), maxMessage)]))})
	}
	return strings.TrimSuffix(string(text), "\n"), nil
}

// target returns where a redirect leads, without what may be secret in it.
func target(answer *http.Response) string {
	at, err := answer.Location()
	if err != nil {
		return "to no address"
	}
	return fmt.Sprintf("%q", at.Scheme+"://"+at.Host)
}

func temporary(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return database.Temporary(fmt.Errorf("ClickHouse: %w", err))
}

// passing are the codes of errors that may pass: too many queries or parts, the same query still running, memory, network, a server that is shut down, a
// table that is read-only for a while.
var passing = []int{159, 202, 203, 209, 210, 216, 236, 241, 242, 252, 319, 999}

func classify(e *serverError) error {
	err := fmt.Errorf("ClickHouse: %w", e)
	_, rest, _ := strings.Cut(e.message, "Code: ")
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	code, _ := strconv.Atoi(digits)
	for _, p := range passing {
		if code == p {
			return database.Temporary(err)
		}
	}
	if code == 0 && e.status >= 500 {
		return database.Temporary(err)
	}
	return err
}

// quote writes a text as SQL has it.
func quote(s string) string {
	return "'" + escape.Replace(s) + "'"
}

// name writes a name as SQL has it.
func name(s string) string { return "`" + escape.Replace(s) + "`" }

// tableName writes the name of a table, with that of its database before a dot on request.
func tableName(s string) string {
	database, rest, ok := strings.Cut(s, ".")
	if !ok {
		return name(s)
	}
	return name(database) + "." + name(rest)
}

// version is that of a server.
type version struct{ major, minor int }

func (v version) atLeast(major, minor int) bool {
	return v.major > major || v.major == major && v.minor >= minor
}

func parseVersion(s string) version {
	major, rest, _ := strings.Cut(s, ".")
	minor, _, _ := strings.Cut(rest, ".")
	var v version
	v.major, _ = strconv.Atoi(major)
	v.minor, _ = strconv.Atoi(minor)
	return v
}

// Package schemaregistry gets schemas from, and gives them to, a schema registry that speaks Confluent's protocol.
package schemaregistry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/twmb/franz-go/pkg/sr"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/pipeline"
)

// Options says where a registry is and who asks.
type Options struct {
	// URLs are those of its instances; the next is asked when one cannot be reached.
	URLs []string
	// Username and Password log in by HTTP basic authentication, Token as a bearer.
	Username        string
	Password, Token config.Secret
	// TLS is for URLs that begin with https; Enabled has no meaning.
	TLS kafkaconn.TLS
	// Timeout bounds a request. Default 10 s.
	Timeout time.Duration
}

// Validate returns every problem of o, joined. It does not look at the files of TLS; [New] does.
func (o Options) Validate() error {
	var p pipeline.Problems
	if len(o.URLs) == 0 {
		p.Add("urls", "empty").Advise("give that of the registry, such as http://localhost:8081")
	}
	for i, text := range o.URLs {
		u, err := url.Parse(text)
		switch {
		case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
			p.Add(fmt.Sprintf("urls[%d]", i), "give the URL of a registry, such as http://localhost:8081") // it may hold a password
		case u.User != nil:
			p.Add(fmt.Sprintf("urls[%d]", i), "it holds a password").Advise("give username and password instead")
		}
	}
	switch {
	case o.Token != "" && (o.Username != "" || o.Password != ""):
		p.Add("token", "given beside username and password").Advise("keep one of the two ways to log in")
	case o.Username != "" && o.Password == "":
		p.Add("username", "needs password beside it")
	case o.Password != "" && o.Username == "":
		p.Add("password", "needs username beside it")
	}
	p.Join(o.tls().Validate())
	return p.Err()
}

// tls returns the settings with encryption on.
func (o Options) tls() kafkaconn.TLS {
	t := o.TLS
	t.Enabled = true
	return t
}

// Schema is a schema with all that it refers to.
type Schema struct {
	Type string // AVRO, PROTOBUF or JSON
	Text string
	// References are the schemas that it needs, directly or not, each after those that it needs itself.
	References []Reference
}

// Reference is a schema by the name that others call it by: of Avro the full name of a type, of Protobuf the path of an
// import.
type Reference struct{ Name, Text string }

// NotFoundError says that the registry has no such schema.
type NotFoundError struct{ Err error }

func (e *NotFoundError) Error() string { return e.Err.Error() }
func (e *NotFoundError) Unwrap() error { return e.Err }

// Client asks a registry. It may be used by several goroutines at once, and keeps no answers.
type Client struct {
	client    *sr.Client
	transport *http.Transport
}

const (
	// maxAnswer bounds an answer in bytes, and a schema with all that it refers to.
	maxAnswer = 16 << 20
	// maxReferences bounds how many schemas one refers to, directly or not.
	maxReferences = 1000
)

// errTooLong is the error of an answer that is longer than [maxAnswer].
var errTooLong = fmt.Errorf("an answer of more than %d bytes", maxAnswer)

// New returns a client, or what Validate has to say about o, or the files of TLS. It does not connect yet.
func New(o Options) (*Client, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Timeout <= 0 {
		o.Timeout = Defaults().Timeout
	}
	certificates, err := o.tls().Config()
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = certificates
	transport.IdleConnTimeout = 30 * time.Second
	opts := []sr.ClientOpt{
		sr.URLs(o.URLs...), sr.UserAgent("urlmill"),
		sr.HTTPClient(&http.Client{Timeout: o.Timeout, Transport: bounded{transport}}),
	}
	if o.Username != "" {
		opts = append(opts, sr.BasicAuth(o.Username, o.Password.Reveal()))
	}
	if o.Token != "" {
		opts = append(opts, sr.BearerToken(o.Token.Reveal()))
	}
	client, err := sr.NewClient(opts...)
	if err != nil {
		return nil, err
	}
	return &Client{client, transport}, nil
}

// CloseIdle closes the connections that nobody uses. The client stays usable.
func (c *Client) CloseIdle() { c.transport.CloseIdleConnections() }

// bounded bounds the answers.
type bounded struct{ http.RoundTripper }

// body is an answer of which so much is left to take.
type body struct {
	io.ReadCloser
	left int
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if n > b.left {
		return b.left, errTooLong
	}
	b.left -= n
	return n, err
}

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = &body{answer.Body, maxAnswer}
	}
	return answer, err
}

// Schema returns the schema with that id and all that it refers to. The error is a [*NotFoundError] when the registry
// does not know it, and any other when that could not be found out.
func (c *Client) Schema(ctx context.Context, id uint32) (Schema, error) {
	answer, err := c.client.SchemaByID(ctx, int(id))
	if err != nil {
		return Schema{}, fmt.Errorf("schema %d: %w", id, classify(err))
	}
	s := Schema{Type: answer.Type.String(), Text: answer.Schema}
	if err := c.references(ctx, &s, answer.References, map[string]bool{}, new(len(s.Text))); err != nil {
		return Schema{}, fmt.Errorf("schema %d: %w", id, err)
	}
	return s, nil
}

// references adds what refs name, and before them what those refer to. seen has the names so far, and size their length.
func (c *Client) references(ctx context.Context, s *Schema, refs []sr.SchemaReference, seen map[string]bool, size *int) error {
	for _, ref := range refs {
		if seen[ref.Name] {
			continue
		}
		if len(seen) == maxReferences {
			return &NotFoundError{fmt.Errorf("more than %d references, each to another schema", maxReferences)}
		}
		seen[ref.Name] = true
		answer, err := c.client.SchemaByVersion(ctx, ref.Subject, ref.Version)
		if err != nil {
			return fmt.Errorf("reference %s: %w", ref.Name, classify(err))
		}
		if *size += len(answer.Schema.Schema); *size > maxAnswer { // before those that it refers to: all are held until the last one is there
			return &NotFoundError{fmt.Errorf("with its references it has more than %d bytes", maxAnswer)}
		}
		if err := c.references(ctx, s, answer.References, seen, size); err != nil {
			return err
		}
		s.References = append(s.References, Reference{ref.Name, answer.Schema.Schema})
	}
	return nil
}

// classify tells what the registry does not know from what it could not say. An answer of 404 without the registry's
// own code is one of something else, such as a proxy. A schema that is too long does not become shorter.
func classify(err error) error {
	if errors.Is(err, errTooLong) {
		return &NotFoundError{err}
	}
	var answer *sr.ResponseError
	if !errors.As(err, &answer) {
		return err
	}
	if answer.StatusCode == http.StatusNotFound && sr.IsNotFoundError(answer.ErrorCode) {
		return &NotFoundError{err}
	}
	return fmt.Errorf("%s answers %d: %w", answer.URL, answer.StatusCode, err)
}

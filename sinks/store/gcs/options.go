package gcs

import (
	"cmp"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path"
	"regexp"
	"strings"

	"golang.org/x/oauth2"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// Scheme begins the locations of this package: gs://bucket/prefix.
const Scheme = store.GCS

const (
	googleEndpoint = "https://storage.googleapis.com"
	// emulatorVariable names a server other than Google's for all of its libraries.
	emulatorVariable = "STORAGE_EMULATOR_HOST"
)

// Options are how to reach a bucket and what to do there. Credentials are not among them: they come from where Google's own tools look
// for them.
type Options struct {
	bucket.Options
	// Endpoint is the URL of a server other than Google's. Without TLS it gets no credentials.
	Endpoint string

	// section is where the options of a source are, "" for those of a sink. The other two are a source's.
	section   string
	anonymous bool
	payer     string // the project that pays

	// Transport sends requests, and Credentials look up what signs them. Tests put others in place of the usual ones.
	Transport   http.RoundTripper
	Credentials func() (oauth2.TokenSource, error)
}

// Default returns the options of a configuration that says nothing.
func Default() Options { return Options{Options: bucket.Default()} }

// Section binds the options that a user gives to the section of a configuration.
func (o *Options) Section() config.Section {
	return config.Section{Fields: append([]config.Field{
		{Name: "endpoint", Doc: "URL of a server other than Google's; one with http: gets no credentials.", Value: config.Text(&o.Endpoint, "http://localhost:4443")},
	}, o.Fields(bucket.MinPart)...)}
}

// Validate returns what is wrong with the options, each a [*pipeline.FieldError].
func (o Options) Validate() error {
	var p pipeline.Problems
	bucket.CheckEndpoint(&p, o.Endpoint, "https://storage.example.com")
	return p.Err()
}

// endpoint returns the URL of the server, without a slash at its end.
func (o Options) endpoint() string {
	at := o.Endpoint
	if at == "" {
		at = os.Getenv(emulatorVariable)
	}
	switch {
	case at == "":
		return googleEndpoint
	case !strings.Contains(at, "://"):
		at = "http://" + at
	}
	return strings.TrimSuffix(at, "/")
}

// bucketName matches names of buckets.
var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$`)

// ParseLocation takes gs://bucket/prefix apart. The prefix may be empty and has no slash at its ends.
func ParseLocation(location string) (name, prefix string, err error) {
	rest, ok := strings.CutPrefix(location, Scheme)
	name, prefix, _ = strings.Cut(rest, "/")
	prefix = strings.TrimSuffix(prefix, "/")
	if !ok || !bucketName.MatchString(name) || prefix != "" && (!fs.ValidPath(prefix) || path.Clean(prefix) == ".") {
		return "", "", fmt.Errorf("%q is not a place on Google Cloud Storage; give %sbucket/prefix, with a name of small letters, digits, dots, hyphens and underscores for the bucket",
			location, Scheme)
	}
	return name, prefix, nil
}

// service is what messages say of Google Cloud Storage.
var service = bucket.Service{
	Name: "Google Cloud Storage", Section: "gcs", Docs: "docs/gcs.md", MaxParts: composed * composed,
	Kept: "nothing but urlmill may delete objects below _tmp/; a lifecycle rule of the bucket may do so, see docs/gcs.md",
}

// CheckPlace returns what is wrong with a location.
func CheckPlace(location string) error {
	_, _, err := ParseLocation(location)
	return err
}

// Opener returns an opener of places on Google Cloud Storage. The stores share their
// connections and the number of parts that are on their way.
func Opener(o Options) store.Opener {
	o.Options = o.WithDefaults()
	http, shared := o.HTTPClient(o.Transport), bucket.NewShared(o.Options)
	tokens := newTokens(o, o.endpoint(), scope)
	return func(location string, log *slog.Logger) (store.Store, error) {
		name, prefix, err := ParseLocation(location)
		if err != nil {
			return nil, err
		}
		c := o.client(name, prefix, http, tokens)
		return bucket.New(c, c.Place, service, o.Options, log, shared), nil
	}
}

// client returns what makes the requests for a place.
func (o Options) client(name, prefix string, http *http.Client, tokens *tokens) *client {
	s := service
	s.Section = cmp.Or(o.section, s.Section)
	return newClient(name, bucket.Requests{
		Place: bucket.Place{Root: Scheme + name, Prefix: prefix}, Service: s, Options: o.Options, HTTP: http, Sign: tokens.sign, Renew: tokens.renew(),
		Fault: fault, Advise: o.advise(name), Role: "the role that docs/gcs.md names",
	}, o.endpoint())
}

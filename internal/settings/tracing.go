package settings

import (
	"net/url"

	"github.com/urlmill/urlmill/config"
)

// Tracing says where spans go.
type Tracing struct {
	Endpoint string  // URL of a collector's OTLP over HTTP
	Sample   float64 // share of the batches that have a trace
	Token    config.Secret
	Service  string
}

// DefaultTracing returns the defaults of tracing.
func DefaultTracing() Tracing { return Tracing{Sample: 0.01, Service: "urlmill"} }

func tracingSchema(t *Tracing) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "endpoint", Doc: "URL of the collector; /v1/traces is added where it has no path.", Value: config.Text(&t.Endpoint, "http://localhost:4318"), Example: "endpoint: http://localhost:4318"},
			{Name: "sample", Doc: "Share of the batches that have a trace.", Value: config.Number(&t.Sample, 0, 1, "a share from 0 to 1")},
			{Name: "token", Doc: "Sent as a bearer token. Other headers: the variable OTEL_EXPORTER_OTLP_HEADERS.", Value: config.SecretText(&t.Token)},
			{Name: "service", Doc: "The name of the service in the spans.", Value: config.Text(&t.Service, "urlmill-clicks")},
		},
		Check: func(d *config.Check) { checkTracing(d, t) },
	}
}

// checkTracing reports an endpoint that is none, and a token that others could read. It does not quote the endpoint, which
// may hold a password.
func checkTracing(d *config.Check, t *Tracing) {
	endpoint, token := "endpoint", "token"
	if !d.Given(endpoint) {
		return
	}
	u, err := url.Parse(t.Endpoint)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		d.Conflict(endpoint, nil, "%s is no URL of http or https; give that of the collector, such as http://localhost:4318", d.Path(endpoint))
	case u.User != nil:
		d.Conflict(endpoint, nil, "%s holds a user name or a password; give %s instead", d.Path(endpoint), d.Path(token))
	case t.Token != "" && u.Scheme == "http" && !IsLoopback(u.Hostname()):
		d.Conflict(endpoint, []string{token}, "%s is not encrypted, and %s would be sent there for everybody to read; give a URL of https", d.Path(endpoint), d.Path(token))
	}
}

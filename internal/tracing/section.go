package tracing

import (
	"net/url"

	"github.com/urlmill/urlmill/config"
)

// Default returns the options of which nothing is said.
func Default() Options { return Options{Sample: 0.01, Service: "urlmill"} }

// Section returns the keys of a configuration that o is bound to.
func (o *Options) Section() config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "endpoint", Doc: "URL of the collector; /v1/traces is added where it has no path.", Value: config.Text(&o.Endpoint, "http://localhost:4318"), Example: "endpoint: http://localhost:4318"},
			{Name: "sample", Doc: "Share of the batches that have a trace.", Value: config.Number(&o.Sample, 0, 1, "a share from 0 to 1")},
			{Name: "token", Doc: "Sent as a bearer token. Other headers: the variable OTEL_EXPORTER_OTLP_HEADERS.", Value: config.SecretText(&o.Token)},
			{Name: "service", Doc: "The name of the service in the spans.", Value: config.Text(&o.Service, "urlmill-clicks")},
		},
		Check: o.check,
	}
}

// check reports an endpoint that is none, and a token that others could read. It does not quote the endpoint, which may hold a
// password.
func (o *Options) check(d *config.Check) {
	const endpoint, token = "endpoint", "token"
	if !d.Given(endpoint) {
		return
	}
	u, err := url.Parse(o.Endpoint)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		d.Conflict(endpoint, nil, "%s is no URL of http or https; give that of the collector, such as http://localhost:4318", d.Path(endpoint))
	case u.User != nil:
		d.Conflict(endpoint, nil, "%s holds a user name or a password; give %s instead", d.Path(endpoint), d.Path(token))
	case o.Token != "" && u.Scheme == "http" && !config.Loopback(u.Hostname()):
		d.Conflict(endpoint, []string{token}, "%s is not encrypted, and %s would be sent there for everybody to read; give a URL of https", d.Path(endpoint), d.Path(token))
	}
}

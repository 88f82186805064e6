package config

import "net/url"

// Tracing says where spans go.
type Tracing struct {
	Endpoint string  // URL of a collector's OTLP over HTTP
	Sample   float64 // share of the batches that have a trace
	Token    Secret
	Service  string
}

// DefaultTracing returns the defaults of tracing.
func DefaultTracing() Tracing { return Tracing{Sample: 0.01, Service: "urlmill"} }

func tracingSchema(t *Tracing) object {
	return object{
		fields: []field{
			{name: "endpoint", value: text(&t.Endpoint, "http://localhost:4318"), example: "endpoint: http://localhost:4318"},
			{name: "sample", value: share(&t.Sample, 1)},
			{name: "token", value: secret(&t.Token)},
			{name: "service", value: text(&t.Service, "urlmill-clicks")},
		},
		check: func(d *decoder, path string) { checkTracing(d, path, t) },
	}
}

// checkTracing reports an endpoint that is none, and a token that others could read. It does not quote the endpoint, which
// may hold a password.
func checkTracing(d *decoder, path string, t *Tracing) {
	endpoint, token := join(path, "endpoint"), join(path, "token")
	if !d.given(endpoint) {
		return
	}
	u, err := url.Parse(t.Endpoint)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		d.conflict(endpoint, nil, "%s is no URL of http or https; give that of the collector, such as http://localhost:4318", endpoint)
	case u.User != nil:
		d.conflict(endpoint, nil, "%s holds a user name or a password; give %s instead", endpoint, token)
	case t.Token != "" && u.Scheme == "http" && !IsLoopback(u.Hostname()):
		d.conflict(endpoint, []string{token}, "%s is not encrypted, and %s would be sent there for everybody to read; give a URL of https", endpoint, token)
	}
}

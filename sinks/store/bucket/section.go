package bucket

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
)

// Default returns the options of a configuration that says nothing.
func Default() Options {
	return Options{PartSize: 8 << 20, Parallel: 4, Attempts: 8, Timeout: 30 * time.Second}
}

// WithDefaults returns the options with the defaults of those that are not set.
func (o Options) WithDefaults() Options {
	d := Default()
	o.PartSize, o.Parallel, o.Attempts, o.Timeout = cmp.Or(o.PartSize, d.PartSize), cmp.Or(o.Parallel, d.Parallel), cmp.Or(o.Attempts, d.Attempts), cmp.Or(o.Timeout, d.Timeout)
	if o.Trouble == nil {
		o.Trouble = new(Trouble)
	}
	return o
}

// ReadFields returns the fields of a sink's section that a source has as well, with own beside those of all services. Their defaults are
// set later, so that sources that have no bucket do not show them.
func ReadFields(all []config.Field, own ...string) (fields []config.Field) {
	for _, f := range all {
		switch {
		case f.Name == "attempts":
			f.Doc += fmt.Sprintf(" Not set: %d.", Default().Attempts)
		case f.Name == "timeout":
			f.Doc += fmt.Sprintf(" Not set: %s.", Default().Timeout)
		case f.Name != "endpoint" && !slices.Contains(own, f.Name):
			continue
		}
		fields = append(fields, f)
	}
	return fields
}

// Environ sets what a command without a configuration takes from the environment, beside what the tools of the vendor do: nothing.
func (o *Options) Environ() {}

// Memory is what parts on their way take, in bytes.
func (o Options) Memory() int64 { return int64(o.Parallel) * o.PartSize }

// Fields returns the fields that are bound to o. The service takes parts from minPart bytes on.
func (o *Options) Fields(minPart int64) []config.Field {
	return []config.Field{
		{Name: "part_size", Doc: "Size of the parts of a file.", Value: config.Size(&o.PartSize, minPart, 1<<30)},
		{Name: "parallel", Doc: "Parts on their way at a time, in the whole process.", Value: config.Int(&o.Parallel, 1, 256)},
		{Name: "attempts", Doc: "How often a request is made before the process stops.", Value: config.Int(&o.Attempts, 1, 100)},
		{Name: "timeout", Doc: "Limit of one attempt with its answer.", Value: config.Duration(&o.Timeout, time.Second, time.Hour)},
	}
}

// MinPart is the least part_size of services that take parts of any size.
const MinPart = 256 << 10

// CheckEndpoint adds what is wrong with the URL of a server; a right one is such as example.
func CheckEndpoint(p *pipeline.Problems, endpoint, example string) {
	if endpoint == "" {
		return
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		p.Add("endpoint", "is not the URL of a server").Advise("give one such as %s, without a user and password", example)
	}
}

// HTTPClient returns a client for the options. It follows no redirections, which would take credentials elsewhere.
func (o Options) HTTPClient(transport http.RoundTripper) *http.Client {
	if transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConnsPerHost = 2*o.Parallel + 8 // parts, and the commits of several lanes
		transport = t
	}
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

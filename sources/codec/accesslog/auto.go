package accesslog

import (
	"bytes"
	"log/slog"
	"sync"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// Auto is the name of the format that is recognised by its lines.
const Auto = "auto"

// shared are the columns of rows whose format is recognised: what columns there are is known before the first line is.
var shared = []pipeline.Field{
	{Name: "time", Type: pipeline.Timestamp},
	{Name: "remote_addr", Type: pipeline.String},
	{Name: "remote_user", Type: pipeline.String},
	{Name: "method", Type: pipeline.String},
	{Name: "protocol", Type: pipeline.String},
	{Name: "status", Type: pipeline.Int64},
	{Name: "bytes", Type: pipeline.Int64},
	{Name: "referer", Type: pipeline.String},
	{Name: "user_agent", Type: pipeline.String},
	{Name: "forwarded_for", Type: pipeline.String},
	{Name: "server_name", Type: pipeline.String},
	{Name: "server_port", Type: pipeline.Int64},
	{Name: "http_host", Type: pipeline.String},
}

// recognised are the formats that are, in the order in which they are tried: the first that fits is the one. Where one format has the
// lines of another, it stands behind.
var recognised = []string{
	"vhost_combined", "nginx", "combined", "common", "traefik", "envoy", "squid", "haproxy", "alb", "elb", "nlb", "s3", Caddy, Cloudflare,
	CloudFrontJSON, WAF, APIGateway, FastlyJSON, GoogleLoadBalancer, AzureFrontDoor, AzureGateway, EnvoyJSON, TraefikJSON,
}

// autoFactory is what all instances share.
type autoFactory struct {
	codec.Shape
	candidates []candidate
	w3c        codec.Factory

	log  *slog.Logger // nil: nobody asked for one
	lock sync.Mutex
	told map[string]bool // formats that the log has; locked
}

type candidate struct {
	name string
	*factory
}

func newAuto(o Options) (codec.Factory, error) {
	f := &autoFactory{Shape: codec.NewShape(shared, false, true), told: make(map[string]bool)}
	for _, name := range recognised {
		o.Format = name
		p, _, err := o.pattern()
		if err != nil {
			return nil, err
		}
		f.candidates = append(f.candidates, candidate{name, newFactory(o, p, shared)})
	}
	o.Format = W3C
	f.w3c = newFactory(o, pattern{}, shared)
	return f, nil
}

// SetLog implements [codec.Logger].
func (f *autoFactory) SetLog(log *slog.Logger) { f.log = log }

// New implements [codec.Factory].
func (f *autoFactory) New() codec.Codec { return &auto{autoFactory: f} }

// tell logs a format when it is recognised for the first time.
func (f *autoFactory) tell(name string) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.log != nil && !f.told[name] {
		f.told[name] = true
		f.log.Info("recognised the format of an access log", "format", name)
	}
}

// auto implements [codec.Codec]. The format of the first line that fits one is that of all behind it.
type auto struct {
	*autoFactory
	codec  codec.Codec   // of the format; nil before it is recognised
	probes []codec.Codec // of the candidates
	probe  pipeline.Batch
}

// Observe implements [codec.Observer].
func (a *auto) Observe(record []byte) {
	if a.codec == nil {
		a.recognise(record)
	}
	if o, ok := a.codec.(codec.Observer); ok {
		o.Observe(record)
	}
}

// Decode implements [codec.Codec].
func (a *auto) Decode(b *pipeline.Batch, record []byte) bool {
	if a.codec == nil {
		a.recognise(record)
	}
	switch {
	case a.codec != nil:
		return a.codec.Decode(b, record)
	case bytes.HasPrefix(record, []byte("#")):
		return false // the head of a W3C log
	}
	b.Records.Append(record)
	return a.Nulls(b, pipeline.FaultMalformed, 0)
}

// recognise sets the codec if record is of a format that is known.
func (a *auto) recognise(record []byte) {
	if bytes.HasPrefix(record, []byte("#")) {
		if bytes.HasPrefix(record, []byte("#Fields:")) {
			a.codec = a.w3c.New()
			a.tell(W3C)
		}
		return
	}
	if a.probes == nil {
		for _, c := range a.candidates {
			a.probes = append(a.probes, c.New())
		}
	}
	for i, probe := range a.probes {
		if a.fits(probe, record, &a.candidates[i]) {
			a.codec, a.probes, a.probe = probe, nil, pipeline.Batch{}
			a.tell(a.candidates[i].name)
			return
		}
	}
}

// fits reports whether record is a whole line of the format, with a request.
func (a *auto) fits(probe codec.Codec, record []byte, c *candidate) bool {
	a.probe.Reset()
	probe.Prepare(&a.probe)
	if !probe.Decode(&a.probe, record) || len(a.probe.Faults) > 0 || !a.probe.URLs.Valid[0] {
		return false
	}
	if l, ok := probe.(*lines); ok && c.name == "nginx" && l.current != 0 {
		return false // the other layout is what combined has, without a guess at what the last field is
	}
	for i, field := range shared {
		switch field.Name {
		case "method", "status":
			if !a.probe.Carried[i].Valid[0] && !c.lacking {
				return false
			}
		case "time":
			if !a.probe.Carried[i].Valid[0] {
				return false
			}
		}
	}
	return true
}

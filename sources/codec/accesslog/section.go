package accesslog

import (
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/sources/codec"
)

// Kind is the codec of access logs.
var Kind = codec.Kind{Name: "access_log", Doc: "A line of a web server's, proxy's or load balancer's log.", New: func() codec.Options { return &Options{} }}

// Section implements [codec.Options].
func (o *Options) Section() config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "format", Doc: "A format by its name.", Value: config.Names(&o.Format, Formats()...)},
			{Name: "nginx", Doc: "A format in the words of nginx's directive log_format.", Value: config.Text(&o.Nginx, `'$remote_addr [$time_local] "$request" $status'`)},
			{Name: "apache", Doc: "A format in the words of Apache's directive LogFormat.", Value: config.Text(&o.Apache, `'%h %l %u %t "%r" %>s %b'`)},
			{Name: "base", Doc: "Origin of requests whose log does not say the host.", Value: config.Text(&o.Base, "https://www.example.com")},
			{Name: "scheme", Doc: "Scheme of requests whose log says the host alone.", Value: config.Names(&o.Scheme, "https", "http")},
			{Name: "fields", Doc: "w3c: further fields that become columns. cloudfront_realtime: the fields of the log, in CloudFront's order, if not all.", Value: config.Texts(&o.Fields, "[x-my-field]")},
		},
		OneOf: []string{"format", "nginx", "apache"},
	}
}

// Factory implements [codec.Options].
func (o *Options) Factory() (codec.Factory, error) { return New(*o) }

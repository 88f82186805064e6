package admin

import (
	"net"
	"strconv"
	"time"

	"github.com/urlmill/urlmill/config"
)

// Default returns the options of a listener of which nothing is said.
func Default() Options { return Options{Listen: "127.0.0.1:8717", StuckAfter: 5 * time.Minute} }

// Section returns the keys of a configuration that o is bound to.
func (o *Options) Section() config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "listen", Doc: "Its address. One that other machines can reach needs a token and tls.", Value: config.Text(&o.Listen, "127.0.0.1:8717")},
			{Name: "token", Doc: "What everything but the probes asks for: as a bearer token, or as the password of a login by any name.", Value: config.SecretText(&o.Token)},
			{Name: "tls", Doc: "Its certificate.", Value: config.Map(config.Section{Fields: []config.Field{
				{Name: "cert_file", Doc: "Certificate (PEM) to show; needs key_file.", Value: config.Text(&o.CertFile, "/etc/urlmill/server.pem"), Example: "cert_file: server.pem"},
				{Name: "key_file", Doc: "Key (PEM) of cert_file.", Value: config.Text(&o.KeyFile, "/etc/urlmill/server.key"), Example: "key_file: server.key"},
			}})},
			{Name: "pprof", Doc: "Whether Go's profiles are served, below /debug/pprof/.", Value: config.Bool(&o.PProf)},
			{Name: "stuck_after", Doc: "How long a row may be read and not committed, or a partition with records give none, before /readyz says 503. More than sink.roll.every, after which rows are committed anyway.", Value: config.Duration(&o.StuckAfter, time.Second, 24*time.Hour)},
			{Name: "max_lag", Doc: "How many records all partitions together may be behind before /readyz says 503; 0 is any number.", Value: config.Int(&o.MaxLag, 0, 1<<50)},
			{Name: "linger", Doc: "How long the process and its listener stay after a failure, so that others see its reason; a signal ends that.", Value: config.Duration(&o.Linger, 0, time.Hour)},
		},
		Check: o.check,
	}
}

// check reports an address that is none, and one that others can reach without what keeps them out.
func (o *Options) check(d *config.Check) {
	const listen, token, tls = "listen", "token", "tls"
	host, port, err := net.SplitHostPort(o.Listen)
	if _, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil {
		d.Conflict(listen, []string{listen}, "%s is %q; give an address with a port, such as 127.0.0.1:8717", d.Path(listen), config.Clip(o.Listen))
		return
	}
	if config.Loopback(host) {
		return
	}
	const least = 16
	switch {
	case o.Token == "" || !d.Given(tls):
		d.Conflict(listen, []string{listen, token, tls}, "%s (%s) can be reached from other machines; give %s and %s as well, or listen on 127.0.0.1",
			d.Path(listen), config.Clip(o.Listen), d.Path(token), d.Path(tls))
	case len(o.Token) < least:
		d.Conflict(token, []string{token}, "%s is shorter than %d characters; make one by: openssl rand -hex 32", d.Path(token), least)
	}
}

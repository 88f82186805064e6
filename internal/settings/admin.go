package settings

import (
	"net"
	"strconv"
	"time"

	"github.com/urlmill/urlmill/config"
)

func adminSchema(a *Admin) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "listen", Doc: "Its address. One that other machines can reach needs a token and tls.", Value: config.Text(&a.Listen, "127.0.0.1:8717")},
			{Name: "token", Doc: "What everything but the probes asks for: as a bearer token, or as the password of a login by any name.", Value: config.SecretText(&a.Token)},
			{Name: "tls", Doc: "Its certificate.", Value: config.Map(adminTLSSchema(&a.TLS))},
			{Name: "pprof", Doc: "Whether Go's profiles are served, below /debug/pprof/.", Value: config.Bool(&a.PProf)},
			{Name: "stuck_after", Doc: "How long a row may be read and not committed, or a partition with records give none, before /readyz says 503. More than sink.roll.every, after which rows are committed anyway.", Value: config.Duration(&a.StuckAfter, time.Second, 24*time.Hour)},
			{Name: "max_lag", Doc: "How many records all partitions together may be behind before /readyz says 503; 0 is any number.", Value: config.Int(&a.MaxLag, 0, 1<<50)},
			{Name: "linger", Doc: "How long the listener stays after a failure, so that others see it; a signal ends that.", Value: config.Duration(&a.Linger, 0, maxTimeout)},
		},
		Check: func(d *config.Check) { checkAdmin(d, a) },
	}
}

func adminTLSSchema(t *AdminTLS) config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "cert_file", Doc: "Certificate (PEM) to show; needs key_file.", Value: config.Text(&t.CertFile, "/etc/urlmill/server.pem"), Example: "cert_file: server.pem"},
		{Name: "key_file", Doc: "Key (PEM) of cert_file.", Value: config.Text(&t.KeyFile, "/etc/urlmill/server.key"), Example: "key_file: server.key"},
	}}
}

// checkAdmin reports an address that is none, and one that others can reach without what keeps them out.
func checkAdmin(d *config.Check, a *Admin) {
	listen, token, tls := "listen", "token", "tls"
	host, port, err := net.SplitHostPort(a.Listen)
	if _, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil {
		d.Conflict(listen, []string{listen}, "%s is %q; give an address with a port, such as 127.0.0.1:8717", d.Path(listen), config.Clip(a.Listen))
		return
	}
	if IsLoopback(host) {
		return
	}
	const least = 16
	switch {
	case a.Token == "" || !d.Given(tls):
		d.Conflict(listen, []string{listen, token, tls}, "%s (%s) can be reached from other machines; give %s and %s as well, or listen on 127.0.0.1",
			d.Path(listen), config.Clip(a.Listen), d.Path(token), d.Path(tls))
	case len(a.Token) < least:
		d.Conflict(token, []string{token}, "%s is shorter than %d characters; make one by: openssl rand -hex 32", d.Path(token), least)
	}
}

// IsLoopback reports whether a host, a name or an address, is that of this machine alone.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

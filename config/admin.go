package config

import (
	"net"
	"strconv"
	"time"
)

func adminSchema(a *Admin) object {
	return object{
		fields: []field{
			{name: "listen", value: text(&a.Listen, "127.0.0.1:8717")},
			{name: "token", value: secret(&a.Token)},
			{name: "tls", value: section(&a.TLS, adminTLSSchema)},
			{name: "pprof", value: boolean(&a.PProf)},
			{name: "stuck_after", value: duration(&a.StuckAfter, time.Second, 24*time.Hour)},
			{name: "max_lag", value: integer(&a.MaxLag, 0, 1<<50)},
			{name: "linger", value: duration(&a.Linger, 0, maxTimeout)},
		},
		check: func(d *decoder, path string) { checkAdmin(d, path, a) },
	}
}

func adminTLSSchema(t *AdminTLS) object {
	return object{fields: []field{
		{name: "cert_file", value: text(&t.CertFile, "/etc/urlmill/server.pem"), example: "cert_file: server.pem"},
		{name: "key_file", value: text(&t.KeyFile, "/etc/urlmill/server.key"), example: "key_file: server.key"},
	}}
}

// checkAdmin reports an address that is none, and one that others can reach without what keeps them out.
func checkAdmin(d *decoder, path string, a *Admin) {
	listen, token, tls := join(path, "listen"), join(path, "token"), join(path, "tls")
	host, port, err := net.SplitHostPort(a.Listen)
	if _, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil {
		d.conflict(listen, []string{listen}, "%s is %q; give an address with a port, such as 127.0.0.1:8717", listen, clip(a.Listen))
		return
	}
	if IsLoopback(host) {
		return
	}
	const least = 16
	switch {
	case a.Token == "" || !d.given(tls):
		d.conflict(listen, []string{listen, token, tls}, "%s (%s) can be reached from other machines; give %s and %s as well, or listen on 127.0.0.1",
			listen, clip(a.Listen), token, tls)
	case len(a.Token) < least:
		d.conflict(token, []string{token}, "%s is shorter than %d characters; make one by: openssl rand -hex 32", token, least)
	}
}

// IsLoopback tells whether a host, a name or an address, is that of this machine alone.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

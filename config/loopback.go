package config

import (
	"net"
	"strings"
)

// Loopback reports whether a host, a name or an address, is that of this machine alone.
func Loopback(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

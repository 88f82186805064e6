package columns

import "github.com/urlmill/urlmill/urlcore"

// maxKnownHosts bounds the cache of hosts; when it is full it is emptied.
const maxKnownHosts = 1 << 14

// maxKnownHost is the length in bytes up to which a host is remembered: about what 253 characters of a domain need.
const maxKnownHost = 1024

// hostCache remembers what hosts that are not ASCII are in ASCII, since to find out costs a microsecond and
// allocates, and since logs have few of them.
type hostCache struct {
	ascii map[string]string // "" where the host is no domain
}

// get returns the ASCII form of a host as it was written, "" when it is no domain, and whether it is known.
func (h *hostCache) get(host []byte) (ascii string, known bool) {
	ascii, known = h.ascii[string(host)]
	return ascii, known
}

// learn takes over what became of host, the one in the text that gave u or the failure f. A nil host, one that is
// longer than any domain, and one that turned out to be an IPv4 address are not remembered.
func (h *hostCache) learn(host []byte, u *urlcore.URL, f urlcore.Failure) {
	if host == nil || len(host) > maxKnownHost {
		return
	}
	ascii := ""
	switch {
	case f.Code == urlcore.CodeDomainToASCII:
	case f.OK() && u.HostKind() == urlcore.HostDomain:
		ascii = string(u.Bytes(urlcore.Host))
	default:
		return
	}
	if h.ascii == nil || len(h.ascii) >= maxKnownHosts {
		h.ascii = make(map[string]string)
	}
	h.ascii[string(host)] = ascii
}

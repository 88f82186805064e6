package columns

import "github.com/urlmill/urlmill/urlcore"

// maxKnownHosts bounds the cache of hosts; when it is full it is emptied.
const maxKnownHosts = 1 << 14

// maxKnownHost is the length in bytes up to which a host is remembered: about what 253 characters of a domain need.
const maxKnownHost = 1024

// hostCache remembers what hosts that are not ASCII are in ASCII, since to find out costs a microsecond and
// allocates, and since logs have few of them.
type hostCache struct{ known map[string]knownHost }

// knownHost is what became of a host as it was written.
type knownHost struct {
	ascii string // "" where the host is no domain
	pos   int32  // where it is none: the byte of the host where it goes wrong
}

// get returns what became of a host as it was written, and whether that is known.
func (h *hostCache) get(host []byte) (k knownHost, known bool) {
	k, known = h.known[string(host)]
	return k, known
}

// learn takes over what became of host, the one at byte start of the text that gave u or the failure f. A nil host,
// one that is longer than any domain, and one that turned out to be an IPv4 address are not remembered.
func (h *hostCache) learn(host []byte, start int, u *urlcore.URL, f urlcore.Failure) {
	if host == nil || len(host) > maxKnownHost {
		return
	}
	var k knownHost
	switch {
	case f.Code == urlcore.CodeDomainToASCII:
		k.pos = int32(f.Pos - start)
	case f.OK() && u.HostKind() == urlcore.HostDomain:
		k.ascii = string(u.Bytes(urlcore.Host))
	default:
		return
	}
	if h.known == nil || len(h.known) >= maxKnownHosts {
		h.known = make(map[string]knownHost)
	}
	h.known[string(host)] = k
}

package canon

import (
	"bytes"
	"slices"

	"github.com/urlmill/urlmill/urlcore/psl"
	"github.com/urlmill/urlmill/urlcore/tracking"
)

// param is a parameter of the query being put together: name and value as they stand, with the = between.
type param struct{ start, name, end int } // in Canonicaliser.scratch; the name ends at name

func (c *Canonicaliser) appendDedupe(dst []byte, u parts) []byte {
	if c.steps&HTTPS != 0 {
		dst = append(dst, "https://"...)
		if string(u.port) == "443" {
			u.port = nil
		}
	} else {
		dst = append(append(dst, u.scheme...), "://"...)
	}
	if c.steps&Credentials == 0 && len(u.userinfo) > 0 {
		dst = append(append(dst, u.userinfo...), '@')
	}
	host := c.host(u.host)
	dst = append(dst, host...)
	if len(u.port) > 0 {
		dst = append(append(dst, ':'), u.port...)
	}
	dst = c.appendPath(dst, u.path)
	return c.appendQuery(dst, u.query, host)
}

// host returns what is left of the host. It aliases it.
func (c *Canonicaliser) host(host []byte) []byte {
	// A host that ends with more than one dot is none that the name system knows, and what is left without them may be
	// another: the domain 1.2.3.4.. would become an address.
	if n := len(host) - 1; c.steps&Host != 0 && n > 0 && host[n] == '.' && host[n-1] != '.' {
		host = host[:n]
	}
	if c.steps&WWW != 0 {
		for bytes.HasPrefix(host, []byte("www.")) && len(c.registrableDomain(host[4:])) > 0 {
			host = host[4:]
		}
	}
	return host
}

// registrableDomain returns the registrable domain of a host, or nothing. It aliases the host.
func (c *Canonicaliser) registrableDomain(host []byte) []byte {
	if !psl.IsDomain(host) {
		return nil
	}
	if _, start, _ := c.suffixes.Lookup(host); start >= 0 {
		return host[start:]
	}
	return nil
}

// appendPath appends what is left of the path, a slash at least.
func (c *Canonicaliser) appendPath(dst, path []byte) []byte {
	start := len(dst)
	if c.steps&Escapes != 0 {
		dst = appendEscapes(dst, path)
	} else {
		dst = append(dst, path...)
	}
	if c.steps&Sessions != 0 {
		dst = dst[:start+len(dropSessions(dst[start:]))]
	}
	// One step may bring up work for the other, as in /index.html/.
	for {
		n := len(dst)
		if c.steps&Slash != 0 {
			for len(dst) > start+1 && dst[len(dst)-1] == '/' {
				dst = dst[:len(dst)-1]
			}
		}
		if c.steps&Documents != 0 {
			dst = dst[:start+len(dropDocument(dst[start:]))]
		}
		if len(dst) == n {
			return dst
		}
	}
}

// documents are the names that servers give to the document of a directory, and their usual extensions.
var documents = []struct{ name, extensions []byte }{
	{[]byte("index"), []byte(" html htm shtml xhtml php php3 php4 php5 phtml asp aspx jsp jspx cgi pl cfm ")},
	{[]byte("default"), []byte(" html htm asp aspx ")},
}

// dropDocument returns path without a default document at its end.
func dropDocument(path []byte) []byte {
	slash := bytes.LastIndexByte(path, '/')
	name, extension, ok := bytes.Cut(path[slash+1:], []byte("."))
	if !ok || slash < 0 || len(extension) == 0 || len(extension) > 5 {
		return path
	}
	var buf [8]byte
	word := append(appendLower(append(buf[:0], ' '), extension), ' ')
	for _, d := range documents {
		if bytes.EqualFold(name, d.name) && bytes.Contains(d.extensions, word) {
			return path[:slash+1]
		}
	}
	return path
}

// sessionParams are the parameters of path segments that carry a session.
var sessionParams = [][]byte{[]byte(";jsessionid="), []byte(";phpsessid="), []byte(";sid="), []byte(";cfid="), []byte(";cftoken=")}

// dropSessions takes parameters such as ;jsessionid=… from the path, in place. A segment of which only dots would be left
// keeps its own: the path would become another one.
func dropSessions(path []byte) []byte {
	kept := path[:0]
	segment := 0 // where it starts in kept
	for i := 0; i < len(path); {
		if path[i] == ';' && hasSession(path[i:]) && !isDots(kept[segment:]) {
			i++
			for i < len(path) && path[i] != '/' && path[i] != ';' {
				i++
			}
			continue
		}
		kept = append(kept, path[i])
		if path[i] == '/' {
			segment = len(kept)
		}
		i++
	}
	return kept
}

// isDots tells segments that are dot segments or look like them.
func isDots(segment []byte) bool {
	return len(segment) > 0 && len(segment) <= len("%2e%2e") && len(bytes.Trim(segment, ".%2eE")) == 0
}

func hasSession(s []byte) bool {
	for _, p := range sessionParams {
		if len(s) >= len(p) && bytes.EqualFold(s[:len(p)], p) {
			return true
		}
	}
	return false
}

// appendQuery appends what is left of the query, with its question mark.
func (c *Canonicaliser) appendQuery(dst, query, host []byte) []byte {
	if len(query) == 0 {
		return dst
	}
	c.splitParams(query[1:])
	if c.steps&(Tracking|Sessions) != 0 {
		domain := c.registrableDomain(host)
		c.params = slices.DeleteFunc(c.params, func(p param) bool {
			switch c.rules.Kind(domain, c.scratch[p.start:p.name]) {
			case tracking.Tracking:
				return c.steps&Tracking != 0
			case tracking.Session:
				return c.steps&Sessions != 0
			default:
				return false
			}
		})
	}
	if c.steps&Sort != 0 {
		slices.SortStableFunc(c.params, func(a, b param) int {
			return bytes.Compare(c.scratch[a.start:a.name], c.scratch[b.start:b.name])
		})
	}
	if len(c.params) == 0 && c.steps&Empty != 0 {
		return dst
	}
	separator := byte('?')
	for _, p := range c.params {
		dst = append(append(dst, separator), c.scratch[p.start:p.end]...)
		separator = '&'
	}
	if separator == '?' {
		dst = append(dst, '?')
	}
	return dst
}

// splitParams fills scratch and params from the query without its question mark.
func (c *Canonicaliser) splitParams(query []byte) {
	c.scratch, c.params = c.scratch[:0], c.params[:0]
	if c.steps&Escapes != 0 {
		c.scratch = appendEscapes(c.scratch, query)
	} else {
		c.scratch = append(c.scratch, query...)
	}
	for start := 0; start <= len(c.scratch); {
		end := start + bytes.IndexByte(c.scratch[start:], '&')
		if end < start {
			end = len(c.scratch)
		}
		name := start + bytes.IndexByte(c.scratch[start:end], '=')
		if name < start {
			name = end
		}
		if end > start || c.steps&Empty == 0 {
			c.params = append(c.params, param{start, name, end})
		}
		start = end + 1
	}
}

package canon

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// appendSURT appends the sort-friendly key of a URL.
//
// Source: the behaviour of the Python package surt 0.3.1 and of webarchive-commons' IAURLCanonicalizer
func (c *Canonicaliser) appendSURT(dst []byte, u parts) []byte {
	host := c.surtHost(u.host)
	for again := true; again; again = c.form == SURTIA && again {
		host, again = dropWWW(host)
	}
	dst = appendReversed(dst, host)
	switch {
	case len(host) == 0:
		dst = append(append(dst, u.scheme...), ':')
	case len(u.port) == 0 || string(u.port) == "0":
		dst = append(dst, ')')
	default:
		dst = append(append(append(dst, ':'), u.port...), ')')
	}
	dst = c.appendSURTPath(dst, u.path, len(host) > 0)
	return c.appendSURTQuery(dst, u.query)
}

// surtHost returns the host without brackets, empty labels and escapes. It is in scratch memory.
func (c *Canonicaliser) surtHost(host []byte) []byte {
	host = bytes.TrimSuffix(bytes.TrimPrefix(host, []byte("[")), []byte("]"))
	c.spare = appendUnescaped(c.spare[:0], host)
	c.scratch = appendReescaped(c.scratch[:0], bytes.Trim(halveDots(c.spare), "."))
	lowerInPlace(c.scratch)
	return c.scratch
}

func lowerInPlace(s []byte) {
	for i, b := range s {
		if 'A' <= b && b <= 'Z' {
			s[i] = b + 'a' - 'A'
		}
	}
}

// halveDots makes one dot of two, from left to right, in place.
func halveDots(host []byte) []byte {
	kept := host[:0]
	for i := 0; i < len(host); i++ {
		kept = append(kept, host[i])
		if host[i] == '.' && i+1 < len(host) && host[i+1] == '.' {
			i++
		}
	}
	return kept
}

// dropWWW takes www, digits and a dot from the front, whatever is left: www1355544.com becomes com.
func dropWWW(host []byte) ([]byte, bool) {
	rest, ok := bytes.CutPrefix(host, []byte("www"))
	if !ok {
		return host, false
	}
	rest = bytes.TrimLeft(rest, "0123456789")
	if len(rest) == 0 || rest[0] != '.' {
		return host, false
	}
	return rest[1:], true
}

// appendReversed appends the labels of a host from right to left, with commas between.
func appendReversed(dst, host []byte) []byte {
	for end := len(host); end >= 0; {
		start := bytes.LastIndexByte(host[:end], '.') + 1
		dst = append(dst, host[start:end]...)
		if start > 0 {
			dst = append(dst, ',')
		}
		end = start - 1
	}
	return dst
}

func (c *Canonicaliser) appendSURTPath(dst, path []byte, hasHost bool) []byte {
	c.scratch = appendUnescaped(c.scratch[:0], path)
	if hasHost {
		c.spare = c.appendSURTSegments(c.spare[:0], c.scratch)
	} else {
		c.spare = append(c.spare[:0], c.scratch...)
	}
	start := len(dst)
	dst = appendReescaped(dst, c.spare)
	lowerInPlace(dst[start:])
	dst = dst[:start+len(dropASPSession(dst[start:]))]
	if n := len(dst) - start; n > 1 && dst[len(dst)-1] == '/' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// appendSURTSegments appends a path with its dot segments resolved once more, since unescaping may have made some, and
// without empty segments.
func (c *Canonicaliser) appendSURTSegments(dst, path []byte) []byte {
	dst = append(dst, '/')
	kept := c.params[:0] // segments in this case
	for start := bytes.IndexByte(path, '/') + 1; start > 0; {
		end := len(path)
		next := bytes.IndexByte(path[start:], '/') + 1
		if next > 0 {
			end = start + next - 1
			next += start
		}
		switch p := path[start:end]; {
		case string(p) == ".":
		case string(p) == ".." && len(kept) > 0:
			kept = kept[:len(kept)-1]
		default:
			kept = append(kept, param{start: start, end: end})
		}
		start = next
	}
	for i, p := range kept {
		dst = append(dst, path[p.start:p.end]...)
		if p.end > p.start && i < len(kept)-1 {
			dst = append(dst, '/')
		}
	}
	c.params = kept
	return dst
}

var aspSessions = []*regexp.Regexp{
	regexp.MustCompile(`(?i)^(.*/)(\((?:[a-z]\([0-9a-z]{24}\))+\)/)([^?]+\.aspx.*)$`),
	regexp.MustCompile(`(?i)^(.*/)(\([0-9a-z]{24}\)/)([^?]+\.aspx.*)$`),
}

// dropASPSession takes the segment in which ASP.NET puts a session from the path, in place.
func dropASPSession(path []byte) []byte {
	if bytes.IndexByte(path, '(') < 0 || !bytes.Contains(path, []byte(".aspx")) {
		return path
	}
	for _, re := range aspSessions {
		if m := re.FindSubmatchIndex(path); m != nil {
			path = append(path[:m[3]], path[m[6]:]...)
		}
	}
	return path
}

var querySessions = []*regexp.Regexp{
	regexp.MustCompile(`(?i)^(.*)(?:jsessionid=[0-9a-zA-Z]{32})(?:&(.*))?$`),
	regexp.MustCompile(`(?i)^(.*)(?:phpsessid=[0-9a-zA-Z]{32})(?:&(.*))?$`),
	regexp.MustCompile(`(?i)^(.*)(?:sid=[0-9a-zA-Z]{32})(?:&(.*))?$`),
	regexp.MustCompile(`(?i)^(.*)(?:ASPSESSIONID[a-zA-Z]{8}=[a-zA-Z]{24})(?:&(.*))?$`),
	regexp.MustCompile(`(?i)^(.*)(?:cfid=[^&]+&cftoken=[^&]+)(?:&(.*))?$`),
}

// mayHaveSession tells cheaply that none of querySessions matches.
func mayHaveSession(query []byte) bool {
	for rest := query; ; {
		i := bytes.IndexByte(rest, '=')
		if i < 0 {
			return false
		}
		if name := rest[:i]; i >= 3 && (bytes.EqualFold(name[i-2:], []byte("id")) || i >= 20) {
			return true
		}
		rest = rest[i+1:]
	}
}

func (c *Canonicaliser) appendSURTQuery(dst, query []byte) []byte {
	if len(query) < 2 {
		return dst
	}
	c.spare = appendUnescaped(c.spare[:0], query[1:])
	c.scratch = appendReescaped(c.scratch[:0], c.spare)
	if mayHaveSession(c.scratch) {
		for _, re := range querySessions {
			if m := re.FindSubmatchIndex(c.scratch); m != nil {
				rest := ""
				if m[4] >= 0 {
					rest = string(c.scratch[m[4]:m[5]])
				}
				c.scratch = append(c.scratch[:m[3]], rest...)
			}
		}
	}
	if len(c.scratch) == 0 {
		return dst
	}
	lowerInPlace(c.scratch)
	return c.appendSorted(append(dst, '?'))
}

// appendSorted appends the parameters in scratch in the order of names, and of values where names are the same.
func (c *Canonicaliser) appendSorted(dst []byte) []byte {
	steps := c.steps
	c.steps = 0
	query := c.scratch
	c.scratch = c.spare
	c.splitParams(query)
	c.steps, c.spare = steps, query
	text := c.scratch
	slices.SortStableFunc(c.params, func(a, b param) int {
		if order := bytes.Compare(text[a.start:a.name], text[b.start:b.name]); order != 0 {
			return order
		}
		return bytes.Compare(text[a.name:a.end], text[b.name:b.end]) // none goes before an empty one
	})
	for i, p := range c.params {
		if i > 0 {
			dst = append(dst, '&')
		}
		dst = append(dst, text[p.start:p.end]...)
	}
	return dst
}

// appendUnescaped appends s with its escapes decoded until there are none, in linear time: what an escape becomes may
// end another one before it, and nothing else.
func appendUnescaped(dst, s []byte) []byte {
	start := len(dst)
	for _, b := range s {
		dst = append(dst, b)
		for n := len(dst); n-start >= 3 && dst[n-3] == '%'; n = len(dst) {
			v, ok := escapeAt(dst[n-3:], 0)
			if !ok {
				break
			}
			dst = append(dst[:n-3], v)
		}
	}
	return dst
}

// surtSafe are the bytes besides letters and digits that are never escaped.
const surtSafe = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"

// appendReescaped appends s with everything escaped that is not letter, digit or in surtSafe.
func appendReescaped(dst, s []byte) []byte {
	for _, b := range s {
		if 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || strings.IndexByte(surtSafe, b) >= 0 {
			dst = append(dst, b)
		} else {
			dst = append(dst, '%', upperHex[b>>4], upperHex[b&15])
		}
	}
	return dst
}

package differ

import (
	"regexp"
	"strings"

	"github.com/urlmill/urlmill/urlcore"
)

// set returns r with another value of an attribute.
func (r Result) set(name, value string) Result {
	for i, n := range Attributes {
		if n == name {
			r[i] = value
		}
	}
	return r
}

// setPath returns r with another path.
func (r Result) setPath(path string) Result {
	head, tail := r.Get("href"), ""
	if i := strings.IndexAny(head, "?#"); i >= 0 {
		head, tail = head[:i], head[i:]
	}
	head = strings.TrimSuffix(head, r.Get("pathname"))
	return r.set("href", head+path+tail).set("pathname", path)
}

// withoutPort returns r with the port null.
func (r Result) withoutPort() Result {
	port := r.Get("port")
	if port == "" {
		return r
	}
	host, hostname := r.Get("host"), r.Get("hostname")
	protocol, rest, _ := strings.Cut(r.Get("href"), "//")
	i := strings.IndexAny(rest, "/?#")
	if i < 0 {
		i = len(rest)
	}
	authority := strings.TrimSuffix(rest[:i], host) + hostname
	return r.set("href", protocol+"//"+authority+rest[i:]).set("host", hostname).set("port", "").
		set("origin", strings.TrimSuffix(r.Get("origin"), ":"+port))
}

// opaquePath reports whether the path is opaque: others begin with a slash or are empty.
func (r Result) opaquePath() bool {
	path := r.Get("pathname")
	return path != "" && path[0] != '/'
}

func encodeCaret(_ *Difference, r Result) Result {
	if r.opaquePath() {
		return r
	}
	return r.setPath(strings.ReplaceAll(r.Get("pathname"), "^", "%5E"))
}

func encodeOpaqueSpace(_ *Difference, r Result) Result {
	path, isLast := strings.CutSuffix(r.Get("pathname"), " ")
	if !r.opaquePath() || !isLast || !strings.ContainsAny(r.Get("href"), "?#") {
		return r
	}
	return r.setPath(path + "%20")
}

// finalDoubleDot matches texts whose path, before query and fragment, ends in a double-dot segment.
var finalDoubleDot = regexp.MustCompile(`(?i)^([^?#]*/|[\x00-\x20]*)(\.|%2e){2}([?#]|[\x00-\x20]*$)`)

func keepEmptySegment(d *Difference, r Result) Result {
	if r.Get("pathname") != "" || d.URL.Special() || d.URL.OpaquePath() {
		return r
	}
	texts := d.texts()
	if d.Set != nil && d.Set.Name != "pathname" && d.Set.Name != "href" {
		texts = texts[:len(texts)-1]
	}
	for _, text := range texts {
		if finalDoubleDot.MatchString(text) {
			return r.setPath("/")
		}
	}
	return r
}

// addEmptyHost: Node's host setters do nothing when they are to add an empty host.
func addEmptyHost(d *Difference, r Result) Result {
	_, ok := d.assigns("host", "hostname")
	if !ok || d.Before.HostKind() != urlcore.HostNone || d.URL.HostKind() != urlcore.HostEmpty {
		return r
	}
	protocol, path := r.Get("protocol"), r.Get("pathname")
	href := strings.TrimPrefix(r.Get("href"), protocol)
	if strings.HasPrefix(path, "//") {
		href = strings.TrimPrefix(href, "/.")
	}
	return r.set("href", protocol+"//"+href)
}

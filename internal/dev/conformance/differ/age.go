package differ

import (
	"errors"
	"regexp"
	"strings"

	"github.com/urlmill/urlmill/urlcore"
)

// texts returns the texts of the question as the parser sees them, without tabs and newlines.
func (q Question) texts() []string {
	texts := []string{q.Input}
	if q.Base != nil {
		texts = append(texts, *q.Base)
	}
	if q.Set != nil {
		texts = append(texts, q.Set.Value)
	}
	for i, text := range texts {
		texts[i] = withoutTabs.Replace(text)
	}
	return texts
}

var withoutTabs = strings.NewReplacer("\t", "", "\n", "", "\r", "")

// refused reports whether we refuse something for its host: the input, the base, or what is assigned.
func (d *Difference) refused() bool {
	if d.Before != nil {
		return d.Ours.equal(read(d.Before))
	}
	var e *urlcore.Error
	return errors.As(d.Err, &e) && e.Code == urlcore.CodeDomainToASCII
}

// refusesForOpaqueBase: Node resolves anything with a fragment against an opaque path.
func refusesForOpaqueBase(d *Difference) bool {
	var e *urlcore.Error
	return d.Theirs != nil && errors.As(d.Err, &e) && e.Code == urlcore.CodeMissingSchemeNonRelativeURL &&
		d.Base != nil && d.Base.OpaquePath() && strings.Contains(d.Input, "#")
}

// refusesPortAlone: Node's host setter takes ":80" for an empty host and a port when the scheme is not special.
func refusesPortAlone(d *Difference) bool {
	value, ok := d.assigns("host")
	return ok && !d.Before.Special() && strings.HasPrefix(value, ":") && d.Theirs.Get("hostname") == "" && d.refused()
}

// assigns reports whether the question is an assignment to one of these attributes, and the text of its value.
func (d *Difference) assigns(names ...string) (value string, ok bool) {
	for _, name := range names {
		if d.Set != nil && d.Set.Name == name && d.Before != nil && d.Theirs != nil {
			return withoutTabs.Replace(d.Set.Value), true
		}
	}
	return "", false
}

// dropEmptyQuery: Node forgets that the base has a query when it is empty.
func dropEmptyQuery(d *Difference, r Result) Result {
	if d.Base == nil || !d.Base.HasQuery() || d.Base.Search() != "" || r.Get("search") != "" {
		return r
	}
	return r.set("href", strings.Replace(r.Get("href"), "?", "", 1))
}

// portWithoutDigit matches a host and a port that begins with no digit.
var portWithoutDigit = regexp.MustCompile(`^[^:/?#\\]*:[^0-9]`)

// clearPort: Node's setters remove the port when the new one begins with no digit.
func clearPort(d *Difference, r Result) Result {
	if port, ok := d.assigns("port"); ok && (port == "" || port[0] < '0' || port[0] > '9') {
		return r.withoutPort()
	}
	if host, ok := d.assigns("host"); ok && portWithoutDigit.MatchString(host) {
		return r.withoutPort()
	}
	return r
}

// dropPort: Node's host setter sets the host alone where there was none, or an empty one.
func dropPort(d *Difference, r Result) Result {
	if _, ok := d.assigns("host"); !ok || d.Before.HostKind() > urlcore.HostEmpty {
		return r
	}
	return r.withoutPort()
}

// dropPortZero: Node's protocol setter takes 0 for the default port of schemes that have none.
func dropPortZero(d *Difference, r Result) Result {
	if _, ok := d.assigns("protocol"); !ok || d.URL.Special() || r.Get("port") != "0" {
		return r
	}
	return r.withoutPort()
}

// dropQuery: Node's pathname setter loses query and fragment when there is no host and the new path begins with two
// slashes.
func dropQuery(d *Difference, r Result) Result {
	if _, ok := d.assigns("pathname"); !ok || d.URL.HasHost() || !strings.HasPrefix(r.Get("pathname"), "//") {
		return r
	}
	href, _, _ := strings.Cut(r.Get("href"), "#")
	href, _, _ = strings.Cut(href, "?")
	return r.set("href", href).set("search", "").set("hash", "").set("searchParams", "")
}

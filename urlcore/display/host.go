package display

import (
	"strings"

	"github.com/urlmill/urlmill/urlcore"
)

// setHost takes the host in the form that o asks for, and returns the hints on it.
func (t *text) setHost(u *urlcore.URL, o Options) Hint {
	host := u.Hostname()
	if u.HostKind() != urlcore.HostDomain {
		t.labels, t.kept = []string{host}, 1
		return 0
	}
	ascii := strings.Split(host, ".")
	t.labels = unicodeLabels(host, ascii)
	hints := Inspect(strings.Join(t.labels, "."))
	t.kept = len(t.labels)
	if domain := u.RegistrableDomain(); domain != "" {
		t.kept = strings.Count(domain, ".") + 1
	}
	top := topLabel(t.labels)
	for i, label := range t.labels {
		if o.ASCIIHost || isMisleading(label) || o.ASCIISuspicious && inspectLabel(label, top) != 0 {
			t.labels[i] = ascii[i]
		}
	}
	below := len(t.labels) - t.kept
	switch {
	case o.Form == Domain:
		t.labels = t.labels[below:]
	case o.Form == ShortHost && below > 0 && (ascii[0] == "www" || ascii[0] == "m"):
		t.labels = t.labels[1:]
	}
	return hints
}

// unicodeLabels returns the labels of a domain in Unicode. A domain that breaks a rule stays as it is.
//
// https://url.spec.whatwg.org/#concept-domain-to-unicode
func unicodeLabels(host string, ascii []string) []string {
	unicode, _ := urlcore.DomainToUnicode(host, false)
	labels := strings.Split(unicode, ".")
	if len(labels) != len(ascii) { // cannot be: no valid label holds a dot; but it would mix the labels up
		return append([]string(nil), ascii...)
	}
	return labels
}

// topLabel returns the last label, or the one before a trailing dot.
func topLabel(labels []string) string {
	last := len(labels) - 1
	if labels[last] == "" && last > 0 {
		last--
	}
	return labels[last]
}

// isMisleading reports whether a label must not be shown in Unicode: whether it holds characters that are
// not seen, or are seen as a delimiter.
func isMisleading(label string) bool {
	for _, c := range label {
		if c >= 0x80 && !isShown(c) {
			return true
		}
	}
	return false
}

// host returns what is left of the host, and where in it the registrable domain starts.
func (t *text) host() (host string, domainStart int) {
	if t.cut {
		host = ellipsis
	}
	host += strings.Join(t.labels, ".")
	if t.kept > len(t.labels) || len(t.labels) == 0 {
		return host, 0
	}
	domain := strings.Join(t.labels[len(t.labels)-t.kept:], ".")
	return host, len(host) - len(domain)
}

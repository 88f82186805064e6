package differ

import "github.com/urlmill/urlmill/urlcore"

// apply makes the assignment to u. A failing assignment of href changes nothing.
func (a Assignment) apply(u *urlcore.URL) {
	switch a.Name {
	case "href":
		_ = u.SetHref(a.Value)
	case "protocol":
		u.SetProtocol(a.Value)
	case "username":
		u.SetUsername(a.Value)
	case "password":
		u.SetPassword(a.Value)
	case "host":
		u.SetHost(a.Value)
	case "hostname":
		u.SetHostname(a.Value)
	case "port":
		u.SetPort(a.Value)
	case "pathname":
		u.SetPathname(a.Value)
	case "search":
		u.SetSearch(a.Value)
	case "hash":
		u.SetHash(a.Value)
	}
}

// read returns the attributes of u.
func read(u *urlcore.URL) Result {
	return Result{
		u.Href(), u.Origin(), u.Protocol(), u.Username(), u.Password(), u.Host(), u.Hostname(), u.Port(), u.Pathname(),
		u.Search(), u.Hash(), u.SearchParams().String(),
	}
}

// Compare answers q by package urlcore and returns how that differs from Node's answer, or nil when it does not.
func (n *Node) Compare(q Question, theirs Result) *Difference {
	d := &Difference{Question: q, Theirs: theirs}
	if q.Base != nil {
		d.Base, d.Err = urlcore.Parse(*q.Base)
	}
	if d.Err == nil {
		d.URL, d.Err = urlcore.ParseRef(q.Input, d.Base)
	}
	if d.Err == nil {
		if q.Set != nil {
			d.Before = d.URL.Clone()
			q.Set.apply(d.URL)
		}
		d.Ours = read(d.URL)
		if n.spoil != nil {
			d.Ours = n.spoil(d.Ours)
		}
	}
	if d.Ours.equal(theirs) {
		return nil
	}
	return d
}

// Difference is a question that is answered in two ways.
type Difference struct {
	Question
	Ours, Theirs Result

	URL    *urlcore.URL // ours, nil for a failure
	Base   *urlcore.URL // ours, nil when there is none
	Before *urlcore.URL // ours before the assignment, nil without one
	Err    error        // why there is no URL
}

// equal reports whether two results have equal attributes, or both are failures.
func (r Result) equal(s Result) bool {
	if (r == nil) != (s == nil) || len(r) != len(s) {
		return false
	}
	for i := range r {
		if r[i] != s[i] {
			return false
		}
	}
	return true
}

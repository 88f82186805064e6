package urlcore

import "github.com/urlmill/urlmill/urlcore/form"

// SearchParams returns the list of the query's names and values, the same object each time. The two are
// linked both ways: a change of the list writes the query anew, a change of the URL's query refills the
// list. A query that is only looked at keeps its form.
//
// https://url.spec.whatwg.org/#dom-url-searchparams
func (u *URL) SearchParams() *form.Params {
	if u.query == nil {
		u.query = new(form.Params)
		u.refreshParams()
		u.query.Bind(u.writeQuery)
	}
	return u.query
}

// refreshParams refills the list from the query.
func (u *URL) refreshParams() {
	if u.query != nil {
		u.query.SetQuery(u.Bytes(Query))
	}
}

// writeQuery sets the query to the serialized list, and to null when the list is empty.
//
// https://url.spec.whatwg.org/#concept-urlsearchparams-update
func (u *URL) writeQuery(list *form.Params) {
	query := list.String()
	u.setQuery(query != "", query)
}

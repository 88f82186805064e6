package urlcore

import (
	"slices"

	"github.com/urlmill/urlmill/urlcore/form"
)

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
		u.query.BindAppend(u.extendQuery)
	}
	return u.query
}

// refreshParams refills the list from the query.
func (u *URL) refreshParams() {
	u.listed = false
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
	u.listed = u.HasQuery()
}

// extendQuery adds a pair to a query that is the serialized list without it, so that many pairs take no more than their own
// time. The parser leaves what the serializer writes as it is.
func (u *URL) extendQuery(pair form.Pair) bool {
	if !u.listed {
		return false
	}
	text := form.AppendPairs([]byte{'&'}, []form.Pair{pair})
	if !changeable(u, int(u.loc.fragStart-u.loc.queryStart)+len(text)) {
		return false
	}
	u.buf = slices.Insert(u.buf, int(u.loc.fragStart), text...)
	u.loc.fragStart += uint32(len(text))
	return true
}

package urlcore

import (
	"slices"

	"github.com/urlmill/urlmill/urlcore/form"
)

// linkedParams is the list behind SearchParams with its link to the URL that has it.
//
// A copy of the URL by assignment has the pointer to it, too, but is not its owner. The version tells apart
// what the URL was at several times: it differs from the URL's if that was assigned an earlier copy of its.
type linkedParams struct {
	list    form.Params
	owner   *URL
	version uint32 // counts the changes of the list
	listed  bool   // the query is what the list has written
}

// extendedInPlace is the length from which on a URL with a fragment has its query extended in place. That
// moves the fragment and so spoils copies, but below it a new buffer for each pair costs next to nothing.
const extendedInPlace = 4 << 10

// SearchParams returns the list of the query's names and values, the same object each time. The two are
// linked both ways: a change of the list writes the query anew, a change of the URL's query refills the
// list. A query that is only looked at keeps its form. A copy of u has a list of its own.
//
// https://url.spec.whatwg.org/#dom-url-searchparams
func (u *URL) SearchParams() *form.Params {
	if u.query == nil || u.query.owner != u {
		l := &linkedParams{owner: u}
		l.list.Bind(func(*form.Params) { l.write() })
		l.list.BindAppend(l.extend)
		u.query = l
		l.fill()
	}
	if u.query.version != u.version {
		u.query.fill()
	}
	return &u.query.list
}

// refreshParams refills the list from the query. A list that u has from the URL that it was copied from
// stays with that.
func (u *URL) refreshParams() {
	switch {
	case u.query == nil:
	case u.query.owner == u:
		u.query.fill()
	default:
		u.query = nil
	}
}

// fill makes the list that of the owner's query.
func (l *linkedParams) fill() {
	l.list.SetQuery(l.owner.Bytes(Query))
	l.listed = false
	l.changed()
}

// changed notes that the list and the owner agree anew.
func (l *linkedParams) changed() {
	l.version++
	l.owner.version = l.version
}

// write sets the owner's query to the serialized list, and to null when the list is empty. An owner that
// was assigned another URL has given up the list.
//
// https://url.spec.whatwg.org/#concept-urlsearchparams-update
func (l *linkedParams) write() {
	u := l.owner
	if u.query != l {
		l.version++
		return
	}
	query := l.list.String()
	l.listed = u.setQuery(query != "", query).ok() && u.HasQuery()
	l.changed()
}

// extend adds a pair to a query that is the serialized list without it, so that many pairs take no more than their own
// time. The parser leaves what the serializer writes as it is. It returns false where the query has to be written anew.
func (l *linkedParams) extend(pair form.Pair) bool {
	u := l.owner
	if !l.listed || u.query != l || u.version != l.version {
		return false
	}
	text := form.AppendPairs([]byte{'&'}, []form.Pair{pair})
	if !u.changeable(int(u.loc.fragStart-u.loc.queryStart) + len(text)).ok() {
		return false
	}
	if u.HasFragment() && len(u.buf) < extendedInPlace {
		u.buf = slices.Clip(u.buf)
	}
	// Without a fragment this writes behind the end of the buffer, where copies see nothing.
	u.buf = slices.Insert(u.buf, int(u.loc.fragStart), text...)
	u.loc.fragStart += uint32(len(text))
	l.changed()
	return true
}

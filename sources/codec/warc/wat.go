package warc

import (
	"bytes"
	"strconv"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/urlcore"
)

// NewWAT returns the codec of the links in WAT files.
//
// A record of it is a link, as JSON, with what its page says of itself. A document that is no JSON, or was cut, is a record by itself,
// with [pipeline.FaultMalformed] or [pipeline.FaultTooLarge]; a damaged one has [pipeline.FaultCorrupt] at its place in the file.
func NewWAT() codec.Factory { return &watFactory{codec.NewShape(linkFields, true, true)} }

var linkFields = []pipeline.Field{
	{Name: "page"},
	{Name: "link_path"},
	{Name: "link_position", Type: pipeline.Int64},
	{Name: "link_rel"},
	{Name: "link_text"},
	fetchTime, fetchStatus, mimeType, filename, offset, length,
}

// linkPlaces are the members of a link as links makes it: its URL, the base, and then the fields.
var linkPlaces = codec.NewPlaces([]string{
	"/url", "/base", "/page", "/path", "/position", "/rel", "/text", "/time", "/status", "/mime", "/filename", "/offset", "/length",
})

const envelope, html = "/Envelope", "/Envelope/Payload-Metadata/HTTP-Response-Metadata/HTML-Metadata"

// pagePlaces are what a document says of its page, and its lists of links.
var pagePlaces = codec.NewPlaces([]string{
	envelope + "/WARC-Header-Metadata/WARC-Target-URI", html + "/Head/Base",
	envelope + "/WARC-Header-Metadata/WARC-Date", envelope + "/Payload-Metadata/HTTP-Response-Metadata/Response-Message/Status",
	envelope + "/Payload-Metadata/HTTP-Response-Metadata/Headers/Content-Type",
	"/Container/Filename", "/Container/Offset", "/Container/Gzip-Metadata/Deflate-Length",
	html + "/Head/Link", html + "/Head/Scripts", html + "/Links",
})

// pageNames are the members of a link for the places from the time on.
var pageNames = [...]string{2: "time", 3: "status", 4: "mime", 5: "filename", 6: "offset", 7: "length"}

const firstList, numLists = 8, 3

// maxShared is how long a value may be that each link of a page has. A longer one, which no page has that browsers open, is left out: with
// many links it would be many times what the document is.
const maxShared = 4 << 10

// elementPlaces are the members of an element of a list.
var elementPlaces = codec.NewPlaces([]string{"/url", "/path", "/rel", "/text", "/href"})

type watFactory struct{ codec.Shape }

// New implements [codec.Factory].
func (f *watFactory) New() codec.Codec { return &pages{watFactory: f, json: linkPlaces.NewReader()} }

// pages implements [codec.Codec] and [codec.Framer].
type pages struct {
	*watFactory
	frame   *reader // nil for records that come alone
	json    *codec.PlaceReader
	row     appender
	scratch unescaped
}

// Opening implements [codec.Framer].
func (p *pages) Opening() string { return opening }

// Frame implements [codec.Framer].
func (p *pages) Frame(content codec.Content, most int) codec.Records {
	p.frame = &reader{in: content, max: most, first: true, keep: true}
	return &links{reader: p.frame, page: pagePlaces.NewReader(), element: elementPlaces.NewReader()}
}

// Decode implements [codec.Codec].
func (p *pages) Decode(b *pipeline.Batch, record []byte) bool {
	b.Records.Append(record)
	if at, damaged := p.frame.where(); damaged {
		return p.Nulls(b, pipeline.FaultCorrupt, int(at.pos()))
	}
	if at, ok := p.json.Scan(record); !ok {
		return p.Nulls(b, pipeline.FaultMalformed, at)
	}
	p.row.reset(b)
	if url := p.json.At(0); url.Text() {
		b.URLs.Append(p.scratch.text(record, url))
	} else {
		p.row.fault.Note(pipeline.FaultFieldMissing, -1)
		b.URLs.AppendNull()
	}
	if base := p.json.At(1); base.Text() {
		b.Bases.Append(p.scratch.text(record, base))
	} else {
		b.Bases.AppendNull()
	}
	for i := range linkFields {
		at := p.json.At(2 + i)
		if !at.Scalar() {
			p.row.add(nil)
			continue
		}
		value := p.scratch.text(record, at)
		if i == 7 { // the media type
			value, _ = mediaType(value)
		}
		p.row.add(value)
	}
	p.row.fault.AddTo(b)
	return true
}

// unescaped has the room for a text that JSON has with escapes.
type unescaped []byte

// text returns the text of a value, valid until the next call.
func (u *unescaped) text(object []byte, p codec.Place) []byte {
	value := object[p.Start:p.End]
	if p.Escaped {
		if cap(*u) > maxKept {
			*u = nil
		}
		*u = codec.AppendUnescaped((*u)[:0], value)
		return *u
	}
	return value
}

// links makes a record of each link of the pages of a reader.
type links struct {
	*reader
	page, element *codec.PlaceReader
	doc           []byte             // of the current page, nil for none
	lists         [numLists]listRest // of it
	position      int64              // of the next link in it
	head          []byte             // what all links of the page begin with
	out           []byte
}

// listRest is what is left of a list: doc[start:end].
type listRest struct{ start, end int }

// Ready implements [codec.Records].
func (l *links) Ready() bool { return l.doc != nil || l.reader.Ready() }

// Rest implements [codec.Records].
func (l *links) Rest() []byte {
	if l.doc != nil {
		return l.doc
	}
	return l.reader.Rest()
}

// Next implements [codec.Records].
func (l *links) Next() (record []byte, cut bool, err error) {
	for {
		for i := range l.lists {
			if l.doc != nil && l.link(&l.lists[i]) {
				return l.out, false, nil
			}
		}
		l.doc = nil
		record, cut, err := l.reader.Next()
		if err != nil || cut || l.damage {
			return record, cut, err
		}
		if bytes.HasPrefix(record, []byte(opening)) {
			continue // no metadata
		}
		if _, ok := l.page.Scan(record); !ok {
			return record, false, nil
		}
		l.begin(record)
	}
}

// short reports whether a value of a page may stand in the record of each of its links.
func short(at codec.Place) bool { return at.End-at.Start <= maxShared }

// begin begins with the links of a document.
func (l *links) begin(doc []byte) {
	if cap(l.out) > maxKept || cap(l.head) > maxKept {
		l.out, l.head = nil, nil
	}
	l.doc, l.position = doc, 0
	for i := range l.lists {
		l.lists[i] = listRest{}
		if at := l.page.At(firstList + i); at.There() && doc[at.Start] == '[' {
			l.lists[i] = listRest{at.Start + 1, at.End}
		}
	}
	l.head = append(l.head[:0], '{')
	page := l.page.At(0)
	if page.Text() && short(page) {
		l.head = appendMember(l.head, "page", doc, page)
		l.head = append(l.head, `"base":"`...)
		l.head = l.appendBase(l.head, doc, page)
		l.head = append(l.head, `",`...)
	}
	for i, name := range pageNames {
		if at := l.page.At(i); name != "" && at.Scalar() && short(at) {
			l.head = appendMember(l.head, name, doc, at)
		}
	}
}

// appendBase appends what links of a page are resolved against: its first base, which may be relative to the page, unless that is no
// URL, or one that the standard does not allow there.
//
// Source: https://html.spec.whatwg.org/#set-the-frozen-base-url
func (l *links) appendBase(dst, doc []byte, page codec.Place) []byte {
	base := l.page.At(1)
	text := doc[page.Start:page.End]
	if !base.Text() || !short(base) {
		return append(dst, text...)
	}
	plain := func(at codec.Place) string { return string(codec.AppendUnescaped(nil, doc[at.Start:at.End])) }
	u, err := urlcore.ParseWithBase(plain(base), plain(page))
	if err != nil || u.Protocol() == "data:" || u.Protocol() == "javascript:" {
		return append(dst, text...)
	}
	quoted := strconv.AppendQuoteToASCII(nil, u.Href())
	return append(dst, quoted[1:len(quoted)-1]...)
}

// appendMember appends a member and a comma.
func appendMember(dst []byte, name string, doc []byte, at codec.Place) []byte {
	dst = append(append(append(dst, '"'), name...), `":`...)
	if at.Text() {
		at.Start, at.End = at.Start-1, at.End+1
	}
	return append(append(dst, doc[at.Start:at.End]...), ',')
}

// link makes a record of the next link in a list, and returns false if there is none.
func (l *links) link(list *listRest) bool {
	for list.start < list.end {
		element := l.doc[list.start:list.end]
		n := elementEnd(element)
		element = element[:n]
		list.start += n + 1
		if _, ok := l.element.Scan(element); !ok || !l.element.At(0).Text() && !l.element.At(4).Text() {
			continue
		}
		l.out = append(l.out[:0], l.head...)
		l.out = append(strconv.AppendInt(append(l.out, `"position":`...), l.position, 10), ',')
		l.position++
		for i, name := range [...]string{"url", "path", "rel", "text", "url"} {
			at := l.element.At(i)
			if at.Text() && (i < 4 || !l.element.At(0).Text()) {
				l.out = appendMember(l.out, name, element, at)
			}
		}
		l.out[len(l.out)-1] = '}'
		return true
	}
	return false
}

// elementEnd returns where the first element of a list ends, whose text is JSON: at a comma or at the bracket behind it.
func elementEnd(list []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(list); i++ {
		switch b := list[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			depth++
		case depth == 0 && (b == ',' || b == ']'):
			return i
		case b == '}' || b == ']':
			depth--
		}
	}
	return len(list)
}

package generate

import (
	"bytes"
	"strconv"
	"time"
	"unicode/utf8"
)

const (
	sessionSlots = 1024 // how many sessions go on at the same time
	sessionSize  = 12   // clicks of a session, on average
	users        = 200_000
	microsPerDay = 86400 * 1e6
)

// appendRecord appends the click on g.url.
func (g *Generator) appendRecord(dst []byte, r *rng) []byte {
	start := len(dst)
	// A session has one of the slots for a while; what it is like follows from the slot and the time.
	slot := uint64(r.below(sessionSlots))
	session := newRNG(g.m.seeds.sessions, slot<<40|uint64(g.last.Number)/(sessionSlots*sessionSize))
	user := session.below(users)
	user = int(int64(user) * int64(user) / users) // some come more often
	person := newRNG(g.m.seeds.users, uint64(user))
	g.last.UserID = 1_000_000_000 + int64(person.next()>>32)

	dst = g.appendTime(append(dst, `{"ts":"`...))
	dst = strconv.AppendInt(append(dst, `","user_id":`...), g.last.UserID, 10)
	dst = appendUUID(append(dst, `,"session":"`...), &session)
	dst = append(dst, '"')
	dst = g.appendURLField(dst, r)
	dst = g.appendReferer(append(dst, `,"referer":`...), r)
	dst = add(dst, `,"status":`, g.m.statuses.draw(r))
	dst = add(dst, `,"country":"`, g.m.countries.draw(&person))
	dst = append(dst, '"')
	if g.m.visits {
		dst = add(dst, `,"user_agent":"`, g.m.agents.draw(&session), `"`)
	}
	dst = append(dst, '}')
	if g.last.Class == MalformedRecord {
		return malform(dst, start, r)
	}
	return dst
}

// appendURLField appends the member with the URL, or what the class has in its place.
func (g *Generator) appendURLField(dst []byte, r *rng) []byte {
	switch g.last.Class {
	case MissingURL:
		if r.percent(50) {
			return dst
		}
		return append(dst, `,"url":null`...)
	case NumberURL:
		return append(dst, pick(r, []string{`,"url":404`, `,"url":{"href":"https://example.com/"}`, `,"url":["https://example.com/"]`, `,"url":false`})...)
	}
	dst = append(dst, `,"url":`...)
	if r.percent(2) {
		return appendEscapedJSON(dst, g.url)
	}
	return appendJSON(dst, g.url)
}

// appendReferer appends where the click came from: nowhere, another page of the host, a search engine or another
// site. What is no absolute URL comes from a page, and what is no URL at all from nowhere: with the referer as its
// base it could be one after all.
func (g *Generator) appendReferer(dst []byte, r *rng) []byte {
	m, kind := g.m, r.below(100)
	switch {
	case g.last.Code != "":
		return append(dst, "null"...)
	case g.last.Class == Relative && bytes.HasPrefix(g.url, []byte(driveLetter)):
		return append(dst, `"file:///C:/index.html"`...)
	case g.last.Class == Relative || kind >= 94:
		g.referer = m.appendPage(g.referer[:0], r, uint64(g.last.Number), 0)
	case kind < 25:
		return append(dst, "null"...)
	case kind < 70 && g.last.Class == Page:
		end := bytes.IndexByte(g.url[8:], '/') + 8
		g.referer = append(g.referer[:0], g.url[:end]...)
		g.referer = m.appendPath(g.referer, r)
	case kind < 90 && m.visits:
		return add(dst, `"`, m.referrers.draw(r), `"`)
	case kind < 90:
		return append(dst, pick(r, []string{
			`"https://www.google.com/"`, `"https://www.google.com/"`, `"https://www.bing.com/"`, `"https://duckduckgo.com/"`,
			`"https://l.facebook.com/"`, `"https://t.co/"`, `"android-app://com.google.android.gm/"`, `""`,
		})...)
	default:
		g.referer = add(g.referer[:0], "https://", m.hosts.draw(r), "/")
	}
	return appendJSON(dst, g.referer)
}

// malform makes the record that begins at start one that is not JSON.
func malform(dst []byte, start int, r *rng) []byte {
	record := dst[start:]
	switch r.below(4) {
	case 0: // cut off
		return dst[:start+1+r.below(len(record)-1)]
	case 1: // two in a line
		return append(dst, pick(r, []string{"{}", ",", "}", "x"})...)
	case 2: // not JSON at all
		return append(dst[:start], pick(r, []string{"ERROR upstream timed out", "<html>502 Bad Gateway</html>", "{'url': 'x'}", "ts=1 url=x", "NaN"})...)
	}
	record[r.below(2)] = '\'' // the opening brace or quote
	return dst
}

// appendJSON appends a JSON string of s, as it is but for what has to be escaped. Bytes that are not UTF-8 stay.
func appendJSON(dst, s []byte) []byte {
	dst = append(dst, '"')
	done := 0
	for i, c := range s {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[done:i]...)
		done = i + 1
		if c >= ' ' {
			dst = append(dst, '\\', c)
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(dst, s[done:]...), '"')
}

// appendEscapedJSON appends the JSON string that some writers make of s, with escapes for slashes and for all but
// ASCII.
func appendEscapedJSON(dst, s []byte) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c, size := utf8.DecodeRune(s[i:])
		switch {
		case c == '/':
			dst = append(dst, `\/`...)
		case c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\':
			dst = append(dst, byte(c))
		case c == utf8.RuneError && size == 1:
			dst = append(dst, s[i])
		default:
			dst = appendEscapedRune(dst, c)
		}
		i += size
	}
	return append(dst, '"')
}

func appendEscapedRune(dst []byte, c rune) []byte {
	if c >= 1<<16 {
		c -= 1 << 16
		dst = appendEscapedRune(dst, 0xd800+c>>10)
		c = 0xdc00 + c&0x3ff
	}
	return append(dst, '\\', 'u', hexDigits[c>>12], hexDigits[c>>8&15], hexDigits[c>>4&15], hexDigits[c&15])
}

// appendTime appends the time of the record to the millisecond.
func (g *Generator) appendTime(dst []byte) []byte {
	day, micros := g.last.Timestamp/microsPerDay, g.last.Timestamp%microsPerDay
	if micros < 0 {
		day, micros = day-1, micros+microsPerDay
	}
	if day != g.day {
		g.day = day
		g.setDate()
	}
	ms := int(micros / 1000)
	dst = append(append(dst, g.date[:]...), 'T')
	dst = append(append2(dst, ms/3_600_000), ':')
	dst = append(append2(dst, ms/60_000%60), ':')
	dst = append(append2(dst, ms/1000%60), '.', '0'+byte(ms/100%10))
	return append(append2(dst, ms%100), 'Z')
}

func append2(dst []byte, n int) []byte { return append(dst, '0'+byte(n/10), '0'+byte(n%10)) }

// setDate writes the date of g.day.
func (g *Generator) setDate() {
	time.UnixMicro(g.day*microsPerDay).UTC().AppendFormat(g.date[:0], time.DateOnly)
}

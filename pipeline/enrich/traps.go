package enrich

import (
	"bytes"
	"net/netip"
	"unsafe"
)

// The reasons for which a URL is taken for a trap: one of a set without an end that a crawler need not follow.
const (
	trapSite     = "site-rule"         // a pattern of the site
	trapLong     = "long-url"          // more than max_length bytes
	trapDepth    = "deep-path"         // more than max_depth segments
	trapSegments = "repeated-segments" // one to four segments three times in a row
	trapQuery    = "growing-query"     // more than max_params parameters, or one three times with the same value
	trapEscapes  = "growing-escapes"   // an escape that was escaped twice
	trapCalendar = "calendar"          // a date, and a word for a calendar
)

const (
	// maxSegments is how many segments are looked at for those that repeat; max_depth may be more.
	maxSegments = 64
	// maxPeriod is how many segments may repeat together, and repeats how often they are a trap.
	maxPeriod, repeats = 4, 3
)

// Depth returns the number of segments of a path that are not empty at its end: 0 for / and 2 for /a/b and /a/b/.
func Depth(path []byte) int32 {
	if len(path) == 0 || path[0] != '/' {
		return 0
	}
	return int32(bytes.Count(bytes.TrimSuffix(path, []byte("/")), []byte("/")))
}

// AppendTrap appends why a URL is a trap, and returns false if it is none.
func (s *Sites) AppendTrap(dst, host, path, query, url []byte) ([]byte, bool) {
	reason := s.trap(host, path, query, url)
	return append(dst, reason...), reason != ""
}

func (s *Sites) trap(host, path, query, url []byte) string {
	if one := s.find(host); one != nil {
		for i := range one.traps {
			if one.traps[i].match(path) {
				return trapSite
			}
		}
	}
	switch {
	case len(url) > s.o.MaxLength:
		return trapLong
	case int(Depth(path)) > s.o.MaxDepth:
		return trapDepth
	case repeatedSegments(path):
		return trapSegments
	case s.growing(query):
		return trapQuery
	case bytes.Contains(path, []byte("%2525")) || bytes.Contains(query, []byte("%2525")):
		return trapEscapes
	case isCalendar(path, query):
		return trapCalendar
	}
	return ""
}

// repeatedSegments reports whether a path has the same segments several times in a row.
func repeatedSegments(path []byte) bool {
	var segments [maxSegments][]byte
	n := 0
	for n < len(segments) && len(path) > 1 {
		path = path[1:]
		end := bytes.IndexByte(path, '/')
		if end < 0 {
			end = len(path)
		}
		segments[n], path = path[:end], path[end:]
		n++
	}
	for period := 1; period <= maxPeriod; period++ {
		same := 0
		for i := period; i < n; i++ {
			if !bytes.Equal(segments[i], segments[i-period]) {
				same = 0
				continue
			}
			if same++; same == period*(repeats-1) {
				return true
			}
		}
	}
	return false
}

// maxCompared is how many parameters are compared with each other.
const maxCompared = 64

// growing reports whether a query has too many parameters, or the same one several times.
func (s *Sites) growing(query []byte) bool {
	if bytes.Count(query, []byte("&")) >= s.o.MaxParams {
		return true
	}
	var params [maxCompared][]byte
	n := 0
	for more := len(query) > 0; more && n < len(params); n++ {
		params[n], query, more = bytes.Cut(query, []byte("&"))
	}
	for i := range n {
		same := 0
		for k := i + 1; k < n; k++ {
			if len(params[i]) > 0 && bytes.Equal(params[i], params[k]) {
				same++
			}
		}
		if same+1 >= repeats {
			return true
		}
	}
	return false
}

// calendarWords are names of segments and parameters of calendars.
var calendarWords = [...]string{"calendar", "calendars", "cal", "kalender", "calendario", "calendrier", "agenda", "events", "event-calendar", "ical", "eventdate", "tribe-bar-date"}

func isWord(text []byte) bool {
	for _, w := range calendarWords {
		if len(w) == len(text) && bytes.EqualFold(text, []byte(w)) {
			return true
		}
	}
	return false
}

// isCalendar reports whether a URL is a page of a calendar: it has a word for one, and a date.
func isCalendar(path, query []byte) bool {
	word, year, month := false, false, false
	note := func(text []byte) {
		word = word || isWord(text)
		switch n := dateLength(text); {
		case n == 4 && n == len(text):
			year = true
		case n > 4:
			year, month = true, true
		case year && isMonth(text):
			month = true
		}
	}
	for len(path) > 1 {
		path = path[1:]
		end := bytes.IndexByte(path, '/')
		if end < 0 {
			end = len(path)
		}
		note(path[:end])
		path = path[end:]
	}
	for more := len(query) > 0; more; {
		var param []byte
		param, query, more = bytes.Cut(query, []byte("&"))
		name, value, _ := bytes.Cut(param, []byte("="))
		word = word || isWord(name)
		month = month || bytes.EqualFold(name, []byte("month")) && isMonth(value)
		note(value)
	}
	return word && year && month
}

// isMonth reports whether a text is a number from 1 to 12.
func isMonth(text []byte) bool {
	switch len(text) {
	case 1:
		return '1' <= text[0] && text[0] <= '9'
	case 2:
		return text[0] == '0' && '1' <= text[1] && text[1] <= '9' || text[0] == '1' && '0' <= text[1] && text[1] <= '2'
	}
	return false
}

// dateLength returns how many bytes of a text are a year from 1000 to 2999, with a month and a day behind it if they are there, as in
// 2026, 2026-11, 20261124 and 2026-11-24; 0 for none.
func dateLength(text []byte) int {
	if len(text) < 4 || text[0] != '1' && text[0] != '2' || !digits(text[1:4]) {
		return 0
	}
	n := 4
	if n < len(text) && (text[n] == '-' || text[n] == '_') {
		n++
	}
	if len(text) < n+2 || !isMonth(text[n:n+2]) {
		return 4
	}
	return n + 2
}

func digits(text []byte) bool {
	for _, b := range text {
		if b < '0' || b > '9' {
			return false
		}
	}
	return true
}

// appendNetwork appends the network of an address, /24 of IPv4 and /64 of IPv6, and returns nil for what is no address.
func appendNetwork(dst, address []byte) []byte {
	if len(address) == 0 {
		return nil
	}
	a, err := netip.ParseAddr(unsafe.String(unsafe.SliceData(address), len(address))) // which keeps nothing of it but a zone
	if err != nil || a.Zone() != "" {
		return nil
	}
	bits := 64
	if a = a.Unmap(); a.Is4() {
		bits = 24
	}
	network, err := a.Prefix(bits)
	if err != nil {
		return nil
	}
	return network.AppendTo(dst)
}

package accesslog

import (
	"bytes"
	"encoding/binary"
)

// What stands before the client's address in a line of the Common Log Format and its kin, and is not part of the format:
// the header of syslog, the virtual host, and the addresses of proxies from X-Forwarded-For.

// lead is what was found there. Spans of what is not there are empty.
type lead struct {
	host, port span // of the virtual host
	list       span // addresses with commas between
	first      span // the first of them, where it stands for the client's address
	at         int  // where the format begins, or what is in the way
}

// readLead reads what stands before the client's address. Where vhost is set, a virtual host with its port has to. It returns false
// for what would shift the fields behind it.
func readLead(line []byte, vhost bool) (l lead, ok bool) {
	l.at = syslogEnd(line)
	word := wordAt(line, l.at)
	next := wordAt(line, word.end+1)
	if vhost || !hasComma(line, word) && isAddress(firstOf(line, next)) {
		empty := word.is(line, "-") && !vhost // of the list, or of the virtual host
		if !empty {
			l.host, l.port = hostPort(line, word)
			if l.host.end == 0 || vhost && l.port.end == 0 {
				return l, false
			}
		}
		word, l.at = next, next.start
	}
	if !hasComma(line, word) {
		return l, true
	}
	last, ok := listEnd(line, word)
	if !ok {
		return l, false
	}
	l.list = span{word.start, last.end}
	if next = wordAt(line, last.end+1); isAddress(line[next.start:next.end]) {
		l.at = next.start
	} else {
		l.first, l.at = span{word.start, word.start + len(firstOf(line, word))}, last.start
	}
	return l, true
}

// is reports whether the text of s in line is text.
func (s span) is(line []byte, text string) bool { return string(line[s.start:s.end]) == text }

// wordAt returns the text from at to the next space.
func wordAt(line []byte, at int) span {
	at = min(at, len(line))
	if n := bytes.IndexByte(line[at:], ' '); n >= 0 {
		return span{at, at + n}
	}
	return span{at, len(line)}
}

func hasComma(line []byte, s span) bool { return bytes.IndexByte(line[s.start:s.end], ',') >= 0 }

// firstOf returns the text of s up to a comma.
func firstOf(line []byte, s span) []byte {
	first, _, _ := bytes.Cut(line[s.start:s.end], []byte(","))
	return first
}

// listEnd returns the last word of the list that begins with word: all but the last end with a comma.
func listEnd(line []byte, word span) (last span, ok bool) {
	for {
		text := line[word.start:word.end]
		more := bytes.HasSuffix(text, []byte(","))
		if !isList(bytes.TrimSuffix(text, []byte(","))) {
			return word, false
		}
		if !more {
			return word, true
		}
		word = wordAt(line, word.end+1)
	}
}

// isList reports whether s is addresses with commas, and perhaps spaces, between. A proxy may have written "unknown" for one.
func isList(s []byte) bool {
	for {
		one, rest, more := bytes.Cut(s, []byte(","))
		if one = bytes.TrimLeft(one, " "); !isAddress(one) && string(one) != "unknown" {
			return false
		}
		if !more {
			return true
		}
		s = rest
	}
}

// isAddress reports whether s looks like an IP address, not whether it is one.
func isAddress(s []byte) bool {
	dots, colons := 0, 0
	for _, b := range s {
		switch {
		case '0' <= b && b <= '9':
		case b == '.':
			dots++
		case b == ':':
			colons++
		case 'a' <= b|0x20 && b|0x20 <= 'f' || b == '[' || b == ']' || b == '%':
			dots = 4 // no address of IPv4
		default:
			return false
		}
	}
	return dots == 3 && colons <= 1 || colons >= 2
}

// hostPort divides a virtual host, which has a dot or a port to tell it from other words. It returns nothing for what is none.
func hostPort(line []byte, word span) (host, port span) {
	text := line[word.start:word.end]
	colon := bytes.LastIndexByte(text, ':')
	if bytes.HasSuffix(text, []byte("]")) {
		colon = -1
	}
	if colon >= 0 {
		if !isNumber(text[colon+1:]) {
			return span{}, span{}
		}
		port = span{word.start + colon + 1, word.end}
		text = text[:colon]
	}
	known := colon > 0 || bytes.IndexByte(text, '.') > 0 && !isAddress(text) || string(text) == "localhost"
	if !known || !isClient(text) {
		return span{}, span{}
	}
	return span{word.start, word.start + len(text)}, port
}

func isNumber(s []byte) bool {
	for _, b := range s {
		if b < '0' || '9' < b {
			return false
		}
	}
	return len(s) > 0
}

// clientBytes are those of names and addresses of hosts, and of the sockets that nginx calls unix:.
var clientBytes = func() (ok [256]bool) {
	for b := range ok {
		ok[b] = '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z' || bytes.IndexByte([]byte("-._:%[]"), byte(b)) >= 0
	}
	return ok
}()

// isClient reports whether s may be the name or the address of a host.
func isClient(s []byte) bool {
	if n := len(s); n >= 8 && n <= 16 && isName(binary.LittleEndian.Uint64(s)) && isName(binary.LittleEndian.Uint64(s[n-8:])) {
		return true // most are, and take no loop
	}
	for _, b := range s {
		if !clientBytes[b] {
			return false
		}
	}
	return len(s) > 0
}

// isName reports whether the eight bytes of x are letters, digits, and -, . or : of [clientBytes]. Adding 0x80 less a byte to one of
// ASCII sets its highest bit from that byte on.
func isName(x uint64) bool {
	letters := x | ' '*ones
	letters = (letters + (0x80-'a')*ones) &^ (letters + (0x7f-'z')*ones)
	others := (x + (0x80-'-')*ones) &^ (x + (0x7f-':')*ones) & ((x ^ '/'*ones) + 0x7f*ones)
	return x&high == 0 && (letters|others)&high == high
}

// isUser reports whether s may stand for the name of the remote user. A name may have spaces, but where a word of it is - or an
// address, fields have been shifted.
func isUser(logname, s []byte) bool {
	if bytes.IndexByte(s, ' ') < 0 {
		return string(logname) == "-" || !isAddress(logname) && !isNumber(logname) && isClient(logname)
	}
	if string(logname) != "-" {
		return false
	}
	for at := 0; at <= len(s); {
		word := wordAt(s, at)
		if word.is(s, "-") || isAddress(firstOf(s, word)) {
			return false
		}
		at = word.end + 1
	}
	return true
}

// syslogEnd returns where the message behind the header of syslog begins, 0 where there is none.
//
// Source: RFC 3164, section 4.1; RFC 5424, section 6; rsyslog writes times of RFC 3339 in the older form too
func syslogEnd(line []byte) int {
	at := 0
	if len(line) > 0 && line[0] == '<' {
		if at = bytes.IndexByte(line, '>') + 1; at == 0 || !isNumber(line[1:at-1]) {
			return 0
		}
	}
	rest := line[at:]
	if at > 0 && bytes.HasPrefix(rest, []byte("1 ")) {
		return structuredEnd(line, at+len("1 "))
	}
	switch time := wordAt(line, at); {
	case len(rest) > 16 && rest[3] == ' ' && rest[6] == ' ' && rest[9] == ':' && rest[12] == ':' && rest[15] == ' ': // Nov 21 12:00:00
		at += 16
	case len(rest) > 20 && rest[4] == '-' && rest[7] == '-' && rest[10] == 'T' && rest[13] == ':':
		at = time.end + 1
	default:
		return 0
	}
	for range 2 { // the host, which may be missing, and the tag
		word := wordAt(line, at)
		at = word.end + 1
		if word.end > word.start && word.end < len(line) && line[word.end-1] == ':' {
			return at
		}
	}
	return 0
}

// structuredEnd returns where the message of a line of RFC 5424 begins, whose time stands at at.
func structuredEnd(line []byte, at int) int {
	for range 5 { // time, host, program, process, kind
		at = wordAt(line, at).end + 1
	}
	if at >= len(line) {
		return 0
	}
	if line[at] == '[' {
		n := bytes.Index(line[at:], []byte("] "))
		if n < 0 {
			return 0
		}
		return at + n + len("] ")
	}
	if word := wordAt(line, at); word.is(line, "-") && word.end < len(line) {
		return word.end + 1
	}
	return 0
}

package accesslog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/urlmill/urlmill/sources/codec"
)

// token is a field with the text before it.
type token struct {
	before string
	next   string // text that ends it where it is not quoted; empty: the end of the line does
	// The bytes of next as a word, and which of the word they are; no mask if next has more than eight.
	word, mask uint64
	first      uint64 // the first byte of next eight times
	field      field
	quoted     bool  // quotation marks stand around it, within which a backslash escapes one
	padded     bool  // spaces may stand before it
	places     []int // of a format in JSON: where the field may be
	until      byte  // of an address with a port behind: what ends the port; 0 for other fields
}

// endsBefore says what stands behind the field.
func (t *token) endsBefore(next string) {
	t.quoted = strings.HasSuffix(t.before, `"`) && strings.HasPrefix(next, `"`)
	t.next, t.word, t.mask = next, 0, 0
	if next != "" {
		t.first = ones * uint64(next[0])
	}
	if len(next) > 8 {
		return
	}
	for i := range len(next) {
		t.word |= uint64(next[i]) << (8 * i)
		t.mask |= 0xff << (8 * i)
	}
}

// isAt is hasPrefix(s, t.next), most times without a loop.
func (t *token) isAt(s []byte) bool {
	if len(s) >= 8 && t.mask != 0 {
		return binary.LittleEndian.Uint64(s)&t.mask == t.word
	}
	return hasPrefix(s, t.next)
}

// colon returns where the colon stands before the port in s, which begins with an address: the last one, since addresses of IPv6 have
// colons. It is -1 where there is none.
func (t *token) colon(s []byte) int {
	return bytes.LastIndexByte(s[:max(indexByte(s, t.until), 0)], ':')
}

// pattern is a compiled format.
type pattern struct {
	tokens []token
	after  string    // text behind the last field
	open   bool      // more may follow
	syslog bool      // the header of a syslog with the process in brackets may go before
	header bool      // any header of syslog may go before
	strict bool      // no field has the first byte of what follows it
	padded bool      // a token is
	client int       // 1 + the index of the client's address, before which may stand what a lead has; 0: it does not
	list   int       // 1 + the index of a field that has to be a list of addresses; 0: there is none
	others []pattern // in which a line may be written as well
	tabs   bool      // tabs stand between the fields, and nothing else but them; see [RealTime]
	quotes int       // how many quotation marks a line has; 0: nobody counts them

	places  *codec.Places // of a format whose lines are JSON; nil: they are text
	encoded bool          // a field of such a format has escapes of its own
	origin  string        // the scheme of URLs that are no more than host and port; "" for others
	lacking bool          // lines have neither method nor status, or only some of them
}

// parseNginx compiles the format of nginx's directive log_format.
//
// Source: https://nginx.org/en/docs/http/ngx_http_log_module.html#log_format
func parseNginx(format string) (pattern, error) {
	var p pattern
	rest := format
	for {
		i := strings.IndexByte(rest, '$')
		if i < 0 {
			return p.finish(rest)
		}
		before, tail := rest[:i], rest[i+1:]
		name, after, err := nginxVariable(tail)
		if err != nil {
			return p, fmt.Errorf("%w at byte %d", err, len(format)-len(tail)-1)
		}
		f, ok := nginxFields[name]
		if !ok {
			f = text(columnName(name))
		}
		if err := p.add(before, f, "$"+name); err != nil {
			return p, err
		}
		rest = after
	}
}

// nginxVariable takes a variable, without its dollar sign, off the front of s.
func nginxVariable(s string) (name, rest string, err error) {
	if body, ok := strings.CutPrefix(s, "{"); ok {
		name, rest, ok = strings.Cut(body, "}")
		if !ok {
			return "", "", errors.New("a variable begins with ${ and is not closed by }")
		}
		return name, rest, nil
	}
	n := 0
	for n < len(s) && (s[n] == '_' || 'a' <= s[n]|0x20 && s[n]|0x20 <= 'z' || '0' <= s[n] && s[n] <= '9') {
		n++
	}
	if n == 0 {
		return "", "", errors.New("a $ without the name of a variable")
	}
	return s[:n], s[n:], nil
}

// parseApache compiles the format of Apache httpd's directive LogFormat.
//
// Source: https://httpd.apache.org/docs/2.4/mod/mod_log_config.html#formats
func parseApache(format string) (pattern, error) {
	var p pattern
	before := ""
	for rest := format; ; {
		i := strings.IndexByte(rest, '%')
		if i < 0 {
			return p.finish(before + unbackslash(rest))
		}
		before += unbackslash(rest[:i])
		rest = rest[i+1:]
		if tail, ok := strings.CutPrefix(rest, "%"); ok {
			before, rest = before+"%", tail
			continue
		}
		f, name, tail, err := apacheDirective(rest)
		if err != nil {
			return p, fmt.Errorf("%w at byte %d", err, len(format)-len(rest)-1)
		}
		after := ""
		if f.role == timeCLF && name == "%t" {
			before, after = before+"[", "]" // it brings its brackets
		}
		if err := p.add(before, f, name); err != nil {
			return p, err
		}
		before, rest = after, tail
	}
}

// unbackslash takes the backslashes away that a configuration file has before quotation marks.
func unbackslash(s string) string {
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\t`, "\t", `\n`, "\n").Replace(s)
}

// apacheDirective takes a directive, without its percent sign, off the front of s.
func apacheDirective(s string) (f field, name, rest string, err error) {
	body := strings.TrimLeft(s, "<>!,0123456789") // which status or which of several requests it is about
	argument := ""
	if tail, ok := strings.CutPrefix(body, "{"); ok {
		if argument, body, ok = strings.Cut(tail, "}"); !ok {
			return f, "", "", errors.New("a directive begins with %{ and is not closed by }")
		}
	}
	letters := 1
	if strings.HasPrefix(body, "^") {
		letters = 3
	}
	if len(body) < letters {
		return f, "", "", errors.New("a % without a directive")
	}
	letter, rest := body[:letters], body[letters:]
	f, known := apacheFields[letter]
	header, isHeader := apacheHeaders[strings.ToLower(argument)]
	switch {
	case argument == "" && known:
		return f, "%" + letter, rest, nil
	case argument == "":
		return f, "", "", fmt.Errorf("there is no directive %%%s", letter)
	case letter == "i" && isHeader:
		f = header
	case letter == "t":
		f = apacheTime(argument)
	case letter == "T" && argument == "us", letter == "T" && argument == "ms":
		f = count("request_time_" + argument)
	case letter == "p", letter == "a", letter == "T" && argument == "s":
	case letter == "x" && argument == "SSL_PROTOCOL":
		f = field{name: "ssl_protocol", role: secure}
	default:
		f = text(columnName(argument))
	}
	return f, "%{" + argument + "}" + letter, rest, nil
}

// apacheTime returns the field of %{argument}t.
func apacheTime(argument string) field {
	switch argument {
	case "sec":
		return timestamp(timeEpoch)
	case "msec":
		return timestamp(timeMillis)
	case "%d/%b/%Y:%H:%M:%S %z":
		return timestamp(timeCLF)
	case "%Y-%m-%dT%H:%M:%S%z", "%FT%T%z":
		return timestamp(timeISO)
	default:
		return text("time_text")
	}
}

// add adds a field with the text before it. name is for the message.
func (p *pattern) add(before string, f field, name string) error {
	if n := len(p.tokens); n > 0 && before == "" && f.role == query && p.tokens[n-1].field.role == path {
		p.tokens[n-1].field = field{name: "request_uri", role: target} // %U%q: the query brings its question mark
		return nil
	}
	if before == "" && len(p.tokens) > 0 {
		return fmt.Errorf("nothing stands between %s and the field before it, so that nobody can tell where one ends", name)
	}
	p.tokens = append(p.tokens, token{before: before, field: f})
	return nil
}

func (p *pattern) finish(after string) (pattern, error) {
	if len(p.tokens) == 0 {
		return *p, errors.New("it has no field")
	}
	p.after = after
	for i := range p.tokens {
		next := after
		if i+1 < len(p.tokens) {
			next = p.tokens[i+1].before
		}
		p.tokens[i].endsBefore(next)
	}
	for i := range len(p.tokens) - 1 {
		if port := p.tokens[i+1]; p.tokens[i].next == ":" && port.next != "" && strings.HasSuffix(port.field.name, "port") {
			p.tokens[i].until = port.next[0]
		}
	}
	return *p, nil
}

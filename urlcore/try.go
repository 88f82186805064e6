package urlcore

import "fmt"

// The setters that report. Each does what the setter of that name does, or changes nothing and returns a
// [*SetError] that says why. They are stricter in one point: a value of which the standard's setter would
// drop the end, as "example.com/path" for a host, is an error.

// TrySetProtocol is [URL.SetProtocol] with an error, an [*SetError], when nothing is changed. Of what may
// follow the scheme it takes one colon and nothing else.
func (u *URL) TrySetProtocol(value string) error {
	return u.setProtocol(value, true).err("scheme", value)
}

// TrySetUsername is [URL.SetUsername] with an error, an [*SetError], when nothing is changed.
func (u *URL) TrySetUsername(value string) error { return u.setUsername(value).err("username", "") }

// TrySetPassword is [URL.SetPassword] with an error, an [*SetError], when nothing is changed.
func (u *URL) TrySetPassword(value string) error { return u.setPassword(value).err("password", "") }

// TrySetHost is [URL.SetHost] with an error, an [*SetError], when nothing is changed. A port in value that is
// none, which SetHost drops, is an error, and so is what follows the host and port.
func (u *URL) TrySetHost(value string) error {
	return u.setHost(value, stateHost, true).err("host", value)
}

// TrySetHostname is [URL.SetHostname] with an error, an [*SetError], when nothing is changed. What follows
// the host is an error.
func (u *URL) TrySetHostname(value string) error {
	return u.setHost(value, stateHostname, true).err("hostname", value)
}

// TrySetPort is [URL.SetPort] with an error, an [*SetError], when nothing is changed. What follows the digits
// is an error.
func (u *URL) TrySetPort(value string) error { return u.setPort(value, true).err("port", value) }

// TrySetPathname is [URL.SetPathname] with an error, an [*SetError], when nothing is changed.
func (u *URL) TrySetPathname(value string) error { return u.setPathname(value).err("path", value) }

// TrySetSearch is [URL.SetSearch] with an error, an [*SetError], when nothing is changed.
func (u *URL) TrySetSearch(value string) error { return u.setSearch(value).err("query", value) }

// TrySetHash is [URL.SetHash] with an error, an [*SetError], when nothing is changed.
func (u *URL) TrySetHash(value string) error { return u.setHash(value).err("fragment", value) }

// Refusal says why a setter changes nothing. The numbers are stable.
type Refusal uint8

// The reasons why a setter changes nothing.
const (
	_                  Refusal = iota
	RefusedEmptyURL            // there is no URL to change
	RefusedValue               // the value cannot be parsed; SetError.Code says why
	RefusedRest                // the value begins with what could be set, but goes on at SetError.Pos
	RefusedOpaquePath          // the path is opaque: mailto:me@example.com
	RefusedWithoutHost         // the URL has no host, and so no username, password or port, nor another scheme than file
	RefusedFile                // file URLs have no username, password or port
	RefusedScheme              // the value is no scheme
	RefusedSpecial             // special schemes and others cannot become one another
	RefusedEmptyHost           // a URL with a username, password or port cannot lose its host

	refusalCount
)

// refusalTexts holds the name of each reason and what it means for the reader of an error message.
var refusalTexts = [refusalCount]struct{ name, text string }{
	{"", "no error"},
	RefusedEmptyURL:    {"empty-URL", "the URL is empty: parse one first"},
	RefusedValue:       {"value", "the value cannot be parsed"},
	RefusedRest:        {"rest", "the value goes on behind what could be set: give that alone"},
	RefusedOpaquePath:  {"opaque-path", `the URL has an opaque path, as "mailto:" has, and so neither host nor segments: parse another URL`},
	RefusedWithoutHost: {"without-host", "the URL has no host: set one first"},
	RefusedFile:        {"file", "file URLs have no username, password or port"},
	RefusedScheme:      {"scheme", "a scheme is a letter and then letters, digits, plus signs, hyphens and dots"},
	RefusedSpecial:     {"special", "http, https, ws, wss, ftp and file URLs cannot get another scheme than these, and no other URL can get one of them"},
	RefusedEmptyHost:   {"empty-host", "the URL has a username, password or port, for which it needs a host: remove these first"},
}

// String returns a short name of the reason, such as "opaque-path".
func (r Refusal) String() string {
	if r < refusalCount {
		return refusalTexts[r].name
	}
	return fmt.Sprintf("refusal-%d", uint8(r))
}

// Text returns one clause of plain English that says what the reason means, and what to do where something can be done.
func (r Refusal) Text() string {
	if r < refusalCount {
		return refusalTexts[r].text
	}
	return "unknown reason"
}

// SetError is the error of the setters that report. Test for a reason with errors.As and Reason.
type SetError struct {
	Part   string  // what was not set: "scheme", "username", "password", "host", "hostname", "port", "path", "query" or "fragment"
	Value  string  // the value; empty for usernames and passwords, which do not belong into messages
	Reason Refusal // why
	Code   Code    // with RefusedValue: why it could not be parsed
	Pos    int     // byte position in the value, with RefusedValue, RefusedRest and RefusedScheme
}

// Error says what was not set, where and why.
func (e *SetError) Error() string {
	value := ""
	if e.Value != "" {
		value = " " + quoted(e.Value)
	}
	switch e.Reason {
	case RefusedValue:
		return fmt.Sprintf("urlcore: %s%s is not set: %s at byte %d: %s", e.Part, value, e.Code, e.Pos, e.Code.Text())
	case RefusedRest, RefusedScheme:
		return fmt.Sprintf("urlcore: %s%s is not set: byte %d: %s", e.Part, value, e.Pos, e.Reason.Text())
	}
	return fmt.Sprintf("urlcore: %s%s is not set: %s", e.Part, value, e.Reason.Text())
}

// refusal says why a setter has changed nothing. Its zero value means that it did what it was asked for.
type refusal struct {
	reason Refusal
	Failure
}

// ok reports whether nothing was refused.
func (r refusal) ok() bool { return r.reason == 0 }

// err returns nil or an error for the user. The position was one in the value without tabs and newlines.
func (r refusal) err(part, value string) error {
	if r.ok() {
		return nil
	}
	walk := cleaner{in: stringBytes(value)}
	return &SetError{Part: part, Value: value, Reason: r.reason, Code: r.Code, Pos: walk.original(r.Pos)}
}

// refuse ends a run with a state override that changes nothing, because of what stands at a position.
func (p *Parser) refuse(reason Refusal, pos int) state {
	p.refused = refusal{reason, Failure{Pos: pos}}
	return stateRefused
}

// refusal returns why a run with a state override came to its final state, which is not stateDone.
func (p *Parser) refusal(final state) refusal {
	if final == stateFailed {
		return refusal{RefusedValue, p.failure}
	}
	return p.refused
}

// Package urlcore has the names of the real one that the analyzer looks for.
package urlcore

type URL struct{ buf []byte }

func (u URL) String() string { return string(u.buf) }

func (u *URL) Clone() *URL { return &URL{append([]byte(nil), u.buf...)} }

type Parser struct{}

func (p *Parser) Parse(dst *URL, input []byte, base *URL) bool { return true }

func Parse(input string) (*URL, error) { return &URL{[]byte(input)}, nil }

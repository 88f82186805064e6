// Package tracking tells parameters of a query that follow a visitor or carry a session from those that select
// what is shown. Its rules are data: a versioned text file, of which one is embedded.
package tracking

import (
	"bytes"
	_ "embed"
	"sync"
)

// Kind says what a parameter is there for.
type Kind uint8

const (
	// None: the parameter may select what is shown.
	None Kind = iota
	// Tracking: the parameter tells where the visitor came from, or who it is.
	Tracking
	// Session: the parameter carries a session of the visitor.
	Session
)

// String returns "none", "tracking" or "session".
func (k Kind) String() string { return [...]string{"none", "tracking", "session"}[k] }

// Rules is a set of names of parameters. It is immutable and safe for concurrent use.
type Rules struct {
	version string
	global  names
	domains map[string]*names // by registrable domain, or its name without the public suffix and ".*" behind it
}

// names are the parameters that one section of the rules lists, in lower case.
type names struct {
	exact    map[string]Kind
	prefixes []prefix
}

type prefix struct {
	text string
	kind Kind
}

//go:embed rules.txt
var embedded string

var defaultRules = sync.OnceValue(func() *Rules {
	r, err := Parse(embedded)
	if err != nil {
		panic("tracking: the embedded rules are broken: " + err.Error()) // TestEmbedded keeps this from happening
	}
	return r
})

// Default returns the embedded rules.
func Default() *Rules { return defaultRules() }

// Version is the date of the rules, as in 2026-11-21.
func (r *Rules) Version() string { return r.version }

// maxName is the length in bytes of the longest name that is looked up; longer ones match nothing but prefixes.
const maxName = 64

// Kind returns what the parameter of the given name is for in URLs of the registrable domain, which may be empty.
// The name is compared without regard to the case of ASCII letters, and is not decoded. It allocates nothing.
func (r *Rules) Kind(domain, name []byte) Kind {
	var buf [maxName]byte
	low := lower(buf[:0], name)
	if k := r.global.kind(low); k != None {
		return k
	}
	if len(r.domains) == 0 || len(domain) == 0 {
		return None
	}
	if n := r.domains[string(domain)]; n != nil {
		if k := n.kind(low); k != None {
			return k
		}
	}
	if i := bytes.IndexByte(domain, '.'); i > 0 && i+2 <= maxName {
		var key [maxName]byte
		wild := append(append(key[:0], domain[:i]...), ".*"...)
		if n := r.domains[string(wild)]; n != nil {
			return n.kind(low)
		}
	}
	return None
}

func (n *names) kind(low []byte) Kind {
	if k, ok := n.exact[string(low)]; ok {
		return k
	}
	for _, p := range n.prefixes {
		if len(low) > len(p.text) && string(low[:len(p.text)]) == p.text {
			return p.kind
		}
	}
	return None
}

// lower appends as much of name in lower case as fits.
func lower(dst, name []byte) []byte {
	for _, c := range name[:min(len(name), cap(dst))] {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

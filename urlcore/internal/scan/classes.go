package scan

import "strings"

// Class is a set of classes that a byte belongs to.
type Class uint8

// The classes.
const (
	Stop   Class = 1 << iota // ends a host of lower-case letters, digits, hyphens, dots and underscores
	Mark                     // ? and #
	Dirty                    // is changed or has a meaning of its own in a path, query or fragment
	Slash                    // /
	Dot                      // .
	Escape                   // + and %
	Amp                      // &
	Equal                    // =
)

// ClassOf returns the classes of c. It is the definition that the tables of all variants are made from or tested
// against.
//
// Dirty is the union of the path, special-query and fragment percent-encode sets without ? and #, and the backslash.
//
// https://url.spec.whatwg.org/#percent-encoded-bytes
func ClassOf(c byte) Class {
	var class Class
	clean := 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("-._", c) >= 0
	for _, m := range [...]struct {
		class Class
		is    bool
	}{
		{Stop, !clean},
		{Mark, c == '?' || c == '#'},
		{Dirty, c <= ' ' || c >= 0x7F || strings.IndexByte("\"<>^`{}\\'", c) >= 0},
		{Slash, c == '/'},
		{Dot, c == '.'},
		{Amp, c == '&'},
		{Equal, c == '='},
		{Escape, c == '+' || c == '%'},
	} {
		if m.is {
			class |= m.class
		}
	}
	return class
}

// Classes holds the classes of every byte. Treat it as a constant.
var Classes = func() (t [256]Class) {
	for i := range t {
		t[i] = ClassOf(byte(i))
	}
	return t
}()

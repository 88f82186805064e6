package columns

import "github.com/urlmill/urlmill/urlcore/percent"

// region is a set of the parts of a URL behind its authority.
type region uint8

const (
	inPath region = 1 << iota
	inQuery
	inFragment
)

// changes holds for every byte in which parts it does not stay as it is: it is percent-encoded, dropped, or, as the
// backslash of a path, another byte.
var changes = func() (t [256]region) {
	for i := range t {
		c := byte(i)
		if percent.Path.Has(c) || c == '\\' {
			t[i] |= inPath
		}
		if percent.SpecialQuery.Has(c) {
			t[i] |= inQuery
		}
		if percent.Fragment.Has(c) {
			t[i] |= inFragment
		}
	}
	return t
}()

// authorityStop holds the bytes that end the authority, the at sign, and what is left to the state machine.
var authorityStop = func() (t [256]bool) {
	for _, c := range []byte("/?#@\\\t\n\r[%") {
		t[c] = true
	}
	return t
}()

// hostByte maps each byte of a host to lower case. It is 0 for those that only the state machine deals with.
var hostByte = func() (t [256]byte) {
	const plain = "-._~!$&'()*+,;=`{}\""
	for _, c := range []byte(plain) {
		t[c] = c
	}
	for c := byte('0'); c <= '9'; c++ {
		t[c] = c
	}
	for c := byte('a'); c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = c, c
	}
	return t
}()

func isDigit(c byte) bool { return c-'0' <= 9 }

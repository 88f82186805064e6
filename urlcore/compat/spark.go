package compat

import (
	"strings"
	"unicode/utf8"
)

// Spark is a URL as parse_url(url, part) of Spark reads it: by java.net.URI. A method that returns false has Spark's NULL.
// The zero Spark is what does not parse: it is NULL in all parts, as it is in Spark without ANSI mode and with
// try_parse_url. Values are substrings of the URL, as they stand there: nothing is decoded, and no letter changes its case.
type Spark struct {
	protocol, authority, userInfo, host, path, query, ref part
}

// part is a part of a URL that may be missing.
type part struct {
	text  string
	there bool
}

func (p part) get() (string, bool) { return p.text, p.there }

// ParseSpark reads url as java.net.URI does. The error is a [*SparkError]: what parse_url says in ANSI mode, where it ends
// the query, and else is NULL for. What is not UTF-8 in url counts as U+FFFD, by Java's rules for how many.
func ParseSpark(url string) (Spark, error) {
	p := uriParser{in: javaText(url)}
	if p.parse(); p.failure != nil {
		p.failure.Input = p.in
		return Spark{}, p.failure
	}
	return p.out, nil
}

// SparkError says why Spark does not take a text for a URL.
type SparkError struct {
	Input  string // in UTF-8
	Pos    int    // the byte of Input; the releases of Java point at the character, or at what it is part of
	Reason string // as java.net.URISyntaxException has it, such as "Illegal character in path"
	// Fatal is set where Java fails with another exception, which Spark does not expect: the query ends then whatever the
	// mode is. That is so for numbers of more than 31 bits in the IPv4 part of an IPv6 address.
	Fatal bool
}

// Error returns the reason and the byte.
func (e *SparkError) Error() string { return e.Reason + " at byte " + itoa(e.Pos) }

// Protocol is parse_url(url, 'PROTOCOL').
func (u Spark) Protocol() (string, bool) { return u.protocol.get() }

// Authority is parse_url(url, 'AUTHORITY').
func (u Spark) Authority() (string, bool) { return u.authority.get() }

// UserInfo is parse_url(url, 'USERINFO').
func (u Spark) UserInfo() (string, bool) { return u.userInfo.get() }

// Host is parse_url(url, 'HOST'): NULL for hosts with an underscore, a label that ends in a hyphen, other letters than those
// of ASCII, and whatever else is no host by RFC 2396.
func (u Spark) Host() (string, bool) { return u.host.get() }

// Path is parse_url(url, 'PATH').
func (u Spark) Path() (string, bool) { return u.path.get() }

// Query is parse_url(url, 'QUERY').
func (u Spark) Query() (string, bool) { return u.query.get() }

// Ref is parse_url(url, 'REF'), the fragment.
func (u Spark) Ref() (string, bool) { return u.ref.get() }

// File is parse_url(url, 'FILE'): the path, with the query behind it where there is one.
func (u Spark) File() (string, bool) {
	if u.query.there {
		return u.path.text + "?" + u.query.text, true
	}
	return u.path.get()
}

var sparkParts = map[string]func(Spark) (string, bool){
	"HOST": Spark.Host, "PATH": Spark.Path, "QUERY": Spark.Query, "REF": Spark.Ref,
	"PROTOCOL": Spark.Protocol, "FILE": Spark.File, "AUTHORITY": Spark.Authority, "USERINFO": Spark.UserInfo,
}

// Part is parse_url(url, name). Names that Spark does not know, also those in lower case, give NULL.
func (u Spark) Part(name string) (string, bool) {
	if get, ok := sparkParts[name]; ok {
		return get(u)
	}
	return "", false
}

// Param is parse_url(url, 'QUERY', key): what stands behind the first "key=" that follows a "&" or begins the query.
func (u Spark) Param(key SparkKey) (string, bool) {
	if !u.query.there {
		return "", false
	}
	q := u.query.text
	for i := 0; i <= len(q); i++ {
		end := -1
		if i < len(q) && q[i] == '&' {
			end = key.match(q, i+1)
		}
		if i == 0 && end < 0 {
			end = key.match(q, 0)
		}
		if end >= 0 {
			value, _, _ := strings.Cut(q[end:], "&")
			return value, true
		}
		if i < len(q) {
			next := strings.IndexByte(q[i+1:], '&')
			if next < 0 {
				break
			}
			i += next
		}
	}
	return "", false
}

// SparkKey is the third argument of parse_url, which is part of a regular expression there: '.' in it stands for any
// character. The zero SparkKey is the empty name.
type SparkKey struct {
	items []keyItem
}

// keyItem is a text or, where it is empty, any one character.
type keyItem string

// KeyError says which character of a key means something else to Spark than itself or any character.
type KeyError struct {
	Key string
	Pos int // the byte
}

// Error returns the key, the byte, and what to do about it.
func (e *KeyError) Error() string {
	return "the key " + e.Key + " is a regular expression to Spark because of its byte " + itoa(e.Pos) + ": put \\ before a character that is to stand for itself"
}

// ParseSparkKey reads a key as Java's regular expressions do. Literal characters, those with a backslash before them, and '.'
// are taken; a key with another construct gives a [*KeyError], and so does what would be no regular expression at all, such
// as "ids[]".
func ParseSparkKey(key string) (SparkKey, error) {
	text := javaText(key)
	var k SparkKey
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			k.items = append(k.items, keyItem(literal.String()))
			literal.Reset()
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '.':
			flush()
			k.items = append(k.items, "")
		case c == '\\' && i+1 < len(text) && text[i+1] < utf8.RuneSelf && !alphanumeric.has(text[i+1]):
			i++
			literal.WriteByte(text[i])
		case strings.IndexByte(`\^$|?*+()[{`, c) >= 0:
			return SparkKey{}, &KeyError{Key: key, Pos: i}
		default:
			literal.WriteByte(c)
		}
	}
	flush()
	return k, nil
}

// match returns the end of the key and its "=" in s from i on, or -1.
func (k SparkKey) match(s string, i int) int {
	for _, item := range k.items {
		switch {
		case item == "":
			_, n := utf8.DecodeRuneInString(s[i:])
			if n == 0 {
				return -1
			}
			i += n
		case strings.HasPrefix(s[i:], string(item)):
			i += len(item)
		default:
			return -1
		}
	}
	if i < len(s) && s[i] == '=' {
		return i + 1
	}
	return -1
}

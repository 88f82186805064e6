// Package rfc3986 implements the grammar and the reference resolution of RFC 3986, "Uniform Resource Identifier (URI):
// Generic Syntax".
//
// It is for programs that have to know what the RFC says about a text: whether a validator of another system will
// accept it, where its components are, what a reference resolves to by the RFC's rules. What a browser does with a
// text is the URL Standard's to say, and package urlcore's: it accepts more, changes what it accepts, and resolves
// in another way (a backslash is a slash, %2e%2e is a dot segment, a lone "http:" is relative).
//
//   - [Split] divides any text into the five components and never fails; [Parse] accepts what the grammar accepts.
//   - A [Production] is a rule of the grammar to match a text with.
//   - [Resolve] and [RemoveDotSegments] are the algorithms of section 5.2.
//
// A component that is absent is not the same as one that is empty: "http://h?" has an empty query and "http://h" none.
//
// The functions work on bytes; a byte above 0x7F is nowhere in the grammar. Splitting, parsing and matching allocate
// nothing: the strings in a [Ref] are parts of what was split.
package rfc3986

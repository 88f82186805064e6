// Package form reads and writes application/x-www-form-urlencoded, the format of queries and of forms
// (https://url.spec.whatwg.org/#application/x-www-form-urlencoded), and holds the list of name and value pairs that
// the standard calls URLSearchParams.
//
// There are three layers:
//
//   - [Next] and [AppendDecode] walk over a raw query without allocating anything, for programs that look at many
//     queries. [AppendDecodeBytes] leaves it to the caller to say what encoding the bytes are in.
//   - [Parse], [AppendPairs] and [AppendParse] turn a query into pairs and back; [Serializer] does so with another
//     encoding, another percent-encode set, or %20 for spaces.
//   - [Params] is the list with the methods of the URLSearchParams class. It can be bound to an owner, such as a URL,
//     that is told about each change.
//
// # Plus signs
//
// In this format a plus sign means a space, and it is replaced before percent-decoding, so that %2B stays a plus
// sign. Elsewhere in URLs it has no such meaning: package percent decodes those parts.
//
// # Text
//
// Names and values are decoded as UTF-8 without removal of a byte order mark, each maximal ill-formed part giving one
// U+FFFD. Strings handed to [Params] and to the parser for strings are treated the same way first, as the conversion
// to scalar values of Web IDL does, so every name and value of a list is well-formed UTF-8.
package form

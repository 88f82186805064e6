// Package percent encodes and decodes by percent signs, in the URL Standard's way and in the ways of its neighbours.
//
// # The URL Standard
//
// A [Set] says which bytes are encoded. [AppendEncode] encodes and [AppendDecode] decodes bytes; what encoding text is
// in is the caller's part, or that of package charset. The sets of the standard are the variables from [C0Control]
// to [FormURLEncoded].
//
// # Variants
//
// Each is named in its operations, since the results of one are no input for another:
//
//   - ECMA-262: [EncodeURI], [EncodeURIComponent], [DecodeURI], [DecodeURIComponent], [Escape], [Unescape], on strings
//     and, with names that end in 16, on UTF-16.
//   - OAuth 1.0: [EncodeOAuth], [DecodeOAuth].
//   - Header fields: [AppendExtValue] and [ParseExtValue] for filename*= and the like, [AppendALPN] for protocol ids.
//   - URI Template: [EncodeTemplateSimple], [EncodeTemplateReserved].
//   - CGI: [CGISet]. IRIs: [IRIToURI].
//   - Form data: package form, and [AppendDecodePlus] with [PlusIn] where it is open whether there is any.
//
// [Sets] lists the sets of all of them, and the methods of Set compare them.
//
// # Once and no more
//
// Encoding twice changes data, and so does decoding twice. [AppendEncode] with a set that holds the percent
// sign is for data that is not encoded yet; [FixUp] is for text that is, but not completely.
//
// # Malformed input
//
// A percent sign that begins no triplet stands for itself. [AppendDecodeStrict] makes it an error, [NextNotation]
// tells what it may be, and [CheckUTF8] reports whether triplets are UTF-8. Functions that take a string take text:
// each maximal ill-formed part of it counts as U+FFFD. Functions that take bytes take them as they are.
package percent

// Package charset is what the URL Standard and HTML need of the Encoding Standard
// (https://encoding.spec.whatwg.org/): its 40 encodings by their 228 labels, decoding with and without byte
// order marks, in one go or in chunks, and encoding, right for every code point.
//
//   - [Lookup] turns a label into an [Encoding], [Encoding.Output] into the one that URLs and forms use.
//   - [AppendDecode] looks for a byte order mark first; [AppendUTF8], [AppendUTF8WithBOM], [AppendUTF8OrFail]
//     and [AppendIsomorphicDecode] are the other hooks for standards. [Context.Rule] says which applies where,
//     [Determine] which of several encodings counts.
//   - [Decoder] is the TextDecoder of the web: chunks, fatal mode, byte order marks.
//   - [AppendPercentEncode] encodes a part of a URL, [Encoding.AppendEncode] a document or form.
//
// All functions append to a buffer of the caller and keep nothing of what they are given. Text is UTF-8; as
// an input of encoders each maximal ill-formed part of it counts as U+FFFD, so that lone surrogates, which
// UTF-8 has no form for, can't get in.
//
// # Tables
//
// The character tables are those of golang.org/x/text. Its decoders and encoders are not used, since they
// differ from the standard: in the length of errors, in the C1 controls of code pages, in Shift_JIS's
// user-defined characters, in which of two places a code point is encoded to, and more. Instead the tables
// are read off x/text's decoders when an encoding is first used, completed where it lacks characters
// (gb18030), and the standard's algorithms run on them. That takes about half a millisecond and up to 235 KB
// for an East Asian encoding, microseconds and about 10 KB for the others, once per encoding; UTF-8,
// UTF-16, replacement and x-user-defined have no tables. From then on neither decoding nor encoding
// allocates anything but what the destination needs to grow.
package charset

// Package charset is what the URL Standard and HTML need of the Encoding Standard: its 40 encodings by
// their 228 labels, decoding with and without byte order marks, in one go or in chunks, and encoding, right
// for every code point.
package charset

// Package gunzip decompresses gzip files (RFC 1952), as half of the logs of clouds are, in half the time of the packages of
// klauspost/compress, of whose errors it returns the same.
//
// It differs by a bit buffer of 64 bits that is filled a word at a time, by tables whose entries have all that there is to know of a
// symbol, and by decoding into one buffer with the window before it.
package gunzip

// Package runs keeps sets of keys in files that are written once, each in the order of its keys.
//
//	Set      memory: batches of keys, sorted ──full──> a run ──eight of a size──> a larger run
//	           │ asked first: Filter of all keys            (merged in the background)
//	Run      blocks of 256 keys │ index: first key and length of each block │ trailer
//	block    heads (two or three bits a key) │ middles │ values │ lows (64 bits a key) │ sum
//
// Keys are hashes: 128 bits each, evenly spread. In order, N of them differ from their neighbours by 128 - log2 N bits, and that
// is what a block keeps of a key: less than 13.5 bytes where a run has ten million. Keys that are not spread are kept as well,
// and found more slowly.
//
// A key has a number with it, its value, such as that of the commit it came with. A block keeps as many bits of it as the
// values of the block differ by.
//
// A run is read by a few calls of ReadAt and has no name here: it may be a file, a part of one, or an object of a store. What is
// read is checked by sums, and a file that lies about its sizes is refused before memory is made for what it claims.
package runs

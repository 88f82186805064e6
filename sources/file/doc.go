// Package file is the source of files and standard input: one lane per file, one record per line.
//
// Files may be compressed by gzip, zstd, snappy or S2 (framed), LZ4 (frames), bzip2 or xz. That is told by their
// content, never by their name.
//
//	open -> recognise -> decompress -> chunks | lines -> codec -> batch
//	   a goroutine per open file              |   the goroutine of the lane
//
// With a sink that keeps positions, files are matched with the lanes that it has before they are handed out: a file is known
// by its content (mark.go, match.go).
//
// The position of a record is its number in the file, from 0 on. Lines that the codec leaves out count.
package file

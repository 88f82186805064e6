// Package compact puts few large files in the place of many small ones, exactly: no row of an output is lost, or twice,
// whatever dies on the way, while pipelines and other compactions go on beside it.
//
// What is small is found from the commit records alone ([plan]); the files of one directory that follow each other are
// merged into one whose bytes are durable before anything is said of it; and the compaction becomes true with its own
// record, see [commit.Compaction], from which on any process finishes what this one does not come to.
package compact

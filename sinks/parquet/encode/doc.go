// Package encode writes Parquet files from Arrow records: levels, values, pages, chunks, indices and footer. It knows
// the format and nothing of lanes or directories.
//
// # From a record to a file
//
//	record ──attach──> views of its buffers, one for each node on the way to a leaf
//	       ──shred───> open page of each leaf: levels in runs, values as they stand in Arrow, lengths
//	                   │ full (bytes, rows), or the row group ends
//	       ──flush───> encoding, bounds, compression, checksum ──> rope of the chunk
//	                   │ the row group is full (rows, bytes), or memory is short
//	       ──Flush───> chunks, bloom filters to the file; footer and page index grow in flat arrays
//	       ──Close───> page index, footer
//
// A row is copied once into its open pages, which stay in the caches, and is encoded when they are full; what a row
// group holds until it is written are finished, compressed pages. There is no object for a value or for a row. All memory
// that is not small is borrowed from pools that the writers of the process share, and is given back with each row group,
// so that a thousand writers that wait cost little.
//
// # Choices
//
// An encoding is chosen for each chunk from the values of its first page. Texts that repeat get a dictionary, until that
// gets too large; other texts are DELTA_LENGTH_BYTE_ARRAY, which keeps the lengths out of the way of the codec and costs
// a copy. Integers are DELTA_BINARY_PACKED unless that is longer than they are, or have 64 bits and may be null: arrow v15
// cannot read those. Everything else is PLAIN.
//
// Pages begin with rows, in version 1 as well. Version 1 is the default, because there are readers that know no other.
// Bounds are copies, and are cut where they are long. Distinct values are not counted.
package encode

// Package parquet is the sink that writes Parquet files.
//
// The files of a lane are named <stream>-<partition>-<first>-<next>-<id>.parquet after the positions that they
// hold; each ends with a commit. A file appears under its name when it is complete and durable, and is never
// replaced.
//
// # Encoders
//
// Files are encoded by package encode. Arrow v15's column writers are the other choice, and the reference in the tests.
//
// # Arrow's encoder, and why pages are cut here
//
// Arrow v15 writes the column chunks, but decides nothing. Its writer, left to itself, makes files that some
// readers refuse or read wrongly, and in places never ends:
//
//   - A V2 data page has to begin with a row. Through pqarrow, columns with nulls are written in batches of
//     1,024 levels with the page limit checked after each, so that a list goes on in the next page
//     (arrow-go#883); parquet-go refuses such files, and readers that skip pages by row would be off.
//   - The low-level WriteBatch does keep pages to rows, by looking for a row's start backwards from the end of
//     a batch. For a row with more list elements than a batch it finds its own start, over and over.
//   - V1 pages have no such rule, but level buffers grow by four bytes with every write to them there, copying
//     all that is in them (arrow#41541): 2 times slower for our columns, and without bound for larger pages.
//   - A dictionary that outgrows its limit is given up on in the middle of a batch, which writes its page and
//     the pages so far and begins new ones.
//   - Errors of nested columns and of Close are dropped (arrow-go#921, #1050), and a failed first write panics.
//   - Minima and maxima of strings keep pointing into the caller's memory until the row group is closed
//     (arrow-go#917), and zero distinct values are claimed for every column (arrow-go#807).
//
// So rows are copied into a row buffer that lives until the row group is closed; levels are made here, for the
// rows of one page at a time; each page is one WriteBatch, whose batch size is beyond any page, and one
// explicit FlushCurrentPage; page and dictionary limits of arrow are out of reach; whether a column gets a
// dictionary is decided before its first page from a sample. A shield takes errors of the file away from
// arrow and keeps them for us, and the footer is parsed, checked against what was written, and corrected
// before it goes out. Copies cost 5 to 10 % of the time; with the rest of pqarrow gone it is still 1.3 to 2 times
// as fast as pqarrow on a clickstream.
//
// A page of a plain column is about [Options.PageBytes] large. Two MiB is twice of what is usual, since v15
// makes a new zstd encoder with its window for every page (arrow#40113).
package parquet

// Package columns parses batches of URLs into component columns.
//
// The input is a buffer of URLs back to back with their ends, the output one column for every component that
// was asked for, in the layout of Apache Arrow: a value buffer, 32-bit offsets (one more than rows), and a
// validity bitmap in which bit i%8 of byte i/8 stands for row i. The buffers belong to the [Columns] and are
// reused by the next Parse.
//
// Every row keeps its place. A row that is no URL is null in every column and has its [Error] instead.
package columns

// Package udf is the protocol of "urlmill udf clickhouse": an executable user defined function of ClickHouse, which gets
// blocks of URLs on standard input and answers each by as many rows on standard output.
//
// A block is answered when it is there, never later: ClickHouse writes one and waits for its rows before it lets go of
// the process, which stays in the pool for the next block. What the end of a block is depends on the format:
//
//   - RowBinary has none, so rows are answered whenever there is nothing more to read without waiting. With chunk headers
//     (send_chunk_header) a line with the number of rows comes first, and the rows are parsed in larger batches.
//   - Native: a block says how many rows it has, and of which types. It is answered by one block, in the same way.
//   - ArrowStream: a block is a stream with a schema and an end. The end of the answer is not written: ClickHouse stops
//     reading at the last row, and would find the end of the last answer before the next one.
//   - Arrow: a block is a file, and so is the answer. ClickHouse reads files to the end of the pipe, so that this is for
//     functions of type executable, whose process ends with the block.
//
// Columns go back as they are in urlmill's tables. One column is the value itself; more are a Tuple with their names.
package udf

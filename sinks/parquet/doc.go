// Package parquet is the sink that writes Parquet files.
//
// The files of a lane are named <stream>-<partition>-<first>-<next>-<id>.parquet after the positions that they
// hold; each ends with a commit. A file appears under its name when it is complete and durable, and is never
// replaced.
//
// Package encode encodes them; this one maps schemas, sorts, and knows lanes. Readers of other libraries are the reference in
// the tests.
package parquet

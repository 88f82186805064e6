// Package readers reads files with DuckDB, pyarrow and parquet-go, and gives back the values in one form, so that
// they can be compared with each other and with what was written.
package readers

// Package rowbuf collects rows of Arrow records in contiguous columns that belong to the collector, for
// encoders that need many rows at once and keep pointing into them: arrow v15's Parquet statistics alias the
// values they were given until the row group is closed, while the records themselves are reused by their
// owners at once.
package rowbuf

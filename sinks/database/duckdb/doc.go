// Package duckdb loads rows into a database file of DuckDB, in one transaction with the position after them. One process at a
// time has the file.
//
// DuckDB is C++, so that the driver is built with the tag duckdb and a C compiler alone; the static binary
// knows its options alone.
package duckdb

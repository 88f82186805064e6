// Package dbtest has what the tests of databases need: servers that are started for them, processes that are killed in
// the middle of a load, and the rows that these load.
package dbtest

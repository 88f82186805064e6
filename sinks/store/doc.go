// Package store is the place that files are delivered to: a directory of a local or network file system.
//
// A [Store] does two things. It keeps small objects that are created exclusively, of which commit records are made:
// of two processes that create the same key, one succeeds. And it takes data files that are invisible while they are
// written, survive a crash once they are settled, and then get their final name in a step that two processes may
// take at the same time.
//
// In a directory, a data file is written in _tmp/<run>/, a place that Spark, Hive, Trino and Arrow datasets skip
// because of its underscore and that *.parquet does not match because of the suffix .tmp. _tmp/<run>/lock is locked
// for as long as the process lives; the system lets go of it when the process ends, however that came about, so that
// others can tell unfinished files in work from those that were left behind.
package store

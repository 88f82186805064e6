// Package outfile writes files into a directory so that a reader of the directory never sees one that is not
// complete, and so that no file is ever overwritten.
//
// A file is written in _tmp/<run>/ below the directory, a place that Spark, Hive, Trino and Arrow datasets
// skip because of its underscore and that *.parquet does not match because of the suffix .tmp. When it is
// complete it is synced, then renamed to its final name in a way that fails when the name is taken, and then
// the directory is synced.
//
// _tmp/<run>/lock is locked for as long as the process lives. What a process that died has left there is
// removed by the next one to open the directory, which can tell from the lock: the system lets go of it when
// its process ends, however that came about. On systems without flock nothing is removed.
package outfile

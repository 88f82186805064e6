// Package shard keeps the keys of a lane's committed rows in the output, where each commit names them.
//
//	commit record ──names──> list: the runs that count, and the keys of the commit as a run behind it
//	                           └──> runs of earlier commits, and of merges
//
// Files are written once. The keys of a commit are durable before its record is created, and known from then on: what the chain says
// of rows is true of keys, whatever dies, and a process that takes a lane over reads the list of the last commit. A file that no list
// names is of a commit that was never made, or was replaced by a merge; it is removed by the process that has the lane.
package shard

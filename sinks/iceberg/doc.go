// Package iceberg makes a table of the files of a commit chain: what the chain has committed is registered in an Apache
// Iceberg table, without being written again.
//
// The chain stays the truth. The table says how far it has come, by lane, in a property that changes in the same commit
// as the files that are added, and each snapshot's summary has the positions that it moved. So it can be told at any time
// what the chain names and the table does not have, and nothing is added twice, whoever dies when. Commits to the table are
// conditional on the snapshot that the positions were read with: of two processes that add the same files, one is refused
// and finds its work done.
//
// docs/design/iceberg.md has the reasons.
package iceberg

// Package verify proves an output with exactly-once delivery from its commit records: that they follow each other
// without a gap or an overlap, that every file they name is there with its bytes, its checksum and its rows, and that no
// other file can be seen.
//
// It changes nothing, and may look at an output while others write to it. [Repair] does what the next start would do:
// it publishes what is committed, and removes what dead processes have left behind.
package verify

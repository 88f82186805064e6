// Package commit is the chain of commits by which every position of a lane gets into the output exactly once,
// whatever dies on the way.
//
// The output itself says how far it goes. For every lane there is a directory of records,
//
//	_commits/<stream>/<partition>/start.json                       the lane's first position
//	_commits/<stream>/<partition>/00000000000000000500.json        what was committed from position 500 on
//	_commits/<stream>/<partition>/00000000000000001500.json        the next commit, which begins where the last ended
//	_commits/<stream>/<partition>/checkpoints/<position>.jsonl     256 records in one file
//
// and the position after the last record is where reading goes on. A commit takes these steps:
//
//  1. The data files are complete and durable under temporary names.
//  2. The record is created, exclusively, under the position at which it begins. That is the commit: before it,
//     nothing has happened; after it, everything has, whatever fails.
//  3. The files get their names. A process that finds a record at the head whose files do not have them yet finishes this.
//
// A process that believes that it owns a lane, while another has gone on with it, finds its position taken in step 2, however
// late it wakes up, and drops its work. Records are removed only when a checkpoint has them and some time has passed. As a
// position can be free again then, a process that has created a record looks for a newer checkpoint before it goes on to
// step 3.
//
// docs/design/commit-chain.md has the reasons, and what the tests try.
package commit

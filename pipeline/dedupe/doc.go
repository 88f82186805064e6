// Package dedupe finds rows whose key was there before, in a [Sink] around another sink.
//
//	pipeline ──> dedupe.Sink ──> sink            State: DIR/db      keys of committed rows, journals (Pebble)
//	               │  claims: keys of rows               DIR/runs    keys of committed rows, where there is no window
//	               │                                     DIR/filter  snapshot of the filters, where they are approximate
//	               └─ that are not committed yet
//
// A row is a duplicate if its key is that of a committed row, of an earlier row of the same commit, or of a row that
// another lane of this process has not committed yet. If such a lane is lost, its rows are read again from where it had
// committed, so that the key is written then: a row is taken for a duplicate only where another one is, or comes.
//
// A commit has three steps: the keys are journaled durably; the inner sink commits; the journaled keys become keys of
// committed rows. What a crash leaves in the journal is decided by the position that the inner sink has: at or after
// the end of the journal's rows, they were committed; else they were not, and are read again.
package dedupe

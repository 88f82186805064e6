// Hostile gives urlmill input that somebody has made to end it: to crash it, to take its memory, its time or its file
// descriptors, to get a secret out of it, or to stop it at the same place for ever.
//
//	make hostile
//
// Each case is a process, or two, with 256 MiB and a limit of time. Every input is made here, from a seed (URLMILL_SEED).
// docs/design/hostile.md says what is counted, and how.
package main

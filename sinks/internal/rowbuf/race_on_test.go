//go:build race

package rowbuf

// raceEnabled tells that the race detector is on, with which the compiler puts values on the heap that it leaves on the stack
// otherwise.
const raceEnabled = true

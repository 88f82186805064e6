//go:build race

package encode_test

// raceEnabled tells that the race detector is on, under which a sync.Pool drops every fourth value.
const raceEnabled = true

// Package storetest has what is needed to test a store and what is built on it: a disk in memory that forgets what was
// not synced when the power fails, processes on it that can be stopped before any call to the system, and a file
// system that counts its calls.
package storetest

// Package codectest holds records of every codec that urlmill has, as real programs write them, for tests and benchmarks.
package codectest

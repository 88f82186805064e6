// Command chaos breaks everything that urlmill depends on, and holds every column of every row against what was produced.
//
// It runs the real binary against a real Apache Kafka, kills and stops processes and brokers, cuts networks, fills disks,
// and in the end reads the output back: every record that the broker has acknowledged has to be in it exactly once, every
// column has to be what the record gives, and "urlmill verify" has to find nothing. It prints what it did and one last line,
//
//	faults=N rows=N lost=N duplicated=N wrong=N
//
// and exits with 1 unless lost, duplicated and wrong are 0 and everything else was as expected. `make chaos` runs it for
// about three quarters of an hour and writes the report into docs/reliability.md; `make chaos QUICK=1` takes some minutes.
//
// URLMILL_SEED makes a run repeatable as far as clocks and processes allow: what is chosen at random follows from it and from
// the name of the scenario. Package facts says what was produced, package check compares.
package main

// Command chaos breaks everything that urlmill depends on, and counts the rows.
//
// It runs the real binary against a real Apache Kafka, kills and stops processes and brokers, cuts networks, fills disks,
// and in the end reads the output back: every record that was produced has to be in it exactly once, and
// "urlmill verify" has to find nothing. It prints what it did and one last line,
//
//	faults=N rows=N lost=N duplicated=N
//
// and exits with 1 unless lost and duplicated are 0 and everything else was as expected. `make chaos` runs it for about
// half an hour and writes the report into docs/reliability.md; `make chaos QUICK=1` takes some minutes.
package main

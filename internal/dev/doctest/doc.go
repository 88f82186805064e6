// Package doctest runs the commands of README and docs, and keeps the lists in docs complete that follow from the code.
//
// Every fenced block marked sh is run by bash, from top to bottom, in an empty folder with the files of testdata/files, the
// folder examples, and urlmill on the PATH; a command that fails fails the test. A block that cannot run there has the
// reason in the line above it: <!-- not run: reason -->.
//
// Links have to lead somewhere, every page has to be reached from README, and the keys and targets that pages name have to be
// there. Figures of README, docs/performance.md and docs/plugins are those of benchmarks/results. Pages that promise something
// end with a table of the tests that prove it, and those have to be there.
//
// The configurations of docs/plugins for hosts that keep a program beside them are run as well: by what the host does to a
// program, and, where "make hosts" can get it, by the host itself. Such a test is skipped where the host is missing, and fails
// with URLMILL_REQUIRE_HOSTS=1.
package doctest

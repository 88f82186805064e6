// Command urlmill reads URLs from Kafka, files or standard input, parses them by the WHATWG URL Standard and
// writes their parts as columns of Parquet, Arrow or NDJSON, into files, topics or tables of databases.
package main

import (
	"os"
	"runtime/debug"

	"github.com/urlmill/urlmill/internal/wire"
)

func main() { os.Exit(mainCode()) }

// mainCode runs the command of this process and returns its exit code.
func mainCode() int {
	// A panic, a fault or the end of memory exits with 2 otherwise, which says that the configuration is wrong and that it is
	// useless to start again.
	debug.SetTraceback("crash")
	return execute(os.Args[1:], &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		components: wire.Standard(),
	})
}

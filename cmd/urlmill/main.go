// Command urlmill reads URLs from Kafka, files or standard input, parses them by the WHATWG URL Standard and
// writes their parts as columns of Parquet, Arrow or NDJSON, into files, topics or tables of databases.
package main

import (
	"os"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/wire"
)

func main() { os.Exit(mainCode()) }

// mainCode runs the command of this process and returns its exit code.
func mainCode() int {
	return execute(os.Args[1:], &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		registry: wire.Standard(),
	})
}

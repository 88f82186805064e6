// Command v18 makes passes with arrow v18 for bench-parquet: "v18 TABLE", with a table as an Arrow IPC stream, reads names of
// codecs, one a line, and answers each with a pass as JSON. The two versions of arrow cannot be linked into one
// program, since their assembly has the same symbols.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/urlmill/urlmill/benchmarks/parquet/pass"
)

const (
	groupRows = pass.GroupRows
	batchRows = pass.BatchRows
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "v18:", err)
		os.Exit(1)
	}
}

func run(table string) error {
	runtime.GOMAXPROCS(1)
	schema, records, err := read(table)
	if err != nil {
		return err
	}
	e, err := newArrow18(schema, records)
	if err != nil {
		return err
	}
	answer := json.NewEncoder(os.Stdout)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		r, err := pass.Run(e.encode, in.Text())
		if err != nil {
			return err
		}
		if err := answer.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

func read(name string) (*arrow.Schema, []arrow.Record, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	r, err := ipc.NewReader(f)
	if err != nil {
		return nil, nil, err
	}
	defer r.Release()
	var records []arrow.Record
	for r.Next() {
		rec := r.Record()
		rec.Retain()
		records = append(records, rec)
	}
	return r.Schema(), records, r.Err()
}

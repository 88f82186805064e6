// Command lake measures the way of JSON clicks from Kafka to where a query finds them, by "urlmill run": as Parquet files in a folder, as an
// Iceberg table of a REST catalog (Apache Iceberg's own), and as tables of PostgreSQL and ClickHouse.
//
// Two things are measured of each form. Throughput: a topic that is full is read to its end; what counts is the time of the CPU of the process, from
// its start to its end. Freshness: a producer sends at a steady rate, rows are committed every two seconds, and a reader asks the table (a folder, the
// catalog, a SELECT) which positions it has; what counts for each record is the time from its timestamp in Kafka to the first answer with it.
// The broker (kfake), the catalog and the databases are processes of their own on the same cores.
//
// Environment: QUICK=1 measures less. ONLY is the name of a form.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urlmill/urlmill/benchmarks/internal/broker"
	"github.com/urlmill/urlmill/benchmarks/internal/results"
	"github.com/urlmill/urlmill/benchmarks/internal/standin"
)

const (
	seed       = 20261121
	partitions = 4
	topic      = "clicks"
)

// bench is a run of the benchmark.
type bench struct {
	rows    int64
	rounds  int
	rate    int     // records a second of the producer
	seconds float64 // that it produces for
	binary  string
	dir     string
	brokers string
	bytes   int64 // of all records
	runs    int
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == broker.Command {
		exit(brokerChild(os.Args[2:]))
	}
	exit(run())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-lake:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run() (err error) {
	b := &bench{rows: 2_000_000, rounds: 3, rate: 10_000, seconds: 60}
	if os.Getenv("QUICK") == "1" {
		b.rows, b.rounds, b.seconds = 400_000, 1, 10
	}
	out := flag.String("out", "results/lake.json", "where to write the results")
	flag.StringVar(&b.binary, "binary", "../bin/urlmill", "the program")
	flag.Int64Var(&b.rows, "rows", b.rows, "records of the topic")
	flag.IntVar(&b.rounds, "rounds", b.rounds, "rounds, of which the median counts")
	flag.IntVar(&b.rate, "rate", b.rate, "records a second for the time until they can be seen")
	flag.Float64Var(&b.seconds, "seconds", b.seconds, "how long they are produced")
	flag.Parse()
	if b.binary, err = filepath.Abs(b.binary); err != nil {
		return err
	}
	tb := standin.New("bench-lake")
	defer func() {
		if failed := tb.End(recover()); err == nil {
			err = failed
		}
	}()
	b.dir = tb.TempDir()
	b.bytes = bytesOf(b.rows)
	addr, end, err := broker.Start(broker.Fake, fmt.Sprint(b.rows))
	if err != nil {
		return err
	}
	defer end()
	b.brokers = addr
	r := report{Head: results.NewHead(), Rows: b.rows, RecordBytes: float64(b.bytes) / float64(b.rows), Rounds: b.rounds, Rate: b.rate, DollarsPerVCPUHour: dollars}
	for _, f := range forms() {
		if only := os.Getenv("ONLY"); only != "" && only != f.name {
			continue
		}
		x, err := b.measure(tb, f)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		r.Results = append(r.Results, x)
		x.print()
	}
	r.print(os.Stdout)
	return results.Write(*out, &r)
}

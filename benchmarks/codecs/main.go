// Command codecs measures how fast every codec takes its records apart, and what a line of the Combined Log Format costs
// together with its URL and its referer. It writes a table and JSON. Everything takes turns, and what counts is the time
// of the CPU, so that a busy machine is busy for everyone.
//
// Environment: QUICK=1 takes less than 50 s. ONLY=NAME[,NAME] measures those codecs alone and leaves the others in the
// results as they are.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urlmill/urlmill/benchmarks/internal/results"
	"github.com/urlmill/urlmill/benchmarks/internal/turns"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/codectest"
	"github.com/urlmill/urlmill/urlcore/columns"
)

// batchRows is how many records a batch has, as in a pipeline.
const batchRows = 8192

// report is the JSON file.
type report struct {
	results.Head
	Repetitions int            `json:"repetitions"`
	Codecs      []turns.Result `json:"codecs"`
	// Combined are lines of the Combined Log Format, step by step: each has the steps before it in it.
	Combined []turns.Result `json:"combined"`
}

// newJob makes the job of a codec. after, if given, takes every full batch.
func newJob(name string, c codectest.Case, after func(*pipeline.Batch)) *turns.Job {
	records := make([][]byte, batchRows)
	total := 0
	for i := range records {
		records[i] = c.Record(i)
		total += len(records[i])
	}
	k, b := c.Factory().New(), &pipeline.Batch{}
	k.Prepare(b)
	for _, line := range c.Prologue {
		k.Decode(b, []byte(line))
	}
	j := &turns.Job{Rows: len(records)}
	j.Name, j.MeanBytes = name, float64(total)/float64(len(records))
	j.Work = func() {
		decode(k, b, records)
		if after != nil {
			after(b)
		}
	}
	j.Work()
	if len(b.Faults) > 0 || b.URLs.Len() != len(records) {
		panic(fmt.Sprintf("%s: %d faults in %d rows of %d records", name, len(b.Faults), b.URLs.Len(), len(records)))
	}
	return j
}

func decode(k codec.Codec, b *pipeline.Batch, records [][]byte) {
	b.Reset()
	k.Prepare(b)
	for _, record := range records {
		k.Decode(b, record)
	}
}

// parse parses what codecs have filled in: the ends are right, and the batches small.
func parse(cols *columns.Columns, data []byte, ends []int32) {
	if err := columns.Parse(cols, data, ends); err != nil {
		panic(err)
	}
}

// combinedJobs are the steps of a line of the Combined Log Format: the codec, all columns of its URL, those of its
// referer.
func combinedJobs(c codectest.Case) []*turns.Job {
	referer := slices.IndexFunc(c.Factory().Fields(), func(f pipeline.Field) bool { return f.Name == c.Referer })
	url := func(cols *columns.Columns) func(*pipeline.Batch) {
		return func(b *pipeline.Batch) { parse(cols, b.URLs.Data, b.URLs.Ends) }
	}
	first, second, other := new(columns.Columns), new(columns.Columns), new(columns.Columns)
	return []*turns.Job{
		newJob("codec", c, nil),
		newJob("codec, URL", c, url(first)),
		newJob("codec, URL, referer", c, func(b *pipeline.Batch) {
			url(second)(b)
			text := &b.Carried[referer].Text
			parse(other, text.Data, text.Ends)
		}),
	}
}

func run(out string, quick bool) error {
	r := report{Head: results.NewHead(), Repetitions: 15}
	slice := 40 * time.Millisecond
	if quick {
		r.Repetitions, slice = 7, 20*time.Millisecond
	}
	var jobs, steps []*turns.Job
	only := strings.FieldsFunc(os.Getenv("ONLY"), func(r rune) bool { return r == ',' })
	if len(only) > 0 {
		text, err := os.ReadFile(out)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &r); err != nil {
			return err
		}
	}
	for _, c := range codectest.Cases() {
		if len(only) > 0 && !slices.Contains(only, c.Name) {
			continue
		}
		jobs = append(jobs, newJob(c.Name, c, nil))
		if c.Name == "access_log/combined" {
			steps, r.Combined = combinedJobs(c), nil
		}
	}
	if len(only) == 0 || slices.Contains(only, "parquet") {
		j, err := tableJob()
		if err != nil {
			return err
		}
		jobs = append(jobs, j)
	}
	turns.Measure(append(slices.Clone(jobs), steps...), r.Repetitions, slice)
	fmt.Printf("%-34s %7s %9s %9s %9s %8s\n", "", "bytes", "ns", "least ns", "MB/s", "allocs")
	for i, j := range append(slices.Clone(jobs), steps...) {
		if i == len(jobs) {
			fmt.Println("a line of the Combined Log Format:")
		}
		fmt.Printf("%-34s %7.0f %9.1f %9.1f %9.0f %8.3f\n", j.Name, j.MeanBytes, j.NsMedian, j.NsMin, j.MBPerS, j.Allocs)
		if i < len(jobs) {
			r.Codecs = append(slices.DeleteFunc(r.Codecs, func(old turns.Result) bool { return old.Name == j.Name }), j.Result)
		} else {
			r.Combined = append(r.Combined, j.Result)
		}
	}
	return results.Write(out, &r)
}

func main() {
	out := flag.String("out", "results/codecs.json", "where to write the results")
	flag.Parse()
	if err := run(*out, os.Getenv("QUICK") == "1"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/demo"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/report"
	"github.com/urlmill/urlmill/examples"
)

// demoFiles reads the files back, counts their rows, and says how many there are, how large, and how fast they came.
func (a *app) demoFiles(d demonstration, s report.Summary) (files []string, err error) {
	files, err = demo.Files(d.folder)
	if err != nil {
		return nil, err
	}
	rows, err := demo.Rows(files)
	if err != nil {
		return nil, err
	}
	var size int64
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		size += info.Size()
	}
	a.say("3. read the files back: %s\n\n", plain.Plural(rows, "row"))
	a.say("rows           %s, %s rows/s\n", plain.Count(s.Totals.Rows), plain.Count(int64(s.RowsPerSecond())))
	a.say("files          %s, %s (%.1f bytes a row; read: %s)\n", plain.Plural(int64(len(files)), "Parquet file"), plain.Bytes(size),
		float64(size)/float64(max(rows, 1)), plain.Bytes(s.Totals.Bytes))
	return files, nil
}

// demoReasons says how many rows have an error, and which.
func (a *app) demoReasons(s report.Summary) {
	a.say("with an error  %s (%.2f %%), kept with their error:\n", plain.Plural(s.Totals.Invalid, "row"),
		100*float64(s.Totals.Invalid)/float64(max(s.Totals.Rows, 1)))
	const mostReasons = 8
	for i, r := range s.Reasons {
		if i == mostReasons {
			a.say("               %8s  %d other errors\n", plain.Count(sumRows(s.Reasons[i:])), len(s.Reasons)-i)
			break
		}
		a.say("               %8s  %s\n", plain.Count(r.Rows), r.Code)
	}
}

func sumRows(reasons []report.Reason) (sum int64) {
	for _, r := range reasons {
		sum += r.Rows
	}
	return sum
}

// demoTop shows the most frequent values of a column, in all rows or, if without names a column, in those where it is null.
func (a *app) demoTop(ctx context.Context, files []string, title, column, without string, n int) error {
	top, err := demo.Top(ctx, files, column, without, n)
	if err != nil {
		return err
	}
	a.say("\n%s\n", title)
	for _, d := range top {
		a.say("%10s  %s\n", plain.Count(d.Rows), plain.Text(d.Value))
	}
	return nil
}

// demoSample shows five rows of the first file.
func (a *app) demoSample(ctx context.Context, files []string, columns ...string) error {
	a.say("\nfive rows of %s\n", filepath.Base(files[0]))
	return demo.Sample(ctx, a.out, files[0], columns, 5, demoWidth(a))
}

// demoNext says what to do next: what for, and how.
func (a *app) demoNext(d demonstration, next ...[2]string) {
	a.say("\nwhat to do next\n")
	if d.out == "" && !d.keep {
		use := ""
		if d.use != examples.Clickstream {
			use = "--use " + d.use + " "
		}
		a.say("  %-31s urlmill demo %s--out demo-out\n", "keep the files and query them", use)
	}
	for _, line := range next {
		a.say("  %-31s %s\n", line[0], line[1])
	}
}

// kept is the folder of the files as it is named in what to do next.
func (d demonstration) kept() string {
	if d.out == "" && !d.keep {
		return "demo-out"
	}
	return d.folder
}

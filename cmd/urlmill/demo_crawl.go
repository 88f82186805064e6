package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/sources/generate"
)

const (
	// demoRepeats is the share of pages of the crawl that were there before.
	demoRepeats = 0.3
	// demoCrawlFiles is in how many files the crawl is.
	demoCrawlFiles = 4
)

// demoCrawl shows the use dedupe.
func (a *app) demoCrawl(ctx, drain context.Context, d demonstration, log *slog.Logger) error {
	a.say("%s URLs of a crawl from files into Parquet, with duplicates marked.\n", plain.Count(d.records))
	crawl := filepath.Join(d.work, "crawl")
	if err := os.Mkdir(crawl, 0o755); err != nil {
		return err
	}
	began := time.Now()
	planted, size, err := writeDemoCrawl(ctx, drain, crawl, d)
	if err != nil {
		return err
	}
	a.say("1. wrote %s (%s) to %d files in %s, of which %s have the page of an earlier one, in %.1f s\n",
		plain.Plural(d.records, "URL"), plain.Bytes(size), demoCrawlFiles, crawl, plain.Count(planted), time.Since(began).Seconds())
	c, err := a.demoConfig(d, map[string]string{"URLS": crawl, "OUTPUT": d.folder, "SEEN": filepath.Join(d.work, "seen")})
	if err != nil {
		return err
	}
	s, err := a.demoRun(ctx, drain, d, c, log)
	if err != nil {
		return err
	}
	files, err := a.demoFiles(d, s)
	if err != nil {
		return err
	}
	a.say("duplicates     %s marked, %s made\n", plain.Count(s.Duplicates), plain.Count(planted))
	a.demoReasons(s)
	if err := a.demoTop(ctx, files, "pages that are there most often", "canonical_url", "", 5); err != nil {
		return err
	}
	if err := a.demoSample(ctx, files, "is_duplicate", "url", "canonical_url"); err != nil {
		return err
	}
	if s.Duplicates != planted {
		return fmt.Errorf("%s duplicates were made, and %s marked", plain.Count(planted), plain.Count(s.Duplicates))
	}
	a.demoNext(d,
		[2]string{"ask DuckDB", fmt.Sprintf(`duckdb -c "select is_duplicate, count(*) from '%s/*.parquet' group by 1"`, d.kept())},
		[2]string{"dedupe files of your own", "urlmill parse crawl/ --dedupe drop --to parquet -o out/"},
		[2]string{"a hundred million URLs", "make dedupe-100m"},
	)
	return nil
}

// writeDemoCrawl writes the URLs, and returns how many repeat the page of an earlier one, and their size.
func writeDemoCrawl(ctx, drain context.Context, dir string, d demonstration) (planted, size int64, err error) {
	mix := generate.Distinct()
	mix["empty"] = 0 // empty lines are no records
	g, err := generate.NewGenerator(generate.Options{
		Records: d.records, Seed: d.seed, Format: generate.Lines, Profile: generate.Crawl,
		Mix: mix, Repeats: demoRepeats, RepeatsWithin: 1 << 32,
	})
	if err != nil {
		return 0, 0, err
	}
	ctx, stop := making(ctx, drain)
	defer stop()
	var line []byte
	for i := range int64(demoCrawlFiles) {
		if ctx.Err() != nil {
			return 0, 0, context.Cause(ctx)
		}
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("crawl-%d.txt", i)))
		if err != nil {
			return 0, 0, err
		}
		w := bufio.NewWriterSize(f, 1<<20)
		for range (d.records + i) / demoCrawlFiles {
			line = append(g.Append(line[:0]), '\n')
			if g.Truth().Repeat != generate.NoRepeat {
				planted++
			}
			size += int64(len(line))
			_, _ = w.Write(line) // Flush tells
		}
		if err := errors.Join(w.Flush(), f.Close()); err != nil {
			return 0, 0, err
		}
	}
	return planted, size, nil
}

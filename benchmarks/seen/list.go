package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"github.com/urlmill/urlmill/benchmarks/internal/output"
	"github.com/urlmill/urlmill/sources/generate"
)

// list is the input: a file with a canonical URL on each line.
type list struct {
	path  string
	rows  int
	bytes int64
	pages map[page]struct{}
}

// page is a hash of a URL.
type page = [16]byte

func pageOf(url []byte) page { return xxh3.Hash128(url).Bytes() }

// newList writes the list.
func newList(dir string, o options) (l *list, err error) {
	raw, canonical := filepath.Join(dir, "raw.txt"), filepath.Join(dir, "canonical")
	if err := writeCrawl(raw, o); err != nil {
		return nil, err
	}
	cmd := exec.Command(o.binary, "parse", "-q", raw, "--canonical", "dedupe", "--columns", "canonical_url", "--on-error", "drop", "-o", canonical)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("urlmill parse: %w", err)
	}
	l = &list{path: filepath.Join(dir, "list.txt"), pages: map[page]struct{}{}}
	f, err := os.Create(l.path)
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = output.EachRow(canonical, func(row struct {
		URL string `parquet:"canonical_url"`
	},
	) error {
		l.rows++
		l.bytes += int64(len(row.URL)) + 1
		l.pages[pageOf([]byte(row.URL))] = struct{}{}
		_, err := w.WriteString(row.URL + "\n")
		return err
	})
	return l, errors.Join(err, w.Flush(), f.Close())
}

// writeCrawl writes URLs of which a share repeats the page of an earlier one.
func writeCrawl(path string, o options) error {
	g, err := generate.NewGenerator(generate.Options{
		Seed: 1, Profile: generate.Crawl, Format: generate.Lines, Mix: generate.Distinct(), Repeats: o.share, RepeatsWithin: 1 << 32,
	})
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	var line []byte
	for range o.rows {
		line = append(g.Append(line[:0]), '\n')
		if _, err := w.Write(line); err != nil {
			break // Flush has it as well
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

// written is a row of Parquet that a system has written.
type written struct {
	URL string `parquet:"url"`
}

// parquetPages calls each with the URLs of the Parquet files in a folder.
func parquetPages(folder string, each func(url []byte) error) error {
	return output.EachRow(folder, func(row written) error { return each([]byte(row.URL)) })
}

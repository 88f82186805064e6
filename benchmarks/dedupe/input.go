package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/apache/arrow/go/v15/parquet/file"

	"github.com/urlmill/urlmill/sources/generate"
)

// writeInput writes files of URLs, and returns how many of them repeat the page of an earlier one.
func writeInput(dir string, o options) (planted, bytes int64, err error) {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return 0, 0, err
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	first := make(chan int64)
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for n := range first {
				p, b, writeErr := writeFile(filepath.Join(dir, fmt.Sprintf("%012d.txt", n)), n, min(n+o.perFile, o.rows), o)
				mu.Lock()
				planted, bytes, err = planted+p, bytes+b, errors.Join(err, writeErr)
				mu.Unlock()
			}
		})
	}
	for n := int64(0); n < o.rows; n += o.perFile {
		first <- n
	}
	close(first)
	all.Wait()
	return planted, bytes, err
}

// writeFile writes the records from begin to end.
func writeFile(name string, begin, end int64, o options) (planted, bytes int64, err error) {
	g, err := generate.NewGenerator(generate.Options{
		Seed: 1, Profile: generate.Crawl, Format: generate.Lines, Mix: generate.Distinct(), Repeats: o.share, RepeatsWithin: 1 << 32,
	})
	if err != nil {
		return 0, 0, err
	}
	g.SetPosition(begin)
	f, err := os.Create(name)
	if err != nil {
		return 0, 0, err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	var line []byte
	for range end - begin {
		line = append(g.Append(line[:0]), '\n')
		bytes += int64(len(line))
		if g.Truth().Repeat != generate.NoRepeat {
			planted++
		}
		if _, err := w.Write(line); err != nil {
			break // Flush has it as well
		}
	}
	return planted, bytes, errors.Join(w.Flush(), f.Close())
}

// countMarks reads the column is_duplicate of all files of a folder.
func countMarks(dir string) (rows, duplicates int64, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil {
		return 0, 0, err
	}
	for _, name := range names {
		n, d, err := countFile(name)
		if err != nil {
			return 0, 0, fmt.Errorf("%s: %w", name, err)
		}
		rows, duplicates = rows+n, duplicates+d
	}
	return rows, duplicates, nil
}

func countFile(name string) (rows, duplicates int64, err error) {
	f, err := file.OpenParquetFile(name, false)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	at := f.MetaData().Schema.ColumnIndexByName("is_duplicate")
	if at < 0 {
		return 0, 0, errors.New("there is no column is_duplicate")
	}
	marks, levels := make([]bool, 1<<16), make([]int16, 1<<16)
	for g := range f.NumRowGroups() {
		column, err := f.RowGroup(g).Column(at)
		if err != nil {
			return 0, 0, err
		}
		flags, ok := column.(*file.BooleanColumnChunkReader)
		if !ok {
			return 0, 0, fmt.Errorf("is_duplicate is a %T", column)
		}
		for flags.HasNext() {
			n, there, err := flags.ReadBatch(int64(len(marks)), marks, levels, nil)
			if err != nil {
				return 0, 0, err
			}
			rows += n
			for _, is := range marks[:there] {
				if is {
					duplicates++
				}
			}
		}
	}
	return rows, duplicates, nil
}

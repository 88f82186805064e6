package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/internal/ipcread"
	"github.com/urlmill/urlmill/pipeline/urlcols/rebuild"
	"github.com/urlmill/urlmill/sinks/commit/verify"
	"github.com/urlmill/urlmill/sinks/parquet"
)

// rebuilders rebuild the URLs of files by their suffix.
var rebuilders = map[string]verify.Inspector{"parquet": rebuildParquet, "arrow": rebuildArrow}

func rebuildParquet(r io.ReaderAt, size int64, wrong func(string)) (rows int64, err error) {
	f, err := parquet.NewReader(r, size)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	all := f.Schema()
	f.Select(func(column int) bool { return rebuild.Reads(all.Field(column).Name) })
	md := f.Lasting(false)
	suffixes, _ := md.GetValue("urlmill.psl")
	return rebuildRows(f.Schema(), suffixes, f.Next, wrong)
}

// rebuildArrow goes without columns that need the Public Suffix List, since Arrow files do not say by which they were made.
func rebuildArrow(r io.ReaderAt, size int64, wrong func(string)) (rows int64, err error) {
	f, err := ipcread.NewFileReader(io.NewSectionReader(r, 0, size), size)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	read := 0
	return rebuildRows(f.Schema(), "", func() (arrow.Record, error) {
		if read == f.NumRecords() {
			return nil, io.EOF
		}
		read++
		return f.Record(read - 1)
	}, wrong)
}

// maxWrong is how many rows of a file are named.
const maxWrong = 10

// rebuildRows rebuilds the URLs of a table, and returns the number of its rows, 0 if it lacks columns to do so.
func rebuildRows(s *arrow.Schema, suffixes string, next func() (arrow.Record, error), wrong func(string)) (rows int64, err error) {
	c, err := rebuild.NewChecker(s, suffixes)
	if c == nil || err != nil {
		return 0, err
	}
	found := 0
	for {
		r, err := next()
		if errors.Is(err, io.EOF) {
			if found > maxWrong {
				wrong(fmt.Sprintf("and %d more", found-maxWrong))
			}
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		err = c.Check(r, func(row int, what string) {
			if found++; found <= maxWrong {
				wrong(fmt.Sprintf("row %d: %s", rows+int64(row), what))
			}
		})
		if err != nil {
			return rows, err
		}
		rows += r.NumRows()
	}
}

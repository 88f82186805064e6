package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/convert"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/pqfile"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/rowview"
	"github.com/urlmill/urlmill/pipeline"
)

func newParquet(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "parquet",
		Short: "Look into Parquet files, and check them",
		Long:  `Look into Parquet files, whoever wrote them: what their footers say, their first rows, and whether all of it is true.`,
		Example: `  urlmill parquet info out/*.parquet
  urlmill parquet head -n 5 --columns host,path out/part.parquet
  urlmill parquet check out/*.parquet`,
	}
	cmd.AddCommand(newParquetInfo(a), newParquetHead(a), newParquetCheck(a))
	return cmd
}

func newParquetInfo(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "info FILE...",
		Short: "What files say of themselves: schema, row groups, encodings, statistics, indexes, metadata",
		Long: `Show the schema, the metadata and every column of every row group: codec, encodings, pages, sizes in bytes, nulls, bounds, page
index and bloom filter. A bound that ends with … is not exact. With --json, print a JSON object a file.`,
		Example: `  urlmill parquet info out/part.parquet
  urlmill parquet info --json out/*.parquet | jq '.row_groups[].columns[] | {path, encodings, compressed_bytes}'`,
		Args: args(1, -1, "at least one file"),
		RunE: func(_ *cobra.Command, files []string) error {
			return eachFile(files, func(name string) error { return parquetInfo(a.out, name, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, an object a file")
	return cmd
}

// eachFile goes on after an error, so that one bad file does not hide the others.
func eachFile(files []string, do func(name string) error) error {
	var errs []error
	for _, name := range files {
		errs = append(errs, do(name))
	}
	return errors.Join(errs...)
}

func parquetInfo(w io.Writer, name string, asJSON bool) error {
	f, err := pqfile.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read from
	info, err := f.Info()
	if err != nil {
		return fmt.Errorf("%s: %w; see \"urlmill parquet check\"", name, err)
	}
	if asJSON {
		return printJSON(w, info)
	}
	return info.Print(w)
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func newParquetHead(a *app) *cobra.Command {
	var f struct {
		rows    int64
		columns []string
		asJSON  bool
	}
	cmd := &cobra.Command{
		Use:   "head FILE...",
		Short: "Show the first rows of files",
		Long: `Show the first rows of every file as a table. With --json, print a JSON object a row, as the NDJSON sink does. Files may
also be in the other formats that "urlmill convert" reads.`,
		Example: `  urlmill parquet head out/part.parquet
  urlmill parquet head -n 3 --columns host,params --json out/part.parquet`,
		Args: args(1, -1, "at least one file"),
		RunE: func(cmd *cobra.Command, files []string) error {
			if f.rows < 1 {
				return usagef("-n is %d; give at least 1", f.rows)
			}
			return eachFile(files, func(name string) error {
				return a.head(cmd.Context(), name, f.rows, f.columns, f.asJSON)
			})
		},
	}
	flags := cmd.Flags()
	flags.Int64VarP(&f.rows, "rows", "n", 10, "rows of every file")
	flags.StringSliceVar(&f.columns, "columns", nil, "columns to show, in their order")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON, an object a row")
	return cmd
}

// head shows the first rows of a file.
func (a *app) head(ctx context.Context, name string, rows int64, columns []string, asJSON bool) (err error) {
	r, err := convert.Open(name, convert.Options{Columns: columns, BatchRows: min(rows, 8192)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var sink pipeline.Sink = rowview.New(a.out, rowview.Options{Width: terminalWidth(a.out)})
	if asJSON {
		if sink, err = convert.StreamTo(a.out, convert.Target{Format: convert.NDJSON}); err != nil {
			return err
		}
	}
	_, err = convert.Copy(ctx, sink, r, rows)
	return err
}

func newParquetCheck(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Decode files completely and compare them with all that they say of themselves",
		Long: `Decode every value of every file and compare: the checksums of pages, the numbers of rows, values and nulls, minima and
maxima of column chunks and pages, the page index, bloom filters, which must not deny a value that is there, and the
order of the first sorting column; and whether texts are UTF-8. The decoder is parquet-go, not the code that writes urlmill's files.

The exit code is 5 when a file is damaged or says what is not true, and 1 when one cannot be read. With --json, print a
report a file.`,
		Example: `  urlmill parquet check out/*.parquet`,
		Args:    args(1, -1, "at least one file"),
		RunE:    func(cmd *cobra.Command, files []string) error { return a.checkParquet(cmd.Context(), files, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, an object a file")
	return cmd
}

func (a *app) checkParquet(ctx context.Context, files []string, asJSON bool) error {
	bad := int64(0)
	err := eachFile(files, func(name string) error {
		r, err := pqfile.Check(ctx, name)
		if err != nil {
			return err
		}
		if len(r.Problems) > 0 {
			bad++
		}
		if asJSON {
			return printJSON(a.out, r)
		}
		return r.Print(a.out)
	})
	if err == nil && bad > 0 {
		err = &codeError{exitDamaged, fmt.Errorf("%s of %d damaged or wrong", plain.Plural(bad, "file"), len(files))}
	}
	return err
}

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/convert"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/places"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/pqfile"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/rowview"
	"github.com/urlmill/urlmill/pipeline"
)

func newParquet(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "parquet",
		Short: "Look into Parquet files, and check them",
		Long: `Look into Parquet files, of urlmill and of other programs: what their footers say, their first rows, and whether all of it is true.
Patterns such as 'out/**/*.parquet' need no shell. Files may be objects, such as s3://lake/clicks/part.parquet, gs://… and az://…: the
environment says how to reach them, as for "urlmill verify".`,
		Example: `  urlmill parquet info out/*.parquet
  urlmill parquet head -n 5 --columns host,path out/part.parquet
  urlmill parquet lines 'dead/*.parquet' > again.ndjson
  urlmill parquet check out/*.parquet`,
	}
	cmd.AddCommand(newParquetInfo(a), newParquetHead(a), newParquetLines(a), newParquetCheck(a))
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
		RunE: func(cmd *cobra.Command, files []string) error {
			return a.eachFile(cmd.Context(), files, func(name string) error { return a.parquetInfo(cmd.Context(), name, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, an object a file")
	return cmd
}

// places returns what opens files of this machine and objects, as the environment says.
func (a *app) places() places.Places {
	open := a.stores
	if open == nil {
		open = a.components.OpenStores(a.flagLogger())
	}
	return places.Places{Open: open, Log: a.flagLogger()}
}

// eachFile calls do for the files and objects that patterns name. It goes on after an error, so that one bad file does not hide the
// others.
func (a *app) eachFile(ctx context.Context, patterns []string, do func(name string) error) error {
	files, err := a.places().Expand(ctx, patterns)
	errs := []error{err}
	for _, name := range files {
		errs = append(errs, do(name))
	}
	return errors.Join(errs...)
}

func (a *app) parquetInfo(ctx context.Context, name string, asJSON bool) error {
	in, err := a.places().OpenFile(ctx, name)
	if err != nil {
		return err
	}
	f, err := pqfile.New(in)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read from
	info, err := f.Info()
	if err != nil {
		return fmt.Errorf("%s: %w; see \"urlmill parquet check\"", name, err)
	}
	if asJSON {
		return printJSON(a.out, info)
	}
	return info.Print(a.out)
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
			return a.eachFile(cmd.Context(), files, func(name string) error {
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

// openFile returns what opens files of this machine and objects.
func (a *app) openFile(ctx context.Context) func(name string) (places.File, error) {
	p := a.places()
	return func(name string) (places.File, error) { return p.OpenFile(ctx, name) }
}

// head shows the first rows of a file.
func (a *app) head(ctx context.Context, name string, rows int64, columns []string, asJSON bool) (err error) {
	r, err := convert.Open(name, convert.Options{Columns: columns, BatchRows: min(rows, 8192), File: a.openFile(ctx)})
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

func newParquetLines(a *app) *cobra.Command {
	column := ""
	cmd := &cobra.Command{
		Use:   "lines FILE...",
		Short: "Print a column as it is, a value a line",
		Long: `Print the values of a column of texts or bytes as they are, one a line, without the nulls: of files of dead letters that
is the records as they were received, for the codec that read them. A value with a line end within is an error, and
nothing of its file behind it is printed.`,
		Example: `  urlmill parquet lines 'dead/*.parquet' > again.ndjson
  urlmill parquet lines --column href 'out/**/*.parquet' | sort -u`,
		Args: args(1, -1, "at least one file"),
		RunE: func(cmd *cobra.Command, files []string) error {
			w := bufio.NewWriter(a.out)
			err := a.eachFile(cmd.Context(), files, func(name string) error { return a.lines(cmd.Context(), w, name, column) })
			return errors.Join(err, w.Flush())
		},
	}
	cmd.Flags().StringVar(&column, "column", "raw", "column to print")
	return cmd
}

// lines prints a column of a file.
func (a *app) lines(ctx context.Context, w *bufio.Writer, name, column string) (err error) {
	r, err := convert.Open(name, convert.Options{Columns: []string{column}, File: a.openFile(ctx)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	shown := terminalWidth(a.out) > 0 // else a program reads them
	for row := 0; ; {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for i := range int(record.NumRows()) {
			var value string
			switch c := record.Column(0).(type) {
			case *array.String:
				value = c.Value(i)
			case *array.Binary:
				value = c.ValueString(i)
			default:
				return fmt.Errorf("%s: the column %s is neither text nor bytes; see \"urlmill parquet head\"", name, column)
			}
			switch {
			case record.Column(0).IsNull(i):
				continue
			case strings.Contains(value, "\n"):
				return fmt.Errorf("%s: %s of row %d has a line end within; \"urlmill convert\" to .ndjson has such values", name, column, row+i)
			case shown:
				value = plain.Text(value)
			}
			if _, err := w.WriteString(value + "\n"); err != nil {
				return err
			}
		}
		row += int(record.NumRows())
	}
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
	bad, all := int64(0), 0
	err := a.eachFile(ctx, files, func(name string) error {
		all++
		r, err := pqfile.CheckIn(ctx, a.places(), name)
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
		err = &codeError{exitDamaged, fmt.Errorf("%s of %d damaged or wrong", plain.Plural(bad, "file"), all)}
	}
	return err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/convert"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/places"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/sinks/store"
)

// convertFlags are the flags of "urlmill convert".
type convertFlags struct {
	from, to, compression, schema string
	columns                       []string
	force, quiet                  bool
}

func newConvert(a *app) *cobra.Command {
	var f convertFlags
	cmd := &cobra.Command{
		Use:   "convert IN OUT",
		Short: "Convert a table between Parquet, Arrow and NDJSON",
		Long: `Convert a table between Parquet (.parquet), Arrow IPC files (.arrow) and streams (.arrows), and NDJSON (.ndjson). IN is known by
its first bytes, OUT by its extension; - is standard input or output, for streams and NDJSON.

Types are kept, but for dictionaries, which become their values. NDJSON has fewer types: it is read twice to find them
out, or takes those of the Parquet or Arrow file that --schema names; timestamps are RFC 3339 in it, and binary values
base64. Rows of archives also become CDXJ (.cdxj), lines of an index in their order. Numbers among which an integer has more digits than their type, be it int64, uint64 or, with fractions, float64,
become text as they are written. What the metadata of a Parquet file says of its rows is kept, whoever has written it. Rows go through a batch at a
time: memory is that of a row group, whatever the size of the file.

OUT appears when it is complete and on disk. One that is there is replaced only with --force.

IN and OUT may be objects, such as s3://lake/a.parquet, gs://… and az://…: the environment says how to reach them, as for "urlmill verify".
OUT is made on this machine first (TMPDIR), and one that is replaced is gone for a moment.`,
		Example: `  urlmill convert clicks.parquet clicks.arrow --compression lz4
  urlmill convert clicks.parquet - --to ndjson --columns host,path | head
  urlmill convert clicks.ndjson clicks.parquet --schema yesterday.parquet`,
		Args: args(2, 2, "an input and an output"),
		RunE: func(cmd *cobra.Command, files []string) error { return a.convert(cmd.Context(), f, files[0], files[1]) },
	}
	flags := cmd.Flags()
	choiceFlag(cmd, flags, &f.from, "from", "", "format of IN: parquet, arrow, arrow-stream or ndjson", convert.Formats...)
	choiceFlag(cmd, flags, &f.to, "to", "", "format of OUT: one of these, or cdxj", append(slices.Clone(convert.Formats), string(convert.CDXJ))...)
	flags.StringVar(&f.compression, "compression", "", "compression of Parquet (none, snappy, lz4, gzip, zstd) or Arrow (none, lz4, zstd)")
	flags.StringVar(&f.schema, "schema", "", "Parquet or Arrow file whose columns NDJSON has")
	flags.StringSliceVar(&f.columns, "columns", nil, "columns to keep, in their order")
	flags.BoolVar(&f.force, "force", false, "replace OUT")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no summary")
	return cmd
}

// target checks the flags and returns where the rows go.
func (f convertFlags) target(ctx context.Context, a *app, out string) (convert.Target, error) {
	t := convert.Target{
		Path: out, Format: convert.Format(f.to), Compression: f.compression, Version: readBuild().Version, Log: a.flagLogger(),
	}
	if t.Format == "" {
		t.Format = convert.ByName(out)
	}
	switch {
	case t.Format == "" && out == "-":
		return t, usagef("what is the format of standard output? give --to arrow-stream or --to ndjson")
	case t.Format == "":
		return t, usagef("%s: no format has this extension; name the file .parquet, .arrow, .arrows, .ndjson or .cdxj, or give --to", out)
	case t.Compression != "" && (t.Format == convert.NDJSON || t.Format == convert.CDXJ):
		return t, usagef("--compression is for Parquet and Arrow")
	case out == "-" && t.Format == convert.ArrowStream && terminalWidth(a.out) > 0:
		return t, usagef("Arrow is binary; redirect standard output into a file, or give one")
	}
	if t.Format == convert.Parquet || t.Format == convert.Arrow {
		if out == "-" {
			return t, usagef("%s cannot be written to standard output; name a file", t.Format)
		}
		if err := t.CheckOptions(); err != nil {
			return t, &usageError{err}
		}
	}
	if store.Scheme(out) != "" {
		t.Put = a.places().Put
	}
	return t, f.checkOut(ctx, a, out)
}

// checkOut refuses to replace a file that nobody wants replaced.
func (f convertFlags) checkOut(ctx context.Context, a *app, out string) error {
	if out == "-" {
		return nil
	}
	if store.Scheme(out) != "" {
		there, err := a.places().There(ctx, out)
		if err == nil && there && !f.force {
			err = usagef("%s is there; give --force to replace it", out)
		}
		return err
	}
	if reason, advice := config.Misplaced(out, false); reason != "" {
		return usagef("%s %s; %s", out, reason, advice)
	}
	info, err := os.Stat(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return usagef("%s is there and is no file", out)
	case !f.force:
		return usagef("%s is there; give --force to replace it", out)
	}
	return nil
}

// convert runs the command.
func (a *app) convert(ctx context.Context, f convertFlags, in, out string) (err error) {
	t, err := f.target(ctx, a, out)
	if err != nil {
		return err
	}
	found, err := a.places().Expand(ctx, []string{in})
	if err != nil {
		return &usageError{err}
	}
	if in = found[0]; len(found) > 1 {
		return usagef("IN is %s, such as %s; give one of them", plain.Plural(int64(len(found)), "file"), in)
	}
	o := convert.Options{Format: convert.Format(f.from), Stdin: a.in, Columns: f.columns, File: a.openFile(ctx)}
	if f.schema != "" {
		if o.Schema, err = schemaOf(f.schema, a.openFile(ctx)); err != nil {
			return err
		}
	}
	r, err := convert.Open(in, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var rows int64
	if out == "-" {
		sink, err := convert.StreamTo(a.out, t)
		if err != nil {
			return &usageError{err}
		}
		_, err = convert.Copy(ctx, sink, r, -1)
		return err
	}
	if rows, err = convert.Write(ctx, t, r); err != nil {
		return err
	}
	if !f.quiet {
		fmt.Fprintf(a.console, "%s: %s, %s\n", plain.Text(out), plain.Plural(rows, "row"), strings.ReplaceAll(string(t.Format), "-", " "))
	}
	return nil
}

// schemaOf returns the columns of a Parquet or Arrow file.
func schemaOf(name string, open func(name string) (places.File, error)) (*arrow.Schema, error) {
	r, err := convert.Open(name, convert.Options{File: open})
	if err != nil {
		return nil, err
	}
	s := r.Schema()
	// What the other file says of itself is not true of this one.
	return arrow.NewSchema(slices.Clone(s.Fields()), nil), r.Close()
}

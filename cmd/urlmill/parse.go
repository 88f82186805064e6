package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/table"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/wire"
	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec/accesslog"
)

// parseFlags are the flags of "urlmill parse".
type parseFlags struct {
	to, out, deadLetters       string
	codec, urlField, baseField string
	baseURL, nginx, apache     string
	carry, columns, exclude    []string
	onError, compression       string
	skipEmpty, quiet           bool
	parallel                   int
	dedupe                     dedupeFlags
}

const (
	toTable   = "table"
	toNDJSON  = "ndjson"
	toArrow   = "arrow"
	toParquet = "parquet"
)

func newParse(a *app) *cobra.Command {
	var f parseFlags
	cmd := &cobra.Command{
		Use:   "parse [FILE...]",
		Short: "Parse the URLs of files or standard input",
		Long: `Parse the URLs of files, directories, patterns such as 'logs/**/*.gz', or standard input (- or no FILE).

Compressed files (gzip, zstd, snappy, lz4, bzip2, xz) are recognised by their contents. A record is a line, and the URL
is the whole line; with --url-field it is the field of a JSON object that a JSON pointer names.

The rows go to standard output, as a table on a terminal and as NDJSON elsewhere, or with -o into a folder, as Parquet
unless --to says otherwise. With --dedupe pages are found that are there several times, however their URLs are written:
a URL without what pages do not depend on, such as tracking parameters, is the page.

A file that cannot be read to its end does not stop the others; the exit code is then 4. A folder that has files already
keeps them: parse the same files into it again, and their rows are there twice. "urlmill run" delivers each file once.`,
		Example: `  urlmill parse urls.txt
  urlmill parse --codec combined --base-url https://www.example.com access.log.gz
  urlmill parse --codec csv --url-field page --carry user=user_id:int64 --columns host,path,user clicks.csv
  urlmill parse 'clicks/*.ndjson.zst' --url-field /url --base-field /page --carry user_id=/user/id:int64 -o out
  urlmill parse urls.txt.gz --to arrow > urls.arrows
  urlmill parse crawl/ --dedupe drop --columns url -o pages
  urlmill parse crawl/2026-11-22 --dedupe mark --seen /var/lib/pages -o pages`,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.to, "to", "", "format of the output: table, ndjson, arrow or parquet")
	flags.StringVarP(&f.out, "output", "o", "-", "folder for the files of the output, - for standard output")
	flags.StringVar(&f.deadLetters, "dead-letters", "", "folder for records with an error, with --on-error dead_letter")
	flags.StringVar(&f.codec, "codec", "", "format of the records: "+strings.Join(codecNames(), ", "))
	flags.StringVar(&f.nginx, "nginx", "", "format of an access log, as in nginx's log_format")
	flags.StringVar(&f.apache, "apache", "", "format of an access log, as in Apache's LogFormat")
	flags.StringVar(&f.baseURL, "base-url", "", "origin of requests whose access log does not say the host")
	flags.StringVar(&f.urlField, "url-field", "", "JSON pointer of the URL, such as /url (implies --codec ndjson)")
	flags.StringVar(&f.baseField, "base-field", "", "JSON pointer of the base URL")
	flags.StringArrayVar(&f.carry, "carry", nil, "carry a field along: NAME=POINTER[:TYPE]; may be repeated")
	flags.BoolVar(&f.skipEmpty, "skip-empty", false, "leave empty lines out, with --codec lines and ndjson")
	flags.StringSliceVar(&f.columns, "columns", nil, "columns of the output, in their order")
	flags.StringSliceVar(&f.exclude, "exclude", nil, "columns to leave out")
	f.dedupe.add(cmd)
	flags.StringVar(&f.onError, "on-error", "keep", "what happens to rows with an error: keep, drop, dead_letter or fail")
	flags.StringVar(&f.compression, "compression", "", "compression of Parquet (none, snappy, gzip, zstd) or Arrow (none, lz4, zstd)")
	flags.IntVar(&f.parallel, "parallel", 0, "files to read at a time (default: one a CPU into a folder, else one)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress and no summary")
	completeFlag(cmd, "to", toTable, toNDJSON, toArrow, toParquet)
	completeFlag(cmd, "codec", codecNames()...)
	completeFlag(cmd, "on-error", "keep", "drop", "dead_letter", "fail")
	completeFlag(cmd, "compression", "none", "snappy", "gzip", "zstd", "lz4")
	cmd.RunE = func(cmd *cobra.Command, files []string) error { return a.parse(cmd.Context(), f, files) }
	return cmd
}

// parse runs the command.
func (a *app) parse(ctx context.Context, f parseFlags, files []string) (err error) {
	if len(files) == 0 {
		if in, ok := a.in.(*os.File); ok && term.IsTerminal(int(in.Fd())) {
			return usagef("nothing to parse: name files, or pipe URLs into standard input (- reads what is typed)")
		}
		files = []string{"-"}
	}
	if f.to == "" {
		f.to = a.defaultFormat(f, files)
	}
	c, err := f.config(files)
	if err != nil {
		return err
	}
	if key, i, ok := c.ReadsOutput(); ok {
		flag := "-o " + f.out
		if strings.HasSuffix(key, "dead_letters") {
			flag = "--dead-letters " + f.deadLetters
		}
		return usagef("%s is in %s: what is written there would be read the next time; give a folder beside it", flag, files[i])
	}
	forget, err := f.dedupe.set(c, f.out)
	defer func() { err = errors.Join(err, forget()) }()
	if err != nil {
		return err
	}
	registry := a.registry
	if f.to == toTable {
		registry.Sinks = []wire.SinkKind{a.tableSink(f)}
	}
	if f.to == toArrow && c.Sink.ArrowIPC.Stdout && terminalWidth(a.out) > 0 {
		return usagef("Arrow is binary; redirect standard output into a file, or give -o FOLDER")
	}
	view := view{progress: !f.quiet, summary: !f.quiet}
	if f.out == "-" {
		view.progress = view.progress && terminalWidth(a.out) == 0
		view.summary = view.progress && a.console.terminal()
	}
	log := a.flagLogger()
	if f.out != "-" {
		defer warnOfRepeats(log, f.out, readOutput(f.out))
	}
	return withoutPaths(a.runJob(ctx, c, registry, log, view))
}

// defaultFormat returns the format for output whose format was not given: Parquet into a folder, a table for
// people, as long as it is not endless, and NDJSON for programs.
func (a *app) defaultFormat(f parseFlags, files []string) string {
	const mostForTable = 8 << 20
	if f.out != "-" {
		return toParquet
	}
	if terminalWidth(a.out) == 0 {
		return toNDJSON
	}
	var total int64
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
	}
	if total > mostForTable {
		return toNDJSON
	}
	return toTable
}

// config returns the configuration that does what the flags say.
func (f parseFlags) config(files []string) (*settings.Config, error) {
	c := settings.Default()
	source := settings.DefaultFile()
	source.Paths, source.Parallel = files, f.parallel
	if f.out == "-" && f.parallel == 0 {
		source.Parallel = 1 // rows come out in the order of the files
	}
	c.Source.File = &source
	c.Sink.Roll.Every = 0
	c.Columns.Include, c.Columns.Exclude = f.columns, f.exclude
	if err := f.setCodec(&c); err != nil {
		return nil, err
	}
	if err := f.setPolicy(&c); err != nil {
		return nil, err
	}
	return &c, f.setSink(&c)
}

// setCodec sets the codec.
func (f parseFlags) setCodec(c *settings.Config) error {
	codec := f.codec
	if codec == "" && allParquet(c.Source.File.Paths) {
		codec = "parquet"
	}
	if codec == "" {
		codec = "lines"
		if f.urlField != "" || f.baseField != "" || len(f.carry) > 0 {
			codec = "ndjson"
		}
	}
	if f.nginx != "" || f.apache != "" || f.baseURL != "" || slices.Contains(logCodecs(), codec) {
		return f.setAccessLog(c)
	}
	if err := checkChoice("--codec", codec, codecNames()); err != nil {
		return err
	}
	if f.skipEmpty && codec != "lines" && codec != "ndjson" {
		return usagef("--skip-empty is for --codec lines and ndjson; take it out")
	}
	if codec == "csv" || codec == "tsv" {
		return f.setDelimited(c)
	}
	if codec == "parquet" {
		return f.setParquet(c)
	}
	if codec == "lines" {
		if f.urlField != "" || f.baseField != "" || len(f.carry) > 0 {
			return usagef("--url-field, --base-field and --carry need --codec ndjson; a line of --codec lines is a URL")
		}
		c.Source.Codec.Lines = &settings.Lines{SkipEmpty: f.skipEmpty}
		return nil
	}
	if f.urlField == "" {
		return usagef("--codec ndjson needs --url-field, such as --url-field /url")
	}
	n := &settings.NDJSON{URL: asPointer(f.urlField), SkipEmpty: f.skipEmpty}
	if f.baseField != "" {
		n.Base = asPointer(f.baseField)
	}
	for _, text := range f.carry {
		carry, err := parseCarry(text)
		if err != nil {
			return err
		}
		n.Carry = append(n.Carry, carry)
	}
	c.Source.Codec.NDJSON = n
	return nil
}

// logCodecs are the names of --codec that are formats of access logs.
func logCodecs() []string { return append(accesslog.Formats(), "caddy") }

func codecNames() []string {
	return append([]string{"lines", "ndjson", "csv", "tsv", "parquet"}, logCodecs()...)
}

func (f parseFlags) setAccessLog(c *settings.Config) error {
	if f.urlField != "" || f.baseField != "" || len(f.carry) > 0 {
		return usagef("--url-field, --base-field and --carry are not for access logs, which have all their fields as columns; use --columns")
	}
	if f.skipEmpty {
		return usagef("--skip-empty is for --codec lines and ndjson; an empty line of an access log is a row with an error")
	}
	if f.codec != "" && !slices.Contains(logCodecs(), f.codec) {
		return usagef("--nginx, --apache and --base-url are for access logs, and --codec is %s; take one of them out", f.codec)
	}
	c.Source.Codec.AccessLog = &settings.AccessLog{Format: f.codec, Nginx: f.nginx, Apache: f.apache, Base: f.baseURL}
	return nil
}

func (f parseFlags) setDelimited(c *settings.Config) error {
	if f.urlField == "" {
		return usagef("--codec %s needs --url-field with the name of the column that has the URL, such as --url-field url", f.codec)
	}
	d := settings.DefaultDelimited()
	d.URL, d.Base = f.urlField, f.baseField
	if f.codec == "tsv" {
		d.Separator = "\t"
	}
	for _, text := range f.carry {
		carry, err := parseCarry(text)
		if err != nil {
			return err
		}
		if carry.Type == pipeline.JSON {
			return usagef("--carry %s: a value of --codec %s is no JSON", text, f.codec)
		}
		d.Carry = append(d.Carry, settings.CarryColumn{
			Name: carry.Name, Column: strings.TrimPrefix(carry.Pointer, "/"), Type: carry.Type, Time: carry.Time,
		})
	}
	c.Source.Codec.Delimited = &d
	return nil
}

// allParquet reports whether all files are Parquet by their names.
func allParquet(files []string) bool {
	return len(files) > 0 && !slices.ContainsFunc(files, func(name string) bool { return !strings.HasSuffix(strings.ToLower(name), ".parquet") })
}

// setParquet sets the columns that are read; the URL is in the column url unless told otherwise.
func (f parseFlags) setParquet(c *settings.Config) error {
	p := settings.ParquetTable{URL: f.urlField, Base: f.baseField}
	if p.URL == "" {
		p.URL = "url"
	}
	for _, text := range f.carry {
		carry, err := parseCarry(text)
		if err != nil {
			return err
		}
		p.Carry = append(p.Carry, settings.CarryColumn{Name: carry.Name, Column: strings.TrimPrefix(carry.Pointer, "/"), Type: carry.Type, Time: carry.Time})
	}
	c.Source.Codec.Parquet = &p
	return nil
}

// asPointer allows the name of a member for the pointer to it.
func asPointer(s string) string {
	if strings.HasPrefix(s, "/") {
		return s
	}
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(s)
}

// fieldTypes are the types of carried fields by name.
var fieldTypes = map[string]pipeline.FieldType{
	"string": pipeline.String, "int64": pipeline.Int64, "float64": pipeline.Float64,
	"bool": pipeline.Bool, "timestamp": pipeline.Timestamp, "json": pipeline.JSON,
}

var fieldTypeNames = []string{"string", "int64", "float64", "bool", "timestamp", "json"}

// parseCarry reads NAME=POINTER[:TYPE].
func parseCarry(text string) (settings.Carry, error) {
	carry := settings.DefaultCarry()
	name, rest, ok := strings.Cut(text, "=")
	if !ok || name == "" || rest == "" {
		return carry, usagef("--carry is %q; give NAME=POINTER or NAME=POINTER:TYPE, such as user_id=/user/id:int64", text)
	}
	carry.Name = name
	if i := strings.LastIndexByte(rest, ':'); i >= 0 {
		if err := checkChoice("the type in --carry "+text, rest[i+1:], fieldTypeNames); err != nil {
			return carry, err
		}
		carry.Type = fieldTypes[rest[i+1:]]
		rest = rest[:i]
	}
	carry.Pointer = asPointer(rest)
	return carry, nil
}

// setPolicy sets the error policy.
func (f parseFlags) setPolicy(c *settings.Config) error {
	policies := map[string]pipeline.OnError{
		"keep": pipeline.Keep, "drop": pipeline.Drop, "dead_letter": pipeline.ToDeadLetters, "fail": pipeline.Fail,
	}
	if err := checkChoice("--on-error", f.onError, []string{"keep", "drop", "dead_letter", "fail"}); err != nil {
		return err
	}
	c.OnError = policies[f.onError]
	switch dead := f.deadLetters != ""; {
	case dead && f.onError != "dead_letter":
		return usagef("--dead-letters needs --on-error dead_letter")
	case !dead && f.onError == "dead_letter":
		return usagef("--on-error dead_letter needs --dead-letters FOLDER")
	}
	return nil
}

// setSink sets the sink.
func (f parseFlags) setSink(c *settings.Config) error {
	if err := checkChoice("--to", f.to, []string{toTable, toNDJSON, toArrow, toParquet}); err != nil {
		return err
	}
	if f.compression != "" && f.to != toParquet && f.to != toArrow {
		return usagef("--compression is for --to parquet and --to arrow")
	}
	output := settings.Output{Path: f.out, DeadLetters: f.deadLetters, Delivery: settings.AtLeastOnce}
	if f.out == "-" {
		output.Path, output.Stdout = "", true
	}
	switch ext := filepath.Ext(f.out); {
	case f.out == "":
		return usagef("-o is empty; give a folder, or - for standard output")
	case ext == ".parquet" || ext == ".arrow" || ext == ".ndjson":
		return usagef("-o %s: give a folder; its files are named after what they hold", f.out)
	}
	switch f.to {
	case toTable:
		if f.out != "-" {
			return usagef("--to table writes to standard output only; leave -o out")
		}
		c.Sink.Roll.Every = time.Second // shows what standard input gives, little as it may be
		f.tableColumns(c)
	case toNDJSON:
		c.Sink.NDJSON = &settings.NDJSONOut{Output: output}
	case toArrow:
		c.Sink.ArrowIPC = &settings.ArrowIPC{Output: output, Compression: f.compression}
	case toParquet:
		if f.out == "-" {
			return usagef("--to parquet needs a folder: -o FOLDER")
		}
		p := settings.DefaultParquet()
		p.Path, p.DeadLetters, p.Delivery = f.out, f.deadLetters, settings.AtLeastOnce
		if f.compression != "" {
			p.Compression, p.CompressionLevel = f.compression, 0
		}
		c.Sink.Parquet = &p
	}
	return nil
}

// tableColumns picks the columns of a table for which none were asked for.
func (f parseFlags) tableColumns(c *settings.Config) {
	if len(f.columns) > 0 || len(f.exclude) > 0 {
		return
	}
	c.Columns.Include = append([]string{"scheme", "host", "port", "path", "query", "fragment", "registrable_domain"}, table.ErrorColumns...)
	if n := c.Source.Codec.NDJSON; n != nil {
		for _, carry := range n.Carry {
			c.Columns.Include = append(c.Columns.Include, carry.Name)
		}
	}
}

// tableSink is the kind of sink that shows rows on standard output.
func (a *app) tableSink(f parseFlags) wire.SinkKind {
	chosen := len(f.columns) > 0 || len(f.exclude) > 0
	options := table.Options{Width: terminalWidth(a.out), MergeErrors: !chosen, HideEmpty: !chosen}
	return wire.SinkKind{
		Name: "table",
		Configure: func(*settings.Config, wire.Setting) (wire.Sink, bool) {
			return wire.Sink{
				Validate: func() error {
					if f.deadLetters != "" {
						return pipeline.FieldErrorf("dead_letters", "a table has no place for them").Advise("use --to parquet, arrow or ndjson")
					}
					return nil
				},
				Open: func() (pipeline.Sink, error) { return table.New(a.out, options), nil },
			}, true
		},
	}
}

package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/report"
	"github.com/urlmill/urlmill/internal/wire"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks"
)

// parseFlags are the flags of "urlmill parse".
type parseFlags struct {
	to, out, deadLetters       string
	codec, urlField, baseField string
	baseURL, nginx, apache     string
	defaultScheme              string
	carry, columns, exclude    []string
	onError, compression       string
	skipEmpty, quiet           bool
	acquisition                bool
	userAgent, address         string
	geo                        []string
	redact                     []string
	parallel                   int
	memoryLimit                string
	summary                    string
	dedupe                     dedupeFlags
}

const (
	toTable   = "table"
	toCSV     = "csv"
	toTSV     = "tsv"
	toNDJSON  = "ndjson"
	toArrow   = "arrow"
	toParquet = "parquet"
	toCDXJ    = "cdxj"
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
unless --to says otherwise. CSV and TSV begin with a line of names; a null is empty in them, a list or map is JSON. With --dedupe pages are found that are there several times, however their URLs are written:
a URL without what pages do not depend on, such as tracking parameters, is the page.

A file that cannot be read to its end does not stop the others; the exit code is then 4. A folder that has files already
keeps them: parse the same files into it again, and their rows are there twice. "urlmill run" delivers each file once.

In the end standard error says how many rows there were, and how many have an error; not with -q. If every row has one, the
exit code is 1. With -o, --summary json prints what was done to standard output.`,
		Example: `  urlmill parse urls.txt
  urlmill parse --default-scheme https hosts.txt
  urlmill parse --codec combined --base-url https://www.example.com access.log.gz
  urlmill parse --codec csv --url-field page --carry user=user_id:int64 --columns host,path,user clicks.csv
  urlmill parse 'clicks/*.ndjson.zst' --url-field /url --base-field /page --carry user_id=/user/id:int64 -o out
  urlmill parse urls.txt.gz --to arrow > urls.arrows
  urlmill parse urls.txt --to csv --columns url,host,path > urls.csv
  urlmill parse urls.txt -o out -q --summary json
  urlmill parse crawl/ --dedupe drop --columns url -o pages
  urlmill parse --to cdxj *.warc.gz | LC_ALL=C sort > index.cdxj
  urlmill parse crawl/2026-11-22 --dedupe mark --seen /var/lib/pages -o pages`,
	}
	flags := cmd.Flags()
	choiceFlag(cmd, flags, &f.to, "to", "", "format of the output: table, csv, tsv, ndjson, arrow, parquet, or cdxj of archives", toTable, toCSV, toTSV, toNDJSON, toArrow, toParquet, toCDXJ)
	flags.StringVarP(&f.out, "output", "o", "-", "folder for the files of the output, - for standard output")
	flags.StringVar(&f.deadLetters, "dead-letters", "", "folder for records with an error, with --on-error dead_letter")
	flags.StringVar(&f.codec, "codec", "", "format of the records: "+strings.Join(codecNames(), ", "))
	flags.StringVar(&f.nginx, "nginx", "", "format of an access log, as in nginx's log_format")
	flags.StringVar(&f.apache, "apache", "", "format of an access log, as in Apache's LogFormat")
	flags.StringVar(&f.baseURL, "base-url", "", "origin of requests whose access log does not say the host")
	flags.StringVar(&f.urlField, "url-field", "", "JSON pointer of the URL, such as /url (implies --codec ndjson)")
	flags.StringVar(&f.baseField, "base-field", "", "JSON pointer of the base URL")
	choiceFlag(cmd, flags, &f.defaultScheme, "default-scheme", "", "scheme of URLs that begin with their host, such as example.com/a: https or http", "https", "http")
	flags.StringArrayVar(&f.carry, "carry", nil, "carry a field along: NAME=POINTER[:TYPE]; may be repeated")
	flags.BoolVar(&f.skipEmpty, "skip-empty", false, "leave empty lines out, with --codec lines and ndjson")
	flags.StringSliceVar(&f.columns, "columns", nil, "columns of the output, in their order")
	flags.StringSliceVar(&f.exclude, "exclude", nil, "columns to leave out")
	flags.BoolVar(&f.acquisition, "acquisition", false, "columns that say where a visit came from, by the URL and a carried referer or referrer")
	flags.StringVar(&f.userAgent, "user-agent", "", "columns of browser, system, device and bot, by this carried field, such as user_agent")
	flags.StringSliceVar(&f.geo, "geo", nil, "columns of place and network, by these files of MaxMind's format (.mmdb)")
	flags.StringVar(&f.address, "address", "", "carried field with the address, for --geo (default: remote_addr, client_ip or ip)")
	flags.StringSliceVar(&f.redact, "redact", nil, "remove kinds of values and parameters of names before rows are made: email,card,'*token*'; all for those of the default")
	f.dedupe.add(cmd)
	choiceFlag(cmd, flags, &f.onError, "on-error", "keep", "what happens to rows with an error: keep, drop, dead_letter or fail", onErrors()...)
	flags.StringVar(&f.compression, "compression", "", "compression of Parquet (none, snappy, lz4, gzip, zstd) or Arrow (none, lz4, zstd)")
	flags.IntVar(&f.parallel, "parallel", 0, "files to read at a time (default: one a CPU into a folder, else one)")
	flags.StringVar(&f.memoryLimit, "memory-limit", "", "what the process may take, such as 512MiB (default: 80 % of the container's memory, or half of the machine's)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress, and no summary as text")
	summaryFlag(cmd, &f.summary)
	completeFlag(cmd, "codec", codecNames()...)
	completeFlag(cmd, "compression", "none", "snappy", "gzip", "zstd", "lz4")
	cmd.RunE = func(cmd *cobra.Command, files []string) error { return a.parse(cmd.Context(), f, files) }
	return cmd
}

// onErrors are the names of what happens to rows with an error.
func onErrors() (names []string) {
	for _, o := range pipeline.OnErrors() {
		names = append(names, o.String())
	}
	return names
}

// parse runs the command.
func (a *app) parse(ctx context.Context, f parseFlags, files []string) (err error) {
	if len(files) == 0 {
		if in, ok := a.in.(*os.File); ok && term.IsTerminal(int(in.Fd())) {
			return usagef("nothing to parse: name files, or pipe URLs into standard input (- reads what is typed)")
		}
		files = []string{"-"}
	}
	if f.summary == summaryJSON && f.out == "-" {
		return usagef("--summary json is written to standard output, where the rows go: write them into files with -o FOLDER, or leave it out")
	}
	if f.to == "" {
		f.to = a.defaultFormat(f, files)
	}
	for _, file := range files {
		for _, folder := range []struct{ flag, path string }{{"-o", f.out}, {"--dead-letters", f.deadLetters}} {
			if file != "-" && folder.path != "-" && folder.path != "" && wire.IsRead(file, folder.path) {
				return usagef("%s %s is in %s: what is written there would be read the next time; give a folder beside it", folder.flag, folder.path, file)
			}
		}
	}
	components := a.components
	if f.isText() {
		components.Sinks = []sinks.Kind{a.textKind(f)}
	}
	var account *report.Account
	defer func() { err = a.tell(account, err) }()
	k, forget, err := f.keys(files)
	defer func() { err = errors.Join(err, forget()) }()
	if err != nil {
		return err
	}
	c, err := k.configuration(components)
	if err != nil {
		return err
	}
	if f.to == toArrow && f.out == "-" && terminalWidth(a.out) > 0 {
		return usagef("Arrow is binary; redirect standard output into a file, or give -o FOLDER")
	}
	view := view{progress: !f.quiet, summary: !f.quiet, judge: func(t pipeline.Totals) error { return f.judge(t, files, a.flagLogger()) }}
	if f.summary == summaryJSON {
		account = newAccount(c)
		view.account = account
	}
	if f.out == "-" {
		view.progress = view.progress && terminalWidth(a.out) == 0
	}
	log := a.flagLogger()
	if f.out != "-" {
		defer warnOfRepeats(log, f.out, readOutput(f.out))
	}
	setting := a.setting(log)
	setting.HideKey, setting.AnyOutput = f.hidesKey(), true
	return k.named(a.runJob(ctx, c, setting, view))
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

package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/compare"
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/wire"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks"
)

func newCompare(a *app) *cobra.Command {
	f := parseFlags{to: toTable, out: "-", onError: "keep", columns: compare.Columns()}
	var o compare.Options
	cmd := &cobra.Command{
		Use:   "compare --with spark|clickhouse FILE...",
		Short: "Count what changes when urlmill's columns replace parse_url or ClickHouse's functions",
		Long: `Read the URLs of files as "urlmill parse" does, and report how many rows would change if the columns host, path, query and
the parameters named by --param replaced Spark's parse_url or ClickHouse's domain, path, queryString and
extractURLParameter, by kind of change, with examples: the URL, what it gives today, and what urlmill gives.

Neither Spark nor ClickHouse is needed: package urlcore/compat gives what they give. In Spark NULL differs from an empty
text; in ClickHouse, which has no NULL there, it does not.`,
		Example: `  urlmill compare --with spark urls.txt.gz
  urlmill compare --with clickhouse --codec csv --url-field page --param utm_source clicks.csv`,
		Args: args(1, -1, "at least one file, or - for standard input"),
		RunE: func(cmd *cobra.Command, files []string) error { return a.compare(cmd.Context(), f, o, files) },
	}
	codecs := slices.DeleteFunc(codecNames(), func(name string) bool { return slices.Contains(logCodecs(), name) })
	flags := cmd.Flags()
	flags.StringVar(&o.With, "with", "", "what is replaced: "+strings.Join(compare.Engines(), ", "))
	flags.StringArrayVar(&o.Params, "param", nil, "compare the first value of this parameter, too; may be repeated")
	flags.IntVar(&o.Examples, "examples", 2, "rows that are shown of each kind")
	flags.StringVar(&f.codec, "codec", "", "format of the records: "+strings.Join(codecs, ", "))
	flags.StringVar(&f.urlField, "url-field", "", "JSON pointer of the URL, such as /url (implies --codec ndjson)")
	completeFlag(cmd, "with", compare.Engines()...)
	completeFlag(cmd, "codec", codecs...)
	return cmd
}

// compare runs the command.
func (a *app) compare(ctx context.Context, f parseFlags, o compare.Options, files []string) error {
	if err := checkChoice("--with", o.With, compare.Engines()); err != nil {
		return err
	}
	if o.Examples < 0 {
		return usagef("--examples is %d; give 0 or more", o.Examples)
	}
	if slices.Contains(logCodecs(), f.codec) {
		return usagef("--codec %s: requests of an access log are no URLs; make them a column first, with \"urlmill parse\"", f.codec)
	}
	sink, err := compare.New(o)
	if err != nil {
		return usagef("--param: %w", err)
	}
	f.to = toTable // its rows stay within the process as well
	k, _, err := f.keys(files)
	if err != nil {
		return err
	}
	components := a.components
	components.Sinks = []sinks.Kind{wire.Direct(toTable, config.Section{}, func() (pipeline.Sink, error) { return sink, nil })}
	c, err := k.configuration(components)
	if err != nil {
		return err
	}
	err = k.named(a.runJob(ctx, c, a.setting(a.flagLogger()), view{}))
	if err != nil && !onlyIncomplete(err) {
		return err
	}
	if reportErr := sink.Report(a.out); reportErr != nil {
		return reportErr
	}
	return err
}

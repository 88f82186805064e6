package main

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/internal/wire"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/arrowipc"
	"github.com/urlmill/urlmill/sinks/commit/verify"
	"github.com/urlmill/urlmill/sinks/ndjson"
	"github.com/urlmill/urlmill/sinks/parquet"
)

// rowCounters count the rows of files by their suffix.
var rowCounters = map[string]verify.RowCounter{
	"parquet": parquet.CountRows, "arrow": arrowipc.CountRows, "ndjson": ndjson.CountRows,
}

// verifyFlags are the flags of "urlmill verify".
type verifyFlags struct {
	json, repair, shallow, deep bool
	against                     string
}

func newVerify(a *app) *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify PLACE",
		Short: "Prove from the commit records that an output is complete",
		Long: `Prove from the commit records of an output with exactly-once delivery that it is complete: in every lane (a Kafka
partition, a file) positions follow each other without a gap or an overlap, every file that a record names is there with
its bytes, its checksum and its rows, and no other file can be seen. PLACE is what the path of the sink is; the
dead letters are found from there. For a place on S3, s3://bucket/prefix, the environment says how to reach it:
AWS_ENDPOINT_URL_S3 for servers other than Amazon's, AWS_REGION, and the credentials; for one on Google Cloud Storage,
gs://bucket/prefix, STORAGE_EMULATOR_HOST, and the credentials; for one on Azure, az://account/container/prefix, AZURE_STORAGE_ENDPOINT,
and the credentials.

Nothing is changed, and pipelines may be running. With --repair it first does what the next start of a pipeline would do:
it publishes the files of commits whose process died before it had, and removes what dead processes have left
unfinished. Damaged, missing and stray files it leaves to you.

With --deep it also compares the columns of every row of Parquet and Arrow files: it makes the URL of its parts, parses it again, and
compares each column that is made of a URL, under its usual name, and the URL as read. This proves that the profile compact has lost
nothing. It takes some microseconds a row.

With --against CONFIG it also asks the source of that configuration what there is: the broker for the first and last offsets
of each partition, for the identity of topic and cluster, and for what the group has committed; the files for what they hold; or
the bucket for its objects. It tells what was not read yet, what retention took before it was read, what was delivered and is in no commit record any more
because the last records are gone, and whether the output is of another topic, cluster or file. Nothing is read from the
source, and the group is not joined. That something was not read yet is no problem; the others are.

Where an Iceberg table names the files, those that it has had and does not have any more, because what maintains it has
rewritten them or somebody has deleted their rows, are no problem when they are gone: their number is in the report.

The report is on standard output. Positions that were left out because the configuration says so (on_truncated,
on_group_ahead) are in it, and are no problem. The exit code is 5 when there is a problem.`,
		Example: `  urlmill verify out/clicks
  urlmill verify out/clicks --json | jq '.problems[]'
  urlmill verify out/clicks --repair
  urlmill verify out/clicks --deep
  urlmill verify out/clicks --against clickstream.yaml`,
		Args: args(1, 1, "the place of an output"),
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.json, "json", false, "print the report as a JSON object")
	flags.BoolVar(&f.repair, "repair", false, "publish what is committed, and remove what dead processes left, first")
	flags.BoolVar(&f.shallow, "shallow", false, "look for files and their sizes alone, and do not read them")
	flags.BoolVar(&f.deep, "deep", false, "rebuild the URL of every row from its parts, and compare all columns")
	flags.StringVar(&f.against, "against", "", "hold the output against the source of this configuration, too")
	cmd.RunE = func(cmd *cobra.Command, places []string) error { return a.verify(cmd.Context(), places[0], f) }
	return cmd
}

// verify runs the command.
func (a *app) verify(parent context.Context, place string, f verifyFlags) error {
	if f.deep && f.shallow {
		return usagef("--deep reads every row, and --shallow reads none; give one of them")
	}
	survey, err := a.surveyor(f.against)
	if err != nil {
		return err
	}
	ctx, stop, root, open, err := a.openPlace(parent, place)
	if err != nil {
		return err
	}
	defer stop()
	options := verify.Options{Root: root, Open: open, Counters: rowCounters, Shallow: f.shallow, Log: a.flagLogger(), Table: a.components.InspectTable, Kept: a.components.Kept()}
	if f.deep {
		options.Inspectors = rebuilders
	}
	if f.repair {
		if err := verify.Repair(ctx, options); err != nil {
			return fmt.Errorf("repairing: %w", err)
		}
	}
	r, err := verify.Run(ctx, options)
	if err != nil {
		return err
	}
	if survey != nil {
		standings, err := survey.Survey(ctx, r.Known(root))
		if err != nil {
			return fmt.Errorf("asking the source: %w", err)
		}
		r.Hold(standings)
	}
	if f.json {
		err = json.NewEncoder(a.out).Encode(r)
	} else {
		err = a.printReport(r, f.deep)
	}
	if err == nil && !r.OK {
		err = &codeError{code: exitDamaged}
	}
	return err
}

// surveyor returns the source of a configuration, nil without one.
func (a *app) surveyor(file string) (pipeline.Surveyor, error) {
	if file == "" {
		return nil, nil
	}
	c, err := a.loadConfig(file)
	if err != nil {
		return nil, err
	}
	s, err := wire.Open(c, a.setting(a.flagLogger()))
	if err != nil {
		return nil, err
	}
	survey, ok := pipeline.As[pipeline.Surveyor](s.Source)
	if !ok {
		return nil, usagef("--against: the source of %s has nothing that an output could be held against; give a configuration that reads Kafka, files or objects", file)
	}
	return survey, nil
}

// printAgainst prints what the source has said and is no problem; those are among the others.
func (a *app) printAgainst(r *verify.Report) {
	for _, l := range r.Against.Lanes {
		for _, f := range l.Findings {
			if !f.Kind.Problem() {
				fmt.Fprintf(a.out, "%s/%d: %s\n", plain.Text(l.Stream), l.Partition, plain.Text(f.Text()))
			}
		}
	}
}

// printReport prints a report for people.
func (a *app) printReport(r *verify.Report, deep bool) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "lane\tfrom\tto\tcommits\tfiles\trows\tdead letters\tbytes")
	for _, l := range r.Lanes {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%s\t%s\t%s\n", plain.Text(l.Lane), l.Start, l.Next, l.Commits, l.Files,
			plain.Count(l.Rows), plain.Count(l.Dead), plain.Bytes(l.Bytes))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, l := range r.Lanes {
		for _, left := range l.LeftOut {
			fmt.Fprintf(a.out, "%s: the positions %d to %d were left out, as the configuration says\n", plain.Text(l.Lane), left.First, left.Next)
		}
	}
	if c := r.Compacted; c != nil {
		by := plain.Plural(int64(c.Records), "compaction")
		if c.Replacements > 0 {
			by += ", " + plain.Count(int64(c.Replacements)) + " of which put other rows in their place"
		}
		fmt.Fprintf(a.out, "compacted: %s replaced, whose rows are in %s with %s now, by %s\n", plain.Plural(int64(c.Replaced), "file"),
			plain.Plural(int64(c.Files), "file"), plain.Bytes(c.Bytes), by)
	}
	if r.Against != nil {
		a.printAgainst(r)
	}
	if t := r.Table; t != nil {
		fmt.Fprintf(a.out, "iceberg: %s with %s gone, because the table has replaced or deleted them; it has %s, and %s committed up to its positions\n",
			plain.Plural(int64(t.Removed), "file"), plain.Plural(t.RemovedRows, "row"), plain.Plural(t.Rows, "row"), plain.Count(t.Committed))
	}
	for _, p := range r.Problems {
		at := p.Lane
		if p.File != "" {
			at = p.File
		}
		fmt.Fprintf(a.out, "%s: %s: %s\n", p.Kind, plain.Text(at), plain.Text(p.Message))
	}
	if deep {
		fmt.Fprintf(a.out, "rebuilt: the URLs of %s of %s, by the columns of their parts\n", plain.Count(r.Judged), plain.Plural(r.Rows, "row"))
	}
	verdict := "complete"
	if !r.OK {
		verdict = plain.Plural(int64(len(r.Problems)), "problem")
	}
	_, err := fmt.Fprintf(a.out, "%s: %s; %s in %s of %s\n", plain.Text(r.Location), verdict, plain.Plural(r.Rows, "row"),
		plain.Plural(int64(r.Files), "file"), plain.Plural(int64(r.Commits), "commit"))
	return err
}

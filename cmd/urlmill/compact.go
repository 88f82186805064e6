package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/compact"
	"github.com/urlmill/urlmill/sinks/parquet"
	"github.com/urlmill/urlmill/sinks/store"
)

// compactFlags are the flags of "urlmill compact".
type compactFlags struct {
	target      string
	minAge      time.Duration
	minFiles    int
	under       string
	dryRun      bool
	json        bool
	compression string
	level       int
	watch       time.Duration
	load        int
	table       tableFlags
}

func newCompact(a *app) *cobra.Command {
	var f compactFlags
	cmd := &cobra.Command{
		Use:   "compact PLACE",
		Short: "Merge the small Parquet files of an output into large ones",
		Long: `Merge the small Parquet files of an output with exactly-once delivery into large ones. PLACE is what the path of the
sink is; the dead letters and late rows are found from there. Files of one directory are merged that have the same columns,
order (sort_by) and compression, whatever lanes (Kafka partitions, files) their rows are of; the rows of each lane stay in their
order, or in that of sort_by.

No row is lost, or twice, whatever dies on the way: a compaction is a record of its own beside those of the commits, from
which "urlmill verify" proves that every row is there as before. Pipelines may be running, and other compactions. The next start
of a pipeline, or the next compaction, ends what one that died has begun.

A reader that lists the directory sees the rows of one merged file twice for a moment: the new file appears, and then those
go that it replaces; no row is ever missing. A reader that has listed it before may find that a file is gone, and has to list it
again. "urlmill files PLACE" lists the files that have every row exactly once at any moment.

Where an Iceberg table names the files, the table is compacted: the merged files go below _iceberg/data and take the place of the
small ones in one snapshot. Snapshots that are too old or too many are removed, and with them the files that no other one needs.
From then on the table has all rows, and the folder does not. Files of other programs, and those with rows that are deleted by
files of their own, stay as they are. The catalog is that in the folder, or that of the configuration which --config names.
--orphan-age also removes what dead processes have left.

With --watch it looks again and again, and merges young files as well, each a few times, so that there are never many. Most of the
time it rests, as --load says.

Running it again finds nothing to do until there are new files that are old enough.`,
		Example: `  urlmill compact out/clicks
  urlmill compact out/clicks --target-size 1GiB --min-age 2h
  urlmill compact s3://lake/clicks --under dt=2026-11-21 --dry-run
  urlmill compact lake --config table.yaml --watch 10s --orphan-age 72h`,
		Args: args(1, 1, "the place of an output"),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.target, "target-size", "256MiB", "size that files are to have; those of three quarters of it stay as they are")
	flags.DurationVar(&f.minAge, "min-age", time.Hour, "how old files have to be")
	flags.IntVar(&f.minFiles, "min-files", 2, "how many files have to be together for it to be worth it")
	flags.StringVar(&f.under, "under", "", "compact this directory of PLACE alone, with all below it")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what there is to do, and change nothing")
	flags.BoolVar(&f.json, "json", false, "print the report as a JSON object")
	flags.StringVar(&f.compression, "compression", "", "compress pages with none, snappy, lz4, gzip or zstd (default: as the files are)")
	flags.IntVar(&f.level, "compression-level", 0, "level of the compression (default: 1 for zstd, 6 for gzip)")
	flags.DurationVar(&f.watch, "watch", 0, "look again and again, after this time at least")
	flags.IntVar(&f.load, "load", 20, "percent of the time that --watch works at most")
	f.table.add(flags)
	completeFlag(cmd, "compression", "none", "snappy", "lz4", "gzip", "zstd")
	cmd.RunE = func(cmd *cobra.Command, places []string) error { return a.compact(cmd.Context(), places[0], f) }
	return cmd
}

// openPlace returns the store of an output, what opens those beside it, and a context that signals end.
func (a *app) openPlace(parent context.Context, place string) (context.Context, context.CancelFunc, store.Store, store.Opener, error) {
	if reason, advice := config.Misplaced(place, true); reason != "" {
		return nil, nil, nil, nil, usagef("%s %s; %s", place, reason, advice)
	}
	if _, err := os.Stat(place); errors.Is(err, fs.ErrNotExist) && store.Scheme(place) == "" {
		return nil, nil, nil, nil, fmt.Errorf("%s: there is no such folder; give what the path of the sink is", place)
	}
	open := a.stores
	if open == nil {
		open = a.components.OpenStores(a.flagLogger())
	}
	root, err := open(place, a.flagLogger())
	if err != nil {
		return nil, nil, nil, nil, &usageError{err}
	}
	ctx, stop := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	return ctx, stop, root, open, nil
}

func (f compactFlags) options() (compact.Options, error) {
	target, err := config.ParseSize(f.target)
	switch {
	case err != nil:
		return compact.Options{}, usagef("--target-size: %q is not a size (%w); give a number with a unit, such as 256MiB", f.target, err)
	case target < 1<<10:
		return compact.Options{}, usagef("--target-size: %s is too small; give 1KiB or more", f.target)
	case f.minAge < 0:
		return compact.Options{}, usagef("--min-age: %s is in the future; give 0s or more", f.minAge)
	case f.minFiles < 2:
		return compact.Options{}, usagef("--min-files: %d is too few; give 2 or more", f.minFiles)
	case f.watch < 0 || f.watch > 0 && f.watch < time.Second:
		return compact.Options{}, usagef("--watch: %s is too often; give 1s or more", f.watch)
	case f.load < 1 || f.load > 100:
		return compact.Options{}, usagef("--load: %d is no percentage; give 1 to 100", f.load)
	case strings.HasPrefix(path.Clean(f.under), "..") || path.IsAbs(f.under):
		return compact.Options{}, usagef("--under: %s is not below PLACE; give a directory such as dt=2026-11-21", f.under)
	}
	if f.compression == "" && f.level != 0 {
		return compact.Options{}, usagef("--compression-level: give --compression as well")
	}
	p := parquet.Options{Path: ".", Compression: f.compression, CompressionLevel: f.level, Version: readBuild().Version}
	if err := p.Validate(); err != nil {
		return compact.Options{}, &usageError{err}
	}
	return compact.Options{
		TargetBytes: target, MinAge: f.minAge, MinFiles: f.minFiles, Under: f.under, DryRun: f.dryRun,
		Format: compact.Parquet{Options: p}, Provenance: commit.Provenance{Urlmill: p.Version},
	}, nil
}

// compact runs the command.
func (a *app) compact(parent context.Context, place string, f compactFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	ctx, stop, root, open, err := a.openPlace(parent, place)
	if err != nil {
		return err
	}
	defer stop()
	o.Root, o.Open, o.Log = root, open, a.flagLogger()
	switch err := commit.CheckUnregistered(ctx, root); {
	case errors.Is(err, commit.ErrRegistered):
		return a.compactTable(ctx, o, f)
	case err != nil:
		return err
	case f.table != (tableFlags{MaxSnapshots: maxSnapshots}):
		return usagef("no Iceberg table names the files of %s: leave out --config, --snapshot-age, --max-snapshots and --orphan-age", place)
	}
	if !f.json {
		o.Progress = a.compactProgress()
	}
	return a.watch(ctx, f, func(ctx context.Context) error {
		if o.Root, err = open(place, a.flagLogger()); err != nil { // a store is closed when it has been compacted
			return err
		}
		r, err := compact.Run(ctx, o)
		if f.json {
			err = errors.Join(err, json.NewEncoder(a.out).Encode(r))
		} else if err == nil && (f.watch == 0 || r.Merged > 0) {
			a.printCompaction(r, f)
		}
		if err == nil && len(r.Skipped) > 0 {
			err = &codeError{code: exitDamaged}
		}
		return err
	})
}

// compactProgress returns what logs how far it is, every few seconds.
func (a *app) compactProgress() func(compact.Report) {
	const often = 5 * time.Second
	log, last := a.flagLogger(), time.Now()
	return func(r compact.Report) {
		if r.DryRun || time.Since(last) < often {
			return
		}
		last = time.Now()
		log.Info("compacting", "files", r.Merged, "of", r.Planned, "bytes", r.MergedBytes, "of_bytes", r.PlannedBytes)
	}
}

func (a *app) printCompaction(r *compact.Report, f compactFlags) {
	at := plain.Text(r.Location)
	switch {
	case r.DryRun:
		fmt.Fprintf(a.out, "%s: %s with %s to be merged\n", at, plain.Plural(int64(r.Planned), "file"), plain.Bytes(r.PlannedBytes))
	case r.Merged == 0:
		fmt.Fprintf(a.out, "%s: nothing to be merged: that would be Parquet files, %d or more, older than %s and smaller than three quarters of %s\n",
			at, f.minFiles, f.minAge, f.target)
	default:
		fmt.Fprintf(a.out, "%s: %s with %s merged into %s with %s; %s\n", at, plain.Plural(int64(r.Merged), "file"), plain.Bytes(r.MergedBytes),
			plain.Plural(int64(r.Files), "file"), plain.Bytes(r.Bytes), plain.Plural(r.Rows, "row"))
	}
	for _, file := range r.Skipped {
		fmt.Fprintf(a.out, "%s: cannot be merged\n", plain.Text(file))
	}
}

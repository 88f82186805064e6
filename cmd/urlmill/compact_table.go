package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/sinks/compact"
	"github.com/urlmill/urlmill/sinks/parquet"
)

// maxSnapshots is how many snapshots of a table stay: each commit writes metadata that names all.
const maxSnapshots = 1000

// tableFlags are the flags of "urlmill compact" for tables.
type tableFlags struct {
	Config                 string
	SnapshotAge, OrphanAge time.Duration
	MaxSnapshots           int
}

func (f *tableFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.Config, "config", "", "the configuration of the table, for its catalog (default: the catalog in PLACE)")
	flags.DurationVar(&f.SnapshotAge, "snapshot-age", 0, "remove snapshots of a table that are older (default: what the table says, or else 120h)")
	flags.IntVar(&f.MaxSnapshots, "max-snapshots", maxSnapshots, "remove the oldest snapshots of a table beyond so many")
	flags.DurationVar(&f.OrphanAge, "orphan-age", 0, "remove files of a table that no snapshot names and that are older (default: none)")
}

// minOrphanAge is how long others may take from writing a file to its commit.
const minOrphanAge = time.Hour

// options returns the options of a table's compaction.
func (f *tableFlags) options(a *app) (compact.TableOptions, error) {
	o := compact.TableOptions{SnapshotAge: f.SnapshotAge, MaxSnapshots: f.MaxSnapshots, OrphanAge: f.OrphanAge}
	switch {
	case f.SnapshotAge < 0:
		return o, usagef("--snapshot-age: %s is in the future; give 1h, for example", f.SnapshotAge)
	case f.MaxSnapshots < 1:
		return o, usagef("--max-snapshots: %d is too few; give 1 or more", f.MaxSnapshots)
	case f.OrphanAge != 0 && f.OrphanAge < minOrphanAge:
		return o, usagef("--orphan-age: %s is too short, as files are written before a snapshot names them; give %s or more", f.OrphanAge, minOrphanAge)
	case f.Config == "":
		return o, nil
	}
	c, err := a.loadConfig(f.Config)
	if err != nil {
		return o, err
	}
	if p, ok := c.Sink.Options.(*parquet.Options); ok {
		o.Options = p.Table()
	}
	if o.Options == nil {
		err = usagef("--config: the sink of %s has no table; give a configuration with sink.parquet.iceberg", f.Config)
	}
	return o, err
}

// compactTable compacts the table that names the files of an output.
func (a *app) compactTable(ctx context.Context, of compact.Options, f compactFlags) (err error) {
	o, err := f.table.options(a)
	if err != nil {
		return err
	}
	o.Root, o.Format, o.TargetBytes, o.MinAge, o.MinFiles, o.Under = of.Root, of.Format, of.TargetBytes, of.MinAge, of.MinFiles, of.Under
	o.DryRun, o.Provenance, o.Log, o.TempDir, o.Steady = of.DryRun, of.Provenance, of.Log, of.TempDir, f.watch > 0
	if o.Steady {
		o.Load = float64(f.load) / 100
	}
	keeper, err := a.components.OpenTable(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, keeper.Close()) }()
	f.load = 100 // it sees to that itself
	return a.watch(ctx, f, func(ctx context.Context) error {
		r, err := keeper.Pass(ctx)
		switch idle := r.Merged+r.Snapshots+len(r.Orphans) == 0; {
		case f.json:
			err = errors.Join(err, json.NewEncoder(a.out).Encode(r))
		case err == nil && !(idle && f.watch > 0):
			a.printTable(r)
		}
		if err == nil && len(r.Skipped) > 0 {
			err = &codeError{code: exitDamaged}
		}
		return err
	})
}

func (a *app) printTable(r *compact.TableReport) {
	at, done := plain.Text(r.Table), "merged into "+plain.Plural(int64(r.Files), "file")+" with "+plain.Bytes(r.Bytes)
	removed := "removed"
	if r.DryRun {
		done, removed = "to be merged", "to be removed"
	}
	fmt.Fprintf(a.out, "%s: %s with %s %s; %s %s", at, plain.Plural(int64(r.Merged), "file"), plain.Bytes(r.MergedBytes), done,
		plain.Plural(int64(r.Snapshots), "snapshot"), removed)
	if !r.DryRun {
		fmt.Fprintf(a.out, " with %s", plain.Plural(int64(r.Removed), "file"))
	}
	fmt.Fprintf(a.out, "; it had %s, %d of one partition at most\n", plain.Plural(int64(r.Live), "file"), r.InPartition)
	if r.Deletes > 0 {
		fmt.Fprintf(a.out, "%s: %s left alone, as rows of them are deleted by files of their own: rewrite them with the program that deletes\n", at, plain.Plural(int64(r.Deletes), "small file"))
	}
	if r.Foreign > 0 {
		fmt.Fprintf(a.out, "%s: %s of other programs left alone\n", at, plain.Plural(int64(r.Foreign), "small file"))
	}
	for _, file := range r.Orphans {
		fmt.Fprintf(a.out, "%s: no snapshot names it: %s\n", plain.Text(file), removed)
	}
	for _, file := range r.Skipped {
		fmt.Fprintf(a.out, "%s: cannot be merged\n", plain.Text(file))
	}
}

// watch makes a pass, or with --watch one after the other until a signal comes. What goes wrong with one of those is logged. It rests
// between them, so that it works for a part of the time only.
func (a *app) watch(ctx context.Context, f compactFlags, pass func(context.Context) error) error {
	for {
		start := time.Now()
		err := pass(ctx)
		switch {
		case f.watch == 0:
			return err
		case ctx.Err() != nil:
			return nil
		case err != nil:
			a.flagLogger().Error("compacting; trying again", "error", err, "every", f.watch)
		}
		rest := time.Since(start) * time.Duration(100-f.load) / time.Duration(f.load)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(max(rest, f.watch)):
		}
	}
}

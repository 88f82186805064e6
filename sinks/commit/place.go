package commit

import (
	"context"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/urlmill/urlmill/sinks/store"
)

// CheckEmpty refuses a place that has data files, recognized by their suffix, but no commit records: readers would
// take the rows in them for delivered, and no record says what positions those are.
func CheckEmpty(ctx context.Context, s store.Store, ext string) error {
	// A place with a chain may have millions of files, which take long to list on S3.
	entries, err := s.List(ctx, Dir, "")
	if err != nil || len(entries) > 0 {
		return err
	}
	if last, _, err := numbersOf(ctx, s); err != nil || last > 0 { // all that is there has come as a replacement
		return err
	}
	if entries, err = s.List(ctx, ".", ""); err != nil {
		return err
	}
	if slices.ContainsFunc(entries, func(e store.Entry) bool { return e.Name == Dir && e.Dir }) {
		return nil
	}
	found, err := find(ctx, s, ".", entries, ext)
	if err != nil || found == "" {
		return err
	}
	return fmt.Errorf("%s has files such as %s, of which no commit record tells what they hold, so that exactly-once delivery cannot go on there: "+
		"give another directory, or set delivery: at_least_once", s.Location(), found)
}

// HasRecords reports whether a place is an output with exactly-once delivery: lanes have begun there, or files have come as a
// replacement.
func HasRecords(ctx context.Context, s store.Objects) (bool, error) {
	lanes, err := Lanes(ctx, s)
	if err != nil || len(lanes) > 0 {
		return len(lanes) > 0, err
	}
	last, _, err := numbersOf(ctx, s)
	return last > 0, err
}

// find returns a data file of a directory or of those below it that are partitions, "" if there is none.
func find(ctx context.Context, s store.Store, dir string, entries []store.Entry, ext string) (string, error) {
	for _, e := range entries {
		if !e.Dir && path.Ext(e.Name) == "."+ext && !hidden(e.Name) {
			return path.Join(dir, e.Name), nil
		}
	}
	for _, e := range entries {
		if !e.Dir || hidden(e.Name) || !strings.Contains(e.Name, "=") {
			continue
		}
		below := path.Join(dir, e.Name)
		entries, err := s.List(ctx, below, "")
		if err != nil {
			return "", err
		}
		if found, err := find(ctx, s, below, entries, ext); err != nil || found != "" {
			return found, err
		}
	}
	return "", nil
}

// hidden reports whether readers of a directory leave out what has this name.
func hidden(name string) bool { return strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") }

// abandoned is the time after the last write to an unfinished file at which it is removed in a place without a chain, where
// nothing says whether its process is dead. Should it be alive, it stops with an error, and its rows are read again.
const abandoned = 7 * 24 * time.Hour

// SweepWithoutChain removes what dead processes have left unfinished in a place to which at-least-once delivery is
// about to go. Such a place must not have commit records: from then on they would not name all files.
func SweepWithoutChain(ctx context.Context, s store.Store, log *slog.Logger) error {
	records, err := HasRecords(ctx, s)
	if err != nil {
		return err
	}
	if records {
		return fmt.Errorf("%s is an output with exactly-once delivery, of which the commit records in %s tell, and at-least-once delivery would put rows in it that they do not know: "+
			"give another directory, or leave delivery out", s.Location(), Dir)
	}
	w := &sweeper{}
	garbage := func(f store.Leftover) bool { return f.Dead || time.Since(f.Modified) > abandoned }
	if err := s.Sweep(ctx, func(f store.Leftover) bool { return garbage(f) && w.count(f) }); err != nil {
		return err
	}
	w.report(s, log)
	return ctx.Err()
}

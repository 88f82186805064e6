package iceberg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/commit/verify"
	"github.com/urlmill/urlmill/sinks/compact"
)

// foreignMetadata is where others put metadata who do not know of [metadataDir].
const foreignMetadata = "metadata"

// metadataNames matches the names of files with metadata, of any writer.
var metadataNames = regexp.MustCompile(`(\.avro|\.metadata\.json|\.stats|\.puffin)$`)

// orphans removes files that no snapshot names: in the directories of the table, whatever is old enough; and of those of commits, what
// the table has had, which is left when a process dies that was removing snapshots. Files of commits that the table is still to get,
// or was never able to get, are none.
func (k *Keeper) orphans(ctx context.Context, r *compact.TableReport) error {
	var listed []string
	for _, dir := range []string{metadataDir, foreignMetadata} {
		found, err := k.list(ctx, dir, func(string) bool { return true })
		if err != nil {
			return err
		}
		if dir == foreignMetadata { // which may be somebody's directory of that name
			found = slices.DeleteFunc(found, func(key string) bool { return !metadataNames.MatchString(key) })
		}
		listed = append(listed, found...)
	}
	committed, err := k.list(ctx, ".", func(name string) bool { return strings.Contains(name, "=") })
	if err != nil {
		return err
	}
	// The table is read after what there is was listed: what is in it by then is no orphan.
	now, err := k.load(ctx)
	if err != nil {
		return err
	}
	if err := k.checkStrangers(ctx, now); err != nil {
		return err
	}
	needed, _, err := k.all(ctx, now)
	if err != nil {
		return err
	}
	had, err := k.had(ctx, now)
	if err != nil {
		return err
	}
	for _, key := range append(listed, slices.DeleteFunc(committed, func(key string) bool { return !had[key] })...) {
		if key == commit.RegisteredKey || strings.HasPrefix(key, leftOutDir+"/") || needed[place(k.table.base+"/"+key)] {
			continue
		}
		if err := k.orphan(ctx, key, r); err != nil {
			return err
		}
	}
	return nil
}

// orphan removes an orphan that is old enough.
func (k *Keeper) orphan(ctx context.Context, key string, r *compact.TableReport) error {
	at, err := k.opts.Root.Modified(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if k.opts.Now().Sub(at) < k.opts.OrphanAge {
		return nil
	}
	r.Orphans = append(r.Orphans, key)
	if k.opts.DryRun {
		return nil
	}
	return k.opts.Root.Delete(ctx, key)
}

// list returns the files of a directory and of those below it whose names deep takes.
func (k *Keeper) list(ctx context.Context, dir string, deep func(name string) bool) (found []string, err error) {
	entries, err := k.opts.Root.List(ctx, dir, "")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		key := path.Join(dir, e.Name)
		if !e.Dir {
			found = append(found, key)
			continue
		}
		if deep(e.Name) {
			below, err := k.list(ctx, key, deep)
			if err != nil {
				return nil, err
			}
			found = append(found, below...)
		}
	}
	return found, nil
}

// had returns the files of commits that the table has had: those before its positions which were there when they were to be added.
func (k *Keeper) had(ctx context.Context, now *state) (map[string]bool, error) {
	positions, err := k.table.positions(now.meta)
	if err != nil {
		return nil, err
	}
	notes := &verify.TableState{LeftOut: map[string]bool{}}
	if err := k.table.notes(ctx, notes); err != nil {
		return nil, err
	}
	files := map[string]bool{}
	for lane, next := range positions {
		_, err := commit.Since(ctx, k.opts.Root, lane, pipeline.Unknown, next, func(c *commit.Record) error {
			for _, f := range c.Files {
				if f.Table == pipeline.Rows.String() && f.Place == "" && c.Next <= next && !notes.LeftOut[f.Name] {
					files[f.Name] = true
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", lane, err)
		}
	}
	return files, nil
}

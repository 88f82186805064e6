package iceberg

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	iceberg "github.com/apache/iceberg-go"

	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/compact"
)

// Keeper keeps a table within bounds: it merges small files, removes snapshots, and with them the files that no other one needs, and
// removes what others have left behind. See docs/design/iceberg.md.
type Keeper struct {
	opts  compact.TableOptions
	table *tableOf
	seq   uint64 // of names
	pace  pace

	// What is read once: files are not changed. lists are the manifests of a manifest list, and paths the files of a manifest.
	lists map[string][]iceberg.ManifestFile
	paths map[string][]string
	// strangers are the tables of metadata that is not of ours, by its location; "" for ours.
	strangers map[string]string
	alone     map[string]bool // locations of files that cannot be merged
}

// OpenKeeper is a [compact.OpenTable]. It changes nothing.
func OpenKeeper(ctx context.Context, o compact.TableOptions) (compact.TableKeeper, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	base, err := locationOf(o.Root)
	if err != nil {
		return nil, err
	}
	t := &tableOf{store: o.Root, base: base, entries: map[string][]iceberg.ManifestEntry{}}
	k := &Keeper{
		opts: o, table: t, lists: map[string][]iceberg.ManifestFile{}, paths: map[string][]string{}, strangers: map[string]string{}, alone: map[string]bool{},
		pace: pace{load: o.Load},
	}
	switch of := o.Options.(type) {
	case *Options:
		options := of.withDefaults()
		t.id = options.identifier()
		err = t.connect(ctx, options)
	case nil:
		err = t.connectHere(ctx)
	default:
		err = errors.New("it is no Iceberg table")
	}
	if err != nil {
		return nil, err
	}
	if _, err := k.load(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("table %s: %w", dotted(t.id), err), t.catalog.Close())
	}
	return k, k.prepare(ctx)
}

// prepare makes ready for writing.
func (k *Keeper) prepare(ctx context.Context) error {
	if k.opts.DryRun {
		return nil
	}
	if err := k.opts.Root.Prepare(ctx); err != nil {
		return errors.Join(err, k.table.catalog.Close())
	}
	places := commit.NewPlaces(k.opts.Root, nil, k.opts.Log)
	chain := commit.New(commit.Options{Root: k.opts.Root, Place: places.Get, Provenance: k.opts.Provenance, Log: k.opts.Log})
	if err := chain.Sweep(ctx, k.opts.Root); err != nil {
		return errors.Join(err, k.Close())
	}
	return nil
}

// Close implements [compact.TableKeeper].
func (k *Keeper) Close() error {
	err := k.table.catalog.Close()
	if !k.opts.DryRun {
		err = errors.Join(err, k.opts.Root.Close())
	}
	return err
}

// connectHere opens the table of the catalog in the folder.
func (t *tableOf) connectHere(ctx context.Context) error {
	const advice = "give the configuration of the pipeline with --config"
	if strings.Contains(t.store.Location(), "://") {
		return errors.New("the catalog of the table is not in the output: " + advice)
	}
	tables, err := t.namedHere(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(tables) == 0:
		return fmt.Errorf("there is no catalog in %s that names a table there: %s", t.store.Location(), advice)
	case err != nil:
		return err
	case len(tables) > 1:
		return fmt.Errorf("the catalog in %s names %d tables there: %s", t.store.Location(), len(tables), advice)
	}
	t.id = append(strings.Split(tables[0].namespace, "."), tables[0].name)
	return t.connect(ctx, Options{CatalogName: tables[0].catalog}.withDefaults())
}

// listing is a table as a catalog in a file names it.
type listing struct{ catalog, namespace, name string }

// namedHere returns the tables that the catalog in the folder names there.
func (t *tableOf) namedHere(ctx context.Context) (found []listing, err error) {
	err = t.query(ctx, `SELECT catalog_name, table_namespace, table_name, metadata_location FROM iceberg_tables WHERE metadata_location IS NOT NULL`,
		func(rows *sql.Rows) error {
			var n listing
			var at string
			err := rows.Scan(&n.catalog, &n.namespace, &n.name, &at)
			if _, keyErr := keyOf(t.base, at); err == nil && keyErr == nil {
				found = append(found, n)
			}
			return err
		})
	return found, err
}

// load loads the table, and refuses one that is not that of the folder.
func (k *Keeper) load(ctx context.Context) (*state, error) {
	now, err := k.table.load(ctx)
	if err != nil {
		return nil, err
	}
	if !samePlace(now.meta.Location, k.table.base) {
		return nil, fmt.Errorf("it is at %s, and the files are in %s: give the configuration of the table of that folder", now.meta.Location, k.table.base)
	}
	_, err = k.table.positions(now.meta)
	return now, err
}

// Pass implements [compact.TableKeeper].
func (k *Keeper) Pass(ctx context.Context) (*compact.TableReport, error) {
	r := &compact.TableReport{Location: k.opts.Root.Location(), Table: dotted(k.table.id), DryRun: k.opts.DryRun}
	err := k.rewrite(ctx, r)
	if err == nil {
		err = k.expire(ctx, r)
	}
	if err == nil && k.opts.OrphanAge > 0 {
		err = again(func() error { r.Orphans = nil; return k.orphans(ctx, r) })
	}
	if err != nil {
		err = fmt.Errorf("table %s: %w", dotted(k.table.id), err)
	}
	return r, err
}

// manifests returns the manifests of a snapshot.
func (k *Keeper) manifests(ctx context.Context, s *snapshot) ([]iceberg.ManifestFile, error) {
	if s == nil {
		return nil, nil
	}
	if found, ok := k.lists[s.ManifestList]; ok {
		return found, nil
	}
	found, err := k.table.manifestsOf(ctx, s)
	if err == nil {
		k.lists[s.ManifestList] = found
	}
	return found, err
}

// stale reports whether an error is of a table that others have changed since it was loaded: it is not as it was, or the files of a
// snapshot are gone that was the current one.
func stale(err error) bool { return errors.Is(err, errConflict) || errors.Is(err, fs.ErrNotExist) }

// again does what loads the table and reads its files once more while others remove them in between.
func again(do func() error) (err error) {
	for range fewAttempts {
		if err = do(); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

// withdraw removes what was written for a snapshot that was not committed. What may have been committed stays.
func (t *tableOf) withdraw(ctx context.Context, a *appended, attempted bool, err error) {
	if a == nil || attempted && (!errors.Is(err, errConflict) || errors.Is(err, errUncertain)) {
		return
	}
	for _, at := range a.written {
		_ = t.remove(context.WithoutCancel(ctx), at) // costs space, and nothing else
	}
}

var _ compact.OpenTable = OpenKeeper

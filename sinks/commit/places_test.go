package commit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store"
)

// TestForeignPlace: records that name a place outside of the output have nothing moved or removed there until the place claims
// files of the output, or the configuration names it.
func TestForeignPlace(t *testing.T) {
	for _, on := range []string{"folder", "bucket"} {
		for _, absolute := range []bool{false, true} {
			t.Run(fmt.Sprint(on, "/absolute=", absolute), func(t *testing.T) {
				dir := t.TempDir()
				open := func(at string) store.Store { return store.NewLocal(dir+at, store.System, quiet) }
				if on == "bucket" {
					b := newS3(t)
					open = b.stores(b.transport)
				}
				place := "../dead"
				if absolute {
					place = open(deadDir).Location()
				}
				testForeignPlace(t.Context(), t, open, place)
			})
		}
	}
}

func testForeignPlace(ctx context.Context, t *testing.T, open func(string) store.Store, place string) {
	opener := func(location string, _ *slog.Logger) (store.Store, error) {
		if s := open(deadDir); s.Location() == location {
			return s, nil
		}
		return nil, errors.New("no place " + location)
	}
	root, dead := open(rowsDir), open(deadDir)
	must(t, root.Prepare(ctx), dead.Prepare(ctx))
	chain := func(configured ...store.Store) (*Chain, *Places) {
		places := NewPlaces(root, opener, quiet)
		for _, s := range configured {
			places.Add(s)
		}
		return New(Options{Root: root, Place: places.Get, Log: quiet}), places
	}
	refused := func(what string, err error) {
		t.Helper()
		var foreign *ForeignPlaceError
		if !errors.As(err, &foreign) {
			t.Errorf("%s: %s is followed: %v", place, what, err)
		}
	}
	// A process dies before it has published the file of its last commit, as in a version that did not claim places.
	writing, _ := chain()
	l, err := writing.Open(ctx, pipeline.LaneID{Stream: place})
	must(t, err)
	f := writeFile(t, &Chain{root: dead}, 40)
	f.Place = place
	must(t, l.begin(ctx, pipeline.Span{First: 40, Next: 41}))
	r, err := l.prepare(ctx, pipeline.Span{First: 40, Next: 41}, nil)
	must(t, err)
	r.Files = []File{f}
	must(t, l.create(ctx, r))

	forged, _ := chain()
	_, err = forged.Recover(ctx)
	refused("a commit", err)
	if there, err := Visible(ctx, dead, f.Name); there || err != nil {
		t.Errorf("%s: a file was moved, %v", place, err)
	}
	if entries, err := dead.List(ctx, outputsDir, ""); len(entries) > 0 || err != nil {
		t.Errorf("%s: it claims files: %v, %v", place, entries, err)
	}
	snap, err := ReadSnapshot(ctx, root, forged.place)
	if err != nil || len(snap.Files) != 0 {
		t.Errorf("%s: %v is listed, %v", place, snap, err)
	}

	configured, _ := chain(open(deadDir))
	if place != "../dead" { // a process that names it otherwise is configured by its claim
		var places *Places
		configured, places = chain()
		places.Add(dead)
		must(t, places.Claim(ctx))
	}
	_, err = configured.Recover(ctx)
	must(t, err)
	if there, err := Visible(ctx, dead, f.Name); !there || err != nil {
		t.Errorf("%s: the file was not published, %v", place, err)
	}
	// What is published is no matter, and is listed.
	forged, _ = chain()
	_, err = forged.Recover(ctx)
	must(t, err)
	if snap, err = ReadSnapshot(ctx, root, forged.place); err != nil || len(snap.Files) != 1 {
		t.Errorf("%s: %v is listed, %v", place, snap, err)
	}

	if place == "../dead" {
		// A compaction that removes files of somebody else.
		must(t, root.Create(ctx, compactionKey(1), encode(Compaction{
			Version: formatVersion, Number: 1, Groups: []Group{{
				File:      File{Table: "rows", Place: place, Name: "new.txt", Token: f.Token, Bytes: f.Bytes, Checksum: f.Checksum},
				Positions: []Stretch{{Lane: "x/0", First: 1, Next: 2}},
				Replaces:  []Replaced{{Name: f.Name}},
			}}, Origin: Origin{Time: time.Now()},
		})))
		_, err = forged.FinishCompaction(ctx)
		refused("a compaction", err)
		if there, err := Visible(ctx, dead, f.Name); !there || err != nil {
			t.Errorf("a file was removed, %v", err)
		}
	}
	must(t, root.Close(), dead.Close())
}

// TestInside: what a record may name without a claim is in the output.
func TestInside(t *testing.T) {
	for name, want := range map[string]bool{
		"": true, "a": true, "a/b=c": true, ".": true,
		"..": false, "../a": false, "a/../../b": false, "/a": false, "a//b": false, "s3://bucket/a": false, "a/": false,
	} {
		if inside(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

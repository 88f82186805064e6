package compact

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// register does what a process does that makes a table of an output for the first time. It returns the files that the table
// names then, as full paths.
func register(sys store.FS) (files []string, err error) {
	ctx := context.Background()
	root := on(sys)(rowsDir)
	if err := root.Prepare(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := commit.Register(ctx, root); err != nil {
		return nil, err
	}
	lanes, err := commit.Lanes(ctx, root)
	if err != nil {
		return nil, err
	}
	for _, lane := range lanes {
		head, err := commit.Head(ctx, root, lane)
		if err != nil {
			return nil, err
		}
		if _, err := commit.Since(ctx, root, lane, pipeline.Unknown, head, func(r *commit.Record) error {
			for _, f := range r.Files {
				files = append(files, path.Join(rowsDir, f.Path()))
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func refusedAsCompacted(err error) bool {
	return err != nil && strings.Contains(err.Error(), "have been compacted, and a table can only be made of those that the commits name")
}

// exclusive checks that of a compaction and a table one has the output, and that it stays so.
func exclusive(t *testing.T, d *storetest.Disk, named []string, want map[string][]string) error {
	t.Helper()
	again, err := register(d.Process())
	switch {
	case refusedAsCompacted(err) && named == nil:
		if _, err := compactOn(d.Process()); err != nil {
			return fmt.Errorf("a compaction, when the table was refused: %w", err)
		}
		return done(t, d, want)
	case err != nil:
		return fmt.Errorf("another registration: %w", err)
	}
	if _, err := compactOn(d.Process()); !errors.Is(err, commit.ErrRegistered) {
		return fmt.Errorf("a compaction of what a table names: %w", err)
	}
	there := visible(t, d)
	for _, file := range append(named, again...) {
		if !slices.Contains(there, file) {
			return fmt.Errorf("the table names %s, which is gone", file)
		}
	}
	if fmt.Sprint(rowsOf(t, d, there)) != fmt.Sprint(want) {
		return errors.New("the directory has other rows")
	}
	return nil
}

// TestRegistrationBesideCompaction has a table be made of an output for the first time at each call of a compaction, by a
// process that comes to its end, or dies before one of its calls.
func TestRegistrationBesideCompaction(t *testing.T) {
	made, refused := 0, 0
	for at := 0; ; at += every(2, 7) {
		for dies := -1; dies < 40; dies += every(5, 13) {
			d, want := newDisk(t, 3)
			calls, reached := 0, false
			var named []string
			_, err := compactOn(storetest.Wrap(d.Process(), func(storetest.Call) error {
				if calls++; calls-1 != at {
					return nil
				}
				reached = true
				p := d.Process()
				steps := 0
				var err error
				named, err = register(storetest.Wrap(p, func(storetest.Call) error {
					if steps == dies {
						p.Kill()
					}
					steps++
					if !p.Alive() {
						return storetest.ErrDead
					}
					return nil
				}))
				if refusedAsCompacted(err) || errors.Is(err, storetest.ErrDead) {
					err = nil
				}
				return err
			}))
			if !reached {
				t.Logf("%d calls: %d times there was a table, and %d times not", at, made, refused)
				if made == 0 || refused == 0 {
					t.Error("one of both always comes first")
				}
				return
			}
			if named != nil {
				made++
			} else {
				refused++
			}
			if err != nil && !errors.Is(err, commit.ErrRegistered) {
				t.Fatalf("at call %d, with a registration that dies at %d: %v\n%s", at, dies, err, d.Tree())
			}
			if err := exclusive(t, d, named, want); err != nil {
				t.Fatalf("at call %d, with a registration that dies at %d: %v\n%s", at, dies, err, d.Tree())
			}
		}
	}
}

// TestCompactionBesideRegistration has an output be compacted at each call of a process that makes a table of it for the first
// time, by a compaction that comes to its end, or dies before one of its calls.
func TestCompactionBesideRegistration(t *testing.T) {
	for at := 0; ; at += every(1, 7) {
		for dies := -1; dies < 120; dies += every(5, 41) {
			d, want := newDisk(t, 3)
			calls, reached := 0, false
			named, err := register(storetest.Wrap(d.Process(), func(storetest.Call) error {
				if calls++; calls-1 != at {
					return nil
				}
				reached = true
				if dies >= 0 {
					before(d, dies, func(p *storetest.Process) { p.Kill() })
					return nil
				}
				_, err := compactOn(d.Process())
				if errors.Is(err, commit.ErrRegistered) {
					err = nil
				}
				return err
			}))
			if !reached {
				t.Logf("%d calls", at)
				return
			}
			if refusedAsCompacted(err) {
				named, err = nil, nil
			}
			if err == nil {
				err = exclusive(t, d, named, want)
			}
			if err != nil {
				t.Fatalf("at call %d, with a compaction that dies at %d: %v\n%s", at, dies, err, d.Tree())
			}
		}
	}
}

// TestPowerFailureBesideRegistration has the power fail when a compaction has said that the files are its own, and a
// registration was refused for it.
func TestPowerFailureBesideRegistration(t *testing.T) {
	for name, keep := range survivors() {
		t.Run(name, func(t *testing.T) {
			d, want := newDisk(t, 3)
			first := d.Process()
			created, failed := false, false
			_, _ = compactOn(storetest.Wrap(first, func(c storetest.Call) error {
				switch {
				case c.Op == "link" && strings.HasSuffix(c.Path, "/owner.json"):
					created = true
				case created && !failed:
					failed = true
					if _, err := register(d.Process()); !refusedAsCompacted(err) {
						t.Errorf("a table is made: %v", err)
					}
					d.PowerFailure(keep)
				}
				if !first.Alive() {
					return storetest.ErrDead
				}
				return nil
			}))
			if !failed {
				t.Fatal("it makes other calls than this test knows")
			}
			named, err := register(d.Process()) // the power may have taken back who was first
			if refusedAsCompacted(err) {
				err = nil
			}
			if err == nil {
				err = exclusive(t, d, named, want)
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, d.Tree())
			}
		})
	}
}

package commit

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

var replacedDirs = []string{"dt=a", "dt=b"}

// replace puts a file with the client's rows in the place of all others of each directory.
func (c *client) replace(ctx context.Context) error {
	snap, lost, err := c.chain.Settled(ctx)
	if errors.Is(err, ErrOutrun) {
		return nil
	}
	if err != nil {
		return err
	}
	var groups []Group
	for _, dir := range replacedDirs {
		f, err := c.rows.Begin(ctx, path.Join(dir, c.replaces+"-"+c.rows.Run()+"-"+dir+".txt"))
		if err != nil {
			return err
		}
		if _, err := f.Write([]byte(c.replaces)); err != nil {
			return err
		}
		p, err := f.Finish()
		if err != nil {
			return err
		}
		g := Group{File: NewFile(pipeline.Rows, "", 1, p), Positions: []Stretch{{Lane: "a/0", Stream: "a", Next: 1}}}
		for _, old := range snap.Files {
			if path.Dir(old.Name) == dir {
				g.Replaces = append(g.Replaces, Replaced{Name: old.Name, Rows: old.Rows, Bytes: old.Bytes, Checksum: old.Checksum})
			}
		}
		groups = append(groups, g)
	}
	err = c.chain.Replace(ctx, snap.Compactions.Next(), lost, groups)
	if errors.Is(err, ErrOutrun) {
		err = nil
	}
	return err
}

// replacements checks that the files that count are of one replacement, one in each directory, or that there are none, and that
// readers of the directories see them. It returns whose they are, and how many files there are besides.
func replacements(d *storetest.Disk) (rows string, others int, err error) {
	s := store.NewLocal(rowsDir, d.Process(), quiet)
	snap, err := ReadSnapshot(context.Background(), s, func(context.Context, string) (store.Store, error) { return s, nil })
	if err != nil {
		return "", 0, err
	}
	var of, dirs, names []string
	for _, f := range snap.Files {
		content, err := s.Read(context.Background(), f.Name)
		if err != nil {
			return "", 0, err
		}
		of, dirs, names = append(of, string(content)), append(dirs, path.Dir(f.Name)), append(names, f.Name)
	}
	slices.Sort(dirs)
	if len(dirs) > 0 && (!slices.Equal(dirs, replacedDirs) || of[0] != of[1]) {
		return "", 0, fmt.Errorf("the files that count are %q with %q", names, of)
	}
	for _, dir := range replacedDirs {
		entries, err := s.List(context.Background(), dir, "")
		if err != nil {
			return "", 0, err
		}
		others += len(entries)
	}
	return strings.Join(slices.Compact(of), " "), others - len(names), nil
}

// Several processes replace all files, or finish what others have begun, in any order of their calls, with deaths and power
// failures. At every moment the files that count are those of one of them, and in the end nothing else can be seen.
func TestReplaceModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDisk(t)
		var live []*actor
		launched := 0
		launch := func(rows string) *actor {
			p := d.Process()
			a := launchOn(func(before func(storetest.Call) error) *client {
				c := newClient(storetest.Wrap(p, before))
				c.replaces = rows
				return c
			}, p.Kill, firstPosition)
			a.process = p
			live = append(live, a)
			return a
		}
		defer func() {
			for _, a := range live {
				a.kill()
			}
		}()
		one := func() {
			launched++
			rows := ""
			if rapid.IntRange(0, 4).Draw(t, "kind") > 0 {
				rows = fmt.Sprintf("r%d", launched)
			}
			launch(rows)
		}
		sound := func() {
			if _, _, err := replacements(d); err != nil {
				t.Fatalf("%v\n%s", err, d.Tree())
			}
		}
		for range rapid.IntRange(1, 40).Draw(t, "actions") {
			for len(live) < 2 {
				one()
			}
			i := rapid.IntRange(0, len(live)-1).Draw(t, "process")
			a := live[i]
			switch n := rapid.IntRange(1, 60).Draw(t, "calls"); n {
			case 60:
				a.kill()
			case 59:
				d.PowerFailure(func(storetest.Change) bool { return rapid.Bool().Draw(t, "survives") })
				for _, a := range live {
					a.kill()
				}
			default:
				for range n {
					a.step()
				}
			}
			sound()
			if a.done {
				if a.err != nil && a.process.Alive() {
					t.Fatalf("a process failed: %v\n%s", a.err, d.Tree())
				}
				live = slices.Delete(live, i, i+1)
			}
		}
		for _, a := range live {
			a.finish()
			sound()
		}
		last := launch("last")
		last.finish()
		if rows, others, err := replacements(d); last.err != nil || err != nil || rows != "last" || others > 0 {
			t.Fatalf("%v, %v: in the end %q, and %d other files\n%s", last.err, err, rows, others, d.Tree())
		}
	})
}

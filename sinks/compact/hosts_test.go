package compact

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// fileSystems are what a file system may be able to do.
var fileSystems = map[string]func(*storetest.Process) *storetest.Process{
	"usual":          func(p *storetest.Process) *storetest.Process { return p },
	"without rename": func(p *storetest.Process) *storetest.Process { return p.WithoutRename() },
}

// interrupted has a process of a host deliver until it ends before its call number at; false if it does not make so many.
func interrupted(t *testing.T, d *storetest.Disk, p *storetest.Process, at int, end func(*storetest.Process)) (what storetest.Call, reached bool) {
	t.Helper()
	calls := 0
	err := deliver(context.Background(), on(storetest.Wrap(p, func(c storetest.Call) error {
		if !reached && calls == at {
			what, reached = c, true
			end(p)
		}
		calls++
		if !p.Alive() {
			return storetest.ErrDead
		}
		return nil
	})), lanes[0], 1)
	if !errors.Is(err, storetest.ErrDead) && err != nil {
		t.Fatalf("%v\n%s", err, d.Tree())
	}
	return what, reached
}

// A pipeline on one host ends before each of its calls, a compaction on another one, which cannot know that, takes what it
// finds, and the pipeline starts again: no file that was replaced comes back.
func TestCompactionOnAnotherHost(t *testing.T) {
	for name, system := range fileSystems {
		ways := map[string]func(*storetest.Disk) func(*storetest.Process){
			"kill": func(*storetest.Disk) func(*storetest.Process) { return func(p *storetest.Process) { p.Kill() } },
		}
		for name, keep := range survivors() {
			ways["power failure that leaves "+name] = func(d *storetest.Disk) func(*storetest.Process) {
				return func(*storetest.Process) { d.PowerFailure(keep) }
			}
		}
		for how, way := range ways {
			t.Run(name+" "+how, func(t *testing.T) {
				for at := 0; ; at += every(1, 7) {
					d, _ := newDisk(t, 2)
					host := func(name string) *storetest.Process { return system(d.Process().OnHost(name)) }
					what, reached := interrupted(t, d, host("one"), at, way(d))
					if !reached {
						t.Logf("before each of %d calls", at)
						return
					}
					if _, err := compactOn(host("two")); err != nil {
						t.Fatalf("before call %d, %v: %v\n%s", at, what, err, d.Tree())
					}
					must(t, deliver(t.Context(), on(host("one")), lanes[0], 1))
					if r := verified(t, d); !r.OK {
						t.Fatalf("before call %d, %v: %+v\n%s", at, what, r.Problems, d.Tree())
					}
					if got, want := rowsOf(t, d, visible(t, d)), rowsOf(t, d, snapshotOf(t, d)); fmt.Sprint(got) != fmt.Sprint(want) {
						t.Fatalf("before call %d, %v: the directory has %v, and the files that count %v", at, what, got, want)
					}
				}
			})
		}
	}
}

package commit

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"syscall"
	"testing"

	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// partition returns the directory of rows that begin at a position, of two that there are.
func partition(first int64) string { return fmt.Sprintf("kind=%d", first/3%2) }

// retention removes the directories with rows, and adds the positions that were there to removed.
func retention(d *storetest.Disk, removed map[int64]bool) {
	for n := range int64(2) {
		for _, content := range d.RemoveAll(rowsDir + "/" + partition(3*n)) {
			for _, p := range positionsIn(content) {
				removed[p] = true
			}
		}
	}
}

// A process has written into directories, which retention removes. Another one commits rows that belong there and ends
// before one of its calls, and the first goes on from there.
func TestRemovedDirectories(t *testing.T) {
	const middle = firstPosition + 9
	for at := 0; ; at += stride(1, 5) {
		d, removed := newDisk(t), map[int64]bool{}
		c := newClient(d.Process())
		c.dir = partition
		must(t, c.open(t.Context()), c.deliver(t.Context(), clicks, middle))
		retention(d, removed)
		c.dir = func(int64) string { return "" } // it has no reason of its own to make them again
		a := launch(d, end)
		a.dir = partition
		for a.calls < at && !a.done {
			a.step()
		}
		if a.done {
			t.Logf("before each of %d calls", at)
			must(t, c.close())
			return
		}
		what := a.next
		a.kill()
		must(t, c.deliver(t.Context(), clicks, end), c.close())
		next := newClient(d.Process())
		must(t, next.open(t.Context()), next.close()) // removes what is left over
		if err := checkWithout(d, clicks, end, removed); err != nil {
			t.Fatalf("before call %d, %v: %v\n%s", at, what, err, d.Tree())
		}
	}
}

// A directory of another file system is refused before the commit, whatever is below it. When it is gone, all goes on.
func TestDirectoryOfAnotherFileSystem(t *testing.T) {
	for name, dir := range map[string]string{"itself": "day=1", "above": "day=1/hour=2", "far above": "day=1/hour=2/kind=3"} {
		t.Run(name, func(t *testing.T) {
			d := newDisk(t)
			unmount, err := d.Mount(rowsDir + "/day=1")
			must(t, err)
			deliver := func() error {
				c := newClient(d.Process())
				c.dir = func(int64) string { return dir }
				return c.run(t.Context(), clicks, end)
			}
			err = deliver()
			if !errors.Is(err, syscall.EXDEV) || !strings.Contains(err.Error(), "/out/day=1 is on another file system") {
				t.Errorf("got %v", err)
			}
			if tree := d.Tree(); strings.Contains(tree, fmt.Sprintf("%020d.json", firstPosition)) {
				t.Errorf("it is committed:\n%s", tree)
			}
			unmount()
			must(t, deliver(), check(d, clicks, end))
		})
	}
}

// The directory comes between a commit and publishing its files: the lane cannot be opened until it is gone, and then it can.
func TestAnotherFileSystemAfterTheCommit(t *testing.T) {
	d := newDisk(t)
	a := launch(d, end)
	a.dir = partition
	for !a.done && (a.next.Op != "rename" || !strings.Contains(a.next.Path, "kind=")) {
		a.step()
	}
	dir := path.Dir(a.next.Path)
	a.kill()
	unmount, err := d.Mount(dir)
	must(t, err)
	c := newClient(d.Process())
	c.dir = partition
	must(t, c.open(t.Context()))
	err = c.deliver(t.Context(), clicks, end)
	if !errors.Is(err, syscall.EXDEV) || !strings.Contains(err.Error(), "start again") {
		t.Errorf("got %v", err)
	}
	unmount()
	must(t, c.deliver(t.Context(), clicks, end), c.close(), check(d, clicks, end))
}
